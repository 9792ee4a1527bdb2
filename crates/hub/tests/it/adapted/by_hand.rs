//! An agent that says what a test has it say, message by message, shared by the connections that want it.

use std::{io, sync::Arc, time::Duration};

use nudge_adapt::{AgentSettings, DownstreamAgent, LaunchAgent};
use nudge_gateway::{AgentFinder, ConnectionAgent};
use nudge_peer::{Cx, Peer, RawRequest, Transport, UnhandledMessage, pair};
use nudge_wire::RawJson;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinHandle, time::timeout};

use super::{Client, connected};
use crate::connected::PATIENCE;

/// Hands the agent's end of each connection to the test.
struct ToTest(mpsc::UnboundedSender<Transport>);

impl LaunchAgent for ToTest {
    fn launch(&self) -> io::Result<Transport> {
        let (ours, theirs) = pair();
        let over = |_| io::Error::other("the test is over");
        self.0.send(theirs).map(|()| ours).map_err(over)
    }
}

/// A place where one agent runs that all connections share.
pub(super) struct SharedAgent {
    pub(super) place: connected::Place,
    finder: AgentFinder,
    started: mpsc::UnboundedReceiver<Transport>,
    init: Value,
}

impl SharedAgent {
    /// An agent that answers `initialize` with this.
    pub(super) fn new(init: Value) -> Self {
        let (launch, started) = mpsc::unbounded_channel();
        let launch = Arc::new(ToTest(launch));
        let shared: Mutex<Option<Arc<DownstreamAgent>>> = Mutex::default();
        let finder: AgentFinder = Arc::new(move |client| {
            let mut shared = shared.lock();
            let settings = AgentSettings {
                name: "by-hand".to_owned(),
                isolate: false,
                patience: Duration::from_secs(10),
                start_timeout: Duration::from_mins(1),
            };
            let make = || DownstreamAgent::reached_by(Arc::clone(&launch) as _, settings, client.clone());
            Arc::clone(shared.get_or_insert_with(make))
        });
        Self { place: connected::Place::new(), finder, started, init }
    }

    /// The first client, and the agent that is started for it.
    pub(super) async fn first(&mut self, version: u64, capabilities: &Value) -> (Client, HandAgent) {
        let connection = self.place.connect(Some(ConnectionAgent::Found(Arc::clone(&self.finder))), None);
        let connecting = Client::new(connection, version, capabilities);
        // One that speaks version 2 alone is greeted again, in words that it knows.
        let lives = if version == 1 && self.init["protocolVersion"] == 2 { 2 } else { 1 };
        let (client, mut agents) = tokio::join!(connecting, async {
            let mut agents = Vec::new();
            for _ in 0..lives {
                agents.push(self.greeted().await);
            }
            agents
        });
        (client, agents.pop().expect("it was started"))
    }

    async fn greeted(&mut self) -> HandAgent {
        let transport = timeout(PATIENCE, self.started.recv()).await.expect("no agent is started");
        let mut agent = HandAgent::new(transport.expect("the finder is there"));
        agent.expect("initialize").await.answer(self.init.clone()).await;
        agent
    }

    /// A further client.
    pub(super) async fn another(&self, version: u64, capabilities: &Value) -> Client {
        let connection = self.place.connect(Some(ConnectionAgent::Found(Arc::clone(&self.finder))), None);
        Client::new(connection, version, capabilities).await
    }

    /// Has the client begin a session that the agent names so.
    pub(super) async fn begin(&self, client: &mut Client, agent: &mut HandAgent, session: &str) {
        let id = client.send("session/new", &json!({ "cwd": self.place.cwd(), "mcpServers": [] }));
        agent.expect("session/new").await.answer(json!({ "sessionId": session })).await;
        client.result(id).await;
        session.clone_into(&mut client.session);
    }
}

/// What an agent of this version says of itself, with these capabilities.
pub(super) fn introduced(version: u64, capabilities: &Value) -> Value {
    if version == 1 {
        return json!({ "protocolVersion": 1, "agentCapabilities": capabilities });
    }
    let mut capabilities = capabilities.clone();
    capabilities["session"] = json!({});
    json!({ "protocolVersion": 2, "info": { "name": "by-hand", "version": "1" }, "capabilities": capabilities })
}

/// The agent's end.
pub(super) struct HandAgent {
    pub(super) cx: Cx,
    heard: mpsc::UnboundedReceiver<UnhandledMessage>,
    serving: JoinHandle<()>,
}

/// What the agent was told or asked.
pub(super) struct Heard {
    pub(super) params: Value,
    request: Option<RawRequest>,
}

impl HandAgent {
    fn new(transport: Transport) -> Self {
        let (hear, heard) = mpsc::unbounded_channel();
        let peer = Peer::agent().on_unknown(move |message, _| {
            let _ = hear.send(message);
            async { Ok(()) }
        });
        let connection = peer.connect(transport).expect("memory can be connected");
        let cx = connection.cx();
        let serving = tokio::spawn(async { drop(connection.serve().await) });
        Self { cx, heard, serving }
    }

    /// The next thing it is told, which has to be this.
    pub(super) async fn expect(&mut self, method: &str) -> Heard {
        let message = timeout(PATIENCE, self.heard.recv()).await;
        let message = message.unwrap_or_else(|_| panic!("the agent is not told {method}"));
        let message = message.unwrap_or_else(|| panic!("the agent is gone before {method}"));
        assert_eq!(&**message.method(), method, "{:?}", message.params());
        let params = message.params().map_or(Value::Null, |params| params.to().expect("it is JSON"));
        match message {
            UnhandledMessage::Request(request) => Heard { params, request: Some(request) },
            UnhandledMessage::Notification(_) => Heard { params, request: None },
        }
    }

    /// Asks its client, and gives the answer or the code of the error.
    pub(super) fn ask(&self, method: &str, params: &Value) -> JoinHandle<Result<Value, i64>> {
        let asked = self.cx.request_raw(method, Some(&raw(params)));
        tokio::spawn(async move {
            match timeout(PATIENCE, asked).await.expect("the agent is not answered") {
                Ok(result) => Ok(result.to().expect("it is JSON")),
                Err(nudge_peer::CallError::Rpc(error)) => Err(error.code.0),
                Err(other) => panic!("{other}"),
            }
        })
    }

    /// Tells its client.
    pub(super) async fn tell(&self, method: &str, params: &Value) {
        self.cx.notify_raw(method, Some(&raw(params))).await.expect("it is connected");
    }
}

impl Drop for HandAgent {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Heard {
    /// By which id the agent knows the request.
    pub(super) fn id(&self) -> Value {
        let id = self.request.as_ref().expect("it is a request").id().to_json();
        id.to().expect("it is JSON")
    }

    pub(super) async fn answer(self, result: Value) {
        self.request.expect("it is a request").respond(Ok(result)).await.expect("it is connected");
    }
}

fn raw(value: &Value) -> RawJson {
    RawJson::of(value).expect("plain data is JSON")
}
