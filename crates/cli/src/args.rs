//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::{agents, daemon::Daemon, house::start_timeout, place::Place, replay::Replay, sessions};

/// Nudge sits between your editor and your coding agent and speaks the Agent Client Protocol (ACP) to both.
#[derive(Debug, Parser)]
#[command(name = "nudge", version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) place: Place,
}

const EXAMPLES: &str = "\
Try it:
  echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}' | nudge acp
  nudge sessions              what was talked about, newest first
  nudge watch last            follow the newest session, live
  nudge steer last \"use tabs\" say something to the agent while it works

Environment:
  NUDGE_LOG   what is logged to standard error: error, warn (default), info, debug, trace,
              or per part, such as `warn,nudge_peer=debug`
  NO_COLOR    no colours";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Acp(Acp),
    Lsp(crate::lsp::Lsp),
    Agents(agents::list::Agents),
    Doctor(agents::doctor::Doctor),
    Sessions(sessions::Sessions),
    /// Hand a message to a session for a turn of its own, once it is idle
    ///
    /// Works on a live session from any terminal, whatever its editor offers. Prints the message's id, for `nudge revoke`.
    Queue(sessions::Say),
    /// Hand a message to a session into the turn that runs, at its next break-point
    ///
    /// Works on a live session from any terminal, whatever its editor offers. Prints the message's id, for `nudge revoke`.
    Steer(sessions::Say),
    Revoke(sessions::Revoke),
    Watch(sessions::Watch),
    /// Show whether the daemon runs, and what its sessions do
    Status(sessions::StatusArgs),
    /// End the daemon; turns that run are cancelled, what waits is kept
    Stop,
    Daemon(Daemon),
    Replay(Replay),
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
    /// The agent of this name in `nudge agents`, instead of a command
    #[arg(long, value_name = "NAME", env = "NUDGE_AGENT", conflicts_with = "command")]
    pub(crate) agent: Option<String>,

    /// Give every session a process of the agent of its own
    #[arg(long, env = "NUDGE_ISOLATE")]
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

/// What the built-in agent says, where no model is connected.
#[derive(Debug, clap::Args)]
pub(crate) struct Rehearsal {
    /// Play FILE instead of the built-in rehearsal
    #[arg(long, value_name = "FILE", env = "NUDGE_REHEARSAL")]
    pub(crate) rehearsal: Option<PathBuf>,
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
    pub(crate) fn is_alone(&self) -> bool {
        self.no_daemon || std::env::var_os("NUDGE_DAEMON").is_some_and(|value| value == "off")
    }
}

/// More is for ever, and cannot be added to a time: a year.
const MOST_SECONDS: u64 = 365 * 24 * 60 * 60;

/// Below this not even an `initialize` fits.
const MIN_MESSAGE: usize = 1024;

pub(crate) fn max_message(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bytes) if bytes >= MIN_MESSAGE => Ok(bytes),
        _ => Err(format!("expected a number of bytes, {MIN_MESSAGE} or more")),
    }
}
