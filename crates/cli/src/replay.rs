//! `nudge replay`: scores the next edit engine on real history.

use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
    thread,
};

use anyhow::{Context, Result};
use clap::ValueEnum;
use nudge_replay::{EagernessLevel, ReplayOptions, ScoredEngine};

use crate::terminal_text;

/// Score the next edit engine on the history of git repositories
///
/// Commits are done again, hunk by hunk, as a person might have done them: from the top of a file to its end and then
/// its imports, sources before tests before documentation. After each hunk the engine sees the half-done change and may
/// suggest an edit, and again when the user has gone to the line of the next one, as editors ask then, too. Only its best
/// suggestion counts. What is right is taken and spares the user a hunk; what is wrong is refused.
///
/// A suggestion is exact if it does one or more of the remaining hunks and nothing else. It is partial if it does a part
/// of a hunk and nothing that would have to be undone; near are those among the partial ones that leave a line half done.
/// Anything else is wrong. Precision is the share of exact and partial ones among
/// those shown, recall the share of hunks done by suggestions. Both are worked out for each commit and averaged over a
/// repository, then over repositories.
///
/// Taken are commits with one parent and 2 to 500 hunks in at most 100 files. Vendored, generated and binary files, lock
/// files, snapshots, moves and files of 512 KB or more are left out of them. Open beside the changed files are the files
/// that the commit adds and as many others of the same repository. Everything but latency comes out the same for the
/// same seed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct ReplayArgs {
    /// A git repository, a work tree or bare; can be given several times
    #[arg(long, value_name = "DIR", required_unless_present = "recording")]
    git: Vec<PathBuf>,

    /// A folder of recorded edits with labels, each with recording.w.json and scoredEdits.w.json
    #[arg(long, value_name = "DIR")]
    recording: Vec<PathBuf>,

    /// How many commits of each repository, chosen by the seed
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,

    /// What the choice comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Who makes the suggestions
    #[arg(long, value_enum, default_value_t = EngineName::Local)]
    engine: EngineName,

    /// How sure a suggestion must be to be shown
    #[arg(long, value_enum, default_value_t = Eagerness::Medium)]
    eagerness: Eagerness,

    /// Do the lines of a hunk one after the other, where as many came as went, and ask after each
    #[arg(long)]
    by_line: bool,

    /// Also type every hunk key by key, and count the keys that suggestions save
    #[arg(long)]
    typed: bool,

    /// Also ask in files where nothing is left to do; at most 3 % should be shown there
    #[arg(long)]
    quiet_files: bool,

    /// Write every question to FILE as JSON lines: the last edit, what was suggested, what came next, and what else the
    /// engine thought of; answers take longer then
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,

    /// How many threads; all cores if not given
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  nudge replay --git .                                     how good would it have been here?
  nudge replay --git a --git b --limit 300 --json          two repositories, for a script
  nudge replay --git . --engine naive                      the yardstick to compare with
  nudge replay --git . --eagerness all                     what being more eager costs and brings
  nudge replay --git . --typed --quiet-files               keys saved, and suggestions nobody needs
  nudge replay --git . --dump asks.jsonl                   every question, to find out why
  jq -c 'select(.outcome == \"wrong\") | .suggestion.diff' asks.jsonl";

#[derive(Debug, Clone, Copy, ValueEnum)]
enum EngineName {
    /// The built-in engine
    Local,
    /// The yardstick: does the last replacement of words again on the next line that has them
    Naive,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Eagerness {
    /// Only what is nearly certain
    Low,
    /// What is right more often than not
    Medium,
    /// What may well be right
    High,
    /// One run for each
    All,
}

pub(crate) fn run(args: &ReplayArgs) -> Result<ExitCode> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let report = nudge_replay::run(&ReplayOptions {
        git: args.git.clone(),
        recordings: args.recording.clone(),
        limit: args.limit,
        seed: args.seed,
        jobs: args.jobs.unwrap_or(cores),
        engine: match args.engine {
            EngineName::Local => ScoredEngine::Local,
            EngineName::Naive => ScoredEngine::Naive,
        },
        eagerness: match args.eagerness {
            Eagerness::Low => vec![EagernessLevel::Low],
            Eagerness::Medium => vec![EagernessLevel::Medium],
            Eagerness::High => vec![EagernessLevel::High],
            Eagerness::All => EagernessLevel::ALL.to_vec(),
        },
        by_line: args.by_line,
        typed: args.typed,
        quiet: args.quiet_files,
        dump: args.dump.clone(),
        progress: io::stderr().is_terminal(),
    })?;
    let text = if args.json {
        serde_json::to_string_pretty(&report).context("cannot write the report as JSON")? + "\n"
    } else {
        terminal_text::lines(&report.to_string())
    };
    match io::stdout().write_all(text.as_bytes()) {
        // Whoever read it has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written.context("cannot write the report")?,
    }
    Ok(ExitCode::SUCCESS)
}
