//! The command line.

use std::{ffi::OsString, io::Read, path::PathBuf};

use anyhow::{Context, Result, bail};
use clap::{
    CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum,
    builder::{BoolishValueParser, OsStr, Resettable},
};
use nudge_model::script::Script;

use crate::{
    agents, daemon::Daemon, house::start_timeout, logs::Logs, packaging, place::Place, replay::Replay,
    sessions,
};

/// Nudge sits between your editor and your coding agent and speaks the Agent Client Protocol (ACP) to both.
#[derive(Debug, Parser)]
#[command(name = "nudge", version, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) place: Place,
}

impl Args {
    /// What the command line and the environment ask for. A variable that is empty counts as not set, but for `NUDGE_DATA`,
    /// which then asks for no folder.
    pub(crate) fn read() -> Self {
        let matches = without_empty_variables(Self::command()).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

fn without_empty_variables(command: clap::Command) -> clap::Command {
    let is_empty = |name: &std::ffi::OsStr| {
        name != "NUDGE_DATA" && std::env::var_os(name).is_some_and(|value| value.is_empty())
    };
    let command = command.mut_args(|arg| {
        if arg.get_env().is_some_and(is_empty) { arg.env(Resettable::<OsStr>::Reset) } else { arg }
    });
    command.mut_subcommands(without_empty_variables)
}

const EXAMPLES: &str = "\
Try it:
  echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}' | nudge acp
  nudge sessions              what was talked about, newest first
  nudge watch last            follow the newest session of this folder, live
  nudge steer last \"use tabs\" say something to the agent while it works
  nudge approve               permit what it asks for
  nudge doctor                see whether all is well

Environment:
  NUDGE_LOG   what is logged to standard error: error, warn (default), info, debug, trace,
              or per part, such as `warn,nudge_peer=debug`
  NO_COLOR    no colours

Exit status:
  0    it is done
  1    it could not be done; standard error says why
  2    the command line is not understood
  130  ended by Ctrl-C
  143  ended by SIGTERM";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Acp(Acp),
    Lsp(crate::lsp::Lsp),
    Agents(agents::list::Agents),
    Doctor(agents::doctor::Doctor),
    Sessions(sessions::Sessions),
    /// Hand a message to a session for a turn of its own, once it is idle
    ///
    /// Works on a live session from any terminal, whatever its editor offers. Prints the message's id to standard output, for
    /// `nudge revoke`, and which session it is for to standard error.
    #[command(after_help = "\
Examples:
  nudge queue last \"then run the tests\"
  nudge queue last @plan.md               what a file says
  git diff | nudge queue last -           what standard input says")]
    Queue(sessions::Say),
    /// Hand a message to a session into the turn that runs, at its next break-point
    ///
    /// Works on a live session from any terminal, whatever its editor offers. Prints the message's id to standard output, for
    /// `nudge revoke`, and which session it is for to standard error.
    #[command(after_help = "\
Examples:
  nudge steer last \"keep the old name\"
  nudge steer last @hints.md              what a file says
  cargo test 2>&1 | nudge steer last -    what standard input says")]
    Steer(sessions::Say),
    Revoke(sessions::Revoke),
    Cancel(sessions::Cancel),
    Approve(sessions::Approve),
    Reject(sessions::Reject),
    Answer(sessions::Fill),
    Watch(sessions::Watch),
    Status(sessions::StatusArgs),
    Logs(Logs),
    /// End the daemon; turns that run are cancelled, what waits is kept
    #[command(after_help = "\
Example:
  nudge stop && nudge status")]
    Stop,
    Daemon(Daemon),
    Replay(Replay),
    Completions(packaging::Completions),
    Man(packaging::Man),
    /// Print the version and the build
    #[command(after_help = "\
Example:
  nudge version")]
    Version,
}

/// Speak ACP on standard input and output, as an editor starts it
///
/// Versions 1 and 2 (draft), one JSON-RPC message a line. Ends when standard input does.
///
/// Suggests next edits (`nes/*` and `document/*`) and holds sessions with the built-in agent (`session/*`), which can be
/// steered while it works (`session/inject`). No model is connected yet: the agent plays a rehearsal.
///
/// Sessions are held by a daemon that is started on demand, so that they outlive the editor; this process passes
/// messages on to it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge acp                  the built-in agent
  nudge acp -- goose acp     in front of an agent
  nudge acp --agent claude   in front of one of `nudge agents`")]
pub(crate) struct Acp {
    /// Append every message to FILE as JSON lines, with secrets masked
    #[arg(long, value_name = "FILE", env = "NUDGE_TRACE")]
    pub(crate) trace: Option<PathBuf>,

    /// The longest message taken; longer ones are refused
    #[arg(long, value_name = "BYTES", env = "NUDGE_MAX_MESSAGE", default_value_t = 64 * 1024 * 1024, value_parser = max_message)]
    pub(crate) max_message: usize,

    /// Hold the sessions in this process, without a daemon; also with `NUDGE_DAEMON=off`
    #[arg(long)]
    no_daemon: bool,

    /// Without a daemon: what happens to a turn that runs when standard input ends
    #[arg(long, value_name = "WHAT", default_value = "finish")]
    pub(crate) on_close: OnClose,

    /// Who makes next edit suggestions: Nudge, or the agent behind it if that can
    #[arg(long, value_name = "WHO", env = "NUDGE_NES", default_value = "nudge")]
    pub(crate) nes: NesBy,

    #[command(flatten)]
    pub(crate) rehearsal: Rehearsal,

    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// Who makes next edit suggestions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NesBy {
    /// Nudge's own engine
    Nudge,
    /// The agent: `nes/*` and `document/*` pass to it as they come
    Agent,
}

/// The agent behind Nudge.
#[derive(Debug, clap::Args)]
pub(crate) struct AgentArgs {
    /// The agent of this name in `nudge agents`, instead of a command; also with `NUDGE_AGENT`, unless there is a command
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    agent: Option<String>,

    /// Give every session a process of the agent of its own
    #[arg(long, env = "NUDGE_ISOLATE", value_parser = BoolishValueParser::new())]
    pub(crate) isolate: bool,

    /// How long the agent may take to stop when a turn is cancelled; after that it is ended and started again
    #[arg(long, value_name = "SECONDS", env = "NUDGE_PATIENCE", default_value_t = 30, value_parser = clap::value_parser!(u64).range(..=MOST_SECONDS))]
    pub(crate) patience: u64,

    /// How long the agent may take to start and answer `initialize`; after that it is ended, and whoever waits is told
    #[arg(long, value_name = "SECONDS", env = "NUDGE_START_TIMEOUT", default_value_t = start_timeout(), value_parser = clap::value_parser!(u64).range(1..=MOST_SECONDS))]
    pub(crate) start_timeout: u64,

    /// The command of any ACP agent, behind `--`; without one the built-in agent answers
    #[arg(last = true, value_name = "AGENT")]
    pub(crate) command: Vec<String>,
}

impl AgentArgs {
    /// The name of the agent, if one is named. The environment counts if the command line names none.
    pub(crate) fn name(&self) -> Result<Option<String>> {
        if self.agent.is_some() || !self.command.is_empty() {
            return Ok(self.agent.clone());
        }
        let asked = std::env::var_os("NUDGE_AGENT").filter(|name| !name.is_empty());
        let name = asked.map(OsString::into_string).transpose();
        name.ok().context("expected the name of an agent in NUDGE_AGENT; `nudge agents` lists them")
    }
}

/// The longest rehearsal taken, in bytes: it goes to the daemon with the greeting.
const LONGEST_REHEARSAL: u64 = 1024 * 1024;

/// What the built-in agent says, where no model is connected.
#[derive(Debug, clap::Args)]
pub(crate) struct Rehearsal {
    /// Play FILE instead of the built-in rehearsal, in the sessions that are begun or taken up here
    #[arg(long, value_name = "FILE", env = "NUDGE_REHEARSAL")]
    pub(crate) rehearsal: Option<PathBuf>,
}

impl Rehearsal {
    /// The text of the rehearsal, if one is named: read and found to be playable.
    pub(crate) fn read(&self) -> Result<Option<String>> {
        let Some(path) = &self.rehearsal else { return Ok(None) };
        let shown = path.display();
        let file = std::fs::File::open(path).with_context(|| format!("cannot read the rehearsal {shown}"))?;
        let mut text = String::new();
        let read = file.take(LONGEST_REHEARSAL + 1).read_to_string(&mut text);
        read.with_context(|| format!("cannot read the rehearsal {shown}"))?;
        if text.len() as u64 > LONGEST_REHEARSAL {
            bail!("the rehearsal {shown} is too long; at most {LONGEST_REHEARSAL} bytes are taken");
        }
        Script::parse(&text).with_context(|| shown.to_string())?;
        Ok(Some(text))
    }

    /// The one that the environment names.
    pub(crate) fn of_environment() -> Self {
        Self {
            rehearsal: std::env::var_os("NUDGE_REHEARSAL").filter(|path| !path.is_empty()).map(PathBuf::from),
        }
    }
}

/// What happens to a turn when nobody is left to see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnClose {
    /// It goes on to its end
    Finish,
    /// It is cancelled
    Cancel,
}

impl Acp {
    /// Whether the sessions are held by this process.
    pub(crate) fn is_alone(&self) -> Result<bool> {
        Ok(self.no_daemon || is_daemon_off()?)
    }
}

/// More is for ever, and cannot be added to a time: a year.
const MOST_SECONDS: u64 = 365 * 24 * 60 * 60;
/// Whether the environment asks for no daemon.
pub(crate) fn is_daemon_off() -> Result<bool> {
    match std::env::var_os("NUDGE_DAEMON").unwrap_or_default().to_str() {
        Some("off") => Ok(true),
        Some("" | "on") => Ok(false),
        _ => bail!("expected `on` or `off` in NUDGE_DAEMON"),
    }
}

/// How many seconds the environment asks a daemon to stay with nothing to do.
pub(crate) fn linger() -> Result<Option<u64>> {
    let asked = std::env::var_os("NUDGE_LINGER").filter(|asked| !asked.is_empty());
    let Some(asked) = asked else { return Ok(None) };
    let seconds = asked.to_str().and_then(|seconds| seconds.parse().ok());
    seconds.map(Some).context("expected a number of seconds in NUDGE_LINGER")
}

/// Below this not even an `initialize` fits.
const MIN_MESSAGE: usize = 1024;

pub(crate) fn max_message(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bytes) if bytes >= MIN_MESSAGE => Ok(bytes),
        _ => Err(format!("expected a number of bytes, {MIN_MESSAGE} or more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        Args::command().debug_assert();
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
        check(&Args::command(), "nudge");
    }
}
