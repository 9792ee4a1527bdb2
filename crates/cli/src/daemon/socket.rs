//! The daemon's place: the lock that makes it the only one, and the socket that it is found by.

use std::{
    fmt,
    fs::{self, File, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use anyhow::{Context, Result};
use parking_lot::Mutex;
use tokio::net::UnixListener;

use crate::daemon::private::{make_private, open_private};

/// How often a lock is tried for, and how long between.
const LOOKS: usize = 5;
const PAUSE: Duration = Duration::from_millis(2);

/// The files whose locks are kept to the very end of the process.
static HELD: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// What tells one file from another, whatever their names.
type Identity = (u64, u64);

fn identity(found: &fs::Metadata) -> Identity {
    (found.dev(), found.ino())
}

/// What is under this name; a link is not followed.
fn identity_at(path: &Path) -> Option<Identity> {
    fs::symlink_metadata(path).ok().map(|found| identity(&found))
}

/// The lock file beside a socket.
pub(crate) fn lock_file(socket: &Path) -> PathBuf {
    socket.with_extension("lock")
}

/// One daemon per socket: the system drops the lock however the process ends. The file names the process.
pub(crate) struct SocketLock {
    file: File,
    identity: Identity,
}

impl SocketLock {
    /// Takes the lock; `None` if another process has it.
    pub(crate) fn take(path: &Path) -> Result<Option<Self>> {
        if let Some(dir) = path.parent() {
            make_private(dir)?;
        }
        loop {
            let file = open_private(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("cannot lock {}", path.display()));
                }
            }
            let identity = identity(&file.metadata().context("cannot look at the lock")?);
            // It may have been removed before it was locked, and a lock that nobody finds keeps nobody out.
            if identity_at(path) == Some(identity) {
                let named = name_process(&file);
                named.with_context(|| format!("cannot write {}", path.display()))?;
                return Ok(Some(Self { file, identity }));
            }
        }
    }

    /// Holds the lock to the very end of the process: when it is free, the process is gone.
    pub(crate) fn hold_to_the_end(self) {
        HELD.lock().push(self.file);
    }
}

fn name_process(mut file: &File) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all(format!("{}\n", std::process::id()).as_bytes())
}

/// Lock and socket, in a folder.
pub(crate) struct DaemonSocket {
    lock: SocketLock,
    /// `None` while the socket is lost: who connects then is not left waiting.
    pub(crate) listener: Option<UnixListener>,
    /// The socket's file.
    identity: Identity,
    path: PathBuf,
    folder: Option<Identity>,
}

/// How a daemon sits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SocketClaim {
    /// Who looks for it finds it.
    Well,
    /// It could not be found any more and can be again.
    Again,
    /// Folder or lock are another's now: it is not found any more.
    Lost,
}

impl DaemonSocket {
    /// Listens on a socket. To be called in an event loop.
    pub(crate) fn take(lock: SocketLock, path: &Path) -> Result<Self> {
        let (listener, identity) = bind(path)?;
        let folder = path.parent().and_then(identity_at);
        Ok(Self { lock, listener: Some(listener), identity, path: path.to_owned(), folder })
    }

    /// Looks whether it is still found, and mends what can be mended: a name that was removed is made again, and a socket
    /// that was lost is taken again once it is free.
    pub(crate) fn check(&mut self) -> Result<SocketClaim> {
        let sits = self.mend()?;
        if sits == SocketClaim::Lost {
            self.listener = None;
        }
        Ok(sits)
    }

    fn mend(&mut self) -> Result<SocketClaim> {
        if let Some(folder) = self.path.parent() {
            // One that is away may come back, as with a disk that is mounted late.
            let found = fs::symlink_metadata(folder);
            let found = found.with_context(|| format!("cannot look at {}", folder.display()))?;
            if Some(identity(&found)) != self.folder {
                return Ok(SocketClaim::Lost);
            }
        }
        let lock_file = lock_file(&self.path);
        let mut sits = SocketClaim::Well;
        if identity_at(&lock_file) != Some(self.lock.identity) {
            let Some(lock) = take_patiently(&lock_file)? else { return Ok(SocketClaim::Lost) };
            self.lock = lock;
            sits = SocketClaim::Again;
        }
        if self.listener.is_none() || identity_at(&self.path) != Some(self.identity) {
            let (listener, identity) = bind(&self.path)?;
            (self.listener, self.identity) = (Some(listener), identity);
            sits = SocketClaim::Again;
        }
        Ok(sits)
    }

    /// From now on nobody finds it; who comes starts another, which waits for the lock.
    pub(crate) fn leave(self) -> SocketLock {
        if identity_at(&self.path) == Some(self.identity) {
            let _ = fs::remove_file(&self.path);
        }
        self.lock
    }
}

/// Who only looks at a lock holds it for an instant too.
fn take_patiently(path: &Path) -> Result<Option<SocketLock>> {
    for _ in 0..LOOKS {
        if let Some(lock) = SocketLock::take(path)? {
            return Ok(Some(lock));
        }
        thread::sleep(PAUSE);
    }
    Ok(None)
}

/// Whoever has the lock owns the name: what is there is of a daemon that is gone.
fn bind(path: &Path) -> Result<(UnixListener, Identity)> {
    let _ = fs::remove_file(path);
    let listener =
        UnixListener::bind(path).with_context(|| format!("cannot listen on {}", path.display()))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        .with_context(|| format!("cannot protect {}", path.display()))?;
    let identity = identity_at(path).with_context(|| format!("cannot find {} again", path.display()))?;
    Ok((listener, identity))
}

/// What a lock file may say, in bytes.
const LONGEST_NAME: u64 = 32;

/// A process that holds the lock of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LockHolder {
    /// Unless it is of a version that did not say.
    pub(crate) pid: Option<i32>,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}"),
            None => f.write_str("a process that does not say its number"),
        }
    }
}

/// Who holds the lock of a socket, if anybody does.
pub(crate) fn holder(socket: &Path) -> Result<Option<LockHolder>> {
    let path = lock_file(socket);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            let said = io::read_to_string(file.take(LONGEST_NAME)).unwrap_or_default();
            Ok(Some(LockHolder { pid: said.trim().parse().ok() }))
        }
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot look at the lock {}", path.display()))
        }
    }
}
