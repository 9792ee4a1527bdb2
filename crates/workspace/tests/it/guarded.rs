//! Files that make other programs run commands.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use nudge_workspace::{Directories, Guarded};
use tempfile::TempDir;

struct Desk {
    dir: TempDir,
    directories: Directories,
}

impl Desk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let directories = Directories::new(dir.path().to_owned(), Vec::new());
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

    fn guarded(&self, path: impl AsRef<Path>) -> Option<Guarded> {
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
        assert_eq!(desk.guarded(path), Some(Guarded::Git), "{path}");
    }
    for path in [".envrc", "a.txt", "twice"] {
        assert_eq!(desk.guarded(path), Some(Guarded::Shell), "{path}");
    }
    assert_eq!(desk.guarded(".git/../b.txt"), None);
    assert_eq!(desk.guarded(desk.dir.path().join("b.txt")), None);
}

#[test]
fn a_file_with_other_names_may_be_any_of_them() {
    let desk = Desk::new();
    let config = desk.put(".git/config", "");
    fs::hard_link(config, desk.dir.path().join("notes.txt")).unwrap();
    assert_eq!(desk.guarded("notes.txt"), Some(Guarded::Linked));
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
        assert_eq!(desk.guarded(path), Some(Guarded::Git), "{path}");
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
        assert_eq!(desk.guarded(path), Some(Guarded::Git), "{path}");
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
    assert_eq!(desk.guarded("tree/checks/pre-commit"), Some(Guarded::Git));
    assert_eq!(desk.guarded("tree/a"), None);
}

#[test]
fn a_directory_of_the_session_counts_by_its_own_name_only() {
    let desk = Desk::new();
    let at = |folder: &str| {
        let folder = desk.dir.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let directories = Directories::new(folder, Vec::new());
        directories.guarded("tasks.json", &directories.resolve("tasks.json").unwrap())
    };
    assert_eq!(at("x/.vscode"), Some(Guarded::Editor));
    assert_eq!(at(".claude/worktrees/x"), None, "a worktree is a place to work in");
    assert_eq!(at(".git/x"), Some(Guarded::Git));
}
