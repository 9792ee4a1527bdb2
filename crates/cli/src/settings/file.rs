//! A settings file: read with a bound and without waiting, and taken apart into settings and problems.

use std::{
    fs::{Metadata, OpenOptions},
    io::{self, Read},
    os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::{fs::OFlags, io::Errno};
use toml::de::{DeTable, DeValue};

use super::{
    kind::ParsedValue,
    nearest::nearest_key,
    problem::{FileLine, SettingsProblem},
    setting::{InProject, SettingRow},
    table::TABLE,
};

/// The longest file taken, in bytes.
pub(crate) const LONGEST_FILE: u64 = 64 * 1024;
/// How many problems of one file are told.
const MOST_PROBLEMS: usize = 50;
/// How much of an unknown key is told, in characters.
const LONGEST_KEY: usize = 80;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileOwner {
    /// The user's, who may choose everything.
    User,
    /// A repository's that nobody has looked at.
    Project,
}

/// A setting that stands in a file.
#[derive(Debug)]
pub(crate) struct SettingEntry {
    pub(crate) setting: &'static SettingRow,
    pub(crate) value: ParsedValue,
    /// Counted from 1.
    pub(crate) line: usize,
}

/// What was found in a file.
#[derive(Debug)]
pub(crate) struct FileSettings {
    pub(crate) path: PathBuf,
    pub(crate) owner: FileOwner,
    pub(crate) entries: Vec<SettingEntry>,
    pub(crate) problems: Vec<SettingsProblem>,
}

impl FileSettings {
    /// Reads a file; `None` if it is not there.
    pub(crate) fn read(path: &Path, owner: FileOwner, home: Option<&Path>) -> Option<Self> {
        match read_settings_text(path, owner) {
            Ok(text) => Some(Self::parse(&text?, path, owner, home)),
            Err(why) => {
                let problem = SettingsProblem::Unreadable { path: path.to_owned(), why };
                Some(Self { path: path.to_owned(), owner, entries: Vec::new(), problems: vec![problem] })
            }
        }
    }

    /// Takes a text apart. Of one that is no TOML nothing counts: its parts may mean something else than they seem to.
    pub(crate) fn parse(text: &str, path: &Path, owner: FileOwner, home: Option<&Path>) -> Self {
        let found = Self { path: path.to_owned(), owner, entries: Vec::new(), problems: Vec::new() };
        let mut reader = Reader { found, lines: line_starts(text), home };
        let (table, errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() {
            reader.take_table(&mut Vec::new(), table.get_ref());
        }
        for error in &errors {
            let at = reader.at(error.span().map_or(0, |span| span.start));
            reader.tell(SettingsProblem::Syntax { at, what: error.message().to_owned() });
        }
        reader.found.problems.sort_by_key(SettingsProblem::line);
        reader.found
    }
}

/// The text of a settings file; `None` if it is not there. Nothing is waited for: a pipe in its place is refused, and of a
/// project so is a link, which could lead to anything. The device that is always empty is an empty file.
pub(crate) fn read_settings_text(path: &Path, owner: FileOwner) -> Result<Option<String>, String> {
    let mut flags = OFlags::NONBLOCK;
    if owner == FileOwner::Project {
        flags |= OFlags::NOFOLLOW;
    }
    let file = match OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            return Err("it is a link, which is not followed; put a file in its place".to_owned());
        }
        Err(error) => return Err(format!("it cannot be read: {error}")),
    };
    let meta = file.metadata().map_err(|error| format!("it cannot be read: {error}"))?;
    if is_null(&meta) {
        return Ok(Some(String::new()));
    }
    if !meta.is_file() {
        return Err("it is not a file; remove it, or put one in its place".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(LONGEST_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("it cannot be read: {error}"))?;
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(format!("it is too long; at most {LONGEST_FILE} bytes are taken"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| "expected text in UTF-8".to_owned())
}

/// Whether it is `/dev/null`, by whatever name.
fn is_null(meta: &Metadata) -> bool {
    meta.file_type().is_char_device()
        && std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == meta.rdev())
}

/// Where each line begins.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// A file that is being taken apart.
struct Reader<'a> {
    found: FileSettings,
    lines: Vec<usize>,
    home: Option<&'a Path>,
}

impl Reader<'_> {
    fn line(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset)
    }

    fn at(&self, offset: usize) -> FileLine {
        FileLine { path: self.found.path.clone(), line: self.line(offset).max(1) }
    }

    fn tell(&mut self, problem: SettingsProblem) {
        match self.found.problems.len() {
            ..MOST_PROBLEMS => self.found.problems.push(problem),
            MOST_PROBLEMS => {
                self.found.problems.push(SettingsProblem::More { path: self.found.path.clone() });
            }
            _ => {}
        }
    }

    /// Takes what stands below `path`, which is the beginning of a known key.
    fn take_table<'t>(&mut self, path: &mut Vec<&'t str>, table: &'t DeTable<'_>) {
        for (key, value) in table {
            path.push(key.get_ref());
            self.take_value(path, key.span().start, value.get_ref());
            path.pop();
        }
    }

    fn take_value<'t>(&mut self, path: &mut Vec<&'t str>, offset: usize, value: &'t DeValue<'_>) {
        if let Some(setting) = TABLE.iter().find(|setting| setting.key.split('.').eq(path.iter().copied())) {
            return self.take_setting(setting, offset, value);
        }
        let key = shown(path);
        let is_section = TABLE.iter().any(|setting| {
            let parts = setting.key.split('.');
            parts.take(path.len()).eq(path.iter().copied())
        });
        let problem = match value {
            DeValue::Table(table) if is_section => return self.take_table(path, table),
            _ if is_section => {
                SettingsProblem::WrongValue { at: self.at(offset), key, expected: "a table".to_owned() }
            }
            _ => SettingsProblem::UnknownKey {
                at: self.at(offset),
                nearest: nearest_key(&path.join(".")),
                key,
            },
        };
        self.tell(problem);
    }

    fn take_setting(&mut self, setting: &'static SettingRow, offset: usize, value: &DeValue<'_>) {
        let (at, key) = (self.at(offset), setting.key.to_owned());
        if let (FileOwner::Project, InProject::Refused(why)) = (self.found.owner, &setting.in_project) {
            return self.tell(SettingsProblem::NotForProjects { at, key, why });
        }
        match setting.kind.read_toml(value, self.home) {
            Some(value) => self.found.entries.push(SettingEntry { setting, value, line: at.line }),
            None => {
                self.tell(SettingsProblem::WrongValue { at, key, expected: setting.kind.expected_in_file() });
            }
        }
    }
}

/// A key as it is told.
fn shown(path: &[&str]) -> String {
    let key = path.join(".");
    match key.char_indices().nth(LONGEST_KEY) {
        Some((end, _)) => format!("{}…", &key[..end]),
        None => key,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str, owner: FileOwner) -> FileSettings {
        FileSettings::parse(text, Path::new("c.toml"), owner, Some(Path::new("/nest/ada")))
    }

    fn check(text: &str, owner: FileOwner, expected: &[&str]) {
        let told: Vec<String> = parse(text, owner).problems.iter().map(ToString::to_string).collect();
        assert_eq!(told, expected, "{text}");
    }

    #[test]
    fn settings_are_found_with_their_lines_however_they_are_written() {
        for text in [
            "# mine\n[agent]\npatience = 5\n",
            "\n\nagent.patience = 5",
            "\r\n\r\nagent = { patience = 5 }\r\n",
            "\n\n\"agent\".'patience' = 0x5",
        ] {
            let found = parse(text, FileOwner::User);
            assert_eq!(found.problems, [], "{text}");
            let [entry] = &found.entries[..] else { panic!("one setting: {text}") };
            assert_eq!(
                (entry.setting.key, &entry.value, entry.line),
                ("agent.patience", &ParsedValue::Number(5), 3)
            );
        }
        assert!(parse("", FileOwner::User).entries.is_empty());
    }

    #[test]
    fn mistakes_are_told_with_their_place_and_what_was_expected() {
        for (text, problem) in [
            (
                "[agent]\npatiense = 3",
                "c.toml:2: there is no setting `agent.patiense`; did you mean `agent.patience`?",
            ),
            ("\n[agnet]\npatience = 3", "c.toml:2: there is no setting `agnet`; did you mean `agent`?"),
            ("birds = 3", "c.toml:1: there is no setting `birds`; `nudge config show` lists all"),
            (
                "\"agent.patience\" = 3",
                "c.toml:1: there is no setting `agent.patience`; did you mean `agent.patience`?",
            ),
            ("agent = 3", "c.toml:1: expected a table for `agent`"),
            ("[[agent]]\npatience = 3", "c.toml:1: expected a table for `agent`"),
            (
                "[agent]\n# soon\npatience = \"3\"",
                "c.toml:3: expected a number of seconds from 0 to 31536000 for `agent.patience`",
            ),
            ("message.limit = 7", "c.toml:1: expected a number of bytes, 1024 or more for `message.limit`"),
            (
                "[agent.patience]\nseconds = 3",
                "c.toml:1: expected a number of seconds from 0 to 31536000 for `agent.patience`",
            ),
            ("nes.by = \"me\"", "c.toml:1: expected `nudge` or `agent`, in quotes for `nes.by`"),
        ] {
            check(text, FileOwner::User, &[problem]);
        }
        check(
            "a = 1\nb = 2\nagent.patience = true\n",
            FileOwner::User,
            &[
                "c.toml:1: there is no setting `a`; `nudge config show` lists all",
                "c.toml:2: there is no setting `b`; `nudge config show` lists all",
                "c.toml:3: expected a number of seconds from 0 to 31536000 for `agent.patience`",
            ],
        );
    }

    #[test]
    fn what_is_no_toml_is_told_with_its_lines_and_nothing_of_it_counts() {
        let found = parse("agent.patience = 3\nhush-1\nagent.isolate = = true\n", FileOwner::User);
        let lines: Vec<usize> = found
            .problems
            .iter()
            .map(|problem| match problem {
                SettingsProblem::Syntax { at, .. } => at.line,
                other => panic!("{other}"),
            })
            .collect();
        assert!(lines.contains(&2) && lines.contains(&3), "{lines:?}");
        assert!(found.entries.is_empty());
        assert!(!found.problems.iter().any(|problem| problem.to_string().contains("hush")));
    }

    #[test]
    fn a_project_chooses_nothing_that_could_harm() {
        let mut refused = Vec::new();
        for setting in TABLE {
            let found = parse(&format!("{} = 1", setting.key), FileOwner::Project);
            if matches!(found.problems[..], [SettingsProblem::NotForProjects { .. }]) {
                refused.push(setting.key);
            }
        }
        assert_eq!(
            refused,
            [
                "agent.name",
                "agent.patience",
                "agent.start_timeout",
                "agent.model",
                "agent.provider",
                "agent.rehearsal",
                "daemon.mode",
                "daemon.linger",
                "data.dir",
                "store.url",
                "login.keyring",
                "nes.by",
                "message.limit",
                "trace.file",
                "log.level"
            ]
        );
        let told = parse("trace.file = \"/nest/ada/.bashrc\"", FileOwner::Project).problems[0].to_string();
        assert!(told.contains("cannot stand in a project file: a project must not choose files"), "{told}");
    }

    #[test]
    fn links_pipes_folders_and_long_files_are_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("file"), "agent.isolate = true").unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        std::fs::write(path("long"), " ".repeat(64 * 1024 + 1)).unwrap();
        std::fs::write(path("bytes"), b"\xff\xfe").unwrap();
        std::fs::create_dir(path("folder")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        let check = |name: &str, owner: FileOwner, expected: &str| {
            let found = FileSettings::read(&path(name), owner, None).expect("something is there");
            let told = found.problems.first().map(ToString::to_string).unwrap_or_default();
            assert!(told.contains(expected) && told.is_empty() == expected.is_empty(), "{name}: {told}");
        };
        check("file", FileOwner::Project, "");
        check("link", FileOwner::Project, "it is a link");
        check("link", FileOwner::User, "");
        std::os::unix::fs::symlink("/dev/null", path("nothing")).unwrap();
        check("nothing", FileOwner::User, "");
        check("/dev/null", FileOwner::User, "");
        check("/dev/zero", FileOwner::User, "it is not a file");
        for owner in [FileOwner::User, FileOwner::Project] {
            check("pipe", owner, "it is not a file");
            check("folder", owner, "it is not a file");
            check("long", owner, "it is too long");
            check("bytes", owner, "expected text in UTF-8");
        }
        assert!(FileSettings::read(&path("none"), FileOwner::User, None).is_none());
        assert!(FileSettings::read(&path("file/none"), FileOwner::User, None).is_none());
    }

    /// Texts that look like settings files.
    fn texts() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            proptest::sample::select(TABLE.iter().map(|setting| setting.key.to_owned()).collect::<Vec<_>>()),
            proptest::sample::select(
                &[
                    "=",
                    "\n",
                    "[",
                    "]",
                    "[[",
                    "]]",
                    "{",
                    "}",
                    ".",
                    ",",
                    "\"",
                    "'''",
                    "#",
                    "true",
                    "-1",
                    "0x",
                    "99999999999999999999",
                    "\r",
                    "\u{0}",
                    "é",
                    "\\u00",
                    "1979-05-27T",
                    "nan",
                    " "
                ][..]
            )
            .prop_map(str::to_owned),
            "\\PC{0,6}",
        ];
        proptest::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in prop_oneof![texts(), any::<String>()]) {
            for owner in [FileOwner::User, FileOwner::Project] {
                let found = parse(&text, owner);
                let lines = text.split('\n').count();
                prop_assert!(found.entries.iter().all(|entry| (1..=lines).contains(&entry.line)));
                prop_assert!(found.problems.len() <= MOST_PROBLEMS + 1);
                prop_assert!(found.problems.iter().all(|problem| !problem.to_string().is_empty()));
            }
        }
    }

    #[test]
    fn a_file_full_of_mistakes_or_brackets_is_bounded() {
        let many: Vec<String> = (0..8000).map(|number| format!("k{number}=1")).collect();
        let found = parse(&many.join("\n"), FileOwner::Project);
        assert_eq!(found.problems.len(), MOST_PROBLEMS + 1);
        parse(&format!("a = {}", "[".repeat(60_000)), FileOwner::Project);
        parse(&format!("a{} = 1", ".a".repeat(30_000)), FileOwner::Project);
        let long = parse(&format!("{} = 1", "a".repeat(60_000)), FileOwner::Project).problems[0].to_string();
        assert!(long.len() < 200, "{long}");
    }
}
