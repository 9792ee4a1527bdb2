//! An agent that is the contract and nothing else: it reports what the test says, and notes what it is told.

use std::sync::{Arc, Mutex};

use nudge_backend::{
    AgentSource, Backend, BackendEvent, BackendFuture, OpenedSession, OptionChange, OptionPlan, Parting,
    PassThrough, Question, QuestionAnswer, QuestionId, SessionSetup, SourceOffers, SteerMethod, TakingUp,
    TurnEnd, UserMessage,
};
use nudge_bridge::{Call, IndexedUpdate};
use nudge_peer::PassedMessage;
use nudge_wire::{Environment, Error, RawJson, Version};
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, mpsc},
    time::timeout,
};

use crate::house::{PATIENCE, RunBy, content};

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
    pub(crate) fn source(&self) -> RunBy {
        RunBy::Source(Arc::clone(&self.source) as _)
    }

    /// The agent of the session that was opened next.
    pub(crate) async fn next(&mut self) -> ScriptedAgent {
        let opened = timeout(PATIENCE, self.opened.recv()).await.expect("no session is opened");
        opened.expect("the source is there")
    }
}

struct ScriptedSource {
    traits: Traits,
    opened: mpsc::UnboundedSender<ScriptedAgent>,
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
    asked: Mutex<Vec<tokio::sync::oneshot::Sender<Result<RawJson, Error>>>>,
    may_end: Notify,
}

/// The session's end of it.
struct ScriptedBackend {
    reports: mpsc::UnboundedReceiver<BackendEvent>,
    told: mpsc::UnboundedSender<String>,
    shared: Arc<Shared>,
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
        self.report(BackendEvent::Question(Question { id, version, method: method.into(), params }));
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
    pub(crate) fn traits(&self) -> std::sync::MutexGuard<'_, Traits> {
        self.shared.traits.lock().expect("nothing panics with it")
    }

    /// The environment that it was last told commands are to see, by its variables.
    pub(crate) fn environment(&self) -> Option<std::collections::BTreeMap<String, String>> {
        let environments = self.shared.environments.lock().expect("nothing panics with it");
        environments
            .last()
            .expect("it was told one")
            .as_ref()
            .map(|environment| environment.variables().clone())
    }

    /// The message that was passed to it last.
    pub(crate) fn passed(&self) -> PassedMessage {
        self.shared.passed.lock().expect("nothing panics with it").pop().expect("something was passed")
    }

    /// Answers the request to set something that it was asked last.
    pub(crate) fn answers_set(&self, answer: Result<Value, Error>) {
        let asked = self.shared.asked.lock().expect("nothing panics with it").pop();
        let _ = asked.expect("it was asked").send(answer.map(|answer| raw(&answer)));
    }

    /// Lets an agent end that does so slowly.
    pub(crate) fn lets_go(&self) {
        self.shared.may_end.notify_one();
    }
}

impl ScriptedBackend {
    fn note(&self, what: impl Into<String>) {
        // The test may have enough of it.
        let _ = self.told.send(what.into());
    }

    fn traits(&self) -> Traits {
        self.shared.traits.lock().expect("nothing panics with it").clone()
    }

    fn notes_environment(&self, environment: Option<Environment>) {
        self.shared.environments.lock().expect("nothing panics with it").push(environment);
    }
}

impl Backend for ScriptedBackend {
    fn next(&mut self) -> BackendFuture<'_, Option<BackendEvent>> {
        Box::pin(self.reports.recv())
    }

    fn try_next(&mut self) -> Option<BackendEvent> {
        self.reports.try_recv().ok()
    }

    fn prompt(&mut self, messages: Vec<UserMessage>, environment: Option<Environment>) {
        self.notes_environment(environment);
        self.note(words("prompt", &messages));
    }

    fn steer(&mut self, messages: Vec<UserMessage>) {
        self.note(words("steer", &messages));
    }

    fn go_on(&mut self, messages: Vec<UserMessage>) {
        self.note(words("go on", &messages));
    }

    fn interrupt(&mut self) {
        self.note("interrupt");
    }

    fn cancel(&mut self) {
        self.note("cancel");
    }

    fn answer(&mut self, question: QuestionId, answer: QuestionAnswer) {
        let told = match answer {
            Ok(answer) => answer.as_str().to_owned(),
            Err(error) => format!("error: {}", error.message),
        };
        self.note(format!("answer {}: {told}", question.0));
    }

    fn serve(&mut self, question: Question, environment: Option<Environment>) {
        self.notes_environment(environment);
        self.note(format!("serve {}: {}", question.id.0, question.method));
    }

    fn plan_option(&mut self, call: &Call) -> Result<OptionPlan, Error> {
        let member = |name: &str| call.params.get(&[name]);
        let named = member("configId").or_else(|| member("modeId"));
        let config_id = named.ok_or_else(|| Error::invalid_params("which option?"))?;
        let config_id: String = config_id.to().map_err(|_| Error::invalid_params("which option?"))?;
        if config_id == "none" {
            return Err(Error::invalid_params("there is no such option"));
        }
        self.note(format!("plan {config_id}"));
        if !self.traits().keeps_options {
            let (answer, answered) = tokio::sync::oneshot::channel();
            self.shared.asked.lock().expect("nothing panics with it").push(answer);
            let gone = |_| Err(Error::internal("the agent is gone"));
            return Ok(OptionPlan::Ask(Box::pin(async move { answered.await.unwrap_or_else(gone) })));
        }
        let value = member("value").unwrap_or_else(|| raw(&json!(true)));
        let config = raw(&json!({ "set": config_id }));
        let answer = raw(&json!({ "configOptions": [] }));
        Ok(OptionPlan::Keep { option: OptionChange { config_id, value }, config, answer })
    }

    fn set_option(&mut self, option: &OptionChange) {
        self.note(format!("set {} to {}", option.config_id, option.value.as_str()));
    }

    fn forget_options(&mut self) {
        self.note("forget options");
    }

    fn option_answered(&mut self, call: &Call, answer: &RawJson) {
        self.note(format!("{} answered: {}", call.method, answer.as_str()));
    }

    fn steer_method(&self) -> SteerMethod {
        self.traits().steer_method
    }

    fn version(&self) -> Version {
        self.traits().version
    }

    fn opened(&self, id: Option<&str>, meta: &RawJson) -> RawJson {
        let mut opened = json!({ "_meta": meta });
        if let Some(id) = id {
            opened["sessionId"] = json!(id);
        }
        raw(&opened)
    }

    fn standing(&self) -> Vec<IndexedUpdate> {
        Vec::new()
    }

    fn takes(&self, content: &str) -> bool {
        content == "text"
    }

    fn wants_title(&self) -> bool {
        self.traits().wants_title
    }

    fn has_own_tools(&self) -> bool {
        self.traits().has_own_tools
    }

    fn end(&mut self, parting: Parting) -> BackendFuture<'_, ()> {
        Box::pin(async move {
            self.note(format!("end: {parting:?}"));
            if self.traits().ends_slowly {
                self.shared.may_end.notified().await;
            }
        })
    }
}

impl PassThrough<PassedMessage> for ScriptedBackend {
    fn pass(&mut self, message: PassedMessage) -> Result<(), PassedMessage> {
        if !self.traits().is_open {
            return Err(message);
        }
        self.note(format!("pass {}", message.message.method()));
        self.shared.passed.lock().expect("nothing panics with it").push(message);
        Ok(())
    }
}

impl AgentSource<PassedMessage> for ScriptedSource {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn reach(&self) -> BackendFuture<'_, Result<(), Error>> {
        Box::pin(async { Ok(()) })
    }

    fn offers(&self) -> BackendFuture<'_, Result<SourceOffers, Error>> {
        Box::pin(async { Ok(SourceOffers::default()) })
    }

    fn request<'a>(
        &'a self,
        _: Version,
        method: &'a str,
        _: &'a RawJson,
    ) -> BackendFuture<'a, Result<RawJson, Error>> {
        Box::pin(async move { Err(Error::method_not_found(method)) })
    }

    fn begin(
        &self,
        _: &str,
        setup: SessionSetup,
    ) -> BackendFuture<'static, Result<OpenedSession<PassedMessage>, Error>> {
        self.take_up(setup).open()
    }

    fn take_up(&self, setup: SessionSetup) -> Box<dyn TakingUp<PassedMessage>> {
        let (traits, opened) = (self.traits.clone(), self.opened.clone());
        Box::new(ScriptedTakingUp { traits, opened, setup, history: Vec::new() })
    }
}

struct ScriptedTakingUp {
    traits: Traits,
    opened: mpsc::UnboundedSender<ScriptedAgent>,
    setup: SessionSetup,
    history: Vec<String>,
}

impl TakingUp<PassedMessage> for ScriptedTakingUp {
    fn wants_history(&self) -> bool {
        true
    }

    fn hear(&mut self, update: &IndexedUpdate) {
        self.history.push(update.kind.name().to_owned());
    }

    fn open(self: Box<Self>) -> BackendFuture<'static, Result<OpenedSession<PassedMessage>, Error>> {
        let Self { traits, opened, setup, history } = *self;
        let ((reports, heard), (tell, told)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let shared = Arc::new(Shared {
            traits: Mutex::new(traits),
            environments: Mutex::default(),
            passed: Mutex::default(),
            asked: Mutex::default(),
            may_end: Notify::new(),
        });
        let backend = ScriptedBackend { reports: heard, told: tell, shared: Arc::clone(&shared) };
        let agent = ScriptedAgent { setup, history, reports, told, shared, questions: 0 };
        Box::pin(async move {
            let refused = |_| Error::internal("the test wants no more sessions");
            opened.send(agent).map_err(refused)?;
            Ok(OpenedSession { backend: Box::new(backend), agent_session_id: None, replayed: Vec::new() })
        })
    }
}

fn words(what: &str, messages: &[UserMessage]) -> String {
    let text = |message: &UserMessage| crate::house::text(&message.content.to().expect("it is content"));
    let said: Vec<String> = messages.iter().map(text).collect();
    if said.is_empty() { what.to_owned() } else { format!("{what}: {}", said.join(" | ")) }
}

pub(crate) fn raw(value: &Value) -> RawJson {
    RawJson::of(value).expect("it is plain data")
}

/// The params of a prompt.
pub(crate) fn prompt_params(session: &str, text: &str) -> Value {
    json!({ "sessionId": session, "prompt": content(text) })
}
