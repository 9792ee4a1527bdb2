//! Clients that use one agent, each over a connection of its own.

use std::{sync::Arc, time::Duration};

use nudge_adapt::{AdaptedSession, AgentLane, AgentPool, ClientAgent};
use nudge_peer::{CallError, Cx, Peer, PendingResponse, pair};
use nudge_wire::{ConnectionId, Error, RawJson, Version};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};

use crate::{
    owner::{Owner, setup},
    scripted::{LONG, Launches, ScriptedAgent, raw},
};

/// A client whose words go to the agent.
pub(crate) struct LaneClient {
    pub(crate) agent: Arc<ClientAgent>,
    cx: Cx,
    version: Version,
    /// The methods by which it was told something or asked.
    heard: Mutex<mpsc::UnboundedReceiver<String>>,
}

/// An answer that is waited for.
pub(crate) struct Asked(PendingResponse<RawJson>);

impl LaneClient {
    pub(crate) fn new(pool: &AgentPool, launches: &Launches, connection: u64) -> Self {
        let agent = pool.found(Arc::clone(&launches.downstream), ConnectionId(connection));
        let version = launches.version();
        let lane = Arc::new(AgentLane::new(Arc::clone(&agent), version));
        let (ours, theirs) = pair();
        let server = Peer::agent().on_unknown(move |message, _| {
            let lane = Arc::clone(&lane);
            async move {
                lane.push(message).await;
                Ok(())
            }
        });
        let server = server.connect(theirs).expect("memory can be connected");
        agent.listen(ConnectionId(connection), version, server.cx());
        tokio::spawn(async { drop(server.serve().await) });
        let (hear, heard) = mpsc::unbounded_channel();
        let client = Peer::client().on_unknown(move |message, _| {
            let _ = hear.send(message.method().to_string());
            async { message.refuse().await }
        });
        let client = client.connect(ours).expect("memory can be connected");
        let cx = client.cx();
        tokio::spawn(async { drop(client.serve().await) });
        Self { agent, cx, version, heard: Mutex::new(heard) }
    }

    /// What it has heard since it was asked last.
    pub(crate) async fn heard(&self) -> Vec<String> {
        // What is under way arrives meanwhile; no time passes.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let mut heard = self.heard.lock();
        std::iter::from_fn(|| heard.try_recv().ok()).collect()
    }

    /// Gives up what it has asked.
    pub(crate) async fn calls_off(&self, asked: Asked) {
        drop(asked);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    pub(crate) fn asks(&self, method: &str, params: &Value) -> Asked {
        Asked(self.cx.request_raw(method, Some(&raw(params))))
    }

    /// A session that an agent which runs opens as `id`.
    pub(crate) async fn session(&self, scripted: &mut ScriptedAgent, id: &str) -> Owner {
        let setup = setup(self.version, &json!({ "cwd": "/", "mcpServers": [] }));
        let opening = AdaptedSession::begin(&self.agent, "session/new", &setup);
        let (opened, ()) = tokio::join!(opening, async {
            scripted.expect("session/new").await.answer(json!({ "sessionId": id })).await;
        });
        Owner::of(opened.expect("the session is opened"))
    }

    /// Starts the agent, which the first to come has to do.
    pub(crate) async fn starts(&self, launches: &mut Launches) -> ScriptedAgent {
        let (init, agent) = tokio::join!(self.agent.init(), launches.greeted());
        init.expect("it starts");
        agent
    }

    /// Signs in by this method.
    pub(crate) async fn signs_in(&self, scripted: &mut ScriptedAgent, method: &str) {
        let name = if self.version == Version::V1 { "authenticate" } else { "auth/login" };
        let asked = self.asks(name, &json!({ "methodId": method }));
        scripted.expect(name).await.answer(json!({})).await;
        asked.answer().await;
    }

    /// Sets a provider, to which the agent agrees.
    pub(crate) async fn sets(&self, scripted: &mut ScriptedAgent, provider: &str, url: &str) {
        let asked = self.asks("providers/set", &set(provider, url));
        let heard = scripted.expect("providers/set").await;
        assert_eq!(heard.params, set(provider, url));
        heard.answer(json!({})).await;
        asked.answer().await;
    }
}

impl Asked {
    pub(crate) async fn answer(self) -> Value {
        let answered = timeout(LONG, self.0).await.expect("there is no answer");
        answered.expect("it is no error").to().expect("it is JSON")
    }

    pub(crate) async fn error(self) -> Error {
        match timeout(LONG, self.0).await.expect("there is no answer") {
            Err(CallError::Rpc(error)) => error,
            other => panic!("no error: {other:?}"),
        }
    }
}

/// What sets a provider.
pub(crate) fn set(provider: &str, url: &str) -> Value {
    json!({ "providerId": provider, "apiType": "openai", "baseUrl": url, "headers": { "x-key": "sk-hush" } })
}
