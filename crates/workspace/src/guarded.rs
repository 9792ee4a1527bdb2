//! Files that make other programs run commands, by themselves and without being asked.

use std::{
    fs,
    io::Read,
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
};

use crate::{Directories, Place, files};

/// How much is read of a file of git's.
const MOST_READ: u64 = 256 * 1024;
/// How many hooks are looked at.
const MOST_HOOKS: usize = 256;

/// Why a change of a file is no ordinary change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Guarded {
    /// Git runs it or takes its settings from it.
    #[error("Git runs this file or takes its settings from it, so that this is asked every time.")]
    Git,
    /// Editors and debuggers run what is in it.
    #[error("Editors run commands that are in this file, so that this is asked every time.")]
    Editor,
    /// Shells run it when they start or enter its folder.
    #[error("Shells run this file by themselves, so that this is asked every time.")]
    Shell,
    /// Coding agents run what is in it.
    #[error("Coding agents run commands that are in this file, so that this is asked every time.")]
    Agent,
    /// Something that starts with the user's session, or lets others in.
    #[error("Programs of the user's account follow this file, so that this is asked every time.")]
    Account,
    /// It may be one of the others under another name.
    #[error("This file has other names (hard links), so that this is asked every time.")]
    Linked,
}

use Guarded::{Account, Agent, Editor, Git, Shell};

/// Names, in small letters, of files and of folders with everything in them.
#[rustfmt::skip]
const NAMES: &[(Guarded, &[&str])] = &[
    (Git, &[".git", ".gitmodules", ".githooks", ".git-hooks", ".lefthook", "lefthook.yml", ".lefthook.yml", "lefthook.yaml",
        ".pre-commit-config.yaml", ".pre-commit-config.yml", ".overcommit.yml"]),
    (Editor, &[".vscode", ".vscode-server", ".vscode-insiders", ".idea", ".run", ".fleet", ".zed", ".vs", ".vim", ".vimrc",
        "_vimrc", ".gvimrc", ".exrc", ".nvimrc", ".nvim", ".nvim.lua", ".lvimrc", ".ideavimrc", ".helix", ".kakrc", ".emacs",
        ".emacs.d", ".dir-locals.el", ".dir-locals-2.el", ".devcontainer", ".devcontainer.json", ".gdbinit", ".lldbinit", ".theia",
        ".nova", ".lapce", ".project", ".externaltoolbuilders", ".neoconf.json", ".vimspector.json"]),
    (Shell, &["config.fish", ".direnv", ".mise", ".mise.toml", "mise.toml", ".login", ".logout", ".kshrc", ".mkshrc", ".shrc",
        ".inputrc", ".tmux.conf", ".screenrc"]),
    (Agent, &[".claude", ".cursor", ".codex", ".gemini", ".kiro", ".windsurf", ".continue", ".opencode", ".mcp.json",
        ".nudge"]),
    (Account, &[".ssh", ".gnupg", ".xinitrc", ".xprofile", ".xsession", ".xsessionrc", ".pam_environment", ".netrc"]),
];

/// How such names begin, where a name may go on in any way.
const BEGINNINGS: &[(Guarded, &str)] = &[
    (Git, ".gitconfig"),
    (Git, ".husky"),
    (Shell, ".autoenv"),
    (Shell, ".bash"),
    (Shell, ".csh"),
    (Shell, ".envrc"),
    (Shell, ".profile"),
    (Shell, ".tcsh"),
    (Shell, ".zlog"),
    (Shell, ".zprofile"),
    (Shell, ".zsh"),
];

/// How such names end.
const ENDINGS: &[(Guarded, &str)] = &[
    (Editor, ".code-workspace"),
    (Editor, ".run.xml"),
    (Editor, ".sublime-project"),
    (Editor, ".sublime-workspace"),
];

/// A folder, and what in it counts.
#[rustfmt::skip]
const BELOW: &[(Guarded, &str, &[&str])] = &[
    (Git, ".config", &["git"]),
    (Editor, ".config", &["code", "emacs", "helix", "kak", "nvim", "vim", "zed"]),
    (Shell, ".config", &["bash", "direnv", "elvish", "fish", "mise", "nushell", "zsh"]),
    (Account, ".config", &["autostart", "environment.d", "systemd"]),
    (Account, ".local", &["bin"]),
    (Account, "library", &["launchagents"]),
];

/// Files and folders that are looked at for being links to what is changed.
const MAY_BE_LINKS: &[&str] = &[
    ".bash_profile",
    ".bashrc",
    ".envrc",
    ".git",
    ".gitconfig",
    ".githooks",
    ".gitmodules",
    ".husky",
    ".idea",
    ".mcp.json",
    ".profile",
    ".vscode",
    ".vscode/launch.json",
    ".vscode/settings.json",
    ".vscode/tasks.json",
    ".zed",
    ".zed/settings.json",
    ".zed/tasks.json",
    ".zshenv",
    ".zshrc",
];

impl Directories {
    /// Whether a change of a file may make other programs run commands by themselves. `path` is how it was called, and
    /// `place` is where that leads.
    pub fn guarded(&self, path: impl AsRef<Path>, place: &Place) -> Option<Guarded> {
        let (root, below) = place.way();
        let own_name = root.file_name().map_or(Path::new(""), Path::new);
        by_name(&own_name.join(below))
            .or_else(|| by_name(&self.as_called(path.as_ref())))
            .or_else(|| is_in_repository(place.real()).then_some(Git))
            .or_else(|| by_folders(root, place.real()))
            .or_else(|| has_other_names(place.real()).then_some(Guarded::Linked))
    }

    /// A path as it was called, from the directory it begins with.
    fn as_called(&self, path: &Path) -> PathBuf {
        let mut whole = PathBuf::new();
        for component in self.cwd().join(path).components() {
            match component {
                Component::ParentDir => {
                    whole.pop();
                }
                Component::CurDir => {}
                other => whole.push(other),
            }
        }
        let below = self.roots().iter().find_map(|(given, real)| {
            whole.strip_prefix(given).or_else(|_| whole.strip_prefix(real)).ok().map(Path::to_owned)
        });
        below.unwrap_or(whole)
    }
}

fn by_name(path: &Path) -> Option<Guarded> {
    let names: Vec<String> =
        path.components().map(|name| folded(&name.as_os_str().to_string_lossy())).collect();
    let one = |name: &String| {
        let whole = NAMES.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(why, _)| *why);
        let begins = || BEGINNINGS.iter().find(|(_, begin)| name.starts_with(begin)).map(|(why, _)| *why);
        let ends = || ENDINGS.iter().find(|(_, end)| name.ends_with(end)).map(|(why, _)| *why);
        whole.or_else(begins).or_else(ends)
    };
    let two = |pair: &[String]| {
        let found =
            BELOW.iter().find(|(_, folder, names)| pair[0] == *folder && names.contains(&pair[1].as_str()));
        found.map(|(why, ..)| *why)
    };
    names.iter().find_map(one).or_else(|| names.windows(2).find_map(two))
}

/// A name as a file system compares it that does not tell capitals from small letters and leaves out what is not seen.
fn folded(name: &str) -> String {
    let is_seen = |c: &char| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    name.chars().filter(is_seen).flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Whether a file is in a folder of git's, whatever that is called: a bare repository, the store of a worktree.
fn is_in_repository(file: &Path) -> bool {
    if file.components().any(|name| folded(&name.as_os_str().to_string_lossy()) == ".git") {
        return true;
    }
    file.ancestors().skip(1).zip(file.ancestors()).any(|(folder, next)| {
        let next = next.file_name().map(|name| folded(&name.to_string_lossy())).unwrap_or_default();
        // What is about to be made counts as there.
        ["HEAD", "objects", "refs"]
            .iter()
            .all(|name| next == name.to_lowercase() || folder.join(name).exists())
    })
}

/// Whether a link in one of the folders around the file, or git's settings there, make it what it is not by name.
fn by_folders(root: &Path, file: &Path) -> Option<Guarded> {
    let folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    folders.into_iter().find_map(|folder| {
        let linked = MAY_BE_LINKS.iter().find(|name| leads_to(&folder.join(name), file));
        let linked = linked.and_then(|name| by_name(Path::new(name)));
        linked.or_else(|| is_named_by_git(folder, file).then_some(Git))
    })
}

/// Whether this is a link to the file or to a folder that holds it.
fn leads_to(link: &Path, file: &Path) -> bool {
    let is_link = fs::symlink_metadata(link).is_ok_and(|metadata| metadata.is_symlink());
    is_link && fs::canonicalize(link).is_ok_and(|target| file.starts_with(target))
}

/// Whether the repository that is checked out in a folder has the file as a hook or among its settings.
fn is_named_by_git(folder: &Path, file: &Path) -> bool {
    let Some(store) = store(folder) else { return false };
    let hooks = fs::read_dir(store.join("hooks")).into_iter().flatten().flatten().take(MOST_HOOKS);
    let is_hook =
        [store.join("config"), store.join("hooks")].into_iter().chain(hooks.map(|hook| hook.path()));
    if is_hook.into_iter().any(|hook| leads_to(&hook, file)) {
        return true;
    }
    let settings = beginning(&store.join("config")).unwrap_or_default();
    let named = settings.lines().filter_map(|line| line.split_once('='));
    named.into_iter().any(|(key, value)| {
        let base =
            match key.trim().rsplit(']').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
                "hookspath" => folder,
                // Of `include` and `includeIf`.
                "path" => &store,
                _ => return false,
            };
        let value = value.trim().trim_matches('"');
        !value.is_empty() && fs::canonicalize(base.join(value)).is_ok_and(|named| file.starts_with(named))
    })
}

/// Where git keeps what it has of the repository that is checked out in a folder.
fn store(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    // A worktree or a submodule says where its store is.
    let store = folder.join(beginning(&git)?.strip_prefix("gitdir:")?.trim());
    let common = beginning(&store.join("commondir")).map(|common| store.join(common.trim()));
    Some(common.unwrap_or(store))
}

/// The beginning of a text file.
fn beginning(path: &Path) -> Option<String> {
    let file = files::open_at(path).ok()?;
    let mut bytes = Vec::new();
    file.take(MOST_READ).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn has_other_names(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.nlink() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_runs_by_itself() {
        for (path, expected) in [
            (".git/config", Some(Git)),
            (".GIT/hooks/pre-commit", Some(Git)),
            (".g\u{200c}it/config", Some(Git)),
            ("sub/.git", Some(Git)),
            (".git/modules/x/config", Some(Git)),
            (".gitmodules", Some(Git)),
            (".husky/pre-push", Some(Git)),
            (".vscode/tasks.json", Some(Editor)),
            (".VSCode/Tasks.json", Some(Editor)),
            (".v\u{17f}code/tasks.json", Some(Editor)),
            ("a/.idea/runConfigurations/x.xml", Some(Editor)),
            (".zed/tasks.json", Some(Editor)),
            ("x.code-workspace", Some(Editor)),
            (".envrc", Some(Shell)),
            ("a/.envrc.local", Some(Shell)),
            (".bashrc.d/x", Some(Shell)),
            (".config/fish/conf.d/x.fish", Some(Shell)),
            (".config/git/config", Some(Git)),
            (".claude/settings.json", Some(Agent)),
            (".ssh/authorized_keys", Some(Account)),
            (".gitignore", None),
            (".gitattributes", None),
            (".config/nextest.toml", None),
            (".github/workflows/ci.yml", None),
            ("src/git/config", None),
            ("config", None),
            (".env", None),
        ] {
            assert_eq!(by_name(Path::new(path)), expected, "{path}");
        }
    }
}
