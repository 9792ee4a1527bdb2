//! When it is not known where sessions are kept: what might say so cannot be read.

use std::path::{Path, PathBuf};

use super::{
    LoadedSettings, SettingsProblem,
    resolve::{FoundValue, SettingOrigin},
    variable_of,
};

/// The settings that choose a place.
const PLACE: [&str; 2] = ["data.dir", "store.url"];

/// Why it is not known where sessions are kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PlaceDoubt {
    #[error("the settings file {} cannot be read", .0.display())]
    File(PathBuf),
    #[error("{0} cannot be read")]
    Variable(&'static str),
}

impl LoadedSettings {
    /// Why the place is a guess, if it is one. A folder that the command line or the environment names is none.
    pub(crate) fn place_doubt(&self) -> Option<PlaceDoubt> {
        let origin = &FoundValue::of("data.dir", &self.found).origin;
        let is_named = matches!(origin, SettingOrigin::Flag(_) | SettingOrigin::Variable(_));
        self.problems.iter().find_map(|problem| match problem {
            SettingsProblem::WrongVariable { name, .. } => {
                PLACE.map(variable_of).contains(name).then_some(PlaceDoubt::Variable(name))
            }
            _ if is_named => None,
            problem => hides_place(problem).map(|path| PlaceDoubt::File(path.to_owned())),
        })
    }
}

/// The file in which a problem hides where sessions are kept.
fn hides_place(problem: &SettingsProblem) -> Option<&Path> {
    match problem {
        SettingsProblem::Unreadable { path, .. } | SettingsProblem::More { path } => Some(path),
        SettingsProblem::Syntax { at, .. } => Some(&at.path),
        SettingsProblem::WrongValue { at, key, .. } => is_of_place(key).then_some(&at.path),
        SettingsProblem::UnknownKey { at, nearest, .. } => {
            nearest.as_deref().is_some_and(is_of_place).then_some(&at.path)
        }
        _ => None,
    }
}

/// Whether this is the key of a setting that chooses a place, or the section of one.
fn is_of_place(key: &str) -> bool {
    PLACE.iter().any(|setting| *setting == key || setting.split('.').next() == Some(key))
}
