//! The environment in which commands run: that of the editor, whichever process runs them.

use std::{any::Any, collections::BTreeMap, fmt, sync::Arc};

use crate::Id;

/// Environment variables by name. Their values may be keys, so they are never shown.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Environment(Arc<BTreeMap<String, String>>);

impl Environment {
    /// These variables and no others.
    pub fn new(variables: BTreeMap<String, String>) -> Self {
        Self(Arc::new(variables))
    }

    /// The variables, by name.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({} variables)", self.0.len())
    }
}

/// A connection of a client, by a number that no other connection of the process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// A request of a client, for which something is done elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestOrigin {
    /// Over which connection it came.
    pub connection: ConnectionId,
    /// By which id that connection knows it.
    pub id: Id,
}

/// What a turn takes over from the client that begins it.
#[derive(Debug, Clone, Default)]
pub struct ClientContext {
    /// What commands see of the environment; that of this process unless set.
    pub environment: Option<Environment>,
    /// Over which connection it came, if it came over one.
    pub connection: Option<ConnectionId>,
    /// Keeps what the client has said of itself, also when it has gone and its turn goes on.
    pub hold: ContextHold,
}

/// Something that is kept for as long as somebody has a context.
#[derive(Clone, Default)]
pub struct ContextHold(Option<Arc<dyn Any + Send + Sync>>);

impl ContextHold {
    /// Keeps this.
    pub fn new(kept: impl Any + Send + Sync) -> Self {
        Self(Some(Arc::new(kept)))
    }
}

impl fmt::Debug for ContextHold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContextHold({})", if self.0.is_some() { "kept" } else { "nothing" })
    }
}
