//! Files that make other programs run commands.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use nudge_workspace::{GuardedReason, SessionDirectories};
use tempfile::TempDir;

struct Desk {
    dir: TempDir,
    directories: SessionDirectories,
}

impl Desk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let directories = SessionDirectories::new(dir.path().to_owned(), Vec::new());
        Self { dir, directories }
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn link(&self, to: &str, from: &str) {
        let from = self.dir.path().join(from);
        fs::create_dir_all(from.parent().unwrap()).unwrap();
        symlink(to, from).unwrap();
    }

    fn guarded(&self, path: impl AsRef<Path>) -> Option<GuardedReason> {
        self.directories.guarded(&path, &self.directories.resolve(&path).unwrap())
    }
}

#[test]
fn they_are_known_over_links_and_detours() {
    let desk = Desk::new();
    desk.put(".git/config", "");
    desk.put("a.txt", "");
    desk.link(".git", "store");
    desk.link("a.txt", ".envrc");
    desk.link(".envrc", "twice");
    for path in [".git/config", "store/config", "x/../.git/config", "./.git/../.git/hooks/new"] {
        assert_eq!(desk.guarded(path), Some(GuardedReason::Git), "{path}");
    }
    for path in [".envrc", "a.txt", "twice"] {
        assert_eq!(desk.guarded(path), Some(GuardedReason::Shell), "{path}");
    }
    assert_eq!(desk.guarded(".git/../b.txt"), None);
    assert_eq!(desk.guarded(desk.dir.path().join("b.txt")), None);
}

#[test]
fn a_file_with_other_names_may_be_any_of_them() {
    let desk = Desk::new();
    let config = desk.put(".git/config", "");
    fs::hard_link(config, desk.dir.path().join("notes.txt")).unwrap();
    assert_eq!(desk.guarded("notes.txt"), Some(GuardedReason::Linked));
}

#[test]
fn hooks_and_settings_that_git_is_pointed_to_are_known() {
    let desk = Desk::new();
    desk.put("scripts/check", "");
    desk.put("scripts/other", "");
    desk.put("hooks/pre-push", "");
    desk.put("shared.conf", "");
    desk.link("../../scripts/check", ".git/hooks/pre-commit");
    desk.put(".git/config", "[core]\n\thooksPath = hooks\n[include]\n\tpath = ../shared.conf\n");
    for path in ["scripts/check", "hooks/pre-push", "hooks/new", "shared.conf"] {
        assert_eq!(desk.guarded(path), Some(GuardedReason::Git), "{path}");
    }
    assert_eq!(desk.guarded("scripts/other"), None);
}

#[test]
fn a_repository_is_known_whatever_it_is_called() {
    let desk = Desk::new();
    for name in ["bare/HEAD", "bare/objects/x", "bare/refs/x", "half/objects/x", "half/refs/x"] {
        desk.put(name, "");
    }
    for path in ["bare/config", "bare/hooks/post-receive", "half/HEAD"] {
        assert_eq!(desk.guarded(path), Some(GuardedReason::Git), "{path}");
    }
    assert_eq!(desk.guarded("half/config"), None, "it is not one yet");
}

#[test]
fn the_store_of_a_worktree_is_found() {
    let desk = Desk::new();
    desk.put("main/.git/config", "[core]\nhooksPath=checks\n");
    desk.put("main/.git/worktrees/tree/commondir", "../..\n");
    desk.put("tree/.git", "gitdir: ../main/.git/worktrees/tree\n");
    desk.put("tree/checks/pre-commit", "");
    desk.put("tree/a", "");
    assert_eq!(desk.guarded("tree/checks/pre-commit"), Some(GuardedReason::Git));
    assert_eq!(desk.guarded("tree/a"), None);
}

#[test]
fn a_directory_of_the_session_counts_by_its_own_name_only() {
    let desk = Desk::new();
    let at = |folder: &str| {
        let folder = desk.dir.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let directories = SessionDirectories::new(folder, Vec::new());
        directories.guarded("tasks.json", &directories.resolve("tasks.json").unwrap())
    };
    assert_eq!(at("x/.vscode"), Some(GuardedReason::Editor));
    assert_eq!(at(".claude/worktrees/x"), None, "a worktree is a place to work in");
    assert_eq!(at(".git/x"), Some(GuardedReason::Git));
}

/// Whether a file is git's when the session is in a folder of a repository.
fn is_gits(desk: &Desk, session: &str, path: &str) -> bool {
    let folder = desk.dir.path().join(session);
    fs::create_dir_all(&folder).unwrap();
    let directories = SessionDirectories::new(folder, Vec::new());
    directories.guarded(path, &directories.resolve(path).unwrap()) == Some(GuardedReason::Git)
}

#[test]
fn a_repository_that_begins_above_the_session_counts() {
    let desk = Desk::new();
    desk.put(".git/config", "[core]\n\thooksPath = sub/hooks\n");
    desk.link("../../s/check", ".git/hooks/pre-commit");
    for (session, path, expected) in [
        ("sub", "hooks/pre-commit", true),
        ("sub/hooks", "pre-commit", true),
        ("s", "check", true),
        ("sub", "other/pre-commit", false),
        ("s", "other", false),
    ] {
        assert_eq!(is_gits(&desk, session, path), expected, "{session} {path}");
    }
}

#[test]
fn settings_of_git_are_found_wherever_they_are() {
    for (file, text) in [
        (".git/config", "[core]\n\thooksPath = tools/hooks ; ours\n"),
        (".git/config", "[core]\n\thooksPath = \"tools/hooks\" # ours\n"),
        (".git/config", "[core] hooksPath = tools/\\\nhooks\n"),
        (".git/config", "[core]\nworktree = ../tools\nhooksPath = hooks\n"),
        (".git/config", "[core]\nfsmonitor = tools/hooks/pre-commit -v\n"),
        (".git/config", "[alias]\nx = !sh tools/hooks/pre-commit\n"),
        (".git/config.worktree", "[core]\nhooksPath = tools/hooks\n"),
        ("one.conf", "[core]\nhooksPath = tools/hooks\n"),
        ("folder/three.conf", "[core]\nhooksPath = tools/hooks\n"),
    ] {
        let desk = Desk::new();
        desk.put(
            ".git/config",
            "[include]\npath = ../one.conf # ours\n[includeIf \"gitdir:x\"] path = ../two.conf\n",
        );
        desk.put("two.conf", "[include]\npath = folder/three.conf\n[include]\npath = two.conf\n");
        desk.put(".git/config.worktree", "[credential]\nhelper = store\n");
        desk.put(file, text);
        assert!(is_gits(&desk, ".", "tools/hooks/pre-commit"), "{file} {text}");
        for other in ["tools/other", "store"] {
            assert!(!is_gits(&desk, ".", other), "{file} {text}");
        }
        if file != ".git/config" {
            assert!(
                is_gits(&desk, ".", file) && is_gits(&desk, ".", "one.conf"),
                "{file} may be missing as yet"
            );
        }
    }
}

#[test]
fn a_worktree_has_settings_of_its_own() {
    let desk = Desk::new();
    desk.put("main/.git/config", "");
    desk.put("main/.git/worktrees/tree/commondir", "../..\n");
    desk.put("main/.git/worktrees/tree/config.worktree", "[core]\nhooksPath = checks\n");
    desk.put("tree/.git", "gitdir: ../main/.git/worktrees/tree\n");
    assert!(is_gits(&desk, "tree", "checks/pre-commit"));
    assert!(!is_gits(&desk, "main", "checks/pre-commit"));
}

#[test]
fn links_in_and_to_folders_of_hooks_are_followed() {
    let desk = Desk::new();
    desk.put(".git/config", "[core]\nhooksPath = linked\n");
    desk.link("tools/hooks", "linked");
    desk.link("../../s/check", "tools/hooks/pre-commit");
    desk.link("../s/settings", ".git/config.worktree");
    for path in ["tools/hooks/pre-push", "s/check", "s/settings"] {
        assert!(is_gits(&desk, ".", path), "{path}");
    }
    assert!(!is_gits(&desk, ".", "s/other"));
}

#[test]
fn links_with_telling_names_count_even_if_they_lead_nowhere_as_yet() {
    for (link, to, path, expected) in [
        (".envrc", "s/env", "s/env", GuardedReason::Shell),
        (".envrc", "mid", "mid", GuardedReason::Shell),
        (".bashrc.d", "s", "s/x/y", GuardedReason::Shell),
        (".claude", "s", "s/settings.json", GuardedReason::Agent),
        (".claude/hooks/check.sh", "../../s/check", "s/check", GuardedReason::Agent),
        (".vscode", "s", "s/tasks.json", GuardedReason::Editor),
        (".vscode/mcp.json", "../s/m", "s/m", GuardedReason::Editor),
        (".git/hooks/pre-commit", "../../s/check", "s/check", GuardedReason::Git),
        (".git", "s", "s/config", GuardedReason::Git),
        ("x.code-workspace", "s/w.json", "s/w.json", GuardedReason::Editor),
        (".config", "s", "s/fish/config.fish", GuardedReason::Shell),
        (".config/git", "../s", "s/config", GuardedReason::Git),
        (".cargo", "s", "s/config.toml", GuardedReason::Tool),
        (".cargo/config.toml", "../s/c", "s/c", GuardedReason::Tool),
        ("a/.npmrc", "b", "a/b", GuardedReason::Tool),
    ] {
        for there in [false, true] {
            let desk = Desk::new();
            desk.link(to, link);
            if there {
                desk.put(path, "");
            }
            assert_eq!(desk.guarded(path), Some(expected), "{link} {path} {there}");
        }
    }
    let desk = Desk::new();
    desk.link("round", ".envrc");
    desk.link(".envrc", "round");
    desk.link("s", "ordinary");
    desk.link("../s/tasks", ".vscode/tasks.json");
    desk.link("s", ".cargo");
    for path in ["s/x", "s/bin/x", "s/config.json"] {
        assert_eq!(desk.guarded(path), None, "{path}");
    }
}
