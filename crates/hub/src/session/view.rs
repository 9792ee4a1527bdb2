//! What one client sees of a session, in the version it speaks.

use std::sync::Arc;

use nudge_wire::{RawJson, bridge::ToV1};

use crate::{
    client::{Client, Out},
    update::{self, Kind, Update},
};

/// A client of a session, and what it has seen.
pub(crate) struct View {
    pub(crate) client: Arc<Client>,
    /// Entries of the transcript before this one have been shown already.
    pub(crate) from: u64,
    to_v1: Option<ToV1>,
}

/// One update on its way to several clients, written once for each version.
pub(crate) struct Shown<'a> {
    session: &'a str,
    update: &'a Update,
    params: Option<RawJson>,
}

impl<'a> Shown<'a> {
    pub(crate) fn new(session: &'a str, update: &'a Update) -> Self {
        Self { session, update, params: None }
    }

    fn params(&mut self) -> RawJson {
        let Self { session, update, params } = self;
        params.get_or_insert_with(|| update::params(session, &update.raw)).clone()
    }
}

impl View {
    pub(crate) fn new(client: Arc<Client>) -> Self {
        let to_v1 = client.v1.map(ToV1::new);
        Self { client, from: 0, to_v1 }
    }

    /// Sends an update without waiting.
    pub(crate) fn show(&mut self, shown: &mut Shown<'_>) {
        for out in self.outs(shown) {
            self.client.push(out);
        }
    }

    /// Sends an update of the history, waiting for room.
    pub(crate) async fn show_when_room(&mut self, shown: &mut Shown<'_>) {
        for out in self.outs(shown) {
            self.client.push_when_room(out).await;
        }
    }

    /// The params of a permission request, as this client reads them.
    pub(crate) fn permission(&mut self, session: &str, request: &RawJson) -> RawJson {
        let session = RawJson::of(session).expect("a string is JSON");
        let request = request.with(&["sessionId"], &session).unwrap_or_else(|_| request.clone());
        match &mut self.to_v1 {
            Some(to_v1) => to_v1.permission(&request),
            None => request,
        }
    }

    /// The answer to a permission request, as the agent reads it.
    pub(crate) fn permission_answer(&self, answer: RawJson) -> RawJson {
        if self.to_v1.is_some() { ToV1::permission_answer(&answer) } else { answer }
    }

    /// The result of a request that brings a session into use, and the updates that go with it.
    pub(crate) fn opened(&mut self, session: &str, result: RawJson) -> (RawJson, Vec<Out>) {
        let Some(to_v1) = &mut self.to_v1 else { return (result, Vec::new()) };
        let setup = to_v1.setup(&result);
        let updates = setup.updates.iter().map(|raw| Out::Update(update::params(session, raw)));
        (setup.result, updates.collect())
    }

    /// The params of a request that sets an option, as version 2 has them; `None` if there are no modes to set.
    pub(crate) fn set_params(&self, is_mode: bool, params: RawJson) -> Option<RawJson> {
        match &self.to_v1 {
            Some(to_v1) if is_mode => to_v1.set_mode(&params),
            Some(to_v1) => Some(to_v1.set_config_option(&params)),
            None => Some(params),
        }
    }

    /// The result of a request that sets an option.
    pub(crate) fn set_result(&mut self, result: RawJson) -> RawJson {
        match &mut self.to_v1 {
            Some(to_v1) => to_v1.config_result(&result),
            None => result,
        }
    }

    /// The client runs this terminal itself.
    pub(crate) fn own_terminal(&mut self, id: &str) {
        if let Some(to_v1) = &mut self.to_v1 {
            to_v1.own_terminal(id);
        }
    }

    fn outs(&mut self, shown: &mut Shown<'_>) -> Vec<Out> {
        match &mut self.to_v1 {
            // Chunks are written alike in both versions.
            Some(to_v1) if !matches!(shown.update.kind, Kind::Chunk(_)) => {
                let converted = to_v1.update(&shown.update.raw);
                converted.iter().map(|raw| Out::Update(update::params(shown.session, raw))).collect()
            }
            Some(to_v1) => {
                to_v1.update(&shown.update.raw);
                vec![Out::Update(shown.params())]
            }
            None => vec![Out::Update(shown.params())],
        }
    }
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("client", &self.client).field("from", &self.from).finish_non_exhaustive()
    }
}
