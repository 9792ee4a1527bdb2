//! Next edit suggestions for editors that speak the Language Server Protocol (LSP).
//!
//! [`serve`] is a language server towards the editor and, towards whoever makes the suggestions, an ACP client of
//! next edit suggestions (`nes/*`, `document/*`). It mirrors the editor's documents, so that when the other side goes
//! away it can connect again, tell them anew and go on; the editor notices nothing but a moment without suggestions.
//!
//! The library below is async-lsp: it hands notifications and requests over in the order in which they came, and
//! suggestions are worth nothing on a text that is not the editor's. What it is fed has passed `guard`, because it ends
//! at the first message it cannot read and takes headers and bodies of any length.
//!
//! Positions are in the encoding agreed with the editor, which is also the one agreed with the other side; so they pass
//! unchanged.
#![allow(clippy::disallowed_methods, reason = "this room does IO and drives time")]

mod action;
mod ask;
mod closed;
mod command;
mod copilot;
mod edit;
mod editor;
pub mod guard;
mod inline;
mod link;
mod mirror;
mod offered;
mod outlet;
mod params;
mod server;
mod session;
mod settings;
mod skim;
mod suggest;

use std::{
    pin::{Pin, pin},
    sync::Arc,
};

use async_lsp::{MainLoop, concurrency::ConcurrencyLayer, panic::CatchUnwindLayer, router::Router};
use nudge_peer::Transport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};
use tower_layer::Layer;

use crate::{server::LspServer, session::LspSession};

/// A way to whoever makes the suggestions, opened each time it is needed; the error says why there is none.
pub type NesConnector = Arc<dyn Fn() -> NesConnecting + Send + Sync>;

/// A connection on its way.
pub type NesConnecting = Pin<Box<dyn Future<Output = Result<Transport, String>> + Send>>;

/// How an editor is served.
#[derive(Clone)]
pub struct LspOptions {
    /// Opens a connection to whoever makes the suggestions.
    pub connect: NesConnector,
    /// The version of the program, for `serverInfo`.
    pub version: String,
    /// The longest message taken; longer ones are dropped as they arrive.
    pub max_message: usize,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LspEnded {
    /// With `shutdown` before.
    Orderly,
    /// With `exit`, or the end of the input, and no `shutdown` before: by LSP an exit status of 1.
    WithoutShutdown,
}

/// Why it could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The input is not LSP.
    #[error("{0}")]
    NotLsp(#[from] guard::NotLsp),
    /// Reading or writing failed.
    #[error("the connection to the editor failed: {0}")]
    Io(#[from] std::io::Error),
    /// The main loop failed.
    #[error("the language server failed: {0}")]
    Lsp(String),
}

pub use guard::NotLsp;

/// Requests that may run at one time; more make the editor wait.
const REQUESTS: std::num::NonZeroUsize = std::num::NonZeroUsize::new(64).expect("not zero");

/// How much of what has passed the guard may wait to be handled.
const PIPE: usize = 64 * 1024;

/// Serves one editor until it leaves.
pub async fn serve<I, O>(input: I, output: O, options: LspOptions) -> Result<LspEnded, ServeError>
where
    I: AsyncRead + Unpin + Send + 'static,
    O: AsyncWrite + Unpin + Send,
{
    let (pipe, checked) = tokio::io::duplex(PIPE);
    let (back, answers) = tokio::io::duplex(PIPE);
    let (said, to_say) = tokio::io::duplex(PIPE);
    let guard = tokio::spawn(guard::pass(input, pipe, back, options.max_message));
    let lsp = Arc::new(LspSession::new(options));
    let (main_loop, _) = MainLoop::new_server(|client| {
        lsp.meet(client);
        let mut router = Router::new(LspServer::new(Arc::clone(&lsp)));
        router.unhandled_request(LspServer::request).unhandled_notification(LspServer::notification);
        ConcurrencyLayer::new(REQUESTS).layer(CatchUnwindLayer::default().layer(router))
    });
    let mut served = pin!(async { main_loop.run_buffered(checked.compat(), said.compat_write()).await });
    let mut written = pin!(outlet::merge(to_say, answers, output));
    let ended = tokio::select! {
        biased;
        ended = &mut served => {
            // What was said last still goes out.
            match (written.await, ended) {
                (Err(error), Ok(())) => Err(error.into()),
                (_, ended) => ended,
            }
        }
        written = &mut written => written.map_err(Into::into),
    };
    lsp.leave().await;
    match ended {
        Ok(()) | Err(async_lsp::Error::Eof) => {}
        Err(async_lsp::Error::Io(error)) if is_gone(&error) => {}
        Err(async_lsp::Error::Io(error)) => return Err(error.into()),
        Err(error) => return Err(ServeError::Lsp(error.to_string())),
    }
    if guard.is_finished()
        && let Ok(Err(why)) = guard.await
    {
        return Err(why.into());
    }
    Ok(if lsp.was_shut_down() { LspEnded::Orderly } else { LspEnded::WithoutShutdown })
}

/// An editor that goes away while it is written to is an ordinary end, and so is one that stops in mid-message.
fn is_gone(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::BrokenPipe | std::io::ErrorKind::UnexpectedEof)
}
