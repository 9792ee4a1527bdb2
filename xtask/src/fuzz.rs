//! `cargo xtask fuzz`: the fuzz targets, on stable, with the golden messages as seeds.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::command;

pub(crate) const HOW_TO_INSTALL: &str = "cargo-fuzz is not installed (cargo install cargo-fuzz --locked)";

/// Runs one target or all of them.
pub(crate) fn run(root: &Path, target: Option<&str>, seconds: u64) -> Result<()> {
    if !command::is_installed("fuzz") {
        bail!(HOW_TO_INSTALL);
    }
    let targets = targets(root)?;
    let chosen = match target {
        None => targets,
        Some(name) if targets.iter().any(|known| known == name) => vec![name.to_owned()],
        Some(name) => bail!("there is no fuzz target `{name}`; there is: {}", targets.join(", ")),
    };
    for target in chosen {
        println!("== fuzz {target}, {seconds} s");
        seed(root, &target)?;
        command::run(&mut run_target(root, &target, seconds))?;
    }
    Ok(())
}

/// Builds all targets and runs each for a moment.
pub(crate) fn smoke(root: &Path, seconds: u64) -> Result<()> {
    command::run_quietly(&mut fuzz(root, &["build"]))?;
    for target in targets(root)? {
        seed(root, &target)?;
        command::run_quietly(&mut run_target(root, &target, seconds))?;
    }
    Ok(())
}

/// `cargo fuzz` wants a nightly compiler for the flags it passes; this is how a stable one takes them.
fn fuzz(root: &Path, args: &[&str]) -> Command {
    let mut command = command::cargo(root, ["fuzz"]);
    command.args(args).env("RUSTC_BOOTSTRAP", "1");
    command
}

fn run_target(root: &Path, target: &str, seconds: u64) -> Command {
    let mut command = fuzz(root, &["run", target, "--"]);
    command.args([&format!("-max_total_time={seconds}"), "-dict=fuzz/json.dict", "-timeout=10"]);
    command
}

/// The targets are the files of `fuzz/fuzz_targets`.
fn targets(root: &Path) -> Result<Vec<String>> {
    let paths = files(&root.join("fuzz/fuzz_targets"))?;
    Ok(paths.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect())
}

/// Puts every golden message, on one line, into the corpus of `target`.
fn seed(root: &Path, target: &str) -> Result<()> {
    let corpus = root.join("fuzz/corpus").join(target);
    fs::create_dir_all(&corpus)?;
    for version in ["v1", "v2"] {
        for path in files(&root.join("spec/golden").join(version))? {
            let message =
                one_line(&fs::read_to_string(&path)?).with_context(|| path.display().to_string())?;
            let name =
                path.file_stem().context("a golden message has a name")?.to_string_lossy().into_owned();
            fs::write(corpus.join(format!("golden-{version}-{name}")), message)?;
        }
    }
    Ok(())
}

fn one_line(json: &str) -> Result<String> {
    Ok(serde_json::from_str::<serde_json::Value>(json)?.to_string())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_one_line() {
        assert_eq!(one_line("{\n  \"b\": 1,\n  \"a\": \"x\\n\"\n}\n").unwrap(), r#"{"b":1,"a":"x\n"}"#);
        assert!(one_line("{").is_err());
    }
}
