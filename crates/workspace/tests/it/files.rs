//! `fs/read_text_file` and `fs/write_text_file`.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, net::UnixListener},
    path::Path,
    process::Command,
};

use nudge_testkit::skipped;
use nudge_workspace::{SessionDirectories, files};
use serde_json::{Value, json};

use crate::desk::{Desk, refused};

const READ: &str = "fs/read_text_file";
const WRITE: &str = "fs/write_text_file";

async fn read(desk: &Desk, name: &str) -> Result<Value, nudge_wire::Error> {
    desk.ask(READ, json!({ "path": desk.path(name) })).await
}

async fn write(desk: &Desk, name: &str, content: &str) -> Result<Value, nudge_wire::Error> {
    desk.ask(WRITE, json!({ "path": desk.path(name), "content": content })).await
}

#[tokio::test]
async fn lines_are_counted_from_one() {
    let desk = Desk::new();
    desk.put("a.txt", "one\ntwo\r\nthree\n");
    desk.put("b.txt", "eins\nzwei");
    desk.put("empty.txt", "");
    for (name, line, limit, expected) in [
        ("a.txt", None, None, "one\ntwo\r\nthree\n"),
        ("a.txt", Some(1), None, "one\ntwo\r\nthree\n"),
        ("a.txt", Some(0), Some(1), "one\n"),
        ("a.txt", Some(2), Some(1), "two\r\n"),
        ("a.txt", Some(3), Some(9), "three\n"),
        ("a.txt", Some(4), None, ""),
        ("a.txt", None, Some(0), ""),
        ("b.txt", Some(2), Some(1), "zwei"),
        ("b.txt", None, Some(u32::MAX), "eins\nzwei"),
        ("empty.txt", Some(1), Some(1), ""),
    ] {
        let asked = json!({ "path": desk.path(name), "line": line, "limit": limit });
        let expected = json!({ "content": expected });
        assert_eq!(desk.ask(READ, asked).await, Ok(expected), "{name} {line:?} {limit:?}");
    }
    let asked = json!({ "path": desk.path("a.txt"), "line": 5 });
    refused(desk.ask(READ, asked).await, -32602, "The file has 3 lines");
    let asked = json!({ "path": desk.path("b.txt"), "line": u32::MAX });
    refused(desk.ask(READ, asked).await, -32602, "The file has 2 lines");
}

#[tokio::test]
async fn only_text_files_are_read() {
    let desk = Desk::new();
    desk.put("nul", "a\0b");
    desk.put("latin", b"caf\xe9");
    desk.put("a.txt", "secret");
    let _socket = UnixListener::bind(desk.path("socket")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(desk.path("pipe")).status().unwrap().success());
    for (name, code, says) in [
        ("nul", -32602, "The file is binary."),
        ("latin", -32602, "The file is binary."),
        ("socket", -32602, "not a regular file"),
        ("pipe", -32602, "not a regular file"),
        ("", -32602, "This is a folder"),
        (".", -32602, "This is a folder"),
        ("secret", -32002, "Resource not found: there is no such file."),
        ("a.txt/below", -32002, "Resource not found: there is no such file."),
        ("no/such/secret", -32002, "Resource not found: there is no such file."),
    ] {
        refused(read(&desk, name).await, code, says);
    }
    for name in ["socket", "pipe"] {
        refused(write(&desk, name, "x").await, -32602, "not a regular file");
    }
    refused(write(&desk, ".", "x").await, -32602, "This is a folder");
    refused(write(&desk, "a.txt/below", "x").await, -32603, "The file cannot be written: ");
    assert_eq!(fs::read_to_string(desk.path("a.txt")).unwrap(), "secret");
}

#[tokio::test]
async fn a_large_file_is_refused() {
    const MOST: u64 = 32 * 1024 * 1024;
    let desk = Desk::new();
    // A file without content is as long as it says, and full of NUL.
    let file = fs::File::create(desk.path("large")).unwrap();
    file.set_len(MOST).unwrap();
    refused(read(&desk, "large").await, -32602, "The file is binary.");
    file.set_len(MOST + 1).unwrap();
    refused(read(&desk, "large").await, -32602, "33554433 bytes, where 33554432 can be read");
}

#[tokio::test]
async fn a_file_is_written_as_a_whole() {
    let desk = Desk::new();
    assert_eq!(write(&desk, "new/deep/a.txt", "ä\n").await, Ok(json!({})));
    assert_eq!(read(&desk, "new/deep/a.txt").await, Ok(json!({ "content": "ä\n" })));
    // Its rights stay, also those that a new file would not have.
    for mode in [0o600, 0o777] {
        fs::set_permissions(desk.path("new/deep/a.txt"), fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(write(&desk, "new/deep/a.txt", "").await, Ok(json!({})));
        let metadata = fs::metadata(desk.path("new/deep/a.txt")).unwrap();
        assert_eq!((metadata.len(), metadata.permissions().mode() & 0o7777), (0, mode));
    }
    // The link stays, and what it leads to is written.
    std::os::unix::fs::symlink("new/deep/a.txt", desk.path("link")).unwrap();
    assert_eq!(write(&desk, "link", "by link").await, Ok(json!({})));
    assert!(fs::symlink_metadata(desk.path("link")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(desk.path("new/deep/a.txt")).unwrap(), "by link");
    let names: Vec<_> =
        fs::read_dir(desk.path("new/deep")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.txt"], "no draft is left");
}

#[tokio::test]
async fn readers_never_see_half_a_file() {
    let desk = Desk::new();
    let texts = ["a".repeat(200_000), "b".repeat(300_000)];
    desk.put("f", &texts[0]);
    let writes = async {
        for at in 0..40 {
            assert_eq!(write(&desk, "f", &texts[at % 2]).await, Ok(json!({})));
        }
    };
    let reads = async {
        for _ in 0..80 {
            let content = read(&desk, "f").await.unwrap()["content"].as_str().unwrap().to_owned();
            assert!(texts.contains(&content), "{} bytes", content.len());
        }
    };
    tokio::join!(writes, reads);
}

#[tokio::test]
async fn params_must_fit() {
    let desk = Desk::new();
    refused(desk.ask(READ, json!({})).await, -32602, "missing field `path`");
    refused(desk.ask(READ, json!({ "path": 1 })).await, -32602, "Invalid params for fs/read_text_file");
    refused(desk.ask(WRITE, json!({ "path": "/x" })).await, -32602, "missing field `content`");
    for method in ["fs/delete", "terminal/cancel", "session/prompt", "terminal/", ""] {
        refused(desk.ask(method, json!({})).await, -32601, &format!("Method not found: {method}"));
    }
}

/// Where the test below has a disk of its own.
const SMALL_DISK: &str = "NUDGE_TEST_SMALL_DISK";

#[test]
fn a_full_disk_leaves_a_file_as_it_is() {
    if let Some(disk) = std::env::var_os(SMALL_DISK) {
        return write_on_full_disk(Path::new(&disk));
    }
    let may_mount =
        Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success());
    if !may_mount {
        return skipped("only root on Linux may mount a small disk");
    }
    let disk = tempfile::tempdir().unwrap();
    let script = format!(
        r#"mount -t tmpfs -o size=64k,nr_inodes=8 small "${SMALL_DISK}" && exec "$0" --exact files::a_full_disk_leaves_a_file_as_it_is"#
    );
    let mut itself = Command::new("unshare");
    itself.args(["-m", "sh", "-c", &script]).arg(std::env::current_exe().unwrap());
    let done = itself.env(SMALL_DISK, disk.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}

fn write_on_full_disk(disk: &Path) {
    fs::write(disk.join("a.txt"), "kept").unwrap();
    // First there is no room for blocks, then none for names.
    for bytes in [16 * 1024, 0] {
        let is_full = |name: &i32| fs::write(disk.join(format!("{bytes}-{name}")), vec![0; bytes]).is_err();
        assert!((0..100).find(is_full).is_some());
    }
    let directories = SessionDirectories::new(disk.to_owned(), Vec::new());
    let written = files::write(&directories.resolve("a.txt").unwrap(), &"new".repeat(8 * 1024));
    assert_eq!(written, Err(files::WriteError::Io(std::io::ErrorKind::StorageFull)));
    assert_eq!(fs::read_to_string(disk.join("a.txt")).unwrap(), "kept");
}
