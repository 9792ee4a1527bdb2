//! What runs the turns of a session: the built-in agent, or one that was adapted.

use std::ops::{Deref, DerefMut};

use nudge_agent::BuiltInAgent;
use nudge_backend::{Backend, TurnEnd};
use nudge_bridge::{IndexedUpdate, ToV2, UpdateKind, prompt_answer};
use nudge_wire::{Error, RawJson};

use crate::own_updates;

/// The agent of one session.
pub(crate) enum SessionAgent {
    BuiltIn(Box<BuiltInAgent>),
    Adapted(Box<nudge_adapt::Session>),
}

impl Deref for SessionAgent {
    type Target = dyn Backend;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::BuiltIn(agent) => &**agent,
            Self::Adapted(agent) => &**agent,
        }
    }
}

impl DerefMut for SessionAgent {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::BuiltIn(agent) => &mut **agent,
            Self::Adapted(agent) => &mut **agent,
        }
    }
}

/// How a turn ended, in the words of both versions.
pub(crate) struct ToldEnd {
    /// The `state_update` that says so, in version 2.
    pub(crate) state: IndexedUpdate,
    /// The answer to a prompt of version 1 that waits for the end.
    pub(crate) answer: Result<RawJson, Error>,
}

impl ToldEnd {
    pub(crate) fn new(end: TurnEnd) -> Self {
        let told = |raw| IndexedUpdate::new(UpdateKind::StateUpdate, raw);
        match end {
            TurnEnd::Answered(result) => {
                Self { state: told(ToV2::new("").turn_ended(&result).remove(0)), answer: Ok(result) }
            }
            TurnEnd::State(state) => {
                let answer = prompt_answer(&state)
                    .map_err(|error| error.to().unwrap_or_else(|_| Error::internal("The turn failed")));
                Self { state: told(state), answer }
            }
            TurnEnd::Failed(error) => {
                Self { state: own_updates::idle(Some("error"), Some(&error)), answer: Err(error) }
            }
        }
    }
}
