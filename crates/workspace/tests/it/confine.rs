//! Nothing outside the directories is reached.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use nudge_workspace::{PathError, SessionDirectories, Workspace};
use proptest::prelude::*;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::desk::{Desk, ask, refused};

#[tokio::test]
async fn links_lead_nowhere_outside() {
    let desk = Desk::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("f"), "secret").unwrap();
    desk.put("in/f", "inside");
    for (to, from) in [
        (outside.path().to_owned(), "link"),
        (outside.path().join("f"), "file"),
        (outside.path().join("not-yet"), "dangling"),
        ("loop".into(), "loop"),
        ("..".into(), "up"),
        ("../link".into(), "in/twice"),
        ("in".into(), "inner"),
    ] {
        symlink(to, desk.path(from)).unwrap();
    }
    let out = "leads out of the session's directories";
    let mut cases: Vec<(PathBuf, &str)> =
        ["..", "../x", "in/../../x", "link", "link/f", "link/new/deep", "file", "up", "up/x"]
            .into_iter()
            .chain(["in/twice/f", "link/../in/f", "inner/../../x", "no/../../x"])
            .map(|name| (desk.path(name), out))
            .collect();
    cases.extend(["loop", "loop/x", "dangling", "dangling/x"].map(|name| (desk.path(name), "leads nowhere")));
    cases.extend(["in/f", "", "./in/f", "~/f"].map(|name| (name.into(), "The path is relative.")));
    cases.extend([(outside.path().join("f"), out), ("/".into(), out), ("/etc/passwd".into(), out)]);
    cases.push((desk.path("in\0f"), "NUL"));
    cases.push((desk.path(&"a/".repeat(3000)), "too long"));
    // One that only begins like the directory.
    cases.push((format!("{}x/f", desk.dir.path().display()).into(), out));
    for (path, says) in cases {
        refused(desk.ask("fs/read_text_file", json!({ "path": path })).await, -32602, says);
        refused(desk.ask("fs/write_text_file", json!({ "path": path, "content": "x" })).await, -32602, says);
        refused(
            desk.ask("terminal/create", json!({ "command": "touch x", "cwd": path })).await,
            -32602,
            says,
        );
    }
    assert_eq!(fs::read_to_string(outside.path().join("f")).unwrap(), "secret");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    let read = desk.ask("fs/read_text_file", json!({ "path": desk.path("inner/f") })).await;
    assert_eq!(read, Ok(json!({ "content": "inside" })));
}

#[tokio::test]
async fn other_directories_are_reached() {
    let there = tempfile::tempdir().unwrap();
    fs::create_dir(there.path().join("real")).unwrap();
    symlink("real", there.path().join("given")).unwrap();
    let missing = there.path().join("missing");
    let desk = Desk::with(vec![there.path().join("given"), missing.clone(), "relative".into()], None);
    // By the name it was given and by its own.
    for folder in ["given", "real"] {
        let path = there.path().join(folder).join("f");
        let asked = json!({ "path": path, "content": folder });
        assert_eq!(desk.ask("fs/write_text_file", asked).await, Ok(json!({})));
        assert_eq!(fs::read_to_string(there.path().join("real/f")).unwrap(), folder);
        let run = desk.outcome(json!({ "command": "cat f", "cwd": there.path().join(folder) })).await;
        assert_eq!(run.0, folder);
    }
    let beside = json!({ "path": there.path().join("f"), "content": "" });
    refused(desk.ask("fs/write_text_file", beside).await, -32602, "leads out");
    let missing = json!({ "path": missing.join("f"), "content": "" });
    refused(desk.ask("fs/write_text_file", missing).await, -32602, "leads out");
}

#[tokio::test]
async fn a_command_needs_a_folder_to_run_in() {
    let desk = Desk::new();
    desk.put("file", "");
    let says = "there is no such folder";
    for cwd in ["file", "none"] {
        refused(
            desk.ask("terminal/create", json!({ "command": "pwd", "cwd": desk.path(cwd) })).await,
            -32002,
            says,
        );
    }
    let nowhere = Workspace::new(desk.path("none"), Vec::new());
    refused(ask(&nowhere, "terminal/create", json!({ "command": "pwd" }), None).await, -32002, says);
    let relative = Workspace::new("src".into(), Vec::new());
    refused(
        ask(&relative, "terminal/create", json!({ "command": "pwd" }), None).await,
        -32602,
        "The path is relative.",
    );
}

/// A link that is put in the way after the path was looked at.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_becomes_a_link_is_not_followed() {
    let desk = Desk::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("f"), "secret").unwrap();
    desk.put("swap/f", "inside");
    symlink(outside.path(), desk.path("link")).unwrap();
    let is_done = AtomicBool::new(false);
    let swap = || {
        let (folder, link) = (desk.path("swap"), desk.path("link"));
        let exchange = || renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
        while !is_done.load(Ordering::Relaxed) {
            exchange();
            exchange();
        }
    };
    let path = desk.path("swap/f");
    let mut seen = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(swap);
        let tries = async {
            for _ in 0..1500 {
                seen.extend(desk.ask("fs/read_text_file", json!({ "path": path })).await);
                let _ = desk.ask("fs/write_text_file", json!({ "path": path, "content": "inside" })).await;
            }
        };
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(tries));
        is_done.store(true, Ordering::Relaxed);
    });
    // Only now, so that a failure does not leave the other thread behind.
    assert!(seen.iter().all(|read| *read == json!({ "content": "inside" })));
    assert_eq!(fs::read_to_string(outside.path().join("f")).unwrap(), "secret");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    let read = desk.ask("fs/read_text_file", json!({ "path": path })).await;
    assert_eq!(read, Ok(json!({ "content": "inside" })));
}

fn playground(root: &Path) {
    fs::create_dir_all(root.join("home/a/b")).unwrap();
    fs::create_dir_all(root.join("away/a")).unwrap();
    for (to, from) in [("../away", "home/out"), ("a/b", "home/in"), ("../..", "home/a/up"), ("x", "home/x")] {
        symlink(to, root.join(from)).unwrap();
    }
}

proptest! {
    #[test]
    fn any_path_that_is_inside_is_really_there(
        steps in proptest::collection::vec(prop_oneof!["a", "b", "out", "in", "up", "x", "new", "[.]{1,2}"], 0..8),
    ) {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        playground(&root);
        let home = root.join("home");
        let path = home.join(steps.join("/"));
        match SessionDirectories::new(home.clone(), Vec::new()).resolve_absolute(&path) {
            Ok(place) => {
                prop_assert!(place.real().starts_with(&home), "{place:?}");
                if let Ok(real) = fs::canonicalize(&path) {
                    prop_assert_eq!(place.real(), real);
                }
            }
            Err(PathError::Outside | PathError::Nowhere) => {
                let real = fs::canonicalize(&path);
                prop_assert!(real.is_err() || !real.unwrap().starts_with(&home), "{path:?}");
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
