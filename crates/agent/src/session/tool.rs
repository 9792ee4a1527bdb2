//! Running one tool call: permission, progress, result.

use std::{borrow::Cow, fmt::Write, sync::Arc};

use nudge_backend::{BackendEvent, is_unanswerable};
use nudge_workspace::{GuardedReason, WorkspacePath, blocking};
use serde_json::{Value, json};

use super::{
    AgentSession, Halt,
    ask::{GuardedDeed, PermissionVerdict, StandingPermission},
    stream::PlannedToolCall,
};
use crate::{
    tools::{
        self, EditInput, FileChange, ToolInput, ToolInvocation, ToolOutcome, WriteInput, files, program,
        scope,
    },
    update,
};

impl AgentSession {
    /// Runs a call and reports it. A call that cannot be run is a failed one; the turn goes on.
    pub(super) async fn call(&mut self, call: PlannedToolCall) -> Result<(), Halt> {
        self.learn_secrets();
        let outcome = match &call.tool {
            Err(why) => ToolOutcome::failed(why),
            Ok(tool) => self.outcome(&call.id, tool).await?,
        };
        self.finish(&call, outcome).await
    }

    async fn outcome(&mut self, id: &str, tool: &ToolInvocation) -> Result<ToolOutcome, Halt> {
        match tool {
            ToolInvocation::Read(read) => match self.roots.resolve(&read.path) {
                Err(why) => Ok(ToolOutcome::failed(&why.to_string())),
                Ok(place) => {
                    self.begin(id).await?;
                    self.read(&place, read).await
                }
            },
            ToolInvocation::List(list) => {
                self.begin(id).await?;
                Ok(tools::list::run(&self.roots, list.clone()).await)
            }
            ToolInvocation::Search(search) => {
                self.begin(id).await?;
                Ok(tools::search::run(&self.roots, search.clone()).await)
            }
            ToolInvocation::Write(write) => {
                let new = write.content.clone();
                self.change(id, WriteInput::NAME, &write.path, move |_| Ok(new)).await
            }
            ToolInvocation::Edit(edit) => {
                let edit = edit.clone();
                self.change(id, EditInput::NAME, &edit.path.clone(), move |old| edit.apply(old)).await
            }
            ToolInvocation::Run(run) => match self.may_run(id, &run.command).await? {
                PermissionVerdict::Refused(why) => Ok(ToolOutcome::failed(&why)),
                PermissionVerdict::Allowed => {
                    self.begin(id).await?;
                    self.run_command(id, run).await
                }
            },
        }
    }

    /// Says that the tool runs from now on.
    async fn begin(&mut self, id: &str) -> Result<(), Halt> {
        self.outlet.send(BackendEvent::ToolStarted(id.into())).await?;
        if let Some(call) = self.open.calls.iter_mut().find(|call| call.id == id) {
            call.started = true;
        }
        self.outlet.update(update::tool_call(id, json!({ "status": "in_progress" }))).await
    }

    async fn finish(&mut self, call: &PlannedToolCall, mut outcome: ToolOutcome) -> Result<(), Halt> {
        // What goes to the model; what goes to clients is looked at on its way.
        if let Cow::Owned(scrubbed) = self.outlet.scrubber.scrub(&outcome.output) {
            outcome.output = scrubbed;
        }
        let status = if outcome.failed { "failed" } else { "completed" };
        let mut fields = json!({ "status": status });
        if let Some(content) = outcome.content {
            fields["content"] = Value::Array(content);
            fields["rawOutput"] = json!({ "output": outcome.output });
        } else {
            fields["content"] = json!([update::text_content(&outcome.output)]);
        }
        self.outlet.update(update::tool_call(&call.id, fields)).await?;
        // No waiting in between: a turn that is cut short from here on must not report the call once more.
        self.history.result(&call.model_id, outcome.output, outcome.failed);
        let Some(at) = self.open.calls.iter().position(|open| open.id == call.id) else { return Ok(()) };
        self.open.calls[at].ended = true;
        if self.open.calls[at].started {
            self.outlet.send(BackendEvent::ToolFinished(call.id.as_str().into())).await?;
        }
        self.open.calls.remove(at);
        Ok(())
    }

    async fn may_run(&mut self, id: &str, command: &str) -> Result<PermissionVerdict, Halt> {
        let standing =
            scope(command).map(|scope| StandingPermission { key: scope.key(), what: scope.what() });
        let refused_by = program(command).map(|name| format!("run:{name}"));
        let subject = json!({ "type": "command", "command": command, "cwd": self.cwd.to_string_lossy(), "toolCallId": id });
        let title = "Run this command?".to_owned();
        let description = command.to_owned();
        self.permit(GuardedDeed { is_edit: false, standing, refused_by, title, description, subject }).await
    }

    /// Changes a file: shows the difference, asks, writes.
    async fn change(
        &mut self,
        id: &str,
        tool: &'static str,
        path: &str,
        make: impl FnOnce(Option<&str>) -> Result<String, String>,
    ) -> Result<ToolOutcome, Halt> {
        let place = match self.roots.resolve(path) {
            Ok(place) => place,
            Err(why) => return Ok(ToolOutcome::failed(&why.to_string())),
        };
        let old = match self.text_of(&place).await? {
            Ok(old) => old,
            Err(why) => return Ok(ToolOutcome::failed(&why)),
        };
        let new = match make(old.as_deref()) {
            Ok(new) => new,
            Err(why) => return Ok(ToolOutcome::failed(&why)),
        };
        let change = FileChange { place, old, new };
        let content = json!([change.diff()]);
        self.outlet.update(update::tool_call(id, json!({ "content": content }))).await?;
        let title = format!("Change {}?", change.place.shown().display());
        let guarded = self.guarded(path, &change.place).await;
        let mut description = change.extent();
        if let Some(why) = guarded {
            let _ = write!(description, " {why}");
        }
        let call = json!({ "toolCallId": id, "kind": EditInput::KIND, "content": content });
        let subject = json!({ "type": "tool_call", "toolCall": call });
        let is_edit = guarded.is_none();
        let what = "changes of files by this tool".to_owned();
        let standing = is_edit.then(|| StandingPermission { key: tool.to_owned(), what });
        let refused_by = Some(tool.to_owned());
        match self.permit(GuardedDeed { is_edit, standing, refused_by, title, description, subject }).await? {
            PermissionVerdict::Refused(why) => Ok(ToolOutcome::failed(&why)),
            PermissionVerdict::Allowed => {
                self.begin(id).await?;
                self.apply(&change).await
            }
        }
    }

    /// Why a change of this file is asked about whatever the mode and the user have said.
    async fn guarded(&self, path: &str, place: &WorkspacePath) -> Option<GuardedReason> {
        let (roots, path, place) = (Arc::clone(&self.roots), path.to_owned(), place.clone());
        blocking(move || roots.guarded(path, &place)).await
    }

    /// Writes what was agreed upon, unless the file is another by now.
    async fn apply(&mut self, change: &FileChange) -> Result<ToolOutcome, Halt> {
        match self.text_of(&change.place).await? {
            Ok(now) if now == change.old => {}
            Ok(_) => {
                return Ok(ToolOutcome::failed(
                    "The file has changed in the meantime. Read it again before changing it.",
                ));
            }
            Err(why) => return Ok(ToolOutcome::failed(&why)),
        }
        let path = change.place.shown().to_string_lossy();
        let asked = json!({ "path": path, "content": change.new });
        let written = match self.ask_client("fs/write_text_file", asked).await? {
            Ok(_) => Ok(()),
            Err(error) if is_unanswerable(&error) => {
                nudge_workspace::files::write(&change.place, &change.new).map_err(|why| why.to_string())
            }
            Err(_) => Err("The editor could not write the file.".to_owned()),
        };
        Ok(match written {
            Ok(()) => ToolOutcome::shown(change.summary(), vec![change.diff()]),
            Err(why) => ToolOutcome::failed(&why),
        })
    }

    async fn read(&mut self, place: &WorkspacePath, read: &tools::ReadInput) -> Result<ToolOutcome, Halt> {
        let mut asked = json!({ "path": place.shown().to_string_lossy() });
        if let Some(line) = read.line {
            asked["line"] = json!(line.max(1));
        }
        asked["limit"] = json!(read.lines());
        if let Some(text) = self.client_text(asked).await? {
            return Ok(tools::ReadInput::cut(&text));
        }
        let place = place.clone();
        Ok(match blocking(move || files::read(&place)).await {
            Ok(text) => read.part(&text),
            Err(why) => ToolOutcome::failed(&files::tell(&why)),
        })
    }

    /// The whole text of a file, as the editor or the disk has it; `None` if there is none.
    async fn text_of(&mut self, place: &WorkspacePath) -> Result<Result<Option<String>, String>, Halt> {
        let asked = json!({ "path": place.shown().to_string_lossy() });
        if let Some(text) = self.client_text(asked).await? {
            return Ok(Ok(Some(text)));
        }
        let place = place.clone();
        Ok(match blocking(move || files::read(&place)).await {
            Ok(text) => Ok(Some(text)),
            Err(files::ReadError::NotFound) => Ok(None),
            Err(why) => Err(files::tell(&why)),
        })
    }

    /// What the editor has; `None` if it does not offer to read files or could not.
    async fn client_text(&mut self, asked: Value) -> Result<Option<String>, Halt> {
        #[derive(serde::Deserialize)]
        struct Read {
            content: String,
        }
        let answer = self.ask_client("fs/read_text_file", asked).await?;
        let read = answer.ok().and_then(|read| read.to::<Read>().ok());
        Ok(read.map(|read| read.content))
    }
}
