//! An agent that does what a test says, and the way to reach it.

use std::{io, sync::Arc, time::Duration};

use nudge_adapt::{AgentSettings, ClientAgent, DownstreamAgent, LaunchAgent};
use nudge_peer::{
    CancellationToken, Connection, Cx, Peer, PendingResponse, RawRequest, Transport, UnhandledMessage, pair,
};
use nudge_wire::{RawJson, Version, caps::ClientInit};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, timeout},
};

/// How long a test waits for what is to happen; in virtual time, so it costs nothing.
pub(crate) const LONG: Duration = Duration::from_hours(1);
/// How long an agent of these tests may take to stop.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Hands the other end of every connection to the test.
struct InMemory(mpsc::UnboundedSender<Transport>);

impl LaunchAgent for InMemory {
    fn launch(&self) -> io::Result<Transport> {
        let (ours, theirs) = pair();
        let refused = |_| io::Error::other("the test wants no more agents");
        self.0.send(theirs).map(|()| ours).map_err(refused)
    }
}

/// The agent as Nudge knows it, and its launches.
pub(crate) struct Launches {
    pub(crate) agent: Arc<ClientAgent>,
    /// It, as a pool hands it out.
    pub(crate) downstream: Arc<DownstreamAgent>,
    started: mpsc::UnboundedReceiver<Transport>,
    init: Value,
}

impl Launches {
    /// An agent that answers `initialize` with this, for a client of the same version.
    pub(crate) fn of(init: Value) -> Self {
        Self::with(init, |settings| settings)
    }

    pub(crate) fn with(init: Value, change: impl FnOnce(AgentSettings) -> AgentSettings) -> Self {
        let (launch, started) = mpsc::unbounded_channel();
        let settings = change(AgentSettings {
            name: "scripted".to_owned(),
            isolate: false,
            patience: PATIENCE,
            start_timeout: Duration::from_mins(1),
        });
        let version = version(&init);
        let params = raw(&json!({ "protocolVersion": version.number() }));
        let downstream = DownstreamAgent::reached_by(
            Arc::new(InMemory(launch)),
            settings,
            ClientInit::new(version, params),
        );
        Self { agent: ClientAgent::of(Arc::clone(&downstream)), downstream, started, init }
    }

    pub(crate) fn version(&self) -> Version {
        version(&self.init)
    }

    /// The agent that is started next, greeted.
    pub(crate) async fn greeted(&mut self) -> ScriptedAgent {
        let mut agent = self.started().await;
        agent.expect("initialize").await.answer(self.init.clone()).await;
        agent
    }

    /// The agent that is started next, at the very beginning.
    pub(crate) async fn started(&mut self) -> ScriptedAgent {
        let started = timeout(LONG, self.started.recv()).await.expect("no agent is started");
        ScriptedAgent::new(started.expect("the agent outlives its launches"))
    }

    /// No agent can be started any more.
    pub(crate) fn end(&mut self) {
        self.started.close();
    }

    /// Whether all agents that were started have been taken.
    pub(crate) fn is_taken(&mut self) -> bool {
        self.started.is_empty()
    }
}

/// One life of the agent. Dropping it ends it.
pub(crate) struct ScriptedAgent {
    cx: Cx,
    heard: mpsc::UnboundedReceiver<UnhandledMessage>,
    serving: JoinHandle<()>,
    unanswered: Unanswered,
    pub(crate) session: String,
}

/// What the agent was told or asked. A request that the test drops stays without an answer while the agent lives.
pub(crate) struct Heard {
    pub(crate) params: Value,
    request: Option<RawRequest>,
    unanswered: Unanswered,
}

type Unanswered = Arc<Mutex<Vec<RawRequest>>>;

impl ScriptedAgent {
    fn new(transport: Transport) -> Self {
        let (hear, heard) = mpsc::unbounded_channel();
        let peer = Peer::agent().on_unknown(move |message, _| {
            let _ = hear.send(message);
            async { Ok(()) }
        });
        let connection: Connection = peer.connect(transport).expect("memory can be connected");
        let cx = connection.cx();
        let serving = tokio::spawn(async { drop(connection.serve().await) });
        Self { cx, heard, serving, unanswered: Arc::default(), session: "s1".to_owned() }
    }

    /// The next thing it is told, which has to be this.
    pub(crate) async fn expect(&mut self, method: &str) -> Heard {
        let message = timeout(LONG, self.heard.recv()).await;
        let message = message.unwrap_or_else(|_| panic!("the agent is not told {method}"));
        let message = message.unwrap_or_else(|| panic!("the agent is gone before {method}"));
        assert_eq!(&**message.method(), method, "{:?}", message.params());
        let params = message.params().map_or(Value::Null, |params| params.to().expect("it is JSON"));
        let request = match message {
            UnhandledMessage::Request(request) => Some(request),
            UnhandledMessage::Notification(_) => None,
        };
        Heard { params, request, unanswered: Arc::clone(&self.unanswered) }
    }

    /// A prompt with these words.
    pub(crate) async fn expect_prompt(&mut self, words: &str) -> Heard {
        let prompt = self.expect("session/prompt").await;
        assert_eq!(prompt.params["sessionId"], self.session);
        assert_eq!(prompt.words(), words);
        prompt
    }

    /// Nothing is said to it for a while.
    pub(crate) async fn expect_silence(&mut self, at_least: Duration) {
        if let Ok(Some(message)) = timeout(at_least, self.heard.recv()).await {
            panic!("the agent is told {}", message.method());
        }
    }

    /// Tells of its session.
    pub(crate) async fn update(&self, update: Value) {
        let params = raw(&json!({ "sessionId": self.session, "update": update }));
        self.cx.notify_raw("session/update", Some(&params)).await.expect("it is connected");
    }

    /// Notifies its client of something that is no update.
    pub(crate) async fn tells(&self, method: &str) {
        let params = raw(&json!({ "sessionId": self.session }));
        self.cx.notify_raw(method, Some(&params)).await.expect("it is connected");
    }

    /// Notifies its client of something that is about no session.
    pub(crate) async fn tells_all(&self, method: &str) {
        self.cx.notify_raw(method, Some(&raw(&json!({})))).await.expect("it is connected");
    }

    /// Says something.
    pub(crate) async fn says(&self, words: &str) {
        self.update(chunk("agent_message_chunk", words)).await;
    }

    /// A tool call begins or ends.
    pub(crate) async fn tool(&self, id: &str, status: &str) {
        let kind = if status == "pending" { "tool_call" } else { "tool_call_update" };
        self.update(json!({ "sessionUpdate": kind, "toolCallId": id, "title": id, "status": status })).await;
    }

    /// Tells its state, as version 2 does.
    pub(crate) async fn is_running(&self) {
        self.update(json!({ "sessionUpdate": "state_update", "state": "running" })).await;
    }

    pub(crate) async fn is_idle(&self, reason: &str) {
        self.update(json!({ "sessionUpdate": "state_update", "state": "idle", "stopReason": reason })).await;
    }

    /// Asks its client.
    pub(crate) fn asks(&self, method: &str, params: Value) -> PendingResponse<RawJson> {
        let mut params = params;
        params["sessionId"] = json!(self.session);
        self.cx.request_raw(method, Some(&raw(&params)))
    }

    /// Asks its client for a form about the request that it knows by this id.
    pub(crate) fn asks_about(&self, request: &Value) -> PendingResponse<RawJson> {
        let params = json!({ "requestId": request, "mode": "form", "message": "m" });
        self.cx.request_raw("elicitation/create", Some(&raw(&params)))
    }

    /// Dies, and nobody hears of it before it is dead.
    pub(crate) async fn dies(self) {
        self.serving.abort();
        let _ = self.serving.await;
    }

    /// Waits until the other side has ended it.
    pub(crate) async fn ended(mut self) -> Instant {
        let end = async { while self.heard.recv().await.is_some() {} };
        timeout(LONG, end).await.expect("the agent is not ended");
        Instant::now()
    }
}

impl Heard {
    /// What the prompt or steer says.
    pub(crate) fn words(&self) -> String {
        let blocks = ["prompt", "content"].into_iter().find_map(|name| self.params[name].as_array());
        let texts = blocks.into_iter().flatten().filter_map(|block| block["text"].as_str());
        texts.collect::<Vec<_>>().join(" ")
    }

    /// By which id the agent knows it.
    pub(crate) fn id(&self) -> Value {
        let id = self.request.as_ref().expect("it is a request").id().to_json();
        id.to().expect("it is JSON")
    }

    /// Told when the answer is not wanted any more, which is then given as the test likes.
    pub(crate) fn unwanted(&self) -> CancellationToken {
        self.request.as_ref().expect("it is a request").cancellation()
    }

    pub(crate) async fn answer(mut self, result: Value) {
        let request = self.request.take().expect("it is a request");
        request.respond(Ok(result)).await.expect("it is connected");
    }

    pub(crate) async fn refuse(self, why: &str) {
        self.fail(nudge_wire::Error::internal(why)).await;
    }

    /// Refuses it with a reason for programs.
    pub(crate) async fn refuse_for(self, reason: &str) {
        self.fail(nudge_wire::Error::internal("it cannot be done").reason(reason)).await;
    }

    pub(crate) async fn fail(mut self, error: nudge_wire::Error) {
        let request = self.request.take().expect("it is a request");
        request.respond::<()>(Err(error)).await.expect("it is connected");
    }

    /// Ends the turn of a version 1 agent.
    pub(crate) async fn stop(self, reason: &str) {
        self.answer(json!({ "stopReason": reason })).await;
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        self.unanswered.lock().extend(self.request.take());
    }
}

/// What a version 1 agent says of itself, with these capabilities.
pub(crate) fn v1(capabilities: &Value) -> Value {
    json!({ "protocolVersion": 1, "agentCapabilities": capabilities })
}

/// What a version 2 agent says of itself, with these capabilities of its sessions.
pub(crate) fn v2(session: &Value) -> Value {
    json!({ "protocolVersion": 2, "info": { "name": "scripted", "version": "1" },
        "capabilities": { "session": session } })
}

pub(crate) fn chunk(kind: &str, words: &str) -> Value {
    json!({ "sessionUpdate": kind, "content": { "type": "text", "text": words } })
}

pub(crate) fn raw(value: &Value) -> RawJson {
    RawJson::of(value).expect("it is plain data")
}

fn version(init: &Value) -> Version {
    if init["protocolVersion"] == 2 { Version::V2 } else { Version::V1 }
}
