//! Reading and writing text files on disk.

use std::{
    fs::{self, Permissions},
    io::{self, Read, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
};

/// The largest file that is read.
const MOST: u64 = 10 * 1024 * 1024;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("There is no such file.")]
    NotFound,
    #[error("This is a folder; list it instead.")]
    Folder,
    #[error("This is not a regular file.")]
    Special,
    #[error("The file is too large: {0} bytes, where {MOST} can be read. Search in it instead.")]
    TooLarge(u64),
    #[error("The file is binary.")]
    Binary,
    #[error("The file cannot be read: {0}.")]
    Io(io::ErrorKind),
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, ReadError> {
    let failed = |error: io::Error| match error.kind() {
        // A file in the place of a folder: below it there is nothing.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReadError::NotFound,
        kind => ReadError::Io(kind),
    };
    let metadata = fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(ReadError::Folder);
    }
    if !metadata.is_file() {
        return Err(ReadError::Special);
    }
    if metadata.len() > MOST {
        return Err(ReadError::TooLarge(metadata.len()));
    }
    let mut bytes = Vec::new();
    fs::File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.contains(&0) {
        return Err(ReadError::Binary);
    }
    String::from_utf8(bytes).map_err(|_| ReadError::Binary)
}

/// Puts a text in the place of a file, all or nothing. Folders on the way are made.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("The file cannot be written: {}.", error.kind());
    let folder = path.parent().ok_or("The file cannot be written: it has no folder.")?;
    fs::create_dir_all(folder).map_err(failed)?;
    let mode = fs::metadata(path).map_or_else(|_| Permissions::from_mode(0o666), |old| old.permissions());
    let kept = path.exists();
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nudge-").permissions(mode.clone());
    let Ok(mut file) = builder.tempfile_in(folder) else {
        // The folder takes no new files; the file itself may still be writable.
        return fs::write(path, text).map_err(failed);
    };
    file.write_all(text.as_bytes()).map_err(failed)?;
    if kept {
        // The mask of the process must not take from what the file had.
        file.as_file().set_permissions(mode).map_err(failed)?;
    }
    file.persist(path).map(drop).map_err(|error| failed(error.error))
}
