//! What runs the turns of a session: the built-in agent, or one that was adapted.

use std::ops::{Deref, DerefMut};

use nudge_agent::BuiltInAgent;
use nudge_backend::Backend;

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
