//! The binary `nudge`: wiring only.
#![allow(clippy::disallowed_methods, reason = "the binary reads the environment and starts everything")]

mod acp;
mod agents;
mod args;
mod config;
mod daemon;
mod failpoint;
mod house;
mod log;
mod logs;
mod lsp;
mod output;
mod packaging;
mod place;
mod replay;
mod sessions;
mod settings;
mod terminal_text;
mod version;

use std::process::ExitCode;

use nudge_process::shim;

use crate::{
    args::{Args, Command, OnWrongSettings},
    place::Place,
    settings::Problem,
};

fn main() -> ExitCode {
    let mut started_as = std::env::args_os().skip(1);
    if started_as.next().is_some_and(|first| first == shim::ARGUMENT) {
        return shim::run(started_as);
    }
    let (Args { command }, matches) = Args::read();
    let loaded = settings::load(&matches);
    let (settings, place) = (&loaded.settings, Place::chosen(&loaded));
    output::set_colours(settings.output_color);
    if !loaded.problems.is_empty() {
        match command.on_wrong_settings() {
            OnWrongSettings::Stop => return stopped(&loaded.problems),
            OnWrongSettings::Tell => output::tell_problems(&loaded.problems),
            OnWrongSettings::GoOn => {}
        }
    }
    if let Ok(program) = std::env::current_exe() {
        shim::set_program(program);
    }
    let is_doctor = matches!(command, Command::Doctor(_));
    let log =
        log::init(&settings.log_level, if is_doctor { log::Wanted::Errors } else { log::Wanted::Warnings });
    let outcome = match command {
        Command::Acp(acp) => acp::run(&acp, &place, settings),
        Command::Lsp(_) => lsp::run(&place, settings),
        Command::Agents(agents) => agents::list::run(&agents),
        Command::Doctor(doctor) => agents::doctor::run(&doctor, &place, &loaded),
        Command::Daemon(daemon) => daemon::run(&daemon, &place, settings),
        Command::Replay(replay) => replay::run(&replay),
        Command::Sessions(sessions) => sessions::run(sessions, &place, settings),
        Command::Queue(say) => sessions::say(&say, "queue", &place, settings),
        Command::Steer(say) => sessions::say(&say, "steer", &place, settings),
        Command::Revoke(revoke) => sessions::revoke(&revoke, &place, settings),
        Command::Cancel(cancel) => sessions::cancel(&cancel, &place),
        Command::Approve(approve) => sessions::approve(&approve, &place),
        Command::Reject(reject) => sessions::reject(&reject, &place),
        Command::Answer(fill) => sessions::answer(&fill, &place),
        Command::Watch(watch) => sessions::watch(&watch, &place, settings),
        Command::Status(status) => sessions::status(&status, &place),
        Command::Config(config) => config::run(&config, &loaded),
        Command::Logs(logs) => logs::run(&logs, &place),
        Command::Stop => sessions::stop(&place),
        Command::Completions(completions) => packaging::completions(&completions),
        Command::Man(man) => packaging::man(&man),
        Command::Version => output::say(format!("nudge {}", version::LONG)).map(|()| ExitCode::SUCCESS),
    };
    drop(log);
    outcome.unwrap_or_else(|error| {
        let cause = error.downcast_ref::<std::io::Error>();
        if cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe) {
            // Whoever reads has read enough.
            return ExitCode::SUCCESS;
        }
        output::remark(format!("nudge: {error:#}"));
        ExitCode::FAILURE
    })
}

/// The end of a command that does nothing because of its settings: 1 for a file, 2 for a variable, as for the command line.
fn stopped(problems: &[Problem]) -> ExitCode {
    output::tell_problems(problems);
    let is_environment = problems.iter().all(Problem::is_of_environment);
    ExitCode::from(if is_environment { 2 } else { 1 })
}
