//! The settings: one table of all of them, and where their values come from.
//!
//! To add one, add a row to `table.rs` and use the field that it makes. Flag, variable, key, help, checks and the page in
//! `docs/` follow from the row; the compiler complains while nobody uses the field, and a test until the page is written.

mod chosen;
mod doubt;
mod file;
mod flags;
mod kind;
mod nearest;
#[cfg(test)]
mod page;
mod places;
mod problem;
mod resolve;
mod setting;
mod surroundings;
mod table;
mod template;

use std::{io::ErrorKind, path::Path};

use clap::ArgMatches;

pub(crate) use chosen::{ChosenValue, DaemonMode, NesBy, OnClose};
pub(crate) use doubt::PlaceDoubt;
pub(crate) use file::{FileOwner, FileSettings, LONGEST_FILE, read_settings_text};
pub(crate) use flags::with_settings;
pub(crate) use kind::{ParsedValue, ValueKind};
pub(crate) use nearest::nearest_key;
pub(crate) use places::SettingsPlaces;
pub(crate) use problem::SettingsProblem;
pub(crate) use resolve::{FoundValue, SettingOrigin};
pub(crate) use setting::SettingRow;
pub(crate) use table::{Settings, TABLE};
pub(crate) use template::file_template;

use surroundings::SettingsContext;

use crate::{agents::catalogue, log};

/// All that was found out about settings when the program started.
#[derive(Debug)]
pub(crate) struct LoadedSettings {
    pub(crate) settings: Settings,
    /// What was found for each row of the table.
    pub(crate) found: Vec<FoundValue>,
    /// The files that are there.
    pub(crate) files: Vec<FileSettings>,
    pub(crate) places: SettingsPlaces,
    /// What is wrong with the user's file and with variables. What could be read counts all the same.
    pub(crate) problems: Vec<SettingsProblem>,
    /// What is wrong with the project's file, which is not the user's: it stops as little as it can.
    pub(crate) project_problems: Vec<SettingsProblem>,
}

impl LoadedSettings {
    /// All that is wrong.
    pub(crate) fn all_problems(&self) -> Vec<SettingsProblem> {
        self.problems.iter().chain(&self.project_problems).cloned().collect()
    }

    /// All that is wrong, also what shows only where a setting is used.
    pub(crate) fn everything_wrong(&self) -> Vec<SettingsProblem> {
        let Settings { agent_name, log_level, .. } = &self.settings;
        let wrong = |is_wrong: bool, origin: &SettingOrigin, expected: &str| {
            is_wrong
                .then(|| SettingsProblem::Unusable { origin: origin.clone(), expected: expected.to_owned() })
        };
        let is_known = |name: &str| name == catalogue::BUILT_IN || catalogue::find(name).is_some();
        let agent = agent_name.value.as_deref().is_some_and(|name| !is_known(name));
        let filter = log_level.value.as_deref().is_some_and(|filter| !log::is_filter(filter));
        let used = [
            wrong(agent, &agent_name.origin, "the name of an agent that `nudge agents` lists"),
            wrong(filter, &log_level.origin, log::EXPECTED),
        ];
        self.all_problems().into_iter().chain(used.into_iter().flatten()).collect()
    }
}

/// Reads everything: the files, the environment and the command line.
pub(crate) fn load(matches: &ArgMatches) -> LoadedSettings {
    let around = SettingsContext::of_process();
    let mut places = SettingsPlaces::find(flags::named_file(matches), &around);
    let command = matches.subcommand_name();
    if command == Some("daemon") {
        // It is shared by all projects, wherever it was started.
        places.project.clear();
    }
    let (files, missing) = read_files(&places, &around);
    // These tell of everything that is wrong.
    let command = command.filter(|name| !matches!(*name, "config" | "doctor"));
    let (found, wrong_variables) = resolve::resolve(&files, &around, flags::chosen(matches), command);
    let of = |owner| {
        let own = files.iter().filter(move |file| file.owner == owner);
        own.flat_map(|file| file.problems.clone())
    };
    let problems = of(FileOwner::User).chain(missing).chain(wrong_variables).collect();
    let project_problems = of(FileOwner::Project).collect();
    LoadedSettings { settings: Settings::collect(&found), found, files, places, problems, project_problems }
}

/// The variable that chooses a setting.
pub(crate) fn variable_of(key: &str) -> &'static str {
    TABLE.iter().find(|setting| setting.key == key).expect("the key is in the table").env.name()
}

/// Reads the files that are there, the strongest last, and tells of a file that was named and is not there.
fn read_files(
    places: &SettingsPlaces,
    around: &SettingsContext,
) -> (Vec<FileSettings>, Option<SettingsProblem>) {
    let home = around.home();
    let read = |path: &Path, owner| FileSettings::read(path, owner, home.as_deref());
    let user = places.user.as_deref().filter(|path| places.is_named || !is_out_of_reach(path));
    let user = user.map(|path| (path, read(path, FileOwner::User)));
    let project = places.project.iter().find_map(|path| read(path, FileOwner::Project));
    let missing = match &user {
        Some((path, None)) if places.is_named => Some(SettingsProblem::Unreadable {
            path: (*path).to_owned(),
            why: "there is no such file".to_owned(),
        }),
        _ => None,
    };
    (user.and_then(|(_, file)| file).into_iter().chain(project).collect(), missing)
}

/// Whether the folder of a file may not be entered: then nobody can have put settings there for this user.
fn is_out_of_reach(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use std::{
        collections::{BTreeSet, HashMap},
        ffi::OsString,
        fs,
        path::PathBuf,
    };

    use super::*;
    use crate::settings::setting::FlagForm;

    #[test]
    fn the_table_holds_together() {
        let mut names = BTreeSet::new();
        for setting in TABLE {
            let flag = setting.flag.as_ref().map(|flag| format!("--{}", flag.name));
            let own = [Some(setting.key.to_owned()), Some(setting.env.name().to_owned()), flag];
            for name in own.into_iter().flatten() {
                assert!(names.insert(name.clone()), "{name} stands for two settings");
            }
            assert_eq!(setting.key.split('.').count(), 2, "{}: a section and a name", setting.key);
            assert!(setting.about.len() <= 120 && !setting.about.ends_with('.'), "{}", setting.about);
            if let Some(default) = setting.default.value() {
                let text = OsString::from(setting.kind.shown(&default));
                assert_eq!(setting.kind.read_text(&text), Some(default), "{}", setting.key);
            }
            if let Some(FlagForm::Means(text)) = setting.flag.as_ref().map(|flag| &flag.form) {
                assert!(setting.kind.read_text(text.as_ref()).is_some(), "{}", setting.key);
            }
        }
        let sections: Vec<_> = TABLE.iter().filter_map(|setting| setting.key.split('.').next()).collect();
        let distinct: BTreeSet<_> = sections.iter().collect();
        let runs = 1 + sections.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!(runs, distinct.len(), "the settings of a section stand together");
    }

    #[test]
    fn the_type_of_each_setting_is_that_of_its_kind() {
        let (found, _) = resolve::resolve(&[], &SettingsContext::default(), HashMap::new(), None);
        // It panics if a default is of another type; what can be nothing is shown by a value that is not the default.
        Settings::collect(&found);
        let words = [("agent.name", "x"), ("agent.rehearsal", "/x"), ("data.dir", "/x"), ("store.url", "x")];
        let more =
            [("trace.file", "/x"), ("log.level", "info"), ("agent.model", "m"), ("agent.provider", "ollama")];
        let flags = words.into_iter().chain(more).map(|(key, text)| {
            let setting = TABLE.iter().find(|setting| setting.key == key).expect("it is in the table");
            (setting.env.name().into(), text.into())
        });
        let around = SettingsContext { variables: flags.collect(), cwd: None };
        let (found, problems) = resolve::resolve(&[], &around, HashMap::new(), None);
        assert_eq!(problems, []);
        let settings = Settings::collect(&found);
        assert_eq!(settings.agent_name.asked().flatten().as_deref(), Some("x"));
        assert_eq!(settings.agent_rehearsal.as_deref(), Some(Path::new("/x")));
        assert_eq!(settings.data_dir.as_deref(), Some("/x".as_ref()));
        assert_eq!(settings.store_url.as_deref(), Some("x"));
        assert_eq!(settings.trace_file.as_deref(), Some(Path::new("/x")));
        assert_eq!(settings.log_level.asked().flatten().as_deref(), Some("info"));
        assert_eq!(settings.agent_model.as_deref(), Some("m"));
        assert_eq!(settings.agent_provider.as_deref(), Some("ollama"));
        let unset = TABLE.iter().filter(|setting| setting.default.value().is_none()).count();
        assert_eq!(unset, 8, "a setting without a default is to be looked at here");
    }

    /// Files of the program itself: not those of harnesses, which set variables for the programs that they start.
    const HARNESSES: &[&str] = &["bench", "interop", "peers", "editors", "testkit"];
    /// Variables that are no settings: they are for tests of crashes, for builds, and marks on children and on a terminal that
    /// a client opens for the user to sign in.
    const NO_SETTINGS: &[&str] = &[
        "\"NUDGE_FAILPOINT\"",
        "\"NUDGE_FAILPOINT_LOG\"",
        "\"NUDGE_CHILD_\"",
        "\"NUDGE_LOGIN\"",
        "\"NUDGE_AGENT_LOGIN\"",
        "env!(\"NUDGE_BUILD_ID\")",
    ];

    fn sources(dir: &Path, into: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).expect("a folder").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() && !HARNESSES.iter().any(|harness| name == *harness) && name != "tests" {
                sources(&path, into);
            } else if path.extension().is_some_and(|ending| ending == "rs") && name != "build.rs" {
                into.push(path);
            }
        }
    }

    #[test]
    fn every_provider_can_be_chosen() {
        let setting =
            TABLE.iter().find(|setting| setting.key == "agent.provider").expect("it is in the table");
        let ids: Vec<_> = nudge_model::PROVIDERS.iter().map(|provider| provider.id).collect();
        assert!(matches!(setting.kind, kind::ValueKind::Choice(names) if names == ids));
    }

    #[test]
    fn no_variable_of_nudge_is_named_outside_of_the_settings() {
        let mut files = Vec::new();
        let rooms = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        sources(&rooms, &mut files);
        assert!(files.len() > 100, "the sources were found");
        for path in files.iter().filter(|path| !path.to_string_lossy().contains("/cli/src/settings/")) {
            let text = fs::read_to_string(path).expect("a source");
            let text = NO_SETTINGS.iter().fold(text, |text, allowed| text.replace(allowed, ""));
            let found = text.lines().find(|line| line.contains("\"NUDGE_") || line.contains("\"NO_COLOR\""));
            assert_eq!(found, None, "{}: a variable belongs into the table of settings", path.display());
        }
    }
}
