//! The connection to whoever makes the suggestions: opened, made ready, and opened again when it is lost.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use nudge_peer::{CallError, ConnectionClosed, Cx, InOrder, Peer};
use nudge_wire::{
    RawJson, Version,
    caps::AgentInit,
    nes::{StartRequest, StartResponse},
};
use serde_json::json;

use crate::{
    mirror::MirrorEvent,
    session::{LspSession, NesLine, ReadyLine},
};

/// The first pause before it is tried again, and the longest.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// A connection that has lasted this long was a good one: the next is tried at once.
const GOOD: Duration = Duration::from_secs(5);
/// How long the other side may take to make ready.
const PATIENCE: Duration = Duration::from_secs(30);

/// Keeps the line open for as long as this runs.
pub(crate) async fn keep(lsp: Arc<LspSession>) {
    let mut generation = 0;
    let mut pause = PAUSE;
    let mut has_told = false;
    if !lsp.lock().settings.enabled {
        lsp.tell();
    }
    loop {
        wanted(&lsp).await;
        generation += 1;
        lsp.lock().line = NesLine::Connecting;
        lsp.tell();
        let begun = Instant::now();
        match open(&lsp, generation).await {
            Ok(cx) => {
                has_told = false;
                lsp.tell();
                let why = cx.closed().await;
                tracing::info!(%why, "the connection to the daemon ended");
            }
            Err(why) => {
                tracing::warn!(%why, "there is no connection to the daemon");
                if !std::mem::replace(&mut has_told, true) {
                    lsp.log(&format!("{why}; it is tried again"));
                }
                lsp.lock().line = NesLine::Failed(why.to_string());
                lsp.tell();
            }
        }
        pause = if begun.elapsed() > GOOD { PAUSE } else { pause };
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Waits until suggestions are wanted: who has switched them off starts no daemon.
async fn wanted(lsp: &LspSession) {
    let mut news = lsp.news.subscribe();
    while !lsp.lock().settings.enabled {
        if news.changed().await.is_err() {
            return;
        }
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
enum NotOpen {
    #[error("{0}")]
    NoWay(String),
    #[error("the connection to the daemon cannot be used: {0}")]
    Io(#[from] std::io::Error),
    #[error("the daemon did not take the session: {0}")]
    Refused(#[from] CallError),
    #[error("the daemon does not make suggestions; `nudge stop` ends one that is too old")]
    NoSuggestions,
    #[error("the daemon was not ready within {} seconds", PATIENCE.as_secs())]
    Late,
}

/// Opens a connection and tells it everything; from then on it is the line.
async fn open(lsp: &Arc<LspSession>, generation: u64) -> Result<Cx, NotOpen> {
    let transport = (lsp.options.connect)().await.map_err(NotOpen::NoWay)?;
    let peer =
        Peer::client().name("daemon").on_unknown(|message, _: InOrder| async move { message.refuse().await });
    let connection = peer.connect(transport)?;
    let cx = connection.cx();
    let mut closing = CloseOnDrop(Some(cx.clone()));
    tokio::spawn(connection.serve());
    let greeted = tokio::time::timeout(PATIENCE, greet(lsp, &cx)).await;
    let session = greeted.map_err(|_| NotOpen::Late)??;
    // Held from the first document to the last word, so that nothing comes in between.
    let mut inner = lsp.lock();
    for event in inner.mirror.retell(&session) {
        let (method, params) = match &event {
            MirrorEvent::Open(open) => ("document/didOpen", RawJson::of(open)),
            MirrorEvent::Change(change) => ("document/didChange", RawJson::of(change)),
        };
        if let Ok(params) = params {
            cx.notify_now(method, Some(&params));
        }
    }
    inner.line = NesLine::Ready(ReadyLine { cx: cx.clone(), session, generation });
    inner.pass_eagerness();
    inner.pass_focus();
    closing.0 = None;
    Ok(cx)
}

/// Ends a connection that did not become the line.
struct CloseOnDrop(Option<Cx>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        if let Some(cx) = &self.0 {
            cx.close();
        }
    }
}

/// `initialize` and `nes/start`; gives the session.
async fn greet(lsp: &LspSession, cx: &Cx) -> Result<String, NotOpen> {
    let (capabilities, encoding, folders) = {
        let inner = lsp.lock();
        (inner.settings.capabilities(), inner.editor.encoding.clone(), inner.editor.folders.clone())
    };
    let params = json!({
        "protocolVersion": 2,
        "info": { "name": "nudge-lsp", "version": lsp.options.version },
        "capabilities": { "nes": capabilities, "positionEncodings": [encoding] },
    });
    let params = RawJson::of(&params).map_err(|_| NotOpen::NoSuggestions)?;
    let answer = AgentInit::new(Version::V2, cx.request_raw("initialize", Some(&params)).await?);
    if answer.nes().is_none() || answer.position_encoding().as_ref() != Some(&encoding) {
        return Err(NotOpen::NoSuggestions);
    }
    let start = StartRequest {
        workspace_uri: folders.first().map(|folder| folder.uri.clone()),
        workspace_folders: (!folders.is_empty()).then_some(folders),
        ..StartRequest::default()
    };
    let StartResponse { session_id, .. } = cx.request(start).await?;
    Ok(session_id)
}

impl From<ConnectionClosed> for NotOpen {
    fn from(closed: ConnectionClosed) -> Self {
        Self::Refused(closed.into())
    }
}
