//! The environment in which commands run: that of the editor, whichever process runs them.

use std::{collections::BTreeMap, fmt, sync::Arc};

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
