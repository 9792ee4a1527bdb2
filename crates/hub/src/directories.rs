//! The folders that a client names for a session, looked at before the session begins.

use std::path::Path;

use nudge_wire::Error;
use serde_json::json;

/// The working directory, if one is named, and the folders beside it are there.
pub(crate) async fn check(cwd: Option<&String>, additional: &[String]) -> Result<(), Error> {
    check_named(cwd, additional)?;
    for (name, path) in named(cwd, additional) {
        let found = tokio::fs::metadata(path).await;
        let what = match found {
            Ok(found) if found.is_dir() => continue,
            Ok(_) => "a file",
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => "a path where nothing is",
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => "one that may not be read",
            Err(_) => "a path that cannot be looked at",
        };
        return Err(invalid(name, &format!("expected a folder that is there, got {what}")));
    }
    Ok(())
}

/// A session that is brought into use again has the working directory that it has had. It need not be there any more.
pub(crate) async fn check_same(asked: &str, had: &str) -> Result<(), Error> {
    if had.is_empty() || Path::new(asked) == Path::new(had) {
        return Ok(());
    }
    let (asked, real) = tokio::join!(tokio::fs::canonicalize(asked), tokio::fs::canonicalize(had));
    if asked.ok().zip(real.ok()).is_some_and(|(asked, real)| asked == real) {
        return Ok(());
    }
    let what = "Invalid params: `cwd` is not the working directory of the session, which `data.cwd` names; load it with \
                that one, or fork it or begin another session for this one";
    Err(Error::invalid_params(what).data(&json!({ "reason": "cwd_mismatch", "cwd": had })))
}

/// They are named in full, whether or not they are there.
pub(crate) fn check_named(cwd: Option<&String>, additional: &[String]) -> Result<(), Error> {
    for (name, path) in named(cwd, additional) {
        if path.contains('\0') {
            return Err(invalid(name, "a path has no NUL in it"));
        }
        if !path.starts_with('/') {
            return Err(invalid(name, "expected an absolute path, got a relative one"));
        }
    }
    Ok(())
}

fn named<'a>(
    cwd: Option<&'a String>,
    additional: &'a [String],
) -> impl Iterator<Item = (&'static str, &'a String)> {
    let beside = additional.iter().map(|path| ("additionalDirectories", path));
    cwd.map(|path| ("cwd", path)).into_iter().chain(beside)
}

fn invalid(name: &str, what: &str) -> Error {
    Error::invalid_params(format!("Invalid params: `{name}`: {what}"))
}
