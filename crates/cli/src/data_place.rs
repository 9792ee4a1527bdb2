//! Where Nudge keeps things: the data folder, the store in it, and the daemon's socket.

use std::{
    ffi::OsString,
    hash::{DefaultHasher, Hash, Hasher},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::settings::LoadedSettings;

/// Longer names of sockets are refused by the system.
const LONGEST_SOCKET: usize = 100;

/// Where sessions and what is learned are kept.
#[derive(Debug, Clone)]
pub(crate) struct DataPlace {
    /// The data folder, if one is named; an empty name keeps nothing.
    pub(crate) data: Option<OsString>,
    /// The store, if one is named.
    pub(crate) store: Option<String>,
    /// The settings file that a daemon of this place is to read, if one is named; an empty name stands for none.
    pub(crate) config: Option<OsString>,
    /// Whether keys are put into the keyring of the system.
    pub(crate) has_keyring: bool,
}

impl DataPlace {
    /// The one that the settings choose.
    pub(crate) fn chosen(loaded: &LoadedSettings) -> Self {
        let LoadedSettings { settings, places, .. } = loaded;
        let user = || places.user.clone().unwrap_or_default().into_os_string();
        Self {
            data: settings.data_dir.clone(),
            store: settings.store_url.clone(),
            config: places.is_named.then(user),
            has_keyring: settings.login_keyring,
        }
    }

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

/// Whether nothing is kept at this address.
pub(crate) fn is_memory(url: &str) -> bool {
    matches!(url, "memory" | "sqlite::memory:")
}

/// The same file for the daemon, which runs in another folder.
fn absolute_store(url: &str) -> String {
    match path_of_store(url) {
        Some(path) => format!("sqlite:{}", absolute(Path::new(path)).display()),
        None => url.to_owned(),
    }
}

/// The file of a store, if it is one. What is none is for the store to refuse.
pub(crate) fn path_of_store(url: &str) -> Option<&str> {
    let path = url.strip_prefix("sqlite:").unwrap_or(url);
    let path = path.strip_prefix("//").unwrap_or(path);
    (!is_memory(url) && !path.is_empty() && !path.contains("://")).then_some(path)
}

/// The address of a store for people to look at: of one that is no file, neither user nor query are shown, which may hold
/// passwords.
pub(crate) fn shown_store(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://").filter(|_| path_of_store(url).is_none()) else {
        return url.to_owned();
    };
    // A password may have any character in it: all up to the last `@` counts as one.
    let (user, host) = rest.rsplit_once('@').map_or(("", rest), |(_, host)| ("***@", host));
    match host.find(['?', '#']) {
        Some(at) => format!("{scheme}://{user}{}***", &host[..=at]),
        None => format!("{scheme}://{user}{host}"),
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
