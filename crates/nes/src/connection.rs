//! The NES sessions of one connection.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use nudge_predict::OfferedKinds;
use nudge_syntax::HeldBytes;
use nudge_wire::{
    Error, Version,
    caps::ClientInit,
    document::{DidChange, DidClose, DidFocus, DidOpen, DidSave},
    nes::{
        CloseRequest, CloseResponse, ErrorReason, NesCapabilities, PositionEncoding, RejectReason,
        StartRequest, StartResponse,
    },
};
use parking_lot::Mutex;
use serde_json::Value;

use crate::{
    NesService, PendingSuggestion, SettingValue, SuggestQuestion, capability, convert, limits,
    pending::NesClient,
    session::NesSession,
    setting::{NesSettings, OptionShape},
};

/// The NES sessions of one client.
///
/// Events must be given in the order in which they came. None of the methods waits for a suggestion to be computed.
pub struct NesConnection {
    service: NesService,
    version: Version,
    position_encoding: PositionEncoding,
    client: NesClient,
    shape: OptionShape,
    sessions: Mutex<HashMap<String, Arc<Mutex<NesSession>>>>,
    /// Whether it was told that the client speaks of sessions that are not there.
    told_unknown: AtomicBool,
}

impl NesConnection {
    pub(crate) fn new(service: NesService, init: &ClientInit) -> Self {
        let position_encoding = PositionEncoding::choose(&init.position_encodings());
        let nes = init.nes().unwrap_or_default();
        let offers = OfferedKinds {
            jump: nes.jump.is_some(),
            rename: nes.rename.is_some(),
            search_and_replace: nes.search_and_replace.is_some(),
        };
        let encoding = convert::encoding(&position_encoding);
        Self {
            client: NesClient {
                encoding,
                offers,
                engine: Arc::clone(service.engine()),
                warm: Arc::clone(service.warm()),
                parse_time: service.parse_time(),
            },
            service,
            version: init.version,
            position_encoding,
            shape: OptionShape { version: init.version, booleans: knows_booleans(init) },
            sessions: Mutex::default(),
            told_unknown: AtomicBool::new(false),
        }
    }

    /// The version of the protocol that is spoken.
    pub fn version(&self) -> Version {
        self.version
    }

    /// What `initialize` says that Nudge wants to be told.
    pub fn capabilities(&self) -> NesCapabilities {
        capability::ours()
    }

    /// The position encoding that `initialize` says was chosen.
    pub fn position_encoding(&self) -> &PositionEncoding {
        &self.position_encoding
    }

    /// `nes/start`.
    pub fn start(&self, request: &StartRequest) -> Result<StartResponse, Error> {
        let engine = self.service.engine();
        if engine.needs_auth() {
            return Err(ErrorReason::AuthRequired.error());
        }
        let mut sessions = self.sessions.lock();
        if sessions.len() >= limits::SESSIONS {
            let what = format!("Too many NES sessions are open, the limit is {}", limits::SESSIONS);
            return Err(Error::invalid_request(what));
        }
        let id = self.service.next_session();
        let settings = NesSettings::new(engine.name());
        let mut response = StartResponse::new(id.clone());
        response.config_options = Some(settings.options(self.shape));
        let workspace = self.service.workspace(request);
        let session = NesSession::new(id.clone(), workspace, settings, self.service.parsed_bytes());
        tracing::debug!(session = id, "an NES session begins");
        sessions.insert(id, Arc::new(Mutex::new(session)));
        Ok(response)
    }

    /// `nes/close`: what the session is still working on is cancelled.
    pub fn close(&self, request: &CloseRequest) -> Result<CloseResponse, Error> {
        let session = self.sessions.lock().remove(&request.session_id);
        let session = session.ok_or_else(|| ErrorReason::UnknownSession.error())?;
        let mut session = session.lock();
        session.cancel();
        session.workspace.learned.flush();
        tracing::debug!(session = session.id, "an NES session ends");
        Ok(CloseResponse::default())
    }

    /// `document/didOpen`.
    pub fn did_open(&self, event: DidOpen) {
        self.on(&event.session_id.clone(), |session| {
            if let Some(source) = session.did_open(event) {
                self.service.warm().parse(source);
            }
        });
    }

    /// `document/didChange`, at this time in milliseconds.
    pub fn did_change(&self, event: DidChange, now: u64) {
        self.on(&event.session_id.clone(), |session| {
            session.did_change(event, self.client.encoding, now);
        });
    }

    /// `document/didClose`.
    pub fn did_close(&self, event: &DidClose) {
        self.on(&event.session_id, |session| session.did_close(event));
    }

    /// `document/didSave`.
    pub fn did_save(&self, event: DidSave) {
        self.on(&event.session_id.clone(), |session| session.did_save(event));
    }

    /// `document/didFocus`.
    pub fn did_focus(&self, event: DidFocus) {
        self.on(&event.session_id.clone(), |session| session.did_focus(event));
    }

    /// `nes/suggest`, at this time in milliseconds. The suggestion that the session is still working on is cancelled.
    pub fn suggest(&self, ask: impl Into<SuggestQuestion>, now: u64) -> Result<PendingSuggestion, Error> {
        let ask = ask.into();
        let session = self.session(&ask.session_id).ok_or_else(|| ErrorReason::UnknownSession.error())?;
        PendingSuggestion::new(&session, &self.client, &ask, now)
    }

    /// `nes/accept`.
    pub fn accept(&self, session_id: &str, suggestion_id: &str) {
        self.on(session_id, |session| session.accept(suggestion_id));
    }

    /// `nes/reject`.
    pub fn reject(&self, session_id: &str, suggestion_id: &str, reason: Option<&RejectReason>) {
        self.on(session_id, |session| session.reject(suggestion_id, reason));
    }

    /// `session/set_config_option` on an NES session: the full list of options afterwards.
    pub fn set_config_option(
        &self,
        session_id: &str,
        option_id: &str,
        value: &SettingValue,
    ) -> Result<Vec<Value>, Error> {
        let session = self.session(session_id).ok_or_else(|| ErrorReason::UnknownSession.error())?;
        let mut session = session.lock();
        session.settings.set(option_id, value)?;
        // What is shown was chosen by the settings before.
        session.offered.clear();
        Ok(session.settings.options(self.shape))
    }

    /// Whether `id` is that of an NES session of this connection.
    pub fn has_session(&self, id: &str) -> bool {
        self.session(id).is_some()
    }

    /// What is held of the documents of a session next to their text; nothing if there is no such session.
    pub fn held(&self, session_id: &str) -> HeldBytes {
        self.session(session_id).map(|session| session.lock().held()).unwrap_or_default()
    }

    fn session(&self, id: &str) -> Option<Arc<Mutex<NesSession>>> {
        self.sessions.lock().get(id).cloned()
    }

    /// Hands a notification to its session. There is no way to tell the client that there is none.
    fn on(&self, id: &str, handle: impl FnOnce(&mut NesSession)) {
        match self.session(id) {
            Some(session) => handle(&mut session.lock()),
            None if self.told_unknown.swap(true, Ordering::Relaxed) => {
                tracing::debug!("a notification is about an NES session that is not open");
            }
            None => tracing::warn!("a notification is about an NES session that is not open"),
        }
    }
}

/// In v2 every client knows settings that are on or off; in v1 it says so.
fn knows_booleans(init: &ClientInit) -> bool {
    let path = ["clientCapabilities", "session", "configOptions", "boolean"];
    init.version == Version::V2 || init.params.get(&path).is_some_and(|boolean| boolean.as_str() != "null")
}

impl Drop for NesConnection {
    fn drop(&mut self) {
        for session in self.sessions.lock().values() {
            session.lock().cancel();
        }
    }
}

impl fmt::Debug for NesConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NesConnection")
            .field("version", &self.version)
            .field("position_encoding", &self.position_encoding)
            .field("sessions", &self.sessions.lock().len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use nudge_wire::{RawJson, nes::v1};

    use super::*;
    use crate::NesOptions;

    /// A connection with a session in which a document is open, and a question about it.
    fn asked() -> (NesConnection, String, PendingSuggestion) {
        let service = NesService::new(NesOptions { index: false, ..NesOptions::default() });
        let init = ClientInit::new(Version::V1, RawJson::parse("{}".to_owned()).unwrap());
        let connection = service.connect(&init);
        let id = connection.start(&StartRequest::default()).unwrap().session_id;
        let uri = "file:///w/a.rs";
        connection.did_open(DidOpen::new(&id, uri, "rust", 1, "fn a() {}\n"));
        let place = v1::Position::new(0, 0);
        let ask = v1::SuggestRequest::new(&id, uri, 1, place, v1::TriggerKind::Manual);
        let pending = connection.suggest(ask, 0).unwrap();
        (connection, id, pending)
    }

    #[test]
    fn nothing_is_left_of_a_session_that_was_closed() {
        let (connection, id, pending) = asked();
        pending.run().unwrap();
        assert!(connection.held(&id).contents > 0);
        let session = Arc::downgrade(&connection.session(&id).unwrap());
        connection.close(&CloseRequest::new(&id)).unwrap();
        assert!(session.upgrade().is_none());
        assert_eq!(connection.held(&id), HeldBytes::default());
    }

    #[test]
    fn a_question_on_its_way_keeps_its_session_no_longer_than_itself() {
        let (connection, id, pending) = asked();
        let session = Arc::downgrade(&connection.session(&id).unwrap());
        connection.close(&CloseRequest::new(&id)).unwrap();
        assert!(pending.run().is_err());
        assert!(session.upgrade().is_none());
    }
}
