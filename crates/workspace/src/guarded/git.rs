//! What a repository has for hooks and settings outside of its store.

use std::{
    env, fs,
    io::Read,
    path::{Path, PathBuf},
};

use super::{
    git_config::{GitSetting, settings},
    links::{lead, leads_to},
};
use crate::files;

/// How much is read of a file of git's.
const MOST_READ: u64 = 1024 * 1024;
/// How many files with settings are read, and how deep they may name each other: git stops there, too.
const MOST_FILES: usize = 64;
const MOST_DEPTH: usize = 10;
/// How many entries of a folder of git's are looked at.
const MOST_ENTRIES: usize = 1000;

/// Settings whose value is a command, whatever they are settings of.
const COMMANDS: &[&str] = &[
    "askpass",
    "clean",
    "cmd",
    "command",
    "driver",
    "editor",
    "external",
    "fsmonitor",
    "gitproxy",
    "helper",
    "pager",
    "process",
    "program",
    "smudge",
    "sshcommand",
    "textconv",
];

/// Whether the repository that is checked out in a folder has the file as a hook, as a command or among its settings.
pub(super) fn names(folder: &Path, file: &Path) -> bool {
    let Some(stores) = Stores::of(folder) else { return false };
    let settings = Settings::read(&stores);
    let mut bases = vec![folder.to_owned()];
    bases.extend(settings.values("core", "worktree").filter_map(|value| path(&stores.own, value)));
    let named = settings.values("core", "hookspath");
    let hooks = named.flat_map(|value| bases.iter().filter_map(|base| path(base, value)));
    let hooks: Vec<PathBuf> = hooks.chain([stores.common.join("hooks"), stores.own.join("hooks")]).collect();
    let holders = hooks.iter().chain([&stores.common, &stores.own]);
    hooks.iter().chain(&settings.files).any(|path| leads_to(path, file))
        || holders.into_iter().any(|folder| has_link_to(folder, file))
        || bases.iter().any(|base| settings.run(base, file))
}

/// Where git keeps what it has of a repository.
struct Stores {
    /// That of a worktree alone, which is the common one if there is no other.
    own: PathBuf,
    common: PathBuf,
}

impl Stores {
    fn of(folder: &Path) -> Option<Self> {
        let git = folder.join(".git");
        let own = if git.is_dir() {
            git
        } else {
            // A worktree or a submodule says where its store is.
            folder.join(beginning(&git)?.strip_prefix("gitdir:")?.trim())
        };
        let common = beginning(&own.join("commondir")).map(|common| own.join(common.trim()));
        Some(Self { common: common.unwrap_or_else(|| own.clone()), own })
    }
}

/// What files with settings say, and which files that are. A file that is missing counts as well: it may be made.
#[derive(Default)]
struct Settings {
    files: Vec<PathBuf>,
    settings: Vec<GitSetting>,
}

impl Settings {
    fn read(stores: &Stores) -> Self {
        let mut read = Self::default();
        let own = ["config", "config.worktree"].map(|name| stores.own.join(name));
        let common = ["config", "config.worktree"].map(|name| stores.common.join(name));
        for file in common.into_iter().chain(own).chain(of_user()) {
            read.file(&file, 0);
        }
        read
    }

    /// Reads a file with those that it names, on whatever condition it does.
    fn file(&mut self, file: &Path, depth: usize) {
        let Some(file) = lead(file) else { return };
        if depth > MOST_DEPTH || self.files.len() == MOST_FILES || self.files.contains(&file) {
            return;
        }
        let found = settings(&beginning(&file).unwrap_or_default());
        let folder = file.parent().map(Path::to_owned).unwrap_or_default();
        self.files.push(file);
        let includes = found.iter().filter(|setting| {
            matches!(setting.section.as_str(), "include" | "includeif") && setting.key == "path"
        });
        for include in includes.filter_map(|setting| path(&folder, &setting.value)) {
            self.file(&include, depth + 1);
        }
        self.settings.extend(found);
    }

    fn values(&self, section: &str, key: &str) -> impl Iterator<Item = &str> {
        let found = self.settings.iter().filter(move |of| of.section == section && of.key == key);
        found.map(|of| of.value.as_str())
    }

    /// Whether the file is a word of a command that git runs.
    fn run(&self, base: &Path, file: &Path) -> bool {
        let commands = self.settings.iter().filter_map(|setting| {
            let is_command = COMMANDS.contains(&setting.key.as_str());
            let of_alias = setting.value.strip_prefix('!').filter(|_| setting.section == "alias");
            of_alias.or_else(|| is_command.then_some(setting.value.trim_start_matches('!')))
        });
        let words = commands.flat_map(|command| {
            let words = command.split([' ', '\t', ';', '&', '|', '"', '\'']).enumerate();
            // A program without a path is looked for elsewhere.
            words.filter(|(at, word)| *at > 0 || word.contains('/')).map(|(_, word)| word)
        });
        let mut paths = words.filter_map(|word| lead(&path(base, word)?));
        paths.any(|path| path == file)
    }
}

/// Where the user and the system have settings for all repositories.
fn of_user() -> Vec<PathBuf> {
    let home = env::home_dir();
    let config = env::var_os("XDG_CONFIG_HOME").filter(|config| !config.is_empty()).map(PathBuf::from);
    let config = config.or_else(|| Some(home.as_ref()?.join(".config")));
    let of_home = home.map(|home| home.join(".gitconfig"));
    let of_config = config.map(|config| config.join("git/config"));
    [of_home, of_config, Some(PathBuf::from("/etc/gitconfig"))].into_iter().flatten().collect()
}

/// The path that a value means.
fn path(base: &Path, value: &str) -> Option<PathBuf> {
    let value = value.strip_prefix(":(optional)").unwrap_or(value);
    if value.is_empty() {
        return None;
    }
    match value.strip_prefix("~/") {
        Some(below) => Some(env::home_dir()?.join(below)),
        None => Some(base.join(value)),
    }
}

fn has_link_to(folder: &Path, file: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_ENTRIES);
    let mut links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    links.any(|link| leads_to(&link.path(), file))
}

/// The beginning of a text file.
fn beginning(path: &Path) -> Option<String> {
    let file = files::open_at(path).ok()?;
    let mut bytes = Vec::new();
    file.take(MOST_READ).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
