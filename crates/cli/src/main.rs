//! The binary `nudge`: wiring only.
#![allow(clippy::disallowed_methods, reason = "the binary reads the environment and starts everything")]

mod acp;
mod args;
mod log;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};

fn main() -> ExitCode {
    let args = Args::parse();
    log::init();
    let outcome = match args.command {
        Command::Acp(acp) => acp::run(&acp),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("nudge: {error:#}");
            ExitCode::FAILURE
        }
    }
}
