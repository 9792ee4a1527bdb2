//! An agent that is the contract and nothing else: it reports what the test says, and notes what it is told.

mod backend;
mod source;

use std::{collections::BTreeMap, sync::Arc};

use nudge_backend::{AgentQuestion, BackendEvent, QuestionId, SessionSetup, SteerMethod, TurnEnd};
use nudge_bridge::IndexedUpdate;
use nudge_gateway::ConnectionAgent;
use nudge_peer::PassedMessage;
use nudge_wire::{Environment, Error, RawJson, Version, caps::ElicitationModes};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time::timeout,
};

use crate::connected::{PATIENCE, content};
use source::ScriptedSource;

/// Where the agents of a test come from.
pub(crate) struct Agents {
    source: Arc<ScriptedSource>,
    opened: mpsc::UnboundedReceiver<ScriptedAgent>,
}

/// What an agent is like.
#[derive(Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is a trait of its own")]
pub(crate) struct Traits {
    pub(crate) version: Version,
    pub(crate) steer_method: SteerMethod,
    pub(crate) has_own_tools: bool,
    pub(crate) elicitation: ElicitationModes,
    pub(crate) wants_title: bool,
    /// Whether it understands messages that are not of the protocol.
    pub(crate) is_open: bool,
    /// Whether options are agreed to at once, rather than asked for.
    pub(crate) keeps_options: bool,
    /// Whether it is to be let go before it ends.
    pub(crate) ends_slowly: bool,
}

impl Default for Traits {
    fn default() -> Self {
        Self {
            version: Version::V2,
            steer_method: SteerMethod::Interrupt,
            has_own_tools: false,
            elicitation: ElicitationModes::default(),
            wants_title: false,
            is_open: true,
            keeps_options: true,
            ends_slowly: false,
        }
    }
}

impl Agents {
    pub(crate) fn new(traits: Traits) -> Self {
        let (opened, agents) = mpsc::unbounded_channel();
        Self { source: Arc::new(ScriptedSource { traits, opened }), opened: agents }
    }

    /// What runs the sessions of a connection.
    pub(crate) fn source(&self) -> ConnectionAgent {
        ConnectionAgent::Source(Arc::clone(&self.source) as _)
    }

    /// The agent of the session that was opened next.
    pub(crate) async fn next(&mut self) -> ScriptedAgent {
        let opened = timeout(PATIENCE, self.opened.recv()).await.expect("no session is opened");
        opened.expect("the source is there")
    }
}

/// The test's end of an agent. When it is dropped, the agent has ended.
pub(crate) struct ScriptedAgent {
    pub(crate) setup: SessionSetup,
    /// What it was told of the history.
    pub(crate) history: Vec<String>,
    reports: mpsc::UnboundedSender<BackendEvent>,
    told: mpsc::UnboundedReceiver<String>,
    shared: Arc<Shared>,
    questions: u64,
}

/// What both ends know.
struct Shared {
    traits: Mutex<Traits>,
    environments: Mutex<Vec<Option<Environment>>>,
    passed: Mutex<Vec<PassedMessage>>,
    asked: Mutex<Vec<oneshot::Sender<Result<RawJson, Error>>>>,
    may_end: Notify,
}

impl ScriptedAgent {
    /// The next thing it is told.
    pub(crate) async fn told(&mut self) -> String {
        let told = timeout(PATIENCE, self.told.recv()).await.expect("the agent is told nothing");
        told.expect("the session has let go of the agent")
    }

    /// It is told these next, in this order.
    pub(crate) async fn expect(&mut self, expected: &[&str]) {
        for told in expected {
            assert_eq!(self.told().await, *told, "expected {expected:?}");
        }
    }

    /// It was told nothing more so far.
    pub(crate) fn expect_silence(&mut self) {
        if let Ok(told) = self.told.try_recv() {
            panic!("the agent is told {told}");
        }
    }

    pub(crate) fn report(&self, event: BackendEvent) {
        let _ = self.reports.send(event);
    }

    /// Reports an update, in its version.
    pub(crate) fn update(&self, update: &Value) {
        self.report(BackendEvent::Update(self.indexed(update)));
    }

    fn indexed(&self, update: &Value) -> IndexedUpdate {
        let version = self.traits().version;
        let mut indexed = IndexedUpdate::read(&raw(update)).expect("it is an update");
        indexed.version = version;
        indexed
    }

    /// Says something, in a message of this name.
    pub(crate) fn says(&self, message: &str, words: &str) {
        self.update(&json!({ "sessionUpdate": "agent_message_chunk", "messageId": message,
            "content": { "type": "text", "text": words } }));
    }

    /// Comes to the end of a turn and ends it, if nothing goes in there.
    pub(crate) async fn ends_turn(&mut self) {
        self.report(BackendEvent::BreakPoint);
        self.expect(&["go on"]).await;
        self.is_done("end_turn");
    }

    /// The turn is over.
    pub(crate) fn is_done(&self, reason: &str) {
        self.report(BackendEvent::TurnEnded(TurnEnd::stopped(reason)));
    }

    /// Asks the client something; gives its number.
    pub(crate) fn asks(&mut self, method: &str, params: &Value) -> QuestionId {
        self.questions += 1;
        let id = QuestionId(self.questions);
        let (version, params) = (self.traits().version, raw(params));
        self.report(BackendEvent::Question(AgentQuestion { id, version, method: method.into(), params }));
        id
    }

    /// Asks for permission to run a tool call.
    pub(crate) fn asks_permission(&mut self, call: &str) -> QuestionId {
        let option = |id: &str, kind: &str| json!({ "optionId": id, "name": id, "kind": kind });
        let options = [option("yes", "allow_once"), option("no", "reject_once")];
        let mut params = json!({ "toolCall": { "toolCallId": call, "title": call }, "options": options });
        if self.traits().version == Version::V2 {
            params = json!({ "title": call, "options": options,
                "subject": { "type": "tool_call", "toolCall": { "toolCallId": call, "title": call } } });
        }
        self.asks("session/request_permission", &params)
    }

    /// What it is like from now on.
    pub(crate) fn traits(&self) -> MutexGuard<'_, Traits> {
        self.shared.traits.lock()
    }

    /// The environment that it was last told commands are to see, by its variables.
    pub(crate) fn environment(&self) -> Option<BTreeMap<String, String>> {
        let environments = self.shared.environments.lock();
        environments
            .last()
            .expect("it was told one")
            .as_ref()
            .map(|environment| environment.variables().clone())
    }

    /// The message that was passed to it last.
    pub(crate) fn passed(&self) -> PassedMessage {
        self.shared.passed.lock().pop().expect("something was passed")
    }

    /// Answers the request to set something that it was asked last.
    pub(crate) fn answers_set(&self, answer: Result<Value, Error>) {
        let asked = self.shared.asked.lock().pop();
        let _ = asked.expect("it was asked").send(answer.map(|answer| raw(&answer)));
    }

    /// Lets an agent end that does so slowly.
    pub(crate) fn lets_go(&self) {
        self.shared.may_end.notify_one();
    }
}

pub(crate) fn raw(value: &Value) -> RawJson {
    RawJson::of(value).expect("it is plain data")
}

/// The params of a prompt.
pub(crate) fn prompt_params(session: &str, text: &str) -> Value {
    json!({ "sessionId": session, "prompt": content(text) })
}
