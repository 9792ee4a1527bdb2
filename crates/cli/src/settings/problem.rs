//! What is wrong with a settings file or a variable: where, what was expected, and what to do.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::resolve::SettingOrigin;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileLine {
    pub(crate) path: PathBuf,
    /// Counted from 1.
    pub(crate) line: usize,
}

impl fmt::Display for FileLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

/// Something that keeps settings from being read. No value is quoted: it may be a secret, or from a file of somebody else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingsProblem {
    #[error("{}: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("{at}: this is no TOML: {what}")]
    Syntax { at: FileLine, what: String },
    #[error("{at}: there is no setting `{key}`; {}", advice(nearest.as_deref()))]
    UnknownKey { at: FileLine, key: String, nearest: Option<String> },
    #[error("{at}: expected {expected} for `{key}`")]
    WrongValue { at: FileLine, key: String, expected: String },
    #[error(
        "{at}: `{key}` cannot stand in a project file: {why}; it can in your own, which `nudge config path` names"
    )]
    NotForProjects { at: FileLine, key: String, why: &'static str },
    #[error("{}: there are more problems than these", path.display())]
    More { path: PathBuf },
    #[error("{origin}: expected {expected}")]
    Unusable { origin: SettingOrigin, expected: String },
    #[error("expected {expected} in {name}")]
    WrongVariable { name: &'static str, expected: String },
}

fn advice(nearest: Option<&str>) -> String {
    match nearest {
        Some(key) => format!("did you mean `{key}`?"),
        None => "`nudge config show` lists all".to_owned(),
    }
}

impl SettingsProblem {
    /// Whether it is the environment's, and not a file's.
    pub(crate) fn is_of_environment(&self) -> bool {
        matches!(self, Self::WrongVariable { .. })
    }

    /// Some of them in one line; nothing if there are none.
    pub(crate) fn summary(problems: &[Self]) -> Option<String> {
        let first = problems.first()?;
        Some(match problems.len() {
            1 => first.to_string(),
            count => format!("{first}; {count} problems in all: `nudge config check` lists them"),
        })
    }

    /// The file it is in, and the line if it is on one.
    fn place(&self) -> (Option<&Path>, Option<usize>) {
        match self {
            Self::Unreadable { path, .. } | Self::More { path } => (Some(path), None),
            Self::Syntax { at, .. }
            | Self::UnknownKey { at, .. }
            | Self::WrongValue { at, .. }
            | Self::NotForProjects { at, .. }
            | Self::Unusable { origin: SettingOrigin::File(_, at), .. } => (Some(&at.path), Some(at.line)),
            Self::Unusable { .. } | Self::WrongVariable { .. } => (None, None),
        }
    }

    /// Its line; what is on none comes last.
    pub(super) fn line(&self) -> usize {
        self.place().1.unwrap_or(usize::MAX)
    }

    /// For a program that looks.
    pub(crate) fn json(&self) -> Value {
        let (file, line) = self.place();
        let file = file.map(|path| path.to_string_lossy().into_owned());
        json!({ "file": file, "line": line, "message": self.to_string() })
    }
}
