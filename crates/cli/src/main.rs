//! The binary `nudge`: wiring only.
#![allow(clippy::disallowed_methods, reason = "the binary reads the environment and starts everything")]

mod acp;
mod agents;
mod args;
mod daemon;
mod house;
mod log;
mod lsp;
mod nes;
mod place;
mod replay;
mod sessions;

use std::{io::Write, process::ExitCode};

use clap::Parser;
use nudge_process::shim;

use crate::args::{Args, Command};

fn main() -> ExitCode {
    let mut started_as = std::env::args_os().skip(1);
    if started_as.next().is_some_and(|first| first == shim::ARGUMENT) {
        return shim::run(started_as);
    }
    let Args { command, place } = Args::parse();
    if let Ok(program) = std::env::current_exe() {
        shim::set_program(program);
    }
    let log = log::init();
    let outcome = match command {
        Command::Acp(acp) => acp::run(&acp, &place),
        Command::Lsp(lsp) => lsp::run(&lsp, &place),
        Command::Agents(agents) => agents::list::run(&agents),
        Command::Doctor(doctor) => agents::doctor::run(&doctor),
        Command::Daemon(daemon) => daemon::run(&daemon, &place),
        Command::Replay(replay) => replay::run(&replay),
        Command::Sessions(sessions) => sessions::run(sessions, &place),
        Command::Queue(say) => sessions::say(&say, "queue", &place),
        Command::Steer(say) => sessions::say(&say, "steer", &place),
        Command::Revoke(revoke) => sessions::revoke(&revoke, &place),
        Command::Watch(watch) => sessions::watch(&watch, &place),
        Command::Status(status) => sessions::status(&status, &place),
        Command::Stop => sessions::stop(&place),
    };
    drop(log);
    outcome.unwrap_or_else(|error| {
        let cause = error.downcast_ref::<std::io::Error>();
        if cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe) {
            // Whoever reads has read enough.
            return ExitCode::SUCCESS;
        }
        // Nobody may be there to read it.
        let _ = writeln!(std::io::stderr(), "nudge: {error:#}");
        ExitCode::FAILURE
    })
}
