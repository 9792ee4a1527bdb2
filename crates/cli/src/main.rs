//! The binary `nudge`: wiring only.
#![allow(clippy::disallowed_methods, reason = "the binary reads the environment and starts everything")]

mod acp;
mod args;
mod log;
mod nes;
mod replay;

use std::{io::Write, process::ExitCode};

use clap::Parser;

use crate::args::{Args, Command};

fn main() -> ExitCode {
    let args = Args::parse();
    let log = log::init();
    let outcome = match args.command {
        Command::Acp(acp) => acp::run(&acp),
        Command::Replay(replay) => replay::run(&replay),
    };
    drop(log);
    outcome.unwrap_or_else(|error| {
        // Nobody may be there to read it.
        let _ = writeln!(std::io::stderr(), "nudge: {error:#}");
        ExitCode::FAILURE
    })
}
