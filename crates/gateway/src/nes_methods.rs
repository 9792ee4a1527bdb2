//! The methods of next edit suggestions on a connection: `nes/*`, `document/*`, and the options of their sessions.

use std::{sync::Arc, time::Instant};

use nudge_nes::{NesAnswer, NesConnection, NesService, PendingSuggestion, SettingValue, SuggestCanceller};
use nudge_peer::{Peer, UnhandledMessage};
use nudge_wire::{
    Error, Notification, Request, Version,
    caps::{AgentInit, ClientInit},
    document::{DidChange, DidClose, DidFocus, DidOpen, DidSave},
    nes::{CloseRequest, RejectReason, StartRequest, v1, v2},
    raw::NotAnObject,
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who makes next edit suggestions on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NesProvider {
    /// Nudge itself.
    #[default]
    Nudge,
    /// The agent: `nes/*` and `document/*` pass to it as they come.
    Agent,
}

/// Tells the time of document events, in milliseconds from any moment on.
pub type NesClock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The methods of next edit suggestions on one connection, from its `initialize` on.
pub(crate) struct NesMethods {
    service: NesService,
    connection: Mutex<Option<Arc<NesConnection>>>,
    clock: NesClock,
}

impl NesMethods {
    pub(crate) fn new(service: NesService, clock: Option<NesClock>) -> Arc<Self> {
        let clock = clock.unwrap_or_else(machine_clock);
        Arc::new(Self { service, connection: Mutex::default(), clock })
    }

    /// Takes what the client says and adds what is said of suggestions. Sessions of an earlier `initialize` end.
    pub(crate) fn initialize(&self, client: &ClientInit, agent: AgentInit) -> Result<AgentInit, NotAnObject> {
        let connection = self.service.connect(client);
        let agent = agent
            .with_nes(&connection.capabilities())?
            .with_position_encoding(connection.position_encoding())?;
        *self.connection.lock() = Some(Arc::new(connection));
        Ok(agent)
    }

    /// Adds the handlers. All run in order; only the computing of a suggestion goes on beside the queue.
    pub(crate) fn handlers(self: &Arc<Self>, peer: Peer) -> Peer {
        let peer = peer
            .on_request(self.answer(|nes, request: StartRequest| nes.start(&request)))
            .on_request(self.answer(|nes, request: CloseRequest| nes.close(&request)))
            .on_notification(self.note(|nes, event: DidOpen, _| nes.did_open(event)))
            .on_notification(self.note(|nes, event: DidChange, now| nes.did_change(event, now)))
            .on_notification(self.note(|nes, event: DidClose, _| nes.did_close(&event)))
            .on_notification(self.note(|nes, event: DidSave, _| nes.did_save(event)))
            .on_notification(self.note(|nes, event: DidFocus, _| nes.did_focus(event)))
            .on_notification(
                self.note(|nes, accept: Accept, _| nes.accept(&accept.session_id, &accept.suggestion_id)),
            )
            .on_notification(self.note(|nes, reject: Reject, _| {
                nes.reject(&reject.session_id, &reject.suggestion_id, reject.reason.as_ref());
            }));
        let nes = Arc::clone(self);
        peer.on_request_beside(move |Suggest(request), _| {
            let begun = nes.connection().and_then(|connection| {
                let pending = connection.suggest(request, nes.now())?;
                Ok((pending, connection.version()))
            });
            async move {
                let (pending, version) = begun?;
                Ok(Suggested::new(compute(pending).await?, version))
            }
        })
    }

    /// Takes `session/set_config_option` where it is about a session of suggestions; gives back all else.
    pub(crate) async fn take(&self, message: UnhandledMessage) -> Option<UnhandledMessage> {
        let UnhandledMessage::Request(request) = message else { return Some(message) };
        let is_set = &**request.method() == "session/set_config_option";
        let set = request.params().filter(|_| is_set).and_then(|params| params.to::<SetConfigOption>().ok());
        match (set, self.connection()) {
            (Some(set), Ok(connection)) if connection.has_session(&set.session_id) => {
                // That the connection is over is seen elsewhere.
                let _ = request.respond(set_config_option(&connection, set)).await;
                None
            }
            _ => Some(UnhandledMessage::Request(request)),
        }
    }

    fn answer<R: Request, P>(
        self: &Arc<Self>,
        handler: impl Fn(&NesConnection, R) -> Result<R::Response, Error> + Send + Sync + 'static,
    ) -> impl Fn(R, P) -> std::future::Ready<Result<R::Response, Error>> + Send + Sync + 'static {
        let nes = Arc::clone(self);
        move |request, _| {
            let connection = nes.connection();
            std::future::ready(connection.and_then(|connection| handler(&connection, request)))
        }
    }

    fn note<N: Notification, P>(
        self: &Arc<Self>,
        handler: impl Fn(&NesConnection, N, u64) + Send + Sync + 'static,
    ) -> impl Fn(N, P) -> std::future::Ready<Result<(), Error>> + Send + Sync + 'static {
        let nes = Arc::clone(self);
        move |event, _| {
            let connection = nes.connection();
            std::future::ready(connection.map(|connection| handler(&connection, event, nes.now())))
        }
    }

    fn connection(&self) -> Result<Arc<NesConnection>, Error> {
        let connection = self.connection.lock();
        connection.clone().ok_or_else(|| Error::invalid_request("Invalid request: `initialize` comes first"))
    }

    fn now(&self) -> u64 {
        (self.clock)()
    }
}

/// Time since the connection was made.
fn machine_clock() -> NesClock {
    let started = Instant::now();
    Arc::new(move || u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX))
}

/// Computes an answer on a thread of its own. The computing ends early when this future is dropped.
async fn compute(pending: PendingSuggestion) -> Result<NesAnswer, Error> {
    if pending.is_known() {
        return pending.run();
    }
    let _guard = CancelOnDrop(pending.canceller());
    match tokio::task::spawn_blocking(|| pending.run()).await {
        Ok(answer) => answer,
        Err(failed) => {
            tracing::error!(%failed, "the engine failed");
            Err(Error::internal("The engine failed"))
        }
    }
}

struct CancelOnDrop(SuggestCanceller);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// `nes/suggest`, asked for in the same way in both versions and answered in the way of one.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Suggest(v1::SuggestRequest);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Suggested {
    V1(v1::SuggestResponse),
    V2(v2::SuggestResponse),
}

impl Suggested {
    fn new(response: NesAnswer, version: Version) -> Self {
        match version {
            Version::V1 => Self::V1(response.into()),
            Version::V2 => Self::V2(response.into()),
        }
    }
}

impl Request for Suggest {
    const METHOD: &'static str = v1::SuggestRequest::METHOD;
    const ALIASES: &'static [&'static str] = v1::SuggestRequest::ALIASES;
    type Response = Suggested;
}

/// `nes/accept` of either version.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accept {
    session_id: String,
    #[serde(alias = "id")]
    suggestion_id: String,
}

impl Notification for Accept {
    const METHOD: &'static str = v1::AcceptNotification::METHOD;
    const ALIASES: &'static [&'static str] = v1::AcceptNotification::ALIASES;
}

/// `nes/reject` of either version.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reject {
    session_id: String,
    #[serde(alias = "id")]
    suggestion_id: String,
    #[serde(default)]
    reason: Option<RejectReason>,
}

impl Notification for Reject {
    const METHOD: &'static str = v1::RejectNotification::METHOD;
    const ALIASES: &'static [&'static str] = v1::RejectNotification::ALIASES;
}

/// `session/set_config_option` of either version, on a session of suggestions.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetConfigOption {
    session_id: String,
    config_id: String,
    value: Value,
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigOptions {
    config_options: Vec<Value>,
}

fn set_config_option(connection: &NesConnection, request: SetConfigOption) -> Result<ConfigOptions, Error> {
    let SetConfigOption { session_id, config_id, value, kind } = request;
    let value = match (kind.as_deref(), value) {
        (None | Some("boolean"), Value::Bool(value)) => SettingValue::Boolean(value),
        (None | Some("id"), Value::String(id)) => SettingValue::Id(id),
        // In v1 a type that is not known does not matter where the value is a string.
        (Some(kind), Value::String(id)) if connection.version() == Version::V1 && kind != "boolean" => {
            SettingValue::Id(id)
        }
        _ => {
            let what = "expected a string, or a boolean of the type `boolean`";
            return Err(Error::invalid_params(format!("Invalid value of a config option: {what}")));
        }
    };
    let config_options = connection.set_config_option(&session_id, &config_id, &value)?;
    Ok(ConfigOptions { config_options })
}

#[cfg(test)]
mod tests;
