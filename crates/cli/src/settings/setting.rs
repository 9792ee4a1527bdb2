//! One setting: what it is called in files, in the environment and on the command line, what it may be, and where it applies.

use super::kind::{ParsedValue, ValueKind};

/// A row of the table.
#[derive(Debug)]
pub(crate) struct SettingRow {
    /// The dotted key in a settings file.
    pub(crate) key: &'static str,
    /// What it is for, in one line.
    pub(crate) about: &'static str,
    pub(crate) kind: ValueKind,
    pub(crate) default: SettingDefault,
    pub(crate) env: SettingVariable,
    pub(crate) flag: Option<SettingFlag>,
    /// The commands it means something to.
    pub(crate) commands: SettingScope,
    pub(crate) in_project: InProject,
}

/// What holds where nobody has chosen.
#[derive(Debug)]
pub(crate) enum SettingDefault {
    Number(u64),
    Switch(bool),
    Text(&'static str),
    /// No value; this is what happens then, in words.
    Unset(&'static str),
}

impl SettingDefault {
    /// The value, if it is one.
    pub(crate) fn value(&self) -> Option<ParsedValue> {
        match self {
            Self::Number(number) => Some(ParsedValue::Number(*number)),
            Self::Switch(is_on) => Some(ParsedValue::Switch(*is_on)),
            Self::Text(text) => Some(ParsedValue::Text((*text).to_owned())),
            Self::Unset(_) => None,
        }
    }

    /// In words, for people.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Switch(is_on) => is_on.to_string(),
            Self::Text(text) | Self::Unset(text) => (*text).to_owned(),
        }
    }
}

/// The variable of the environment that chooses a value.
#[derive(Debug)]
pub(crate) enum SettingVariable {
    /// It holds the value.
    Holds(&'static str),
    /// It turns a switch off by being set, whatever it holds.
    TurnsOff(&'static str),
}

impl SettingVariable {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Holds(name) | Self::TurnsOff(name) => name,
        }
    }
}

/// The flag on the command line that chooses a value.
#[derive(Debug)]
pub(crate) struct SettingFlag {
    /// Without the dashes.
    pub(crate) name: &'static str,
    pub(crate) form: FlagForm,
    /// The commands that have it.
    pub(crate) on: SettingScope,
    /// The argument that it cannot be used with.
    pub(crate) excludes: Option<&'static str>,
}

/// What follows a flag.
#[derive(Debug)]
pub(crate) enum FlagForm {
    /// A value, called so in the help.
    Takes(&'static str),
    /// Nothing: the flag chooses this value.
    Means(&'static str),
}

/// Some of the commands.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SettingScope {
    All,
    Of(&'static [&'static str]),
}

impl SettingScope {
    pub(crate) fn has(self, command: &str) -> bool {
        match self {
            Self::All => true,
            Self::Of(commands) => commands.contains(&command),
        }
    }
}

/// Whether a project file may choose it. Such a file comes with a repository that nobody has looked at.
#[derive(Debug)]
pub(crate) enum InProject {
    Allowed,
    /// It may not, because of this.
    Refused(&'static str),
}
