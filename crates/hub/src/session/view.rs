//! What one client sees of a session, in the version it speaks.

use std::{sync::Arc, time::Duration};

use nudge_bridge::{IndexedUpdate, JoinChunks, MethodCall, ToV1, ToV2, update_params};
use nudge_wire::{RawJson, Version};
use tokio::time::Instant;

use nudge_peer::RawNotification;

use crate::{
    client::{ClientMessage, ConnectedClient},
    shape,
};

/// A client of a session, and what it has seen.
pub(crate) struct ClientView {
    pub(crate) client: Arc<ConnectedClient>,
    /// Entries of the transcript before this one have been shown already.
    pub(crate) from: u64,
    /// How a client of version 1 is told what is written in version 2.
    to_v1: Option<ToV1>,
    /// How a client of version 2 is told what is written in version 1.
    to_v2: Option<ToV2>,
    /// How a client of version 2 is told what was said before.
    history: JoinChunks,
    /// When it is sent what was held back for it.
    flush_at: Option<Instant>,
}

/// How long something may be held back that a client of version 1 can only be sent whole, and how fast that is sent
/// again and again at the most, in bytes a second.
const HELD_BACK: Duration = Duration::from_millis(100);
const AGAIN: usize = 128 * 1024;
const LONGEST_HELD_BACK: Duration = Duration::from_secs(5);

/// One update on its way to several clients, written once for each version.
pub(crate) struct ShownUpdate<'a> {
    session: &'a str,
    update: &'a IndexedUpdate,
    params: Option<RawJson>,
}

impl<'a> ShownUpdate<'a> {
    pub(crate) fn new(session: &'a str, update: &'a IndexedUpdate) -> Self {
        Self { session, update, params: None }
    }

    /// The notification it came in, if that names the session as the clients do.
    fn as_it_came(&mut self) -> ClientMessage {
        let message = self.update.message_for(self.session).cloned();
        match message.and_then(RawNotification::from_message) {
            Some(note) => ClientMessage::Note(note),
            None => ClientMessage::Update(self.params()),
        }
    }

    fn params(&mut self) -> RawJson {
        let Self { session, update, params } = self;
        params.get_or_insert_with(|| update.params_with(session, &update.raw)).clone()
    }

    /// The notifications for what became of the update in another version.
    fn converted(&self, updates: &[RawJson]) -> Vec<ClientMessage> {
        updates.iter().map(|raw| ClientMessage::Update(self.update.params_with(self.session, raw))).collect()
    }
}

impl ClientView {
    /// A client's view of a session in this directory.
    pub(crate) fn new(client: Arc<ConnectedClient>, cwd: &str) -> Self {
        let to_v1 = client.v1.map(ToV1::new);
        let to_v2 = to_v1.is_none().then(|| ToV2::new("nudge-").with_cwd(cwd));
        Self { client, from: 0, to_v1, to_v2, history: JoinChunks::default(), flush_at: None }
    }

    /// Sends an update without waiting.
    pub(crate) fn show(&mut self, shown: &mut ShownUpdate<'_>) {
        for out in self.outs(shown) {
            self.client.push(out);
        }
        match self.to_v1.as_ref().and_then(ToV1::unsent) {
            Some(bytes) if self.flush_at.is_none() => self.flush_at = Some(Instant::now() + held_back(bytes)),
            Some(_) => {}
            None => self.flush_at = None,
        }
    }

    /// Sends what was held back.
    pub(crate) fn flush(&mut self, session: &str) {
        self.flush_at = None;
        for raw in self.to_v1.as_mut().map(ToV1::flush).unwrap_or_default() {
            self.client.push(ClientMessage::Update(update_params(session, &raw)));
        }
    }

    /// When something is to be sent that was held back for one of them.
    pub(crate) fn next_flush(views: &[Self]) -> Option<Instant> {
        views.iter().filter_map(|view| view.flush_at).min()
    }

    /// Sends what has been held back for long enough.
    pub(crate) fn flush_due(views: &mut [Self], session: &str) {
        let now = Instant::now();
        for view in views.iter_mut().filter(|view| view.flush_at.is_some_and(|at| at <= now)) {
            view.flush(session);
        }
    }

    /// Sends an update of the history, waiting for room.
    pub(crate) async fn show_when_room(&mut self, shown: &mut ShownUpdate<'_>) {
        for out in self.outs_of_history(shown) {
            self.client.push_when_room(out).await;
        }
    }

    /// Sends an update of the history without waiting.
    pub(crate) fn show_history(&mut self, shown: &mut ShownUpdate<'_>) {
        for out in self.outs_of_history(shown) {
            self.client.push(out);
        }
    }

    /// Sends what is left of the history: the client has been shown all of it.
    pub(crate) fn end_history(&mut self, session: &str) {
        for raw in std::mem::take(&mut self.history).finish() {
            self.client.push(ClientMessage::Update(update_params(session, &raw)));
        }
        self.flush(session);
    }

    /// The params of a permission request, as this client reads them.
    pub(crate) fn permission(&mut self, session: &str, version: Version, request: &RawJson) -> RawJson {
        let request = shape::for_session(request, session);
        self.flush(session);
        match (version, &mut self.to_v1, &mut self.to_v2) {
            (Version::V2, Some(to_v1), _) => to_v1.permission(&request),
            (Version::V1, _, Some(to_v2)) => to_v2.permission(&request),
            _ => request,
        }
    }

    /// The result of a request that brings a session into use, and the updates that go with it.
    pub(crate) fn opened(
        &mut self,
        session: &str,
        version: Version,
        result: RawJson,
    ) -> (RawJson, Vec<ClientMessage>) {
        let setup = match (version, &mut self.to_v1, &mut self.to_v2) {
            (Version::V2, Some(to_v1), _) => to_v1.setup(&result),
            (Version::V1, _, Some(to_v2)) => to_v2.setup(&result),
            _ => return (result, Vec::new()),
        };
        let updates = setup.updates.iter().map(|raw| ClientMessage::Update(update_params(session, raw)));
        (setup.result, updates.collect())
    }

    /// The params of a request that sets an option, as version 2 has them; `None` if there are no modes to set.
    fn set_params(&self, is_mode: bool, params: RawJson) -> Option<RawJson> {
        match &self.to_v1 {
            Some(to_v1) if is_mode => to_v1.set_mode(&params),
            Some(to_v1) => Some(to_v1.set_config_option(&params)),
            None => Some(params),
        }
    }

    /// The request that sets a mode or an option, for an agent of this version; `None` if there are no modes to set.
    pub(crate) fn set_call(&self, version: Version, is_mode: bool, params: &RawJson) -> Option<MethodCall> {
        let as_is = |method: &str, params: RawJson| MethodCall { method: method.to_owned(), params };
        match (version, &self.to_v1, &self.to_v2) {
            (Version::V2, Some(_), _) => {
                let params = self.set_params(is_mode, params.clone())?;
                Some(as_is("session/set_config_option", params))
            }
            (Version::V1, _, Some(to_v2)) => Some(to_v2.set_config_option(params)),
            _ if is_mode => Some(as_is("session/set_mode", params.clone())),
            _ => Some(as_is("session/set_config_option", params.clone())),
        }
    }

    /// What an agent of this version answered to it, as this client reads it.
    pub(crate) fn set_answer(
        &mut self,
        version: Version,
        is_mode: bool,
        call: &MethodCall,
        answer: RawJson,
    ) -> RawJson {
        match (version, &mut self.to_v1, &mut self.to_v2) {
            (Version::V2, Some(_), _) if is_mode => RawJson::object(&[]),
            (Version::V2, Some(to_v1), _) => to_v1.config_result(&answer),
            (Version::V1, _, Some(to_v2)) => to_v2.config_result(call, &answer),
            _ => answer,
        }
    }

    /// The client runs this terminal itself.
    pub(crate) fn own_terminal(&mut self, id: &str) {
        if let Some(to_v1) = &mut self.to_v1 {
            to_v1.own_terminal(id);
        }
    }

    /// What was said before, for a client of version 2 in whole messages.
    fn outs_of_history(&mut self, shown: &mut ShownUpdate<'_>) -> Vec<ClientMessage> {
        if self.client.version == Version::V1 {
            return self.outs(shown);
        }
        let updates = match shown.update.version {
            Version::V1 => self.converted_to_v2(shown.update).unwrap_or_default(),
            Version::V2 => vec![shown.update.raw.clone()],
        };
        let joined: Vec<_> = updates.iter().flat_map(|raw| self.history.update(raw)).collect();
        shown.converted(&joined)
    }

    fn outs(&mut self, shown: &mut ShownUpdate<'_>) -> Vec<ClientMessage> {
        if shown.update.version == Version::V1 {
            return self.outs_of_v1(shown);
        }
        match &mut self.to_v1 {
            // Chunks are written alike in both versions.
            Some(to_v1) if !shown.update.kind.is_message_chunk() => {
                shown.converted(&to_v1.update(&shown.update.raw))
            }
            Some(to_v1) => {
                to_v1.update(&shown.update.raw);
                vec![ClientMessage::Update(shown.params())]
            }
            None => vec![shown.as_it_came()],
        }
    }

    fn outs_of_v1(&mut self, shown: &mut ShownUpdate<'_>) -> Vec<ClientMessage> {
        match self.converted_to_v2(shown.update) {
            Some(converted) => shown.converted(&converted),
            None => vec![shown.as_it_came()],
        }
    }

    /// An update of version 1 for a client of version 2; `None` if it is not one.
    fn converted_to_v2(&mut self, update: &IndexedUpdate) -> Option<Vec<RawJson>> {
        let IndexedUpdate { kind, message_id, raw, .. } = update;
        let to_v2 = self.to_v2.as_mut()?;
        Some(match message_id {
            Some(id) if kind.is_message_chunk() => to_v2.update_of(raw, kind.name(), id),
            _ => to_v2.update(raw),
        })
    }
}

/// Waits for [`ClientView::next_flush`].
pub(crate) async fn flush_time(at: Option<Instant>) {
    if let Some(at) = at {
        tokio::time::sleep_until(at).await;
    }
}

/// How long so much is held back.
fn held_back(bytes: usize) -> Duration {
    let millis = u64::try_from(bytes.saturating_mul(1000) / AGAIN).unwrap_or(u64::MAX);
    (HELD_BACK + Duration::from_millis(millis)).min(LONGEST_HELD_BACK)
}

impl std::fmt::Debug for ClientView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientView")
            .field("client", &self.client)
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}
