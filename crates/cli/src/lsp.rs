//! `nudge lsp`: next edit suggestions for editors that speak LSP.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use anyhow::{Context, Result};
use nudge_lsp::{LspEnded, LspOptions};
use nudge_wire::frame::DEFAULT_MESSAGE_LIMIT;
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

use crate::{
    connectors::{OwnGateway, through_daemon},
    data_place::DataPlace,
    serving::ServingMode,
    settings::{DaemonMode, Settings},
};

/// Suggest next edits to an editor that speaks LSP, as the editor starts it
///
/// A language server on standard input and output that works beside the language's own. It suggests what you might edit
/// next, from what you have just edited: the other uses of what you rename, the same change on the next line, what a
/// diagnostic asks for. No model and no network are needed.
///
/// Suggestions come as `textDocument/inlineCompletion` (ghost text), as `textDocument/copilotInlineEdit` (plugins for
/// Neovim), and in every editor as the code actions "Apply next edit" and "Go to next edit". The plugins in `editors/`
/// show edits away from the cursor too.
///
/// What it knows of your workspace and has learned from you is kept by a daemon, which is started on demand and shared
/// with `nudge acp` and every other editor.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EDITORS)]
pub(crate) struct LspArgs {
    /// Taken and ignored: many editors add it
    #[arg(long, hide = true)]
    stdio: bool,
}

const EXAMPLES: &str = "\
Example:
  nudge lsp      as a language server; `nudge lsp --help` shows the settings of editors";

const EDITORS: &str = "\
In your editor:
  Helix (languages.toml)
    [language-server.nudge]
    command = \"nudge\"
    args = [\"lsp\"]

    [[language]]
    name = \"rust\"
    language-servers = [\"rust-analyzer\", \"nudge\"]

  Emacs (eglot): M-x eglot with a prefix argument, then `nudge lsp`
  Neovim and VS Code: the plugins in editors/ of the sources
  Others, and what works where: editors/README.md of the sources

Settings (initializationOptions, or the section `nudge`):
  enabled                       true or false
  eagerness                     how sure a suggestion has to be: \"low\", \"medium\", \"high\"
  kinds                         besides edits: \"jump\", \"rename\", \"searchAndReplace\"
  status                        whether `nudge/status` notifications are sent
  diagnosticsFromCodeActions    whether diagnostics sent with code actions are looked at

Environment:
  NUDGE_LOG=debug               says on standard error why something is or is not suggested";

/// Threads that compute suggestions where there is no daemon, and those that read and write.
const THREADS: usize = 8;

pub(crate) fn run(place: &DataPlace, settings: &Settings) -> Result<ExitCode> {
    if io::stdin().is_terminal() {
        let _ = writeln!(
            io::stderr(),
            "nudge lsp is a language server and is meant to be started by an editor; `nudge lsp --help` says how. \
             Press Ctrl-D to leave."
        );
    }
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(THREADS).build();
    let runtime = runtime.context("cannot start the event loop")?;
    let code = runtime.block_on(serve(place, settings));
    // A read from standard input cannot be interrupted; it must not hold up the end.
    runtime.shutdown_background();
    code
}

async fn serve(place: &DataPlace, settings: &Settings) -> Result<ExitCode> {
    let trace = settings.trace_file.as_deref().map(std::path::absolute).transpose();
    let trace = trace.context("cannot find the trace's folder")?;
    let linger = settings.daemon_linger.asked();
    let serving = ServingMode { trace, max_message: DEFAULT_MESSAGE_LIMIT, linger, ..ServingMode::default() };
    let connect = if settings.daemon_mode == DaemonMode::Off || place.socket().is_none() {
        // Nothing of this process is a session that could be shared.
        let place = DataPlace { store: Some("memory".to_owned()), ..place.clone() };
        OwnGateway::new(place, serving).connector()
    } else {
        through_daemon(place, &serving)
    };
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let options = LspOptions { connect, version, max_message: settings.message_limit };
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let served = nudge_lsp::serve(tokio::io::stdin(), tokio::io::stdout(), options);
    let code = tokio::select! {
        ended = served => match ended? {
            LspEnded::Orderly => 0,
            LspEnded::WithoutShutdown => 1,
        },
        _ = interrupt.recv() => 130,
        _ = terminate.recv() => 143,
    };
    Ok(ExitCode::from(code))
}
