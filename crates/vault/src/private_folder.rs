//! Files that nobody but the user can open, replaced as a whole.

use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError},
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::{fs::OFlags, io::Errno};

use crate::VaultError;

/// The bits that let group and others do something with a file.
const OTHERS: u32 = 0o077;
/// The bits that let them write in a folder.
const OTHERS_WRITE: u32 = 0o022;
/// The longest file that is read.
const LONGEST_FILE: u64 = 1024 * 1024;
/// The file that whoever writes holds a lock on. It stays: one that is removed keeps out nobody who has it open.
const LOCK: &str = ".providers.lock";
/// What the names of files end with that are about to be put in place.
const UNFINISHED: &str = ".unfinished";
/// How long to wait before looking again whether the lock is free.
const AGAIN: Duration = Duration::from_millis(5);

/// A folder of the user, whose files only the user can open.
#[derive(Debug, Clone)]
pub(crate) struct PrivateFolder(PathBuf);

impl PrivateFolder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Where a file of it is.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A file's text; `None` if there is none. One that others can open, or that is not the user's, is refused.
    pub(crate) fn read(&self, name: &str) -> Result<Option<String>, VaultError> {
        let path = self.file(name);
        let mut options = OpenOptions::new();
        // Not blocking: a pipe in its place would be waited for.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = match options.read(true).custom_flags(flags.bits().cast_signed()).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if is_link(&error) => return Err(VaultError::Link(path)),
            opened => opened.map_err(failed("read", &path))?,
        };
        check_file(&file.metadata().map_err(failed("look at", &path))?, &path)?;
        self.check()?;
        let mut text = String::new();
        match file.take(LONGEST_FILE + 1).read_to_string(&mut text) {
            Ok(read) if read as u64 <= LONGEST_FILE => Ok(Some(text)),
            Err(error) if error.kind() != io::ErrorKind::InvalidData => Err(failed("read", &path)(error)),
            _ => Err(VaultError::Damaged(path)),
        }
    }

    /// Replaces a file at once or not at all, also if the machine goes down. To be called with the lock.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), VaultError> {
        let path = self.file(name);
        let beside = self.file(&format!(".{name}{UNFINISHED}"));
        let put = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&beside, &path)?;
            File::open(&self.0)?.sync_all()
        };
        put().inspect_err(|_| drop(fs::remove_file(&beside))).map_err(failed("write", &path))
    }

    /// Removes a file, if it is there. To be called with the lock.
    pub(crate) fn remove(&self, name: &str) -> Result<(), VaultError> {
        let path = self.file(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", &path)(error)),
            _ => Ok(()),
        }
    }

    /// Keeps others of this program from writing until it is dropped. The folder is made if it is not there, and what somebody
    /// who died has left unfinished is removed.
    pub(crate) fn lock(&self, patience: Duration) -> Result<File, VaultError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.0);
        made.map_err(failed("make", &self.0))?;
        self.check()?;
        let lock = self.locked(patience)?;
        let entries = fs::read_dir(&self.0).map_err(failed("look into", &self.0))?;
        for entry in entries.flatten().filter(|entry| is_unfinished(&entry.file_name().to_string_lossy())) {
            fs::remove_file(entry.path()).map_err(failed("remove", &entry.path()))?;
        }
        Ok(lock)
    }

    fn locked(&self, patience: Duration) -> Result<File, VaultError> {
        let path = self.file(LOCK);
        let mut options = OpenOptions::new();
        options.create(true).append(true).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        let file = match options.open(&path) {
            Err(error) if is_link(&error) => return Err(VaultError::Link(path)),
            opened => opened.map_err(failed("write", &path))?,
        };
        let deadline = Instant::now() + patience;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(AGAIN),
                Err(TryLockError::WouldBlock) => return Err(VaultError::Busy(self.0.clone())),
                Err(TryLockError::Error(error)) => return Err(failed("lock", &path)(error)),
            }
        }
    }

    /// Refuses a folder that others can put something into.
    fn check(&self) -> Result<(), VaultError> {
        let found = fs::metadata(&self.0).map_err(failed("look at", &self.0))?;
        if !found.is_dir() {
            return Err(VaultError::OfAnotherKind(self.0.clone()));
        }
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Err(VaultError::OfAnotherUser(self.0.clone()));
        }
        if found.mode() & OTHERS_WRITE != 0 {
            return Err(VaultError::OpenFolder(self.0.clone()));
        }
        Ok(())
    }

    /// A number that changes when a file is replaced.
    pub(crate) fn stamp(&self, name: &str) -> u64 {
        let Ok(found) = fs::symlink_metadata(self.file(name)) else { return 0 };
        let mut hasher = DefaultHasher::new();
        let (written, changed) = ((found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec()));
        (found.ino(), found.size(), found.mode(), written, changed).hash(&mut hasher);
        hasher.finish().max(1)
    }
}

fn check_file(found: &Metadata, path: &Path) -> Result<(), VaultError> {
    let path = path.to_owned();
    if !found.is_file() {
        return Err(VaultError::OfAnotherKind(path));
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(VaultError::OfAnotherUser(path));
    }
    if found.mode() & OTHERS != 0 {
        return Err(VaultError::OpenFile(path));
    }
    Ok(())
}

fn is_unfinished(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(UNFINISHED)
}

fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> VaultError {
    let path = path.to_owned();
    move |why| VaultError::Io { what, path, why }
}
