//! `cargo xtask plant`: mistakes are made in a copy of the workspace, and the model checker has to find each.

mod bugs;

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::{Message, MetadataCommand};
use ignore::WalkBuilder;

use crate::command::{self, cargo};
use bugs::{BUGS, Bug};

/// What the copy has of the workspace.
const COPIED: &[&str] = &["Cargo.toml", "Cargo.lock", "crates", "xtask"];
/// The tests that have to find them.
const TESTS: &str = "model::plays";

/// Plants every bug, or the one of this name, and sees that it is found.
pub(crate) fn run(root: &Path, name: Option<&str>) -> Result<()> {
    let chosen: Vec<_> = BUGS.iter().filter(|bug| name.is_none_or(|name| bug.name.contains(name))).collect();
    ensure!(!chosen.is_empty(), "no bug is called so; there is: {}", names());
    let garden = Garden::new(root)?;
    let clean = garden.search()?;
    ensure!(clean.is_none(), "the tests fail without a planted bug: {clean:?}");
    println!("{:58}{:46}{:14}{:>9}", "bug", "found by", "as", "seconds");
    let mut missed = Vec::new();
    for bug in chosen {
        let began = Instant::now();
        let found = garden.with(bug)?;
        println!("{}", row(bug, found.as_ref(), began.elapsed()));
        missed.extend(found.is_none().then_some(bug.name));
    }
    ensure!(missed.is_empty(), "not found: {}", missed.join("; "));
    Ok(())
}

fn names() -> String {
    BUGS.iter().map(|bug| bug.name).collect::<Vec<_>>().join("; ")
}

fn row(bug: &Bug, found: Option<&Found>, took: Duration) -> String {
    let (test, wrong) = found.map_or(("nothing", "-"), |found| (&*found.test, &*found.wrong));
    format!("{:58}{test:46}{wrong:14}{:>9.1}", bug.name, took.as_secs_f64())
}

/// How a bug was found.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    test: String,
    /// What the model checker calls it.
    wrong: String,
}

/// A copy of the workspace, and where it is built.
struct Garden {
    tree: PathBuf,
    target: PathBuf,
}

impl Garden {
    fn new(root: &Path) -> Result<Self> {
        let metadata = MetadataCommand::new().current_dir(root).no_deps().exec()?;
        let planted = metadata.target_directory.into_std_path_buf().join("planted");
        let (tree, target) = (planted.join("tree"), planted.join("target"));
        for name in COPIED {
            copy(root, &tree, name)?;
        }
        Ok(Self { tree, target })
    }

    /// Plants a bug, looks who finds it, and takes it out again.
    fn with(&self, bug: &Bug) -> Result<Option<Found>> {
        let path = self.tree.join(bug.file);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", bug.file))?;
        ensure!(text.matches(bug.find).count() == 1, "«{}» cannot be planted: its text is gone", bug.name);
        fs::write(&path, text.replace(bug.find, bug.put))?;
        let found = self.search().with_context(|| format!("with «{}»", bug.name));
        fs::write(&path, text)?;
        found
    }

    /// Builds the tests, and runs them until one fails.
    fn search(&self) -> Result<Option<Found>> {
        let program = self.build()?;
        let mut tests = Command::new(program);
        tests
            .args([TESTS, "--test-threads=1", "--nocapture"])
            .current_dir(&self.tree)
            .env("RUST_BACKTRACE", "0");
        let mut child = tests.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (Some(output), Some(mut errors)) = (child.stdout.take(), child.stderr.take()) else {
            bail!("the tests have no output");
        };
        let mut lines = BufReader::new(output).lines();
        let failed = lines.find_map(|line| line.ok().and_then(|line| failed(&line)));
        let Some(test) = failed else {
            let status = child.wait()?;
            ensure!(status.success(), "the tests end without a word ({status})");
            return Ok(None);
        };
        child.kill()?;
        child.wait()?;
        let mut said = String::new();
        errors.read_to_string(&mut said)?;
        Ok(Some(Found { test, wrong: wrong(&said) }))
    }

    /// The program of the tests. A bug has to compile.
    fn build(&self) -> Result<PathBuf> {
        let args = ["test", "--no-run", "--offline", "--package=nudge-session", "--test=it"];
        let mut build = cargo(&self.tree, args);
        build.env("CARGO_TARGET_DIR", &self.target).env("CARGO_INCREMENTAL", "0");
        command::run_quietly(&mut build)?;
        let output = build.arg("--message-format=json").stderr(Stdio::null()).output()?;
        let messages = Message::parse_stream(&output.stdout[..]).filter_map(Result::ok);
        let programs = messages.filter_map(|message| match message {
            Message::CompilerArtifact(artifact) if artifact.target.name == "it" => artifact.executable,
            _ => None,
        });
        programs
            .last()
            .map(cargo_metadata::camino::Utf8PathBuf::into_std_path_buf)
            .context("no tests were built")
    }
}

/// Copies what git would keep, unless it is there: then it need not be built again.
fn copy(from: &Path, to: &Path, name: &str) -> Result<()> {
    for entry in WalkBuilder::new(from.join(name)).build() {
        let path = entry?.into_path();
        if path.is_file() {
            let copy = to.join(path.strip_prefix(from)?);
            let bytes = fs::read(&path)?;
            if fs::read(&copy).ok().as_ref() != Some(&bytes) {
                fs::create_dir_all(copy.parent().unwrap_or(to))?;
                fs::write(&copy, bytes)?;
            }
        }
    }
    Ok(())
}

/// The test that fails by this line.
fn failed(line: &str) -> Option<String> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    Some(name.rsplit("::").next().unwrap_or(name).to_owned())
}

/// What the model checker calls what it found: `Some(Order) after …`.
fn wrong(said: &str) -> String {
    let found = said.lines().find_map(|line| line.strip_prefix("Some(")?.split_once(')'));
    found.map_or("a panic", |(wrong, _)| wrong).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bug_has_its_place() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the workspace");
        for bug in BUGS {
            let text = fs::read_to_string(root.join(bug.file)).expect(bug.file);
            let times = text.matches(bug.find).count();
            assert_eq!(times, 1, "«{}»: {:?} in {}", bug.name, bug.find, bug.file);
            assert_ne!(bug.find, bug.put, "«{}» changes nothing", bug.name);
        }
        assert!(BUGS.len() >= 10, "{} bugs are too few", BUGS.len());
    }

    #[test]
    fn what_was_found_is_read_from_what_the_tests_print() {
        assert_eq!(failed("test model::plays::two_crashes ... FAILED").as_deref(), Some("two_crashes"));
        assert_eq!(failed("test model::plays::two_crashes ... ok"), None);
        assert_eq!(wrong("thread panicked\nname:\nSome(Order) after [Send(0)]\n"), "Order");
        assert_eq!(wrong("thread panicked"), "a panic");
    }
}
