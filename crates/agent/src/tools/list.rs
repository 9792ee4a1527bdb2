//! The tool `list`.

use std::time::{Duration, Instant};

use nudge_workspace::{SessionDirectories, blocking};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    ToolOutcome, files, here, number,
    spec::{ToolInput, brief, number_field, path_field},
    walk::{EntryKind, FolderWalk, on_one_line},
};
use crate::session::{Halt, ToolRun};

const MOST_ENTRIES: usize = 500;
/// How long the answer may become.
const MOST_BYTES: usize = 128 * 1024;
const MOST_DEPTH: u32 = 10;
/// How long it may take.
const MOST_TIME: Duration = Duration::from_secs(10);

/// The input.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ListInput {
    #[serde(default = "here")]
    pub(crate) path: String,
    /// How many folders deep; one is the folder itself.
    #[serde(default, deserialize_with = "number")]
    depth: Option<u32>,
}

impl ToolInput for ListInput {
    const NAME: &'static str = "list";
    const DESCRIPTION: &'static str = "Lists a folder. Ignored files are left out.";
    const KIND: &'static str = "read";
    const REQUIRED: &'static [&'static str] = &[];

    fn properties() -> Value {
        json!({ "path": path_field("The folder"), "depth": number_field("How many folders deep; 1 unless given") })
    }

    fn title(&self) -> String {
        format!("List {}", brief(&self.path))
    }

    fn location(&self) -> Option<(&str, Option<u32>)> {
        Some((&self.path, None))
    }

    async fn run(self, run: &mut ToolRun<'_>) -> Result<ToolOutcome, Halt> {
        run.begin().await?;
        let roots = run.directories();
        Ok(blocking(move || entries(&roots, &self).into()).await)
    }
}

fn entries(roots: &SessionDirectories, list: &ListInput) -> Result<String, String> {
    let place = roots.resolve(&list.path).map_err(|why| why.to_string())?;
    if !place.real().is_dir() {
        return Err("There is no such folder.".to_owned());
    }
    let depth = list.depth.unwrap_or(1).clamp(1, MOST_DEPTH) as usize;
    let began = Instant::now();
    let is_over = || began.elapsed() > MOST_TIME;
    let walk = FolderWalk::new(roots, place.real(), depth, &is_over);
    let mut walk = walk.map_err(|why| files::tell_folder(&why))?;
    let (mut lines, mut bytes) = (Vec::new(), 0);
    for entry in walk.by_ref() {
        if lines.len() == MOST_ENTRIES || bytes > MOST_BYTES {
            lines.push(format!("[only the first {} are shown]", lines.len()));
            break;
        }
        let slash = if entry.kind == EntryKind::Folder { "/" } else { "" };
        let line = format!("{}{slash}", on_one_line(&roots.tell(&entry.path)));
        bytes += line.len();
        lines.push(line);
    }
    if is_over() {
        lines.push(format!("[stopped after {} seconds; give a folder further down]", MOST_TIME.as_secs()));
    }
    if lines.is_empty() && walk.report.is_empty() {
        lines.push(match walk.ignored {
            0 => "The folder is empty.".to_owned(),
            ignored => format!("All that is in the folder is ignored: {ignored} files and folders."),
        });
    }
    lines.extend(walk.report.lines());
    Ok(lines.join("\n"))
}
