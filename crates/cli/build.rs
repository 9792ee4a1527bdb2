//! Says which build this is: `NUDGE_BUILD_ID` if it is set, else the commit, else `unknown`.
#![allow(clippy::disallowed_methods, reason = "a build script reads the environment and asks git")]

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=NUDGE_BUILD_ID");
    let set = std::env::var("NUDGE_BUILD_ID").ok().filter(|id| !id.trim().is_empty());
    let id = set.or_else(commit).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=NUDGE_BUILD_ID={}", id.trim());
}

fn commit() -> Option<String> {
    // It is written with every commit and checkout.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={log}");
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}
