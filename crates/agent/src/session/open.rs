//! What is going on in a turn, and how it is put in order when the turn is cut short.

use std::time::Duration;

use nudge_backend::{BackendEvent, QuestionAnswer, UserMessage};
use nudge_process::ProcessTree;
use nudge_wire::{RawJson, Version};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{AgentSession, Halt, Outlet, command::terminated};
use crate::update;

/// How long a command may take to leave by itself.
const GRACE: Duration = Duration::from_millis(40);

/// What has begun and not ended.
#[derive(Default)]
pub(super) struct OpenWork {
    pub(super) streaming: bool,
    pub(super) paused: bool,
    pub(super) calls: Vec<OpenCall>,
    /// The command that runs here.
    pub(super) tree: Option<ProcessTree>,
    /// The terminal that shows it.
    pub(super) terminal: Option<String>,
    /// The terminal that the editor is about to open for us.
    pub(super) client_opens: Option<oneshot::Receiver<QuestionAnswer>>,
    /// The terminal that the editor runs for us.
    pub(super) client_terminal: Option<String>,
    /// The answer to a break-point.
    pub(super) steers: Option<oneshot::Receiver<Vec<UserMessage>>>,
}

/// A tool call that has been announced.
pub(super) struct OpenCall {
    pub(super) id: String,
    /// The model's name for it.
    pub(super) model_id: String,
    pub(super) started: bool,
    /// Whether its end has been reported.
    pub(super) ended: bool,
}

/// The id in the answer to `terminal/create`.
pub(super) fn terminal_id(opened: &RawJson) -> Option<String> {
    opened.get(&["terminalId"])?.to().ok()
}

impl Outlet {
    /// Kills what runs in a terminal of the editor and lets go of it. Nobody needs the answers.
    async fn end_client_terminal(&self, session: &str, id: &str) -> Result<(), Halt> {
        for method in ["terminal/kill", "terminal/release"] {
            let params = update::raw(&json!({ "sessionId": session, "terminalId": id }));
            drop(self.ask(Version::V1, method, params).await?);
        }
        Ok(())
    }
}

impl AgentSession {
    /// Ends what a turn has left open. After a turn that came to its end there is nothing to do.
    pub(super) async fn put_in_order(&mut self) -> Result<(), Halt> {
        self.work.all_is_over();
        self.stop_commands().await;
        self.end_stream().await?;
        self.end_terminals().await?;
        for call in std::mem::take(&mut self.open.calls) {
            if !call.ended {
                let mut fields = json!({ "status": "cancelled" });
                if call.started {
                    fields["capabilities"] = Value::Null;
                }
                self.outlet.update(update::tool_call(&call.id, fields)).await?;
                self.history.result(
                    &call.model_id,
                    "This was cancelled before it was done.".to_owned(),
                    true,
                );
            }
            if call.started {
                self.outlet.send(BackendEvent::ToolFinished(call.id.into())).await?;
            }
        }
        if let Some(mut steers) = self.open.steers.take() {
            steers.close();
            // They may have been given at the very moment, and are part of the transcript then.
            for steer in steers.try_recv().unwrap_or_default() {
                self.history.user(&steer, true);
            }
        }
        Ok(())
    }

    pub(super) async fn stop_commands(&mut self) {
        if let Some(tree) = self.open.tree.take() {
            tree.stop(GRACE).await;
        }
    }

    /// The flags are cleared after the events are out: a turn may be cut short in between.
    pub(super) async fn end_stream(&mut self) -> Result<(), Halt> {
        if self.open.paused {
            self.outlet.send(BackendEvent::Resumed).await?;
            self.open.paused = false;
        }
        if self.open.streaming {
            self.outlet.send(BackendEvent::StreamFinished).await?;
            self.open.streaming = false;
        }
        Ok(())
    }

    pub(super) async fn end_terminals(&mut self) -> Result<(), Halt> {
        // Each is forgotten after the events are out: this may be cut short in between.
        if let Some(id) = &self.open.terminal {
            self.outlet.update(update::own_terminal_ended(id, &terminated(), None)).await?;
            self.open.terminal = None;
        }
        if let Some(id) = &self.open.client_terminal {
            self.outlet.end_client_terminal(&self.id, id).await?;
            self.open.client_terminal = None;
        }
        if let Some(opens) = self.open.client_opens.take() {
            let (weak, outlet) = (self.outlet.events.downgrade(), self.outlet.clone());
            let Outlet { config, asked, scrubber, .. } = outlet;
            let session = self.id.clone();
            // The turn does not wait for the editor; the terminal must not stay, though, once it is there.
            tokio::spawn(async move {
                let id = opens.await.ok().and_then(|opened| terminal_id(&opened.ok()?));
                if let (Some(id), Some(events)) = (id, weak.upgrade()) {
                    let _ =
                        Outlet { config, events, asked, scrubber }.end_client_terminal(&session, &id).await;
                }
            });
        }
        Ok(())
    }
}
