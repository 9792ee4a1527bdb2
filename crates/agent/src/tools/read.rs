//! The tool `read`.

use std::fmt::Write;

use nudge_workspace::{blocking, files::offset_of_line};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    ToolOutcome, files, number,
    spec::{ToolInput, brief, number_field, path_field},
};
use crate::session::{Halt, ToolRun};

/// How much one call reads.
const MOST_LINES: u32 = 2000;
const MOST_BYTES: usize = 256 * 1024;

/// The input.
#[derive(Debug, Deserialize)]
pub(crate) struct ReadInput {
    path: String,
    /// Counted from one.
    #[serde(default, deserialize_with = "number")]
    line: Option<u32>,
    #[serde(default, deserialize_with = "number")]
    limit: Option<u32>,
}

impl ToolInput for ReadInput {
    const NAME: &'static str = "read";
    const DESCRIPTION: &'static str = "Reads a text file.";
    const KIND: &'static str = "read";
    const REQUIRED: &'static [&'static str] = &["path"];

    fn properties() -> Value {
        json!({
            "path": path_field("The file"),
            "line": number_field("The first line"),
            "limit": number_field("How many lines"),
        })
    }

    fn title(&self) -> String {
        format!("Read {}", brief(&self.path))
    }

    fn location(&self) -> Option<(&str, Option<u32>)> {
        Some((&self.path, self.line))
    }

    async fn run(self, run: &mut ToolRun<'_>) -> Result<ToolOutcome, Halt> {
        let place = match run.directories().resolve(&self.path) {
            Ok(place) => place,
            Err(why) => return Ok(ToolOutcome::failed(&why.to_string())),
        };
        run.begin().await?;
        let mut asked = json!({ "path": place.shown().to_string_lossy(), "limit": self.lines() });
        if let Some(line) = self.line {
            asked["line"] = json!(line.max(1));
        }
        if let Some(text) = files::client_text(run, asked).await? {
            return Ok(Self::cut(&text));
        }
        Ok(match blocking(move || files::read(&place)).await {
            Ok(text) => self.part(&text),
            Err(why) => ToolOutcome::failed(&files::tell(&why)),
        })
    }
}

impl ReadInput {
    /// How many lines are wanted.
    fn lines(&self) -> u32 {
        self.limit.unwrap_or(MOST_LINES).clamp(1, MOST_LINES)
    }

    /// The part that is wanted of a whole text.
    fn part(&self, text: &str) -> ToolOutcome {
        let skipped = self.line.map_or(0, |line| line.saturating_sub(1)) as usize;
        let start = offset_of_line(text, skipped).filter(|start| skipped == 0 || *start < text.len());
        let Some(start) = start else {
            let lines = text.lines().count();
            return ToolOutcome::failed(&format!(
                "The file has {lines} lines, so that there is nothing to read there."
            ));
        };
        let rest = &text[start..];
        let end = offset_of_line(rest, self.lines() as usize).unwrap_or(rest.len());
        let mut outcome = Self::cut(&rest[..end]);
        if end < rest.len() {
            let next = skipped + self.lines() as usize + 1;
            let _ = write!(outcome.output, "\n[more from line {next} on]\n");
        }
        outcome
    }

    /// A part that somebody else has chosen.
    fn cut(part: &str) -> ToolOutcome {
        let mut output = part[..part.floor_char_boundary(MOST_BYTES)].to_owned();
        if output.len() < part.len() {
            output.push_str("\n[cut here: the lines are too long]\n");
        }
        ToolOutcome::done(output)
    }
}
