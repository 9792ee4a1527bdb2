//! The command line.

use std::{ffi::OsString, path::PathBuf};

use clap::{Parser, Subcommand};

/// Nudge sits between your editor and your coding agent and speaks the Agent Client Protocol (ACP) to both.
#[derive(Debug, Parser)]
#[command(name = "nudge", version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Try it:
  echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}' | nudge acp

Environment:
  NUDGE_LOG   what is logged to standard error: error, warn (default), info, debug, trace,
              or per part, such as `warn,nudge_peer=debug`
  NO_COLOR    no colours in the log";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Speak ACP on standard input and output, as an editor starts it
    Acp(Acp),
    Replay(crate::replay::Replay),
}

/// Speaks ACP, versions 1 and 2 (draft), one JSON-RPC message a line. Ends when standard input does.
///
/// This version suggests next edits (`nes/*` and `document/*`) and refuses every other request with -32601.
#[derive(Debug, clap::Args)]
pub(crate) struct Acp {
    /// Append every message to FILE as JSON lines, with secrets masked
    #[arg(long, value_name = "FILE", env = "NUDGE_TRACE")]
    pub(crate) trace: Option<PathBuf>,

    /// The longest message taken; longer ones are refused
    #[arg(long, value_name = "BYTES", env = "NUDGE_MAX_MESSAGE", default_value_t = 64 * 1024 * 1024, value_parser = max_message)]
    pub(crate) max_message: usize,

    /// Keep what is learned from accepted and rejected suggestions in DIR instead of the user's data folder; an empty
    /// name keeps nothing
    #[arg(long, value_name = "DIR", env = "NUDGE_DATA")]
    pub(crate) data: Option<OsString>,
}

impl Acp {
    /// Where to keep what is learned, if anywhere: unless told, in the folder for data of the XDG base directories.
    pub(crate) fn data_dir(&self) -> Option<PathBuf> {
        if let Some(data) = &self.data {
            return (!data.is_empty()).then(|| data.into());
        }
        let absolute =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
        Some(data.join("nudge"))
    }
}

/// Below this not even an `initialize` fits.
const MIN_MESSAGE: usize = 1024;

fn max_message(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bytes) if bytes >= MIN_MESSAGE => Ok(bytes),
        _ => Err(format!("expected a number of bytes, {MIN_MESSAGE} or more")),
    }
}
