//! The tools `write` and `edit`, and how a change is shown.

use nudge_text::{Text, diff::unified};
use nudge_workspace::WorkspacePath;
use serde::Deserialize;
use serde_json::{Value, json};

use super::spec::{ToolInput, brief, flag_field, path_field, text_field};

/// How long a patch may be to be shown.
const MOST_PATCH: usize = 256 * 1024;
/// Lines around a change.
const CONTEXT: usize = 3;

/// The input of `write`.
#[derive(Debug, Deserialize)]
pub(crate) struct WriteInput {
    pub(crate) path: String,
    pub(crate) content: String,
}

impl ToolInput for WriteInput {
    const NAME: &'static str = "write";
    const DESCRIPTION: &'static str = "Writes a whole text file, new or not.";
    const KIND: &'static str = "edit";
    const REQUIRED: &'static [&'static str] = &["path", "content"];

    fn properties() -> Value {
        json!({ "path": path_field("The file"), "content": text_field("The whole text") })
    }

    fn title(&self) -> String {
        format!("Write {}", brief(&self.path))
    }

    fn location(&self) -> Option<(&str, Option<u32>)> {
        Some((&self.path, None))
    }
}

/// The input of `edit`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct EditInput {
    pub(crate) path: String,
    old: String,
    new: String,
    /// Whether every occurrence is meant.
    #[serde(default)]
    all: bool,
}

impl ToolInput for EditInput {
    const NAME: &'static str = "edit";
    const DESCRIPTION: &'static str =
        "Replaces a text in a file by another. It must be in the file exactly once, unless `all` is set.";
    const KIND: &'static str = "edit";
    const REQUIRED: &'static [&'static str] = &["path", "old", "new"];

    fn properties() -> Value {
        json!({
            "path": path_field("The file"),
            "old": text_field("The text to be replaced, exactly"),
            "new": text_field("The text in its place"),
            "all": flag_field("Whether every occurrence is meant"),
        })
    }

    fn title(&self) -> String {
        format!("Edit {}", brief(&self.path))
    }

    fn location(&self) -> Option<(&str, Option<u32>)> {
        Some((&self.path, None))
    }
}

impl EditInput {
    /// The text after the edit, or why there is none.
    pub(crate) fn apply(&self, text: Option<&str>) -> Result<String, String> {
        let text = text.ok_or("There is no such file.")?;
        if self.old.is_empty() {
            return Err("The text to be replaced is empty; use write instead.".to_owned());
        }
        match text.matches(&self.old).count() {
            0 => Err("The text to be replaced is not in the file. Read it again.".to_owned()),
            1 => Ok(text.replacen(&self.old, &self.new, 1)),
            _ if self.all => Ok(text.replace(&self.old, &self.new)),
            many => Err(format!(
                "The text to be replaced is in the file {many} times. Give more of the text around it, or set `all`."
            )),
        }
    }
}

/// A file before and after.
#[derive(Debug)]
pub(crate) struct FileChange {
    pub(crate) place: WorkspacePath,
    /// `None` if there is no file yet.
    pub(crate) old: Option<String>,
    pub(crate) new: String,
}

impl FileChange {
    /// The change as an item of a tool call's content.
    pub(crate) fn diff(&self) -> Value {
        let operation = if self.old.is_some() { "modify" } else { "add" };
        let path = self.place.shown().to_string_lossy();
        let mut diff = json!({
            "type": "diff",
            "changes": [{ "operation": operation, "path": path, "fileType": "text" }],
        });
        let text = self.patch(&path);
        if text.len() <= MOST_PATCH {
            diff["patch"] = json!({ "format": "git_patch", "text": text });
        }
        diff
    }

    fn patch(&self, path: &str) -> String {
        let old = Text::from(self.old.as_deref().unwrap_or_default());
        let hunks = unified(&old, &Text::from(self.new.as_str()), path, CONTEXT);
        // Its own two lines of paths are for paths inside a repository.
        let hunks = hunks.splitn(3, '\n').nth(2).unwrap_or_default();
        let (mode, before) = match self.old {
            Some(_) => ("", path),
            None => ("new file mode 100644\n", "/dev/null"),
        };
        let names = if hunks.is_empty() { String::new() } else { format!("--- {before}\n+++ {path}\n") };
        format!("diff --git {path} {path}\n{mode}{names}{hunks}")
    }

    /// How large the change is, for the user.
    pub(crate) fn extent(&self) -> String {
        let old = Text::from(self.old.as_deref().unwrap_or_default());
        let hunks = nudge_text::diff::lines(&old, &Text::from(self.new.as_str()));
        let (removed, added) = hunks
            .iter()
            .fold((0, 0), |(removed, added), hunk| (removed + hunk.old.len(), added + hunk.new.len()));
        // A text that is not there has no line, though an empty one has.
        let removed = if self.old.is_some() { removed } else { 0 };
        format!("Added {}, removed {}.", lines(added), lines(removed))
    }

    /// What the model is told.
    pub(crate) fn summary(&self) -> String {
        let what = if self.old.is_some() { "changed" } else { "made" };
        format!("The file was {what}; it has {} now.", lines(self.new.lines().count()))
    }
}

fn lines(count: usize) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}
