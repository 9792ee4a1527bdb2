//! Installs real agents and takes them through the steps; see `cargo xtask peers`.
#![allow(clippy::disallowed_methods, reason = "it installs, starts and waits for real programs")]

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use clap::{Parser, Subcommand};
use nudge_peers::{
    chat::Version,
    faults::{self, FaultOptions, frail_server, guard},
    install::Cache,
    place::Route,
    real_model,
    recipe::{self, Recipe},
    report::{self, Tried},
    run::{self, Outcome},
    steps::Verdict,
    tee,
};

/// These start fast, one for each way to steer and each dialect of the model; with one version each they take minutes.
const QUICK: &[&str] = &["claude-agent-acp", "codex-acp", "goose-1.52", "pi-acp"];

/// Real agents, driven by one scripted client through `nudge acp --`.
#[derive(Debug, Parser)]
#[command(name = "nudge-peers", disable_help_subcommand = true)]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Take agents through the steps, and say how it went
    Run(Run),
    /// Install agents
    Install {
        /// Where
        #[arg(long, value_name = "DIR", default_value = "target/peers")]
        cache: PathBuf,
        /// These agents; all if none is named
        #[arg(long, value_name = "NAME")]
        only: Vec<String>,
    },
    /// Talk with a real model through the built-in agent
    Model {
        /// Where it is installed
        #[arg(long, value_name = "DIR", default_value = "target/peers")]
        cache: PathBuf,
        /// A small model, which hardly makes sense: what is tried with every change
        #[arg(long)]
        quick: bool,
    },
    /// Break the model's server, a tool's server and the agent, and see what becomes of turn and session
    Faults(FaultOptions),
    /// End what runs in the folders that are named on standard input, once that ends
    #[command(hide = true)]
    Guard,
    /// Be a server of tools that dies when its tool is called
    #[command(hide = true)]
    FrailServer {
        /// The file that tells that it was called
        told: PathBuf,
    },
    /// List the agents
    List,
    /// Run a command and write down what is said to it and by it
    Tee {
        /// Where to
        #[arg(long, value_name = "DIR")]
        folder: PathBuf,
        /// The command
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
struct Run {
    /// Where agents are installed
    #[arg(long, value_name = "DIR", default_value = "target/peers")]
    cache: PathBuf,
    /// These agents; all if none is named
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// These steps; all if none is named
    #[arg(long, value_name = "NAME")]
    step: Vec<String>,
    /// A few agents, one version each: what is tried with every change
    #[arg(long)]
    quick: bool,
    /// Without Nudge in between, to see what the agents do themselves
    #[arg(long)]
    direct: bool,
    /// One version of the protocol: 1 or 2
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=2))]
    version: Option<u64>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Write the table of the agents into this page, between its marks
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

fn main() -> ExitCode {
    let outcome = match Args::parse().task {
        Task::Run(args) => run_all(&args),
        Task::Install { cache, only } => install(&cache, &only),
        Task::Model { cache, quick } => model(&cache, quick),
        Task::Faults(options) => faults::run(&options),
        Task::Guard => guard::guard(),
        Task::FrailServer { told } => frail_server::serve(&told),
        Task::List => list(),
        Task::Tee { folder, command } => match tee::run(&folder, &command) {
            Ok(code) => return ExitCode::from(code),
            Err(error) => Err(error),
        },
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn model(cache: &std::path::Path, is_quick: bool) -> Result<()> {
    real_model::run(&Cache::at(cache)?, &run::nudge()?, is_quick)
}

fn list() -> Result<()> {
    for recipe in recipe::all()? {
        println!("{}: {} ({})", recipe.name, recipe.version, recipe.caveat);
    }
    Ok(())
}

fn install(cache: &std::path::Path, only: &[String]) -> Result<()> {
    let cache = Cache::at(cache)?;
    for recipe in recipe::chosen(only)? {
        if let Err(error) = cache.install(&recipe) {
            eprintln!("skipped: {error:#}");
        }
    }
    Ok(())
}

fn run_all(args: &Run) -> Result<()> {
    let quick: Vec<String> = QUICK.iter().map(|&name| name.to_owned()).collect();
    let recipes = recipe::chosen(if args.quick && args.only.is_empty() { &quick } else { &args.only })?;
    let cache = Cache::at(&args.cache)?;
    let (mut tried, mut outcomes) = (Vec::new(), Vec::new());
    for (at, recipe) in recipes.iter().enumerate() {
        if let Err(error) = cache.install(recipe) {
            eprintln!("skipped: {error:#}");
            continue;
        }
        let offers = if args.page.is_some() { run::offers(recipe, &cache)? } else { Vec::new() };
        tried.push(Tried { recipe, offers });
        for version in versions(args, at) {
            outcomes.push(run_one(args, recipe, &cache, version)?);
        }
    }
    tell(args, &tried, &outcomes)
}

/// The versions that the agent at this place of the list is tried with.
fn versions(args: &Run, at: usize) -> Vec<Version> {
    const BOTH: [Version; 2] = [Version::V1, Version::V2];
    match args.version {
        Some(1) => vec![Version::V1],
        Some(_) => vec![Version::V2],
        None if args.quick => vec![BOTH[at % 2]],
        None => BOTH.to_vec(),
    }
}

fn run_one(args: &Run, recipe: &Recipe, cache: &Cache, version: Version) -> Result<Outcome> {
    let route = if args.direct { Route::Direct } else { Route::Nudge(run::nudge()?) };
    let way = if args.direct { "direct" } else { "nudge" };
    eprintln!("{}, client of version {}, {way}", recipe.title(), version.number());
    let began = Instant::now();
    let folder = format!("{}-v{}-{way}", recipe.folder(), version.number());
    let records = args.cache.join("records").join(folder);
    let tell =
        |name: &str, verdict: &Verdict, time: Duration| eprintln!("  {name:<10} {time:>6.1?}  {verdict}");
    let outcome = run::run(recipe, cache, (version, route), &args.step, &records, tell)?;
    eprintln!("  in {:.0?}; records in {}", began.elapsed(), records.display());
    Ok(outcome)
}

fn tell(args: &Run, tried: &[Tried<'_>], outcomes: &[Outcome]) -> Result<()> {
    if args.json {
        println!("{:#}", report::json(outcomes));
    } else {
        println!("{}", report::table(outcomes));
    }
    if let Some(page) = &args.page {
        report::write_page(page, &report::agents_table(tried, outcomes))?;
    }
    let failed = outcomes.iter().filter(|outcome| !outcome.is_good()).count();
    if failed > 0 {
        bail!("{failed} of {} runs failed", outcomes.len());
    }
    Ok(())
}
