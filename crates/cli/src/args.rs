//! The command line.

use std::{
    io::{IsTerminal, Read},
    path::Path,
};

use anyhow::{Context, Result, bail};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand, error::ErrorKind};
use nudge_model::script::ScriptedModel;

use crate::{
    agents, chat::ChatArgs, config::ConfigArgs, daemon::DaemonArgs, logs::LogsArgs, packaging, providers,
    refusal::RefusalFraming, replay::ReplayArgs, sessions, settings,
};

/// Nudge sits between your editor and your coding agent and speaks the Agent Client Protocol (ACP) to both.
#[derive(Debug, Parser)]
#[command(name = "nudge", version, after_help = EXAMPLES)]
pub(crate) struct ProgramArgs {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

impl ProgramArgs {
    /// What the command line asks for, and what was matched, for the settings.
    pub(crate) fn read() -> (Self, ArgMatches) {
        let matches = command_line().try_get_matches().or_else(chat_unless_asked_otherwise);
        let matches = matches.unwrap_or_else(|error| error.exit());
        (Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()), matches)
    }
}

/// On a terminal, `nudge` alone begins to chat.
fn chat_unless_asked_otherwise(error: clap::Error) -> Result<ArgMatches, clap::Error> {
    let is_nothing_asked = matches!(
        error.kind(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand
    );
    if !is_nothing_asked || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(error);
    }
    command_line().try_get_matches_from(std::env::args_os().chain(["chat".into()]))
}

/// The command line with the flags of all settings.
pub(crate) fn command_line() -> clap::Command {
    settings::with_settings(ProgramArgs::command())
}

const EXAMPLES: &str = "\
Try it:
  nudge                       talk to an agent in this terminal (the same as `nudge chat`)
  nudge chat \"what is left to do here?\"   one question, answered and done
  echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}' | nudge acp
  nudge sessions              what was talked about, newest first
  nudge watch last            follow the newest session of this folder, live
  nudge steer last \"use tabs\" say something to the agent while it works
  nudge approve               permit what it asks for
  nudge login                 connect a model to the built-in agent
  nudge doctor                see whether all is well
  nudge config                see every setting and where it comes from

Exit status:
  0    it is done
  1    it could not be done; standard error says why
  2    the command line or a variable is not understood
  130  ended by Ctrl-C
  143  ended by SIGTERM";

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    Chat(ChatArgs),
    Acp(AcpArgs),
    Lsp(crate::lsp::LspArgs),
    Agents(agents::list::AgentsArgs),
    Doctor(agents::doctor::DoctorArgs),
    Sessions(sessions::SessionsArgs),
    /// Hand a message to a session for a turn of its own, once it is idle
    ///
    /// Works on a live session from any terminal, whatever its editor offers. Prints the message's id to standard output, for
    /// `nudge revoke`, and which session it is for to standard error.
    #[command(after_help = "\
Examples:
  nudge queue last \"then run the tests\"
  nudge queue last @plan.md               what a file says
  git diff | nudge queue last -           what standard input says")]
    Queue(sessions::SayArgs),
    /// Hand a message to a session into the turn that runs, at its next break-point
    ///
    /// Works on a live session from any terminal, whatever its editor offers. Prints the message's id to standard output, for
    /// `nudge revoke`, and which session it is for to standard error.
    #[command(after_help = "\
Examples:
  nudge steer last \"keep the old name\"
  nudge steer last @hints.md              what a file says
  cargo test 2>&1 | nudge steer last -    what standard input says")]
    Steer(sessions::SayArgs),
    Revoke(sessions::RevokeArgs),
    Cancel(sessions::CancelArgs),
    Approve(sessions::ApproveArgs),
    Reject(sessions::RejectArgs),
    Answer(sessions::FillArgs),
    Watch(sessions::WatchArgs),
    Status(sessions::StatusArgs),
    Login(providers::LoginArgs),
    Logout(providers::LogoutArgs),
    Providers(providers::ProvidersArgs),
    Config(ConfigArgs),
    Logs(LogsArgs),
    /// End the daemon; turns that run are cancelled, what waits is kept
    #[command(after_help = "\
Example:
  nudge stop && nudge status")]
    Stop,
    Daemon(DaemonArgs),
    Replay(ReplayArgs),
    Completions(packaging::CompletionsArgs),
    Man(packaging::ManArgs),
    /// Print the version and the build
    #[command(after_help = "\
Example:
  nudge version")]
    Version,
}

/// What becomes of a command when a settings file or a variable is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnWrongSettings {
    /// It does nothing, and says why.
    Stop,
    /// The same, but for a file of the project: what a repository holds must not keep the user from sessions.
    StopUnlessProject,
    /// It says what is wrong and goes on, if it is known where sessions are kept: what it ends is not guessed.
    TellUnlessInDoubt,
    /// It says what is wrong and goes on: it is needed to put things right.
    Tell,
    /// It says what is wrong, and which folder is a guess, and goes on.
    TellOfGuess,
    /// It goes on: it has no settings, or tells by itself what is wrong.
    GoOn,
}

impl CliCommand {
    /// How messages come on standard input, if the command is a server for an editor.
    pub(crate) fn framing(&self) -> Option<RefusalFraming> {
        match self {
            Self::Acp(_) => Some(RefusalFraming::Lines),
            Self::Lsp(_) => Some(RefusalFraming::Headers),
            _ => None,
        }
    }

    pub(crate) fn on_wrong_settings(&self) -> OnWrongSettings {
        match self {
            Self::Config(config) if config.is_check() => OnWrongSettings::GoOn,
            Self::Acp(_) | Self::Chat(_) => OnWrongSettings::Stop,
            Self::Stop => OnWrongSettings::TellUnlessInDoubt,
            Self::Doctor(_) | Self::Status(_) | Self::Logs(_) => OnWrongSettings::TellOfGuess,
            Self::Config(_) => OnWrongSettings::Tell,
            Self::Agents(_) | Self::Replay(_) | Self::Completions(_) | Self::Man(_) | Self::Version => {
                OnWrongSettings::GoOn
            }
            _ => OnWrongSettings::StopUnlessProject,
        }
    }
}

/// Speak ACP on standard input and output, as an editor starts it
///
/// Versions 1 and 2 (draft), one JSON-RPC message a line. Ends when standard input does.
///
/// Suggests next edits (`nes/*` and `document/*`) and holds sessions with the built-in agent (`session/*`), which can be
/// steered while it works (`session/inject`). It asks the models of the providers that are set up: by keys in the environment,
/// by `nudge login`, by the client (`providers/set`), or an Ollama of this machine.
///
/// Sessions are held by a daemon that is started on demand, so that they outlive the editor; this process passes
/// messages on to it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge acp                  the built-in agent
  nudge acp --model rehearsal   the same without a model, to see how it works
  nudge acp -- goose acp     in front of an agent
  nudge acp --agent claude   in front of one of `nudge agents`")]
pub(crate) struct AcpArgs {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// The agent behind Nudge.
#[derive(Debug, clap::Args)]
pub(crate) struct AgentArgs {
    /// The command of any ACP agent, behind `--`; without one the built-in agent answers
    #[arg(last = true, value_name = "AGENT")]
    pub(crate) command: Vec<String>,
}

/// The longest rehearsal taken, in bytes: it goes to the daemon with the greeting.
const LONGEST_REHEARSAL: u64 = 1024 * 1024;

/// The text of the rehearsal that the built-in agent plays, if one is named: read and found to be playable.
pub(crate) fn read_rehearsal(path: Option<&Path>) -> Result<Option<String>> {
    let Some(path) = path else { return Ok(None) };
    let shown = path.display();
    let file = std::fs::File::open(path).with_context(|| format!("cannot read the rehearsal {shown}"))?;
    let mut text = String::new();
    let read = file.take(LONGEST_REHEARSAL + 1).read_to_string(&mut text);
    read.with_context(|| format!("cannot read the rehearsal {shown}"))?;
    if text.len() as u64 > LONGEST_REHEARSAL {
        bail!("the rehearsal {shown} is too long; at most {LONGEST_REHEARSAL} bytes are taken");
    }
    ScriptedModel::parse(&text).with_context(|| shown.to_string())?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        command_line().debug_assert();
    }

    #[test]
    fn every_command_teaches_by_example() {
        fn check(command: &clap::Command, path: &str) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let begins =
                ["Example:\n  ", "Examples:\n  ", "Try it:\n  "].iter().any(|begin| help.starts_with(begin));
            assert!(begins && help.contains("nudge"), "{path} has no example: {help}");
            assert!(command.get_about().is_some(), "{path} does not say what it does");
            for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
                check(inner, &format!("{path} {}", inner.get_name()));
            }
        }
        check(&command_line(), "nudge");
    }
}
