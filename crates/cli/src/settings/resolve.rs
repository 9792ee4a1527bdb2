//! Which value counts: the default, then the user's file, the project's, the environment, the command line.

use std::{collections::HashMap, ffi::OsStr, fmt};

use serde_json::{Value as Json, json};

use super::{
    file::{FileOwner, FileSettings},
    kind::ParsedValue,
    problem::{FileLine, SettingsProblem},
    setting::{SettingRow, SettingVariable},
    surroundings::SettingsContext,
    table::TABLE,
};

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingOrigin {
    Default,
    File(FileOwner, FileLine),
    Variable(&'static str),
    Flag(&'static str),
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => write!(f, "default"),
            Self::File(FileOwner::User, at) => write!(f, "{at}"),
            Self::File(FileOwner::Project, at) => write!(f, "{at} (project)"),
            Self::Variable(name) => write!(f, "{name}"),
            Self::Flag(name) => write!(f, "--{name}"),
        }
    }
}

impl SettingOrigin {
    /// For a program that looks.
    pub(crate) fn json(&self) -> Json {
        match self {
            Self::Default => json!({ "from": "default" }),
            Self::File(owner, at) => {
                let from = if *owner == FileOwner::User { "user" } else { "project" };
                json!({ "from": from, "file": at.path.to_string_lossy(), "line": at.line })
            }
            Self::Variable(name) => json!({ "from": "environment", "name": name }),
            Self::Flag(name) => json!({ "from": "flag", "name": format!("--{name}") }),
        }
    }
}

/// What was found for a setting.
#[derive(Debug)]
pub(crate) struct FoundValue {
    pub(crate) setting: &'static SettingRow,
    /// `None` if nobody has chosen and the default is none.
    pub(crate) value: Option<ParsedValue>,
    pub(crate) origin: SettingOrigin,
}

impl FoundValue {
    /// What was found for the setting of this key.
    pub(crate) fn of<'a>(key: &str, found: &'a [Self]) -> &'a Self {
        found.iter().find(|found| found.setting.key == key).expect("something was found for every row")
    }

    /// The value as it is shown; nothing if there is none.
    pub(crate) fn shown(&self) -> Option<String> {
        self.value.as_ref().map(|value| self.setting.kind.shown(value))
    }
}

/// Finds the value of every setting. `files` are in the order in which they count, the strongest last. Variables that cannot
/// be read are problems if the setting means something to the command.
pub(super) fn resolve(
    files: &[FileSettings],
    around: &SettingsContext,
    mut flags: HashMap<&'static str, ParsedValue>,
    command: Option<&str>,
) -> (Vec<FoundValue>, Vec<SettingsProblem>) {
    let mut problems = Vec::new();
    let mut find = |setting: &'static SettingRow| {
        let flag = setting.flag.as_ref().and_then(|flag| {
            let value = flags.remove(setting.key)?;
            Some((Some(value), SettingOrigin::Flag(flag.name)))
        });
        let (value, origin) = flag
            .or_else(|| {
                let (name, value) = read_variable(setting, around)?;
                if value.is_none() && command.is_none_or(|command| setting.commands.has(command)) {
                    problems.push(SettingsProblem::WrongVariable { name, expected: setting.kind.expected() });
                }
                value.map(|value| (Some(value), SettingOrigin::Variable(name)))
            })
            .or_else(|| files.iter().rev().find_map(|file| of_file(setting, file)))
            .unwrap_or_else(|| (setting.default.value(), SettingOrigin::Default));
        FoundValue { setting, value, origin }
    };
    (TABLE.iter().map(&mut find).collect(), problems)
}

/// What the environment says, if it says something; no value if that cannot be read. An empty variable counts as not set,
/// unless an empty value says something of its own.
fn read_variable(
    setting: &SettingRow,
    around: &SettingsContext,
) -> Option<(&'static str, Option<ParsedValue>)> {
    let name = setting.env.name();
    let text = around.variables.get(OsStr::new(name))?;
    let value = setting.kind.read_text(text);
    if text.is_empty() && value.is_none() {
        return None;
    }
    match setting.env {
        SettingVariable::Holds(_) => Some((name, value)),
        SettingVariable::TurnsOff(_) => Some((name, Some(ParsedValue::Switch(false)))),
    }
}

fn of_file(setting: &SettingRow, file: &FileSettings) -> Option<(Option<ParsedValue>, SettingOrigin)> {
    let entry = file.entries.iter().find(|entry| entry.setting.key == setting.key)?;
    let at = FileLine { path: file.path.clone(), line: entry.line };
    Some((Some(entry.value.clone()), SettingOrigin::File(file.owner, at)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn around(variables: &[(&str, &str)]) -> SettingsContext {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        SettingsContext { variables, cwd: None }
    }

    fn file(text: &str, owner: FileOwner) -> FileSettings {
        FileSettings::parse(text, Path::new("c.toml"), owner, None)
    }

    #[test]
    fn the_stronger_source_counts() {
        // A file of a project may not choose it, so the second stands for one by its place alone.
        let mut files =
            [file("agent.patience = 1", FileOwner::User), file("agent.patience = 2", FileOwner::User)];
        files[1].owner = FileOwner::Project;
        let variables = around(&[("NUDGE_PATIENCE", "3")]);
        let patience = |count: usize, around: &SettingsContext, flag: Option<u64>| {
            let flags = flag.map(|flag| ("agent.patience", ParsedValue::Number(flag))).into_iter().collect();
            let (found, problems) = resolve(&files[..count], around, flags, None);
            assert_eq!(problems, []);
            let found = FoundValue::of("agent.patience", &found);
            format!("{} from {}", found.shown().unwrap(), found.origin)
        };
        let nothing = around(&[]);
        assert_eq!(patience(0, &nothing, None), "30 from default");
        assert_eq!(patience(1, &nothing, None), "1 from c.toml:1");
        assert_eq!(patience(2, &nothing, None), "2 from c.toml:1 (project)");
        assert_eq!(patience(2, &variables, None), "3 from NUDGE_PATIENCE");
        assert_eq!(patience(2, &variables, Some(4)), "4 from --patience");
    }

    #[test]
    fn an_empty_variable_counts_only_where_it_means_something() {
        let all: Vec<_> = TABLE.iter().map(|setting| (setting.env.name(), "")).collect();
        let (found, problems) = resolve(&[], &around(&all), HashMap::new(), None);
        assert_eq!(problems, []);
        let set: Vec<_> = found.iter().filter(|found| found.origin != SettingOrigin::Default).collect();
        assert_eq!(set.iter().map(|found| found.setting.key).collect::<Vec<_>>(), ["data.dir"]);
    }

    #[test]
    fn a_wrong_variable_matters_to_the_commands_it_is_for() {
        let around = around(&[("NUDGE_PATIENCE", "soon")]);
        for (command, count) in [("acp", 1), ("doctor", 1), ("lsp", 0), ("stop", 0)] {
            let (found, problems) = resolve(&[], &around, HashMap::new(), Some(command));
            assert_eq!(problems.len(), count, "{command}");
            assert_eq!(FoundValue::of("agent.patience", &found).origin, SettingOrigin::Default);
        }
    }
}
