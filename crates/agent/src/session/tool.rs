//! Running one tool call: what a tool is given to do its work, progress, result.

use std::{borrow::Cow, sync::Arc};

use nudge_backend::{BackendEvent, CancellableWork, QuestionAnswer};
use nudge_workspace::SessionDirectories;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{
    AgentSession, Halt,
    ask::{GuardedDeed, PermissionVerdict},
    stream::PlannedToolCall,
};
use crate::{
    tools::{RunInput, ToolOutcome},
    update,
};

/// A call that is being run, and what its tool can do.
pub(crate) struct ToolRun<'a> {
    session: &'a mut AgentSession,
    id: &'a str,
    /// Notified when the user wants this call cancelled, and nothing else.
    cancel_wanted: Arc<Notify>,
}

impl ToolRun<'_> {
    /// The call's id.
    pub(crate) fn id(&self) -> &str {
        self.id
    }

    /// The folders that it may look into.
    pub(crate) fn directories(&self) -> Arc<SessionDirectories> {
        Arc::clone(&self.session.roots)
    }

    /// The folder in which commands run.
    pub(crate) fn cwd(&self) -> Cow<'_, str> {
        self.session.cwd.to_string_lossy()
    }

    /// Says that the tool runs from now on. Until it is done, the call can be cancelled by itself.
    pub(crate) async fn begin(&mut self) -> Result<(), Halt> {
        let session = &mut *self.session;
        session.work.begins(CancellableWork::ToolCall(self.id.to_owned()), Arc::clone(&self.cancel_wanted));
        session.outlet.send(BackendEvent::ToolStarted(self.id.into())).await?;
        if let Some(call) = session.open.calls.iter_mut().find(|call| call.id == self.id) {
            call.started = true;
        }
        session
            .outlet
            .update(update::tool_call(
                self.id,
                json!({ "status": "in_progress", "capabilities": { "cancel": {} } }),
            ))
            .await
    }

    /// Shows more of the call: the fields of a `tool_call_update`.
    pub(crate) async fn show(&self, fields: Value) -> Result<(), Halt> {
        self.session.outlet.update(update::tool_call(self.id, fields)).await
    }

    /// Tells something else of the session.
    pub(crate) async fn tell(&self, update: nudge_wire::RawJson) -> Result<(), Halt> {
        self.session.outlet.update(update).await
    }

    /// Asks for permission, as far as nobody has decided yet.
    pub(crate) async fn permit(&mut self, deed: GuardedDeed) -> Result<PermissionVerdict, Halt> {
        self.session.permit(deed).await
    }

    /// Asks the editor.
    pub(crate) async fn ask_client(
        &mut self,
        method: &'static str,
        params: Value,
    ) -> Result<QuestionAnswer, Halt> {
        self.session.ask_client(method, params).await
    }

    /// Has the user fill in a form.
    pub(crate) async fn ask_form(&mut self, message: &str, schema: &Value) -> Result<QuestionAnswer, Halt> {
        let params =
            json!({ "mode": "form", "toolCallId": self.id, "message": message, "requestedSchema": schema });
        self.session.ask_form(params).await
    }

    /// Runs a command and shows its output.
    pub(crate) async fn run_command(&mut self, run: &RunInput) -> Result<ToolOutcome, Halt> {
        self.session.run_command(self.id, run).await
    }
}

impl AgentSession {
    /// Runs a call and reports it. A call that cannot be run is a failed one; the turn goes on.
    pub(super) async fn call(&mut self, call: PlannedToolCall) -> Result<(), Halt> {
        self.learn_secrets();
        let PlannedToolCall { id, model_id, tool } = call;
        let cancel_wanted = Arc::<Notify>::default();
        let outcome = match tool {
            Err(why) => Some(ToolOutcome::failed(&why)),
            Ok(tool) => {
                let mut run = ToolRun { session: self, id: &id, cancel_wanted: Arc::clone(&cancel_wanted) };
                tokio::select! {
                    biased;
                    outcome = tool.run(&mut run) => Some(outcome?),
                    () = cancel_wanted.notified() => None,
                }
            }
        };
        self.work.all_is_over();
        if let Some(outcome) = outcome {
            let status = if outcome.failed { "failed" } else { "completed" };
            return self.finish(&id, &model_id, status, outcome).await;
        }
        self.stop_commands().await;
        self.end_terminals().await?;
        let what = "The user has cancelled this call. It may have been done in part.";
        // What it has shown stays.
        let outcome = ToolOutcome { content: Some(Vec::new()), ..ToolOutcome::failed(what) };
        self.finish(&id, &model_id, "cancelled", outcome).await
    }

    async fn finish(
        &mut self,
        id: &str,
        model_id: &str,
        status: &str,
        mut outcome: ToolOutcome,
    ) -> Result<(), Halt> {
        // What goes to the model; what goes to clients is looked at on its way.
        if let Cow::Owned(scrubbed) = self.outlet.scrubber.scrub(&outcome.output) {
            outcome.output = scrubbed;
        }
        let mut fields = json!({ "status": status });
        if let Some(content) = outcome.content {
            if !content.is_empty() {
                fields["content"] = Value::Array(content);
            }
            fields["rawOutput"] = json!({ "output": outcome.output });
        } else {
            fields["content"] = json!([update::text_content(&outcome.output)]);
        }
        if self.open.calls.iter().any(|open| open.id == id && open.started) {
            fields["capabilities"] = Value::Null;
        }
        self.outlet.update(update::tool_call(id, fields)).await?;
        // No waiting in between: a turn that is cut short from here on must not report the call once more.
        self.history.result(model_id, outcome.output, outcome.failed);
        let Some(at) = self.open.calls.iter().position(|open| open.id == id) else { return Ok(()) };
        self.open.calls[at].ended = true;
        if self.open.calls[at].started {
            self.outlet.send(BackendEvent::ToolFinished(id.into())).await?;
        }
        self.open.calls.remove(at);
        Ok(())
    }
}
