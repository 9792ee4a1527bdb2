//! The binary `nudge`: wiring only.
#![allow(clippy::disallowed_methods, reason = "the binary reads the environment and starts everything")]

mod acp;
mod agent_login;
mod agents;
mod args;
mod chat;
mod config;
mod connectors;
mod crash;
mod daemon;
mod data_place;
mod failpoint;
mod log;
mod logs;
mod lsp;
mod output;
mod packaging;
mod providers;
mod refusal;
mod replay;
mod serving;
mod sessions;
mod settings;
mod version;

use std::process::ExitCode;

use nudge_chat::terminal_text;
use nudge_process::shim;

use crate::{
    args::{CliCommand, OnWrongSettings, ProgramArgs},
    data_place::DataPlace,
    providers::LoginArgs,
    refusal::refuse_first_request,
    settings::{LoadedSettings, PlaceDoubt, SettingsProblem},
};

fn main() -> ExitCode {
    let mut started_as = std::env::args_os().skip(1);
    if started_as.next().is_some_and(|first| first == shim::ARGUMENT) {
        return shim::run(started_as);
    }
    crash::install();
    let (ProgramArgs { command }, matches) = ProgramArgs::read();
    let loaded = settings::load(&matches);
    let (settings, place) = (&loaded.settings, DataPlace::chosen(&loaded));
    output::set_colours(settings.output_color);
    if let Some(end) = report_settings(command.on_wrong_settings(), &loaded, &place) {
        if let (Some(framing), Some(why)) =
            (command.framing(), SettingsProblem::summary(&loaded.all_problems()))
        {
            refuse_first_request(framing, &why);
        }
        return end;
    }
    if let Ok(program) = std::env::current_exe() {
        shim::set_program(program);
    }
    let is_doctor = matches!(command, CliCommand::Doctor(_));
    let log = log::init(
        &settings.log_level,
        if is_doctor { log::WantedLog::Errors } else { log::WantedLog::Warnings },
    );
    let outcome = match command {
        CliCommand::Acp(_) if is_terminal_sign_in() => {
            providers::login(&LoginArgs::to(settings.agent_provider.clone()), &place)
        }
        CliCommand::Chat(chat) => chat::run(&chat, &place, settings),
        CliCommand::Acp(acp) => match agent_login::asked() {
            Some(login) => login.and_then(|login| agent_login::run(&acp, login, &place, settings)),
            None => acp::run(&acp, &place, settings),
        },
        CliCommand::Lsp(_) => lsp::run(&place, settings),
        CliCommand::Agents(agents) => agents::list::run(&agents),
        CliCommand::Doctor(doctor) => agents::doctor::run(&doctor, &place, &loaded),
        CliCommand::Daemon(daemon) => daemon::run(&daemon, &place, settings),
        CliCommand::Replay(replay) => replay::run(&replay),
        CliCommand::Sessions(sessions) => sessions::run(sessions, &place, settings),
        CliCommand::Queue(say) => sessions::say(&say, "queue", &place, settings),
        CliCommand::Steer(say) => sessions::say(&say, "steer", &place, settings),
        CliCommand::Revoke(revoke) => sessions::revoke(&revoke, &place, settings),
        CliCommand::Cancel(cancel) => sessions::cancel(&cancel, &place),
        CliCommand::Approve(approve) => sessions::approve(&approve, &place),
        CliCommand::Reject(reject) => sessions::reject(&reject, &place),
        CliCommand::Answer(fill) => sessions::answer(&fill, &place),
        CliCommand::Watch(watch) => sessions::watch(&watch, &place, settings),
        CliCommand::Status(status) => sessions::status(&status, &place),
        CliCommand::Login(login) => providers::login(&login, &place),
        CliCommand::Logout(logout) => providers::logout(&logout, &place),
        CliCommand::Providers(providers) => providers::run(&providers, &place),
        CliCommand::Config(config) => config::run(&config, &loaded),
        CliCommand::Logs(logs) => logs::run(&logs, &place),
        CliCommand::Stop => sessions::stop(&place),
        CliCommand::Completions(completions) => packaging::completions(&completions),
        CliCommand::Man(man) => packaging::man(&man),
        CliCommand::Version => output::say(format!("nudge {}", version::LONG)).map(|()| ExitCode::SUCCESS),
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

/// Whether a client runs the command that starts its agent to let the user sign in.
fn is_terminal_sign_in() -> bool {
    std::env::var_os(nudge_gateway::LOGIN_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Tells what is wrong with the settings, as far as the command is to; its end, if it is not to go on.
fn report_settings(does: OnWrongSettings, loaded: &LoadedSettings, place: &DataPlace) -> Option<ExitCode> {
    if does == OnWrongSettings::GoOn {
        return None;
    }
    output::tell_problems(&loaded.problems);
    if does == OnWrongSettings::Stop {
        output::tell_problems(&loaded.project_problems);
    } else if let Some(wrong) = SettingsProblem::summary(&loaded.project_problems) {
        output::remark(format!("nudge: {}", terminal_text::one_line(&wrong)));
    }
    let doubt = loaded.place_doubt();
    if let Some(why) = &doubt {
        tell_of_doubt(does, why, place);
    }
    let stops = match does {
        OnWrongSettings::Stop => loaded.all_problems(),
        OnWrongSettings::StopUnlessProject => loaded.problems.clone(),
        OnWrongSettings::TellUnlessInDoubt if doubt.is_some() => loaded.problems.clone(),
        _ => Vec::new(),
    };
    (!stops.is_empty()).then(|| stopped(&stops))
}

/// Says that it is not known where sessions are kept, and what that means for the command.
fn tell_of_doubt(does: OnWrongSettings, why: &PlaceDoubt, place: &DataPlace) {
    let means = match does {
        OnWrongSettings::Tell | OnWrongSettings::GoOn => return,
        OnWrongSettings::TellOfGuess => match place.data_dir() {
            Some(dir) => format!("the folder {} is a guess", dir.display()),
            None => "that nothing is kept is a guess".to_owned(),
        },
        _ => "it is not known where sessions are kept; mend it or name the folder with --data".to_owned(),
    };
    output::remark(format!("nudge: {}", terminal_text::one_line(&format!("{why}, so {means}"))));
}

/// The end of a command that does nothing because of its settings: 1 for a file, 2 for a variable, as for the command line.
fn stopped(problems: &[SettingsProblem]) -> ExitCode {
    let is_environment = problems.iter().all(SettingsProblem::is_of_environment);
    ExitCode::from(if is_environment { 2 } else { 1 })
}
