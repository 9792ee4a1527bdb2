//! Text files, as the editor or the disk has them.

use nudge_backend::is_unanswerable;
use nudge_workspace::{WorkspacePath, blocking, files};
use serde_json::{Value, json};

pub(super) use files::ReadError;

use crate::session::{Halt, ToolRun};

/// The largest file that is read.
const MOST: u64 = 10 * 1024 * 1024;

/// The text of a file.
pub(super) fn read(place: &WorkspacePath) -> Result<String, ReadError> {
    files::read(place, MOST)
}

/// Why a file was not read, and which tool to use instead.
pub(super) fn tell(why: &ReadError) -> String {
    match why {
        ReadError::Folder => "This is a folder; list it instead.".to_owned(),
        ReadError::TooLarge { .. } => format!("{why} Search in it instead."),
        _ => why.to_string(),
    }
}

/// Why a folder was not read.
pub(super) fn tell_folder(why: &ReadError) -> String {
    format!("The folder cannot be read: {}.", why.reason())
}

/// The whole text of a file; `None` if there is none.
pub(super) async fn text_of(
    run: &mut ToolRun<'_>,
    place: &WorkspacePath,
) -> Result<Result<Option<String>, String>, Halt> {
    if let Some(text) = client_text(run, json!({ "path": place.shown().to_string_lossy() })).await? {
        return Ok(Ok(Some(text)));
    }
    let place = place.clone();
    Ok(match blocking(move || read(&place)).await {
        Ok(text) => Ok(Some(text)),
        Err(ReadError::NotFound) => Ok(None),
        Err(why) => Err(tell(&why)),
    })
}

/// What the editor has of what is asked for; `None` if it does not offer to read files or could not.
pub(super) async fn client_text(run: &mut ToolRun<'_>, asked: Value) -> Result<Option<String>, Halt> {
    let answer = run.ask_client("fs/read_text_file", asked).await?;
    Ok(answer.ok().and_then(|read| read.get(&["content"])?.to().ok()))
}

/// Writes a file, by the editor if it offers that.
pub(super) async fn write(
    run: &mut ToolRun<'_>,
    place: &WorkspacePath,
    text: &str,
) -> Result<Result<(), String>, Halt> {
    let asked = json!({ "path": place.shown().to_string_lossy(), "content": text });
    Ok(match run.ask_client("fs/write_text_file", asked).await? {
        Ok(_) => Ok(()),
        Err(error) if is_unanswerable(&error) => files::write(place, text).map_err(|why| why.to_string()),
        Err(_) => Err("The editor could not write the file.".to_owned()),
    })
}
