use std::{
    io::Write,
    process::{Command, Stdio},
};

use nudge_peers::tee::{self, Side};

#[test]
fn everything_that_is_said_is_passed_on_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_nudge-peers"))
        .args(["tee", "--folder"])
        .arg(folder.path())
        .args(["--", "sh", "-c", "read line; echo \"heard $line\"; exit 7"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.as_mut().unwrap().write_all(b"one\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"heard one\n");
    assert_eq!(output.status.code(), Some(7));
    let records = tee::records(folder.path()).unwrap();
    let said: Vec<_> = records.iter().map(|record| (record.to, record.line.as_str())).collect();
    assert_eq!(said, [(Side::Agent, "one"), (Side::Client, "heard one")]);
    assert!(tee::pid(folder.path()).unwrap() > 0);
}
