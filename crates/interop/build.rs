//! Takes the example programs of the official SDK out of its package, so that they can be run without being copied
//! into this repository.
#![allow(clippy::disallowed_methods, reason = "a build script reads and writes files")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

const PACKAGE: &str = "agent-client-protocol";
const EXAMPLES: [&str; 4] = ["simple_agent", "simple_agent_v2", "yolo_one_shot_client", "v2_one_shot_client"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    let package = package_directory();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for example in EXAMPLES {
        let path = package.join("examples").join(example).with_extension("rs");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        fs::write(out.join(example).with_extension("rs"), without_inner(&text)).expect("OUT_DIR is writable");
    }
}

/// What only the beginning of a file may have would be out of place where the file is included.
fn without_inner(text: &str) -> String {
    let is_inner = |line: &&str| line.starts_with("//!") || line.starts_with("#![");
    text.lines().filter(|line| !is_inner(line)).flat_map(|line| [line, "\n"]).collect()
}

fn package_directory() -> PathBuf {
    // Building this package alone does not download what the rest of the workspace needs, and then cargo has to.
    let metadata =
        metadata(&["--offline"]).or_else(|_| metadata(&[])).unwrap_or_else(|error| panic!("{error}"));
    let packages = metadata["packages"].as_array().expect("cargo metadata lists packages");
    let package = packages.iter().find(|package| package["name"] == PACKAGE).expect("it is a dependency");
    let manifest = Path::new(package["manifest_path"].as_str().expect("a package has a manifest"));
    manifest.parent().expect("a manifest is in a directory").to_owned()
}

fn metadata(options: &[&str]) -> Result<Value, String> {
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let output = Command::new(env::var_os("CARGO").expect("cargo sets CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--filter-platform", &target])
        .args(options)
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}
