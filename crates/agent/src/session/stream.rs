//! One question to the model, and its answer as it comes.

use std::sync::Arc;

use futures_util::StreamExt;
use nudge_backend::BackendEvent;
use nudge_model::{AnswerPiece, ModelRequest, StopReason, ToolCall};

use super::{AgentSession, Halt, open::OpenCall};
use crate::{tools, tools::ToolInvocation, update};

const SYSTEM: &str = "You are a coding agent. You work in the user's workspace with the tools you are given. Paths are \
    relative to the workspace. Be brief. What the user says while you work is more recent than what they said before.";

/// How many tools one answer may call; more are not run.
const MOST_CALLS: usize = 64;

/// An answer that is over.
pub(super) struct ModelAnswer {
    pub(super) calls: Vec<PlannedToolCall>,
    pub(super) stop: StopReason,
    /// Whether the user interrupted it.
    pub(super) was_cut: bool,
}

/// A tool call to be run.
pub(super) struct PlannedToolCall {
    pub(super) id: String,
    pub(super) model_id: String,
    /// Or why it cannot be.
    pub(super) tool: Result<ToolInvocation, String>,
}

impl AgentSession {
    pub(super) async fn answer(&mut self) -> Result<ModelAnswer, Halt> {
        let request = ModelRequest {
            system: SYSTEM.to_owned(),
            messages: self.history.messages(),
            tools: tools::specs(),
        };
        let control = Arc::clone(&self.control);
        let mut pieces = self.model.stream(request);
        self.outlet.send(BackendEvent::StreamStarted).await?;
        self.open.streaming = true;
        self.history.agent();
        let mut ids = MessageIds::default();
        let mut answer = ModelAnswer { calls: Vec::new(), stop: StopReason::EndTurn, was_cut: false };
        loop {
            let piece = tokio::select! {
                biased;
                () = control.interrupted(), if !self.open.paused => {
                    answer.was_cut = true;
                    break;
                }
                piece = pieces.next() => piece,
            };
            match piece {
                None => break,
                Some(Err(error)) => return Err(Halt::Failed(error)),
                Some(Ok(AnswerPiece::Stop(stop))) => {
                    answer.stop = stop;
                    break;
                }
                Some(Ok(AnswerPiece::ToolCall(call))) if answer.calls.len() < MOST_CALLS => {
                    answer.calls.push(self.announce(call).await?);
                }
                Some(Ok(piece)) => self.pass_on(piece, &mut ids).await?,
            }
        }
        drop(pieces);
        self.end_stream().await?;
        Ok(answer)
    }

    async fn pass_on(&mut self, piece: AnswerPiece, ids: &mut MessageIds) -> Result<(), Halt> {
        match piece {
            AnswerPiece::Text(text) => {
                let id = ids.text.get_or_insert_with(|| self.ids.mint("msg"));
                self.outlet.update(update::message_chunk("agent_message_chunk", id, &text)).await?;
                self.history.text(&text);
            }
            AnswerPiece::Thought(text) => {
                let id = ids.thought.get_or_insert_with(|| self.ids.mint("thought"));
                self.outlet.update(update::message_chunk("agent_thought_chunk", id, &text)).await?;
            }
            AnswerPiece::Plan(entries) => self.outlet.update(update::plan("plan", &entries)).await?,
            AnswerPiece::Usage { used, size } => self.outlet.update(update::usage(used, size)).await?,
            AnswerPiece::Paused => self.pause().await?,
            AnswerPiece::Resumed => {
                self.outlet.send(BackendEvent::Resumed).await?;
                self.open.paused = false;
            }
            _ => {}
        }
        Ok(())
    }

    async fn pause(&mut self) -> Result<(), Halt> {
        self.outlet.send(BackendEvent::Paused).await?;
        self.open.paused = true;
        let more = "What you say meanwhile is delivered when it goes on.";
        self.outlet.update(update::notice("info", "The model's provider asks to wait", more)).await
    }

    /// Tells of a call that the model wants, before it is run.
    async fn announce(&mut self, call: ToolCall) -> Result<PlannedToolCall, Halt> {
        let id = self.ids.mint("call");
        let tool = ToolInvocation::read(&call);
        let shown = tools::describe(&call, tool.as_ref().ok(), &self.roots);
        self.outlet.update(update::tool_call(&id, shown)).await?;
        let model_id = call.id.clone();
        self.history.call(call);
        self.open.calls.push(OpenCall {
            id: id.clone(),
            model_id: model_id.clone(),
            started: false,
            ended: false,
        });
        Ok(PlannedToolCall { id, model_id, tool })
    }
}

/// The ids of the messages of one answer, minted when they are needed.
#[derive(Default)]
struct MessageIds {
    text: Option<String>,
    thought: Option<String>,
}
