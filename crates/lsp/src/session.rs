//! What the parts of one server share: documents, settings, what was offered, and the line to the other side.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_lsp::{ClientSocket, lsp_types::notification};
use nudge_peer::Cx;
use nudge_wire::{
    RawJson,
    document::{DidClose, DidFocus, DidSave},
    nes::{Position, Range, RejectReason, v2},
};
use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::{sync::watch, task::AbortHandle};

use crate::{
    LspOptions, ask::RunningQuestion, editor::EditorProfile, link, mirror::DocumentMirror,
    offered::OfferedSuggestions, params, settings::EditorSettings,
};

/// How long what the editor said last may take to be passed on.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// One server.
pub(crate) struct LspSession {
    pub(crate) options: LspOptions,
    inner: Mutex<LspSessionState>,
    client: OnceLock<ClientSocket>,
    /// Changes whenever the line or the settings do.
    pub(crate) news: watch::Sender<u64>,
    is_shut_down: AtomicBool,
}

/// What changes.
#[derive(Default)]
pub(crate) struct LspSessionState {
    pub(crate) editor: EditorProfile,
    pub(crate) settings: EditorSettings,
    pub(crate) mirror: DocumentMirror,
    pub(crate) offered: OfferedSuggestions,
    pub(crate) line: NesLine,
    /// What is being asked right now.
    pub(crate) running: Option<RunningQuestion>,
    /// What the user looks at, as far as the editor says it.
    focus: Option<FocusedDocument>,
    /// Where the user was last.
    pub(crate) place: Option<(String, Position)>,
    pub(crate) link: Option<AbortHandle>,
}

/// A document on the screen.
#[derive(Clone)]
pub(crate) struct FocusedDocument {
    pub(crate) uri: String,
    pub(crate) position: Position,
    pub(crate) visible: Range,
}

/// The line to whoever makes the suggestions.
#[derive(Default)]
pub(crate) enum NesLine {
    /// Not wanted yet.
    #[default]
    Off,
    Connecting,
    /// There is none, and why; it is tried again.
    Failed(String),
    Ready(ReadyLine),
}

/// A line that is open.
#[derive(Clone)]
pub(crate) struct ReadyLine {
    pub(crate) cx: Cx,
    pub(crate) session: String,
    /// Counts the connections.
    pub(crate) generation: u64,
}

impl LspSession {
    pub(crate) fn new(options: LspOptions) -> Self {
        let (news, _) = watch::channel(0);
        Self {
            options,
            inner: Mutex::default(),
            client: OnceLock::new(),
            news,
            is_shut_down: AtomicBool::new(false),
        }
    }

    /// The editor is there.
    pub(crate) fn meet(&self, client: ClientSocket) {
        let _ = self.client.set(client);
    }

    pub(crate) fn client(&self) -> ClientSocket {
        self.client.get().cloned().unwrap_or_else(ClientSocket::new_closed)
    }

    /// What changes. Held for moments only, and never while something is awaited.
    pub(crate) fn lock(&self) -> MutexGuard<'_, LspSessionState> {
        self.inner.lock()
    }

    /// Begins with an editor: from now on the line is kept open.
    pub(crate) fn begin(self: &Arc<Self>, editor: EditorProfile, settings: EditorSettings) {
        let mut inner = self.lock();
        inner.mirror = DocumentMirror::new(editor.units());
        inner.editor = editor;
        inner.settings = settings;
        inner.link = Some(tokio::spawn(link::keep(Arc::clone(self))).abort_handle());
    }

    pub(crate) fn shut_down(&self) {
        self.is_shut_down.store(true, Ordering::Relaxed);
    }

    pub(crate) fn was_shut_down(&self) -> bool {
        self.is_shut_down.load(Ordering::Relaxed)
    }

    /// The editor has left. What it said last is still passed on.
    pub(crate) async fn leave(&self) {
        let line = {
            let mut inner = self.lock();
            if let Some(link) = inner.link.take() {
                link.abort();
            }
            inner.ready().map(|ready| ready.cx.clone())
        };
        if let Some(cx) = line {
            cx.close();
            let _ = tokio::time::timeout(LAST_WORDS, cx.closed()).await;
        }
    }

    /// Tells all who wait that something has changed, and the editor if it wants to know.
    pub(crate) fn tell(&self) {
        self.news.send_modify(|count| *count += 1);
        let inner = self.lock();
        if inner.settings.status {
            let _ = self.client().notify::<Status>(inner.status());
        }
    }

    /// Says something in the editor's log: for what somebody who looks there has to know.
    pub(crate) fn log(&self, message: &str) {
        use async_lsp::lsp_types::{LogMessageParams, MessageType};
        let params = LogMessageParams { typ: MessageType::WARNING, message: format!("nudge: {message}") };
        let _ = self.client().notify::<notification::LogMessage>(params);
    }

    /// A change of this document could not be read, or of any if none is named.
    pub(crate) fn lose(&self, uri: Option<&str>) {
        if self.lock().lose(uri) {
            tracing::warn!("a document is out of step");
            self.log(
                "a change of a document could not be read, so it gets no suggestions until its whole text comes again",
            );
        }
    }

    /// Changes the settings.
    pub(crate) fn set(&self, change: impl FnOnce(&mut EditorSettings)) {
        {
            let mut inner = self.lock();
            let before = inner.settings.clone();
            change(&mut inner.settings);
            if inner.settings == before {
                return;
            }
            if inner.settings.eagerness != before.eagerness {
                inner.pass_eagerness();
            }
            if inner.settings.capabilities() != before.capabilities()
                && let NesLine::Ready(ready) = &inner.line
            {
                // What can be shown is said once for a connection.
                ready.cx.close();
            }
        }
        self.tell();
    }
}

impl LspSessionState {
    /// The line, if it is open.
    pub(crate) fn ready(&self) -> Option<&ReadyLine> {
        match &self.line {
            NesLine::Ready(ready) if !ready.cx.is_over() => Some(ready),
            _ => None,
        }
    }

    /// As `nudge/status` says it.
    pub(crate) fn status(&self) -> Value {
        match &self.line {
            _ if !self.settings.enabled => json!({ "state": "off" }),
            NesLine::Ready(_) => json!({ "state": "ready" }),
            NesLine::Failed(why) => json!({ "state": "failed", "message": why }),
            NesLine::Off | NesLine::Connecting => json!({ "state": "connecting" }),
        }
    }

    /// Sends a notification over the line, if it is open. Nothing is lost if it is not: who comes later is told all.
    pub(crate) fn send(&self, method: &str, params: &impl Serialize) {
        let Some(ready) = self.ready() else { return };
        match RawJson::of(params) {
            Ok(params) => ready.cx.notify_now(method, Some(&params)),
            Err(error) => tracing::error!(method, %error, "a notification cannot be written"),
        }
    }

    pub(crate) fn did_change(
        &mut self,
        change: params::LspDidChange,
    ) -> Result<(), crate::mirror::NotFollowed> {
        if let Err(why) = self.mirror.change(&change) {
            self.tell_lost(&change.text_document.uri);
            return Err(why);
        }
        if let Some(ready) = self.ready() {
            let params::LspChangedDocument { uri, version } = change.text_document;
            let changes = change.content_changes;
            let event = nudge_wire::document::DidChange::new(ready.session.as_str(), uri, version, changes);
            self.send("document/didChange", &event);
        }
        Ok(())
    }

    /// Tells the other side that a document is out of step, so that nothing it says is about the text it knows.
    fn tell_lost(&self, uri: &str) {
        if let (Some(ready), Some(_)) = (self.ready(), self.mirror.get(uri)) {
            self.send("document/didChange", &self.mirror.lost(&ready.session, uri));
        }
    }

    /// A change of this document was missed, or of any if none is named. Whether one was in step before.
    pub(crate) fn lose(&mut self, uri: Option<&str>) -> bool {
        let lost = self.mirror.lose(uri);
        for uri in &lost {
            self.tell_lost(uri);
        }
        !lost.is_empty()
    }

    pub(crate) fn did_close(&mut self, uri: &str) {
        if self.mirror.close(uri)
            && let Some(ready) = self.ready()
        {
            self.send("document/didClose", &DidClose::new(ready.session.as_str(), uri));
        }
    }

    pub(crate) fn did_save(&self, uri: &str) {
        if let Some(ready) = self.ready() {
            self.send("document/didSave", &DidSave::new(ready.session.as_str(), uri));
        }
    }

    /// The user looks at something.
    pub(crate) fn focus(&mut self, focus: FocusedDocument) {
        self.focus = Some(focus);
        self.pass_focus();
    }

    /// Says what the user looks at.
    pub(crate) fn pass_focus(&self) {
        let (Some(ready), Some(focus)) = (self.ready(), &self.focus) else { return };
        let Some(mirrored) = self.mirror.get(&focus.uri) else { return };
        let (session, version) = (ready.session.as_str(), mirrored.version());
        let FocusedDocument { uri, position, visible } = focus.clone();
        self.send("document/didFocus", &DidFocus::new(session, uri, version, position, visible));
    }

    /// The user took a suggestion.
    pub(crate) fn accept(&mut self, id: &str) {
        let Some(made) = self.offered.settle(id, false) else { return };
        if let Some(ready) = self.ready().filter(|ready| ready.generation == made.generation) {
            self.send("nes/accept", &v2::AcceptNotification::new(ready.session.as_str(), made.own_id));
        }
    }

    /// The user did not take a suggestion.
    pub(crate) fn reject(&mut self, id: &str, reason: &RejectReason) {
        let Some(made) = self.offered.settle(id, *reason == RejectReason::Rejected) else { return };
        if let Some(ready) = self.ready().filter(|ready| ready.generation == made.generation) {
            let mut rejection = v2::RejectNotification::new(ready.session.as_str(), made.own_id);
            rejection.reason = Some(reason.clone());
            self.send("nes/reject", &rejection);
        }
    }

    /// Says how eager the user wants it.
    pub(crate) fn pass_eagerness(&self) {
        let Some(ready) = self.ready() else { return };
        let eagerness = self.settings.eagerness.name();
        let params = json!({ "sessionId": ready.session, "configId": "eagerness", "value": eagerness });
        let Ok(params) = RawJson::of(&params) else { return };
        let asked = ready.cx.request_raw("session/set_config_option", Some(&params));
        tokio::spawn(async move {
            if let Err(error) = asked.await {
                tracing::warn!(%error, "the eagerness could not be set");
            }
        });
    }
}

/// `nudge/status`.
enum Status {}

impl notification::Notification for Status {
    type Params = Value;
    const METHOD: &'static str = "nudge/status";
}
