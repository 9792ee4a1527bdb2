//! Where Nudge keeps things: the data folder, the store in it, and the daemon's socket.

use std::{
    ffi::OsString,
    hash::{DefaultHasher, Hash, Hasher},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// Longer names of sockets are refused by the system.
const LONGEST_SOCKET: usize = 100;

/// Where sessions and what is learned are kept.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Place {
    /// Keep sessions and what is learned in DIR instead of the user's data folder; an empty name keeps nothing
    #[arg(long, value_name = "DIR", env = "NUDGE_DATA", hide_env_values = true, global = true)]
    pub(crate) data: Option<OsString>,

    /// Keep sessions at URL: `memory`, `sqlite:PATH` or a path [default: sessions.db in the data folder]
    #[arg(long, value_name = "URL", env = "NUDGE_STORE", hide_env_values = true, global = true)]
    pub(crate) store: Option<String>,
}

impl Place {
    /// The data folder, if there is one: unless told, that of the XDG base directories.
    pub(crate) fn data_dir(&self) -> Option<PathBuf> {
        if let Some(data) = &self.data {
            return (!data.is_empty()).then(|| absolute(Path::new(data)));
        }
        let absolute =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
        Some(data.join("nudge"))
    }

    /// The file that the daemon logs to, if there is a data folder.
    pub(crate) fn log_file(&self) -> Option<PathBuf> {
        Some(self.data_dir()?.join("daemon.log"))
    }

    /// The address of the store.
    pub(crate) fn store_url(&self) -> String {
        if let Some(store) = &self.store {
            return absolute_store(store);
        }
        match self.data_dir() {
            Some(dir) => format!("sqlite:{}", dir.join("sessions.db").display()),
            None => "memory".to_owned(),
        }
    }

    /// The folder in which processes show that they are alive: beside the store, so that all who share it look there.
    pub(crate) fn owners(&self) -> Option<PathBuf> {
        let url = self.store_url();
        if is_memory(&url) {
            return None;
        }
        let path = absolute(Path::new(url.strip_prefix("sqlite:").unwrap_or(&url)));
        Some(path.parent()?.join("owners"))
    }

    /// The socket of the daemon for this place; `None` if nothing is kept, and so there is nothing to share.
    pub(crate) fn socket(&self) -> Option<PathBuf> {
        let dir = self.data_dir()?;
        if self.store.as_deref().is_some_and(is_memory) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        (&dir, self.store_url()).hash(&mut hasher);
        let name = format!("daemon-{:016x}.sock", hasher.finish());
        let socket = dir.join(&name);
        if socket.as_os_str().as_bytes().len() <= LONGEST_SOCKET {
            return Some(socket);
        }
        let runtime =
            std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
        let user = rustix::process::getuid().as_raw();
        let dir = runtime
            .map_or_else(|| std::env::temp_dir().join(format!("nudge-{user}")), |dir| dir.join("nudge"));
        Some(dir.join(name))
    }
}

fn is_memory(url: &str) -> bool {
    matches!(url, "memory" | "sqlite::memory:")
}

/// The same file for the daemon, which runs in another folder. What is no file is for the store to refuse.
fn absolute_store(url: &str) -> String {
    let path = url.strip_prefix("sqlite:").unwrap_or(url);
    let path = path.strip_prefix("//").unwrap_or(path);
    if is_memory(url) || path.is_empty() || path.contains("://") {
        return url.to_owned();
    }
    format!("sqlite:{}", absolute(Path::new(path)).display())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
