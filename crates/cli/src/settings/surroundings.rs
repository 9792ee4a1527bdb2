//! What a process finds around it: the environment, and the folder that it was started in.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    path::PathBuf,
};

/// All that settings depend on beside files and the command line.
#[derive(Debug, Default)]
pub(crate) struct SettingsContext {
    pub(super) variables: HashMap<OsString, OsString>,
    pub(super) cwd: Option<PathBuf>,
}

impl SettingsContext {
    /// Those of this process.
    pub(super) fn of_process() -> Self {
        Self { variables: std::env::vars_os().collect(), cwd: std::env::current_dir().ok() }
    }

    /// A variable, if it is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A variable that names a folder, which it does only if the name begins at the root.
    pub(super) fn folder(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The user's own folder.
    pub(super) fn home(&self) -> Option<PathBuf> {
        self.folder("HOME")
    }
}
