//! Names for the tool calls of models that give them none.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// What every name that is given here begins with.
const GIVEN: &str = "nudge_";

/// Names calls so that no two of a session have the same name, whoever reads them.
#[derive(Debug, Clone)]
pub(crate) struct CallNaming {
    seed: u64,
    given: Arc<AtomicU64>,
}

impl CallNaming {
    /// Names that begin with a random number.
    pub(crate) fn random() -> Self {
        Self::seeded(getrandom::u64().unwrap_or_default())
    }

    /// Names that begin with this number.
    pub(crate) fn seeded(seed: u64) -> Self {
        Self { seed, given: Arc::default() }
    }

    /// A name that was not given before.
    pub(crate) fn name(&self) -> String {
        format!("{GIVEN}{:016x}_{}", self.seed, self.given.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether a name is one that was given here and not by the model.
    pub(crate) fn is_given(id: &str) -> bool {
        id.starts_with(GIVEN)
    }
}
