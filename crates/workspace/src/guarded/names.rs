//! Names of files that make other programs run commands.

use std::path::Path;

use super::GuardedReason::{self, Account, Agent, Editor, Git, Shell, Tool};

/// Names, in small letters, of files and of folders with everything in them.
#[rustfmt::skip]
const NAMES: &[(GuardedReason, &[&str])] = &[
    (Git, &[".git", ".gitmodules", ".githooks", ".git-hooks", ".lefthook", "lefthook.yml", ".lefthook.yml", "lefthook.yaml",
        ".pre-commit-config.yaml", ".pre-commit-config.yml", ".overcommit.yml"]),
    (Editor, &[".vscode", ".vscode-server", ".vscode-insiders", ".idea", ".run", ".fleet", ".zed", ".vs", ".vim", ".vimrc",
        "_vimrc", ".gvimrc", ".exrc", ".nvimrc", ".nvim", ".nvim.lua", ".lvimrc", ".ideavimrc", ".helix", ".kakrc", ".emacs",
        ".emacs.d", ".dir-locals.el", ".dir-locals-2.el", ".devcontainer", ".devcontainer.json", ".gdbinit", ".lldbinit", ".theia",
        ".nova", ".lapce", ".project", ".externaltoolbuilders", ".neoconf.json", ".vimspector.json"]),
    (Shell, &["config.fish", ".direnv", "mise.toml", "mise.local.toml", ".tool-versions", ".login", ".logout", ".kshrc", ".mkshrc", ".shrc",
        ".inputrc", ".tmux.conf", ".screenrc"]),
    (Agent, &[".claude", ".cursor", ".codex", ".gemini", ".kiro", ".windsurf", ".continue", ".opencode",
        "opencode.json", "opencode.jsonc", ".aider.conf.yml", ".mcp.json", ".nudge"]),
    (Tool, &[".npmrc", ".pnpmfile.cjs", ".yarnrc", ".yarnrc.yml"]),
    (Account, &[".ssh", ".gnupg", ".xinitrc", ".xprofile", ".xsession", ".xsessionrc", ".pam_environment", ".netrc"]),
];

/// How such names begin, where a name may go on in any way.
const BEGINNINGS: &[(GuardedReason, &str)] = &[
    (Git, ".gitconfig"),
    (Git, ".husky"),
    (Shell, ".autoenv"),
    (Shell, ".bash"),
    (Shell, ".csh"),
    (Shell, ".envrc"),
    (Shell, ".mise"),
    (Shell, ".profile"),
    (Shell, ".tcsh"),
    (Shell, ".zlog"),
    (Shell, ".zprofile"),
    (Shell, ".zsh"),
];

/// How such names end.
const ENDINGS: &[(GuardedReason, &str)] = &[
    (Editor, ".code-workspace"),
    (Editor, ".run.xml"),
    (Editor, ".sublime-project"),
    (Editor, ".sublime-workspace"),
];

/// A folder, and what in it counts.
#[rustfmt::skip]
const BELOW: &[(GuardedReason, &str, &[&str])] = &[
    (Git, ".config", &["git"]),
    (Editor, ".config", &["code", "emacs", "helix", "kak", "nvim", "vim", "zed"]),
    (Shell, ".config", &["bash", "direnv", "elvish", "fish", "mise", "mise.toml", "nushell", "zsh"]),
    (Tool, ".cargo", &["config", "config.toml"]),
    (Tool, ".yarn", &["plugins", "releases"]),
    (Account, ".config", &["autostart", "environment.d", "systemd"]),
    (Account, ".local", &["bin"]),
    (Account, "library", &["launchagents"]),
];

/// What a path is by the names in it.
pub(super) fn by_name(path: &Path) -> Option<GuardedReason> {
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

/// Whether this is the name of a folder of which some contents count, though not the folder as a whole.
pub(super) fn holds_some(name: &str) -> bool {
    BELOW.iter().any(|(_, folder, _)| *folder == folded(name))
}

/// A name as a file system compares it that does not tell capitals from small letters and leaves out what is not seen.
pub(super) fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let is_seen = |c: &char| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    name.chars().filter(is_seen).flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
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
            (".pre-commit-config.yaml", Some(Git)),
            ("opencode.json", Some(Agent)),
            ("opencode.jsonc", Some(Agent)),
            (".aider.conf.yml", Some(Agent)),
            ("mise.toml", Some(Shell)),
            ("mise.local.toml", Some(Shell)),
            (".mise.toml", Some(Shell)),
            (".mise/config.toml", Some(Shell)),
            (".tool-versions", Some(Shell)),
            (".cargo/config.toml", Some(Tool)),
            ("a/.cargo/config", Some(Tool)),
            (".Cargo/Config.toml", Some(Tool)),
            (".npmrc", Some(Tool)),
            (".yarnrc.yml", Some(Tool)),
            (".yarn/releases/yarn.cjs", Some(Tool)),
            (".cargo/registry", None),
            ("cargo/config.toml", None),
            ("opencode.md", None),
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
