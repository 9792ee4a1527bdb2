//! `nudge replay`: what it prints.

use std::{fs, path::Path, process::Command};

use serde_json::Value;
use tempfile::TempDir;

fn replay(args: &[&str]) -> (bool, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_nudge"))
        .arg("replay")
        .args(args)
        .env_remove("NUDGE_LOG")
        .output()
        .expect("it can be started");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn git(folder: &Path, args: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(folder)
        .status()
        .expect("git can be started");
    assert!(status.success(), "git {args:?}");
}

fn repository() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    git(folder.path(), &["init", "--quiet"]);
    for text in ["let a = old;\n\nuse(old);\n", "let a = new;\n\nuse(new);\n"] {
        fs::write(folder.path().join("a.ts"), text).expect("a file");
        git(folder.path(), &["add", "a.ts"]);
        git(folder.path(), &["commit", "--quiet", "--message=change"]);
    }
    folder
}

#[test]
fn a_report_as_json() {
    let repository = repository();
    let path = repository.path().to_str().expect("UTF-8");
    let args =
        ["--git", path, "--engine", "naive", "--eagerness", "all", "--typed", "--quiet-files", "--json"];
    let (success, output, errors) = replay(&args);
    assert!(success && errors.is_empty(), "{errors}");
    let report: Value = serde_json::from_str(&output).expect("JSON");
    assert_eq!(report["engine"], "naive");
    assert_eq!(report["runs"].as_array().map(Vec::len), Some(3));
    for run in report["runs"].as_array().expect("runs") {
        let total = &run["total"];
        for (name, expected) in
            [("commits", 1), ("hunks", 2), ("asks", 1), ("shown", 1), ("exact", 1), ("wrong", 0)]
        {
            assert_eq!(total[name], expected, "{name}");
        }
        assert_eq!((total["precision"].as_f64(), total["recall"].as_f64()), (Some(1.0), Some(0.5)));
        assert_eq!(run["languages"][0]["name"], "typescript");
        assert_eq!(
            (&run["sizes"][0]["name"], &run["sizes"][0]["recall"]),
            (&"2 to 4 hunks".into(), &0.5.into())
        );
        assert_eq!(run["predictors"][0]["name"], "repeat");
        assert!(total["latency"]["p99Ms"].is_number());
        assert!(total["typed"]["savedShare"].is_number() && run["quiet"]["shownShare"].is_number());
    }
}

#[test]
fn a_report_as_a_table() {
    let repository = repository();
    let (success, output, errors) =
        replay(&["--git", repository.path().to_str().expect("UTF-8"), "--engine", "naive"]);
    assert!(success && errors.is_empty(), "{errors}");
    for expected in ["engine naive, eagerness medium, seed 1", "precision", "typescript", "100.0 %", "50.0 %"]
    {
        assert!(output.contains(expected), "{expected:?} in {output}");
    }
}

#[test]
fn a_table_fits_a_terminal_and_ends_with_a_sentence() {
    let repository = repository();
    let path = repository.path().to_str().expect("UTF-8");
    let args =
        ["--git", path, "--git", path, "--engine", "naive", "--eagerness", "all", "--typed", "--quiet-files"];
    let (success, output, _) = replay(&args);
    assert!(success);
    for line in output.lines() {
        assert!(line.chars().count() <= 100, "{line:?} is wider than 100 columns");
    }
    for expected in ["recall     the share of all hunks", "exact does what the commit did"] {
        assert!(output.contains(expected), "{expected:?} in {output}");
    }
    let words = output.split_whitespace().collect::<Vec<_>>().join(" ");
    let last = "At high eagerness, over 2 commits of 2 repositories: of 2 suggestions 100.0 % were right, \
                and they did 50.0 % of the hunks for you; half of the answers came within ";
    assert!(words.contains(last) && words.ends_with(" ms."), "{words}");
}

#[test]
fn what_is_missing_is_said() {
    let folder = TempDir::new().expect("a temporary folder");
    let (success, _, errors) = replay(&["--git", folder.path().to_str().expect("UTF-8")]);
    assert!(!success && errors.contains("cannot read the git repository"), "{errors}");
    let (success, _, errors) = replay(&[]);
    assert!(!success && errors.contains("--git"), "{errors}");
}
