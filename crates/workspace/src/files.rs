//! Reading and writing text files on disk.
//!
//! A place is gone to step by step, by descriptors and over no link, so that it stays the one that was resolved whatever
//! is done to the folders meanwhile.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read, Write},
    os::fd::OwnedFd,
    path::{Component, Path},
};

use nudge_wire::{Error, ErrorCode};
use rustix::{
    fs::{
        AtFlags, CWD, FileType, Mode, OFlags, RawMode, fchmod, mkdirat, openat, renameat, statat, unlinkat,
    },
    io::Errno,
};

use crate::{IdSource, WorkspacePath};

/// Only to go through it, which needs no right to list it.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);
/// Neither follows a link nor waits for the other end of a pipe.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Why a file was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Nothing is there.
    #[error("There is no such file.")]
    NotFound,
    /// A folder is there.
    #[error("This is a folder, not a file.")]
    Folder,
    /// A pipe, a socket or a device is there.
    #[error("This is not a regular file.")]
    Special,
    /// It has more bytes than may be read.
    #[error("The file is too large: {size} bytes, where {most} can be read.")]
    TooLarge {
        /// How many it has.
        size: u64,
        /// How many it may have.
        most: u64,
    },
    /// It is no UTF-8 text.
    #[error("The file is binary.")]
    Binary,
    /// The process has no room for another open file.
    #[error("The file cannot be read: too many open files. Try again later.")]
    TooManyOpen,
    /// The system refused.
    #[error("The file cannot be read: {0}.")]
    Io(io::ErrorKind),
}

impl ReadError {
    /// The reason in a few words, for a list of what could not be read.
    pub fn reason(&self) -> String {
        match self {
            Self::NotFound => "gone in the meantime".to_owned(),
            Self::Folder => "a folder".to_owned(),
            Self::Special => "pipe, socket or device".to_owned(),
            Self::TooLarge { .. } => "too large".to_owned(),
            Self::Binary => "binary".to_owned(),
            Self::TooManyOpen => "too many open files".to_owned(),
            Self::Io(kind) => kind.to_string(),
        }
    }
}

/// Why a file was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A folder is there.
    #[error("This is a folder, not a file.")]
    Folder,
    /// A pipe, a socket or a device is there.
    #[error("This is not a regular file.")]
    Special,
    /// The system refused.
    #[error("The file cannot be written: {0}.")]
    Io(io::ErrorKind),
}

/// The text of a file that has `most` bytes at most.
pub fn read(place: &WorkspacePath, most: u64) -> Result<String, ReadError> {
    let file = open(place)?;
    let size = file.metadata()?.len();
    if size > most {
        return Err(ReadError::TooLarge { size, most });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // It may grow while it is read.
    let size = file.take(most.saturating_add(1)).read_to_end(&mut bytes)? as u64;
    if size > most {
        return Err(ReadError::TooLarge { size, most });
    }
    if bytes.contains(&0) {
        return Err(ReadError::Binary);
    }
    String::from_utf8(bytes).map_err(|_| ReadError::Binary)
}

/// A file to be read, which may be of any size.
pub fn open(place: &WorkspacePath) -> Result<File, ReadError> {
    let (folder, name) = holder(place, false)?.ok_or(ReadError::Folder)?;
    regular(openat(&folder, name, FILE | OFlags::RDONLY, Mode::empty()))
}

/// The same by a path that need not be inside the directories, over links: for what is followed, not shown.
pub fn open_at(path: &Path) -> Result<File, ReadError> {
    regular(openat(CWD, path, FILE.difference(OFlags::NOFOLLOW) | OFlags::RDONLY, Mode::empty()))
}

fn regular(opened: Result<OwnedFd, Errno>) -> Result<File, ReadError> {
    let file = match opened {
        Ok(file) => File::from(file),
        // A socket cannot be opened.
        Err(Errno::NXIO) => return Err(ReadError::Special),
        Err(error) => return Err(io::Error::from(error).into()),
    };
    let metadata = file.metadata()?;
    match (metadata.is_dir(), metadata.is_file()) {
        (true, _) => Err(ReadError::Folder),
        (_, false) => Err(ReadError::Special),
        _ => Ok(file),
    }
}

/// Puts a text in the place of a file, all or nothing. Folders on the way are made.
pub fn write(place: &WorkspacePath, text: &str) -> Result<(), WriteError> {
    let (folder, name) = holder(place, true)?.ok_or(WriteError::Folder)?;
    let old = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(old) => Some(old.st_mode),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(error.into()),
    };
    match old.map(FileType::from_raw_mode) {
        None | Some(FileType::RegularFile) => {}
        Some(FileType::Directory) => return Err(WriteError::Folder),
        Some(_) => return Err(WriteError::Special),
    }
    match Draft::new(&folder, old) {
        Ok(draft) => Ok(draft.become_file(name, text)?),
        // The folder takes no new files; the file itself may still be writable.
        Err(error) if old.is_some() && is_forbidden(&error) => {
            let flags = FILE | OFlags::WRONLY | OFlags::TRUNC;
            let mut file = File::from(openat(&folder, name, flags, Mode::empty())?);
            Ok(file.write_all(text.as_bytes())?)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether the system does not permit it, as opposed to a lack of room, which would leave a file empty that is written in
/// place.
fn is_forbidden(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::ACCESS | Errno::PERM | Errno::ROFS))
}

/// Where a line begins, counted from zero; `None` if there are not so many. After a last line break there is an empty line.
pub fn offset_of_line(text: &str, line: usize) -> Option<usize> {
    if line == 0 {
        return Some(0);
    }
    Some(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').nth(line - 1)?.0 + 1)
}

/// The folder that holds a place, and its name there; `None` for a directory of the session, which none inside holds.
fn holder(place: &WorkspacePath, make: bool) -> io::Result<Option<(OwnedFd, &OsStr)>> {
    let (root, below) = place.way();
    let Some(name) = below.file_name() else { return Ok(None) };
    let mut folder = openat(CWD, root, FOLDER, Mode::empty())?;
    for step in below.parent().into_iter().flat_map(|way| way.components()) {
        let Component::Normal(step) = step else { return Err(io::ErrorKind::InvalidInput.into()) };
        let next = match openat(&folder, step, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Err(Errno::NOENT) if make => {
                match mkdirat(&folder, step, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                openat(&folder, step, FOLDER | OFlags::NOFOLLOW, Mode::empty())
            }
            next => next,
        };
        folder = next?;
    }
    Ok(Some((folder, name)))
}

/// A file that is to take another's place; taken away unless it does.
struct Draft<'a> {
    folder: &'a OwnedFd,
    name: String,
    file: File,
    /// The rights of the file whose place it takes.
    mode: Option<Mode>,
}

impl<'a> Draft<'a> {
    fn new(folder: &'a OwnedFd, old: Option<RawMode>) -> io::Result<Self> {
        let name = format!(".{}", IdSource::new().mint("nudge"));
        // The mask of the process is for new files; it must not take from what an old one had, nor may others read a
        // private file while it is being written.
        let mode = old.map(Mode::from_raw_mode);
        let first = Mode::from_raw_mode(if mode.is_some() { 0o600 } else { 0o666 });
        let flags = FILE | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let file = File::from(openat(folder, &name, flags, first)?);
        Ok(Self { folder, name, file, mode })
    }

    fn become_file(mut self, name: &OsStr, text: &str) -> io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        if let Some(mode) = self.mode {
            fchmod(&self.file, mode)?;
        }
        renameat(self.folder, &self.name, self.folder, name)?;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // Fails if it is no longer there under this name, as it should be.
        let _ = unlinkat(self.folder, &self.name, AtFlags::empty());
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        if let Some(Errno::MFILE | Errno::NFILE) = Errno::from_io_error(&error) {
            return Self::TooManyOpen;
        }
        match error.kind() {
            // A file in the place of a folder: below it there is nothing.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound,
            kind => Self::Io(kind),
        }
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error.kind())
    }
}

impl From<Errno> for WriteError {
    fn from(error: Errno) -> Self {
        io::Error::from(error).into()
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::NotFound => {
                Self::new(ErrorCode::RESOURCE_NOT_FOUND, "Resource not found: there is no such file.")
            }
            ReadError::Io(_) | ReadError::TooManyOpen => Self::internal(error.to_string()),
            _ => Self::invalid_params(error.to_string()),
        }
    }
}

impl From<WriteError> for Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Io(_) => Self::internal(error.to_string()),
            _ => Self::invalid_params(error.to_string()),
        }
    }
}
