//! The tools `write` and `edit`, and how a change is shown.

use std::fmt::Write;

use nudge_text::{Text, diff::unified};
use nudge_workspace::{GuardedReason, WorkspacePath, blocking};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    ToolOutcome, files,
    spec::{ToolInput, brief, flag_field, path_field, text_field},
};
use crate::session::{GuardedDeed, Halt, PermissionVerdict, StandingPermission, ToolRun};

/// How long a patch may be to be shown.
const MOST_PATCH: usize = 256 * 1024;
/// Lines around a change.
const CONTEXT: usize = 3;

/// The input of `write`.
#[derive(Debug, Deserialize)]
pub(crate) struct WriteInput {
    path: String,
    content: String,
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

    async fn run(self, run: &mut ToolRun<'_>) -> Result<ToolOutcome, Halt> {
        let Self { path, content } = self;
        change(run, Self::NAME, &path, |_| Ok(content)).await
    }
}

/// The input of `edit`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct EditInput {
    path: String,
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

    async fn run(self, run: &mut ToolRun<'_>) -> Result<ToolOutcome, Halt> {
        change(run, Self::NAME, &self.path, |old| self.apply(old)).await
    }
}

impl EditInput {
    /// The text after the edit, or why there is none.
    fn apply(&self, text: Option<&str>) -> Result<String, String> {
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

/// Changes a file: shows the difference, asks, writes.
async fn change(
    run: &mut ToolRun<'_>,
    tool: &'static str,
    path: &str,
    make: impl FnOnce(Option<&str>) -> Result<String, String>,
) -> Result<ToolOutcome, Halt> {
    let place = match run.directories().resolve(path) {
        Ok(place) => place,
        Err(why) => return Ok(ToolOutcome::failed(&why.to_string())),
    };
    let old = match files::text_of(run, &place).await? {
        Ok(old) => old,
        Err(why) => return Ok(ToolOutcome::failed(&why)),
    };
    let new = match make(old.as_deref()) {
        Ok(new) => new,
        Err(why) => return Ok(ToolOutcome::failed(&why)),
    };
    let change = FileChange { place, old, new };
    run.show(json!({ "content": [change.diff()] })).await?;
    let guarded = guarded(run, path, &change.place).await;
    let deed = change.deed(run.id(), tool, guarded);
    match run.permit(deed).await? {
        PermissionVerdict::Refused(why) => Ok(ToolOutcome::failed(&why)),
        PermissionVerdict::Allowed => {
            run.begin().await?;
            change.apply(run).await
        }
    }
}

/// Why a change of this file is asked about whatever the mode and the user have said.
async fn guarded(run: &ToolRun<'_>, path: &str, place: &WorkspacePath) -> Option<GuardedReason> {
    let (roots, path, place) = (run.directories(), path.to_owned(), place.clone());
    blocking(move || roots.guarded(path, &place)).await
}

/// A file before and after.
#[derive(Debug)]
struct FileChange {
    place: WorkspacePath,
    /// `None` if there is no file yet.
    old: Option<String>,
    new: String,
}

impl FileChange {
    fn deed(&self, id: &str, tool: &'static str, guarded: Option<GuardedReason>) -> GuardedDeed {
        let title = format!("Change {}?", self.place.shown().display());
        let mut description = self.extent();
        if let Some(why) = guarded {
            let _ = write!(description, " {why}");
        }
        let call = json!({ "toolCallId": id, "kind": EditInput::KIND, "content": [self.diff()] });
        let subject = json!({ "type": "tool_call", "toolCall": call });
        let is_edit = guarded.is_none();
        let what = "changes of files by this tool".to_owned();
        let standing = is_edit.then(|| StandingPermission { key: tool.to_owned(), what });
        let refused_by = Some(tool.to_owned());
        GuardedDeed { is_edit, standing, refused_by, title, description, subject }
    }

    /// Writes what was agreed upon, unless the file is another by now.
    async fn apply(&self, run: &mut ToolRun<'_>) -> Result<ToolOutcome, Halt> {
        match files::text_of(run, &self.place).await? {
            Ok(now) if now == self.old => {}
            Ok(_) => {
                return Ok(ToolOutcome::failed(
                    "The file has changed in the meantime. Read it again before changing it.",
                ));
            }
            Err(why) => return Ok(ToolOutcome::failed(&why)),
        }
        Ok(match files::write(run, &self.place, &self.new).await? {
            Ok(()) => ToolOutcome::shown(self.summary(), vec![self.diff()]),
            Err(why) => ToolOutcome::failed(&why),
        })
    }

    /// The change as an item of a tool call's content.
    fn diff(&self) -> Value {
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
    fn extent(&self) -> String {
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
    fn summary(&self) -> String {
        let what = if self.old.is_some() { "changed" } else { "made" };
        format!("The file was {what}; it has {} now.", lines(self.new.lines().count()))
    }
}

fn lines(count: usize) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}
