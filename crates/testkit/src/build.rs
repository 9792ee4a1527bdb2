//! The program under test, for tests of packages that cargo does not build it for.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

/// Builds the binary `nudge` into the folder `target`, from anywhere in the repository; gives its path.
///
/// # Panics
/// If it does not build.
pub fn build_nudge(repository: &Path, target: &Path) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--locked", "--package=nudge", "--bin=nudge", "--message-format=json"])
        .arg("--target-dir")
        .arg(target)
        .current_dir(repository)
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(built.status.success(), "nudge does not build");
    let messages = serde_json::Deserializer::from_slice(&built.stdout).into_iter::<Value>().flatten();
    let binary = messages.filter_map(|message| message["executable"].as_str().map(str::to_owned)).last();
    binary.expect("cargo says where the binary is")
}
