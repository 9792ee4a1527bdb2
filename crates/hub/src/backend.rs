//! What runs the turns of a session: the built-in agent, or one that was adapted.

mod adapted;
mod built_in;

use std::sync::Arc;

use nudge_bridge::{IndexedUpdate, ToV2, UpdateKind, prompt_answer};
use nudge_mailbox::InStream;
use nudge_peer::{RawNotification, RawRequest, Responder, Unhandled};
use nudge_wire::{Error, RawJson, Version};
use nudge_workspace::Environment;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::{own_updates, shape};

pub(crate) use adapted::Adapted;
pub(crate) use built_in::BuiltIn;

/// The agent of one session.
pub(crate) enum Backend {
    BuiltIn(BuiltIn),
    Adapted(Box<Adapted>),
}

/// Something the user said, on its way to the agent.
#[derive(Debug, Clone)]
pub(crate) struct UserMessage {
    pub(crate) id: String,
    /// An array of content blocks.
    pub(crate) content: RawJson,
    /// The params of the prompt it came in, and their version.
    pub(crate) params: Option<(Version, RawJson)>,
}

/// What the agent does.
pub(crate) enum Event {
    Update(IndexedUpdate),
    /// A turn runs that the agent began by itself.
    TurnStarted,
    StreamStarted,
    StreamFinished,
    ToolStarted(Arc<str>),
    ToolFinished(Arc<str>),
    Paused,
    Resumed,
    BreakPoint(AtBreak),
    Permission(Question),
    /// The editor is asked for something.
    Client(ClientRequest),
    /// A notification for the clients, that is no update.
    Notification(RawNotification),
    /// Settings to be kept.
    Config(RawJson),
    Ended(Ended),
    /// The agent is gone, and is started again.
    Lost(Error),
    /// It is back. It knows the session by this id, from its own memory or from a recap.
    Back {
        id: Arc<str>,
        is_recap: bool,
    },
}

/// How a turn ended.
pub(crate) struct Ended {
    /// The `state_update` that says so, in version 2.
    pub(crate) state: IndexedUpdate,
    /// The answer to a prompt of version 1 that waits for the end.
    pub(crate) answer: Result<RawJson, Error>,
}

impl Ended {
    pub(crate) fn stopped(stop_reason: &str) -> Self {
        Self { state: own_updates::idle(Some(stop_reason), None), answer: Ok(shape::stopped(stop_reason)) }
    }

    pub(crate) fn failed(error: Error) -> Self {
        Self { state: own_updates::idle(Some("error"), Some(&error)), answer: Err(error) }
    }
}

/// An agent that stands at a break-point and waits for what goes in.
pub(crate) enum AtBreak {
    BuiltIn(oneshot::Sender<Vec<nudge_agent::UserMessage>>),
    Adapted(oneshot::Sender<Vec<nudge_adapt::UserMessage>>),
}

impl AtBreak {
    pub(crate) fn send(self, messages: Vec<UserMessage>) {
        // An agent that is gone does not wait.
        let _ = match self {
            Self::BuiltIn(reply) => reply.send(built_in::messages(messages)).is_ok(),
            Self::Adapted(reply) => reply.send(adapted::messages(messages)).is_ok(),
        };
    }
}

/// A question to the user.
pub(crate) struct Question {
    /// The version of the params and of the answer.
    pub(crate) version: Version,
    /// The params of `session/request_permission`. Those of an adapted agent name the session.
    pub(crate) params: RawJson,
    pub(crate) answer: Answer,
}

/// Where an answer goes.
pub(crate) enum Answer {
    BuiltIn(oneshot::Sender<RawJson>),
    Adapted(Responder),
}

impl Answer {
    pub(crate) fn send(self, outcome: RawJson) {
        match self {
            Self::BuiltIn(reply) => {
                let _ = reply.send(outcome);
            }
            Self::Adapted(responder) => {
                tokio::spawn(async move { responder.respond_raw(&outcome).await });
            }
        }
    }

    /// Nobody answers any more.
    pub(crate) fn cancel(self) {
        // The built-in agent takes a dropped sender for it.
        if let Self::Adapted(_) = self {
            self.send(shape::raw(&json!({ "outcome": { "outcome": "cancelled" } })));
        }
    }
}

/// A request of the agent to the editor.
pub(crate) enum ClientRequest {
    BuiltIn { method: &'static str, params: RawJson, answer: oneshot::Sender<nudge_agent::ClientAnswer> },
    Adapted { version: Version, request: RawRequest },
}

impl ClientRequest {
    /// How long what it says is.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::BuiltIn { params, .. } => params.as_str().len(),
            Self::Adapted { request, .. } => request.params().map_or(0, |params| params.as_str().len()),
        }
    }
}

/// How a session ends for its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parting {
    /// It may be taken up again.
    Leave,
    Close,
    Delete,
}

impl Backend {
    /// What it does next; `None` once it has ended.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        match self {
            Self::BuiltIn(agent) => agent.next().await,
            Self::Adapted(agent) => Some(agent.next().await),
        }
    }

    /// What it has done already.
    pub(crate) fn try_next(&mut self) -> Option<Event> {
        match self {
            Self::BuiltIn(agent) => agent.try_next(),
            Self::Adapted(agent) => agent.try_next(),
        }
    }

    /// Starts a turn. Commands of the built-in agent see this environment; an adapted agent has that of its process.
    pub(crate) fn prompt(&mut self, messages: Vec<UserMessage>, environment: Option<Environment>) {
        match self {
            Self::BuiltIn(agent) => agent.prompt(messages, environment),
            Self::Adapted(agent) => agent.session.prompt(adapted::messages(messages)),
        }
    }

    /// Gives steers to an agent that takes them while it works.
    pub(crate) fn steer(&mut self, messages: Vec<UserMessage>) {
        if let Self::Adapted(agent) = self {
            agent.session.steer(adapted::messages(messages));
        }
    }

    /// What a steer does to a stream, for the mailbox: whether it is given out in its midst.
    pub(crate) fn in_stream(&self) -> InStream {
        match self {
            Self::Adapted(agent) if agent.takes_steers() => InStream::Interrupt,
            _ => InStream::Finish,
        }
    }

    /// Whether a steer that waits cuts the stream off.
    pub(crate) fn interrupts(&self) -> bool {
        match self {
            Self::BuiltIn(agent) => agent.option("steer_in_stream").is_none_or(|value| value == "interrupt"),
            Self::Adapted(agent) => !agent.takes_steers(),
        }
    }

    pub(crate) fn interrupt(&mut self) {
        match self {
            Self::BuiltIn(agent) => agent.interrupt(),
            Self::Adapted(agent) => agent.session.interrupt(),
        }
    }

    pub(crate) fn cancel(&mut self) {
        match self {
            Self::BuiltIn(agent) => agent.cancel(),
            Self::Adapted(agent) => agent.session.cancel(),
        }
    }

    /// Passes a message on that only the agent understands, if it can. It takes up `room` until the agent has it.
    pub(crate) fn pass(&mut self, from: Version, message: Unhandled, room: Option<OwnedSemaphorePermit>) {
        match self {
            Self::Adapted(agent) => agent.session.pass(from, message, room),
            Self::BuiltIn(_) => {
                tokio::spawn(message.refuse());
            }
        }
    }

    /// The version the agent speaks.
    pub(crate) fn version(&self) -> Version {
        match self {
            Self::BuiltIn(_) => Version::V2,
            Self::Adapted(agent) => agent.version,
        }
    }

    /// The result of the request that brought the session into use, as it would be now, in the agent's version.
    pub(crate) fn opened(&self, id: Option<&str>, meta: &RawJson) -> RawJson {
        match self {
            Self::BuiltIn(agent) => shape::opened(id, &agent.options(), meta),
            Self::Adapted(agent) => agent.opened(id, meta),
        }
    }

    /// What a client that joins is told of now.
    pub(crate) fn news(&self) -> Vec<IndexedUpdate> {
        match self {
            Self::BuiltIn(agent) => vec![agent.commands()],
            Self::Adapted(agent) => agent.news(),
        }
    }

    /// Whether prompts and injects may have this kind of content.
    pub(crate) fn takes(&self, kind: &str) -> bool {
        match self {
            Self::BuiltIn(_) => matches!(kind, "text" | "resource_link" | "resource"),
            Self::Adapted(agent) => agent.takes(kind),
        }
    }

    /// Whether sessions are named after their first message.
    pub(crate) fn wants_title(&self) -> bool {
        matches!(self, Self::BuiltIn(_))
    }

    /// Ends it with everything it has started.
    pub(crate) async fn end(&mut self, parting: Parting) {
        match self {
            Self::BuiltIn(agent) => agent.end().await,
            Self::Adapted(agent) => match parting {
                Parting::Leave => {}
                Parting::Close => agent.session.part("session/close").await,
                Parting::Delete => agent.session.part("session/delete").await,
            },
        }
    }
}

/// How an adapted agent's turn ended, in the words of both versions.
pub(crate) fn ended(end: nudge_adapt::End) -> Ended {
    let idle = |raw| IndexedUpdate::new(UpdateKind::StateUpdate, raw);
    match end {
        nudge_adapt::End::Answered(result) => {
            Ended { state: idle(ToV2::new("").turn_ended(&result).remove(0)), answer: Ok(result) }
        }
        nudge_adapt::End::State(state) => {
            let answer = prompt_answer(&state)
                .map_err(|error| error.to().unwrap_or_else(|_| Error::internal("The turn failed")));
            Ended { state: idle(state), answer }
        }
        nudge_adapt::End::Failed(error) => Ended::failed(error),
    }
}

/// The current value of an option that is a choice.
fn option(options: &RawJson, id: &str) -> Option<String> {
    let options: Vec<Value> = options.to().ok()?;
    let option = options.into_iter().find(|option| option["configId"] == id)?;
    option["currentValue"].as_str().map(str::to_owned)
}
