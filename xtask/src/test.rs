//! `cargo xtask test`: every check there is, in the order in which a mistake is cheapest to find.

use std::{
    fmt,
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::Result;

use crate::{command, command::cargo, fuzz, tidy};

/// How long each fuzz target runs.
const FUZZ_SECONDS: u64 = 5;

/// Which checks, and where it is noted how long they took.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only format, lints, rules and the tests of the default members
    #[arg(long)]
    quick: bool,
    /// Append each step and its seconds to FILE, a line each
    #[arg(long, value_name = "FILE")]
    steps: Option<PathBuf>,
}

pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let mut report = Report::default();
    let outcome = steps(root, options.quick, &mut report);
    println!("\n{report}");
    if let Some(file) = &options.steps {
        let mut file = OpenOptions::new().append(true).create(true).open(file)?;
        file.write_all(report.lines().as_bytes())?;
    }
    outcome
}

fn steps(root: &Path, quick: bool, report: &mut Report) -> Result<()> {
    let has_nextest = command::is_installed("nextest");
    report.step("format", |_| {
        command::run(&mut cargo(root, ["fmt", "--all", "--check"]))?;
        command::run(&mut cargo(&root.join("fuzz"), ["fmt", "--check"]))
    })?;
    report.step("lints", |_| {
        let args = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
        command::run(&mut cargo(root, args))
    })?;
    report.step("tidy", |_| tidy::run(root, false))?;
    report.step_if("lua", command::answers("luacheck"), LUACHECK_MISSING, || {
        let mut luacheck = Command::new("luacheck");
        luacheck.args(["--quiet", "--config", "editors/neovim/.luacheckrc", "editors/neovim"]);
        command::run(luacheck.current_dir(root))
    })?;
    report.step("tests", |report| {
        // Editors are tried again by another runner, if that is there.
        let workspace: &[_] = match (quick, has_nextest) {
            (true, _) => &[],
            (false, true) => &["--workspace", "--exclude=nudge-editors"],
            (false, false) => &["--workspace"],
        };
        let mut tests = cargo(root, ["test", "--all-features", "--no-fail-fast"]);
        command::run_seeing(tests.args(workspace), |line| report.tests.see(line))
    })?;
    if quick {
        return Ok(());
    }
    report.step_if("editors", has_nextest, NEXTEST_MISSING, || {
        let args = ["nextest", "run", "--package=nudge-editors", "--all-features", "--no-fail-fast"];
        command::run(&mut cargo(root, args))
    })?;
    report.step("docs", |_| {
        let mut docs = cargo(root, ["doc", "--workspace", "--all-features", "--no-deps"]);
        command::run(docs.env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    report.step("bench", |_| {
        for name in ["peer", "nes", "hub", "relay", "model", "chat"] {
            let mut bench = cargo(root, ["run", "--package=nudge-bench", "--", name, "--quick"]);
            command::run_quietly(&mut bench)?;
        }
        Ok(())
    })?;
    report.step_if("licences", command::is_installed("deny"), DENY_MISSING, || {
        let args = ["deny", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"];
        command::run(&mut cargo(root, args))
    })?;
    report.step_if("fuzz", command::is_installed("fuzz"), fuzz::HOW_TO_INSTALL, || {
        fuzz::smoke(root, FUZZ_SECONDS)
    })
}

const LUACHECK_MISSING: &str = "luacheck is not installed (Debian has it in the package lua-check)";
const NEXTEST_MISSING: &str = "cargo-nextest is not installed (cargo install cargo-nextest --locked): editors were tried once, with the other tests";
const DENY_MISSING: &str = "cargo-deny is not installed (cargo install cargo-deny --locked)";

/// What was done, how long it took and how many tests there were.
#[derive(Default)]
struct Report {
    done: Vec<(&'static str, Option<Duration>, &'static str)>,
    total: Duration,
    tests: Counts,
}

impl Report {
    fn step(&mut self, name: &'static str, step: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        println!("\n== {name}");
        let began = Instant::now();
        let outcome = step(self);
        self.total += began.elapsed();
        let verdict = if outcome.is_ok() { "" } else { "failed" };
        self.done.push((name, Some(began.elapsed()), verdict));
        outcome
    }

    /// What was done and how many seconds it took, a line each.
    fn lines(&self) -> String {
        let done = self.done.iter().filter_map(|(name, time, _)| Some((name, (*time)?.as_secs())));
        let lines: Vec<_> = done.map(|(name, seconds)| format!("{name}\t{seconds}\n")).collect();
        lines.concat()
    }

    /// A step that needs something installed.
    fn step_if(
        &mut self,
        name: &'static str,
        possible: bool,
        why_not: &str,
        step: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        if possible {
            return self.step(name, |_| step());
        }
        println!("\n== {name}\nskipped: {why_not}");
        self.done.push((name, None, "skipped"));
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("== summary\n")?;
        for (name, time, verdict) in &self.done {
            let time = time.map(seconds).unwrap_or_default();
            writeln!(f, "{}", format!("{name:10}{time:>9}  {verdict}").trim_end())?;
        }
        writeln!(f, "{:10}{:>9}", "total", seconds(self.total))?;
        write!(f, "{}", self.tests)
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// The sums of what the test programs report.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    passed: usize,
    failed: usize,
    ignored: usize,
}

impl Counts {
    /// Takes a line such as `test result: ok. 5 passed; 0 failed; 1 ignored; …` into account.
    fn see(&mut self, line: &str) {
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for count in counts.split("; ") {
            let Some((number, what)) = count.split_once(' ') else { continue };
            let number: usize = number.parse().unwrap_or(0);
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.ignored > 0 {
            write!(f, ", {} ignored", self.ignored)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_added_up() {
        let mut counts = Counts::default();
        for line in [
            "running 3 tests",
            "test a ... ok",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 7 filtered out; finished in 1.00s",
            "test result: nonsense",
        ] {
            counts.see(line);
        }
        assert_eq!(counts, Counts { passed: 5, failed: 4, ignored: 1 });
        assert_eq!(counts.to_string(), "5 passed, 4 failed, 1 ignored");
    }

    #[test]
    fn the_summary_says_what_failed_and_what_was_skipped() {
        let mut report = Report::default();
        assert!(report.step("first", |_| Ok(())).is_ok());
        assert!(report.step_if("second", false, "not installed", || Ok(())).is_ok());
        assert!(report.step("third", |_| anyhow::bail!("no")).is_err());
        let text = report.to_string();
        assert!(text.contains("skipped") && text.contains("failed\n"), "{text}");
        assert!(text.ends_with("0 passed, 0 failed"), "{text}");
        assert_eq!(report.lines(), "first\t0\nthird\t0\n");
    }
}
