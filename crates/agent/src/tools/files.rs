//! Reading text files for a model.

use nudge_workspace::{WorkspacePath, files};

pub(crate) use files::ReadError;

/// The largest file that is read.
const MOST: u64 = 10 * 1024 * 1024;

/// The text of a file.
pub(crate) fn read(place: &WorkspacePath) -> Result<String, ReadError> {
    files::read(place, MOST)
}

/// Why a file was not read, and which tool to use instead.
pub(crate) fn tell(why: &ReadError) -> String {
    match why {
        ReadError::Folder => "This is a folder; list it instead.".to_owned(),
        ReadError::TooLarge { .. } => format!("{why} Search in it instead."),
        _ => why.to_string(),
    }
}

/// Why a folder was not read.
pub(crate) fn tell_folder(why: &ReadError) -> String {
    format!("The folder cannot be read: {}.", why.reason())
}
