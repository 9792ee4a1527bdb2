//! Automation: `cargo xtask test`, `tidy`, `bench`, `dist`, `peers`, `faults`, `real-model`, `chaos`, `plant` and `fuzz`.
#![allow(clippy::disallowed_methods, reason = "automation reads files, clocks and the environment")]

mod bench;
mod chaos;
mod command;
mod dist;
mod faults;
mod fuzz;
mod peers;
mod plant;
mod real_model;
mod test;
mod tidy;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

/// Automation for the Nudge workspace.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Check everything: format, lints, rules, tests, docs, benchmark, licences, fuzz targets
    Test(test::Options),
    /// Check the rules of this repository that no compiler checks
    Tidy {
        /// Write the generated files anew first
        #[arg(long)]
        fix: bool,
    },
    /// Measure: `cargo xtask bench peer`
    Bench {
        /// Which benchmark
        name: String,
        /// Passed on to it
        #[arg(last = true)]
        args: Vec<String>,
    },
    /// Build the program that is handed out, with its symbols in a file beside it
    Dist,
    /// Drive real agents through `nudge acp --` and see that nothing is lost
    Peers(peers::Peers),
    #[command(about = faults::ABOUT, after_help = faults::EXAMPLES)]
    Faults(faults::Faults),
    /// Install a real language model and talk with it through `nudge acp`; some minutes
    RealModel {
        /// A very small one, in less than a minute
        #[arg(long)]
        quick: bool,
    },
    /// Kill the program at every boundary and at random moments, and see that nothing is lost
    Chaos {
        /// With an agent behind it that is killed, stopped, flooded and garbled, instead of the built-in one
        #[arg(long, conflicts_with = "each")]
        agent: bool,
        /// How many times at random moments
        #[arg(long, default_value_t = 1000)]
        runs: u64,
        /// How many times at each boundary
        #[arg(long, default_value_t = 40)]
        each: u64,
        /// Where the random numbers begin
        #[arg(long, default_value_t = 7)]
        seed: u64,
    },
    /// Make mistakes in a copy of the session's core, and see that the model checker finds each
    Plant {
        /// A part of the name of one; all of them if left out
        name: Option<String>,
    },
    /// Run the fuzz targets, with the golden messages as seeds
    Fuzz {
        /// One target; all of them if left out
        target: Option<String>,
        /// How long each runs
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
}

fn main() -> ExitCode {
    let root = root();
    let outcome = match Args::parse().task {
        Task::Test(options) => test::run(&root, &options),
        Task::Tidy { fix } => tidy::run(&root, fix),
        Task::Dist => dist::run(&root),
        Task::Bench { name, args } => bench::run(&root, &name, &args),
        Task::Peers(peers) => peers::run(&root, &peers),
        Task::Faults(faults) => faults::run(&root, &faults),
        Task::RealModel { quick } => real_model::run(&root, quick),
        Task::Chaos { agent: true, runs, seed, .. } => chaos::with_agent(&root, runs, seed),
        Task::Chaos { runs, each, seed, .. } => chaos::run(&root, runs, each, seed),
        Task::Plant { name } => plant::run(&root, name.as_deref()),
        Task::Fuzz { target, seconds } => fuzz::run(&root, target.as_deref(), seconds),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the repository.
fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    package.parent().map(Path::to_owned).unwrap_or(package)
}
