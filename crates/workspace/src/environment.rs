//! The environment in which commands run: that of the editor, whichever process runs them.

use std::{collections::BTreeMap, fmt, sync::Arc};

use nudge_process::Command;

/// Environment variables by name. Their values may be keys, so they are never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Environment(Arc<BTreeMap<String, String>>);

impl Environment {
    /// These variables and no others.
    pub fn new(variables: BTreeMap<String, String>) -> Self {
        Self(Arc::new(variables))
    }

    /// A command that sees these variables, and none of this process's own.
    pub fn apply(&self, mut command: Command) -> Command {
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_none_or(|name| !self.0.contains_key(name)) {
                command = command.env_remove(name);
            }
        }
        self.0.iter().fold(command, |command, (name, value)| command.env(name, value))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({} variables)", self.0.len())
    }
}
