//! An owner of an agent that answers what it asks and writes down what it does.

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use nudge_agent::{AgentSetup, BuiltInAgent, Conversation};
use nudge_backend::{
    AgentQuestion, Backend, BackendEvent as Event, QuestionAnswer, QuestionId, TurnEnd, UserMessage,
    is_unanswerable, nobody_answers,
};
use nudge_model::{
    AccessOrigin, AnswerPieces, ChatMessage, ChoosingModel, ChosenModel, FixedModel, LanguageModel,
    ModelChoice, ModelRequest, ModelSource, script::ScriptedModel,
};
use nudge_testkit::PATIENCE;
use nudge_wire::{ClientContext, RawJson, acp::v2};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

/// A model that plays a rehearsal and keeps what it was asked.
pub(crate) struct Recorder {
    script: ScriptedModel,
    asked: Mutex<Vec<Vec<ChatMessage>>>,
}

impl LanguageModel for Recorder {
    fn name(&self) -> &'static str {
        "recorder"
    }
    fn stream(&self, request: ModelRequest) -> AnswerPieces {
        self.asked.lock().push(request.messages.clone());
        self.script.stream(request)
    }
}

/// A model as if it were found at a provider.
struct Provided(FixedModel);

impl ModelSource for Provided {
    fn choices(&self, client: &ClientContext) -> Vec<ModelChoice> {
        self.0.choices(client)
    }
    fn choose<'a>(&'a self, client: &'a ClientContext, id: Option<&'a str>) -> ChoosingModel<'a> {
        let chosen = self.0.choose(client, id);
        Box::pin(async { Ok(ChosenModel { origin: Some(AccessOrigin::Stored), ..chosen.await? }) })
    }
    fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes()
    }
}

/// How an editor answers; `None` leaves the question open.
type Answerer = Box<dyn FnMut(&str, &Value) -> Option<QuestionAnswer> + Send>;

pub(crate) struct Driver {
    pub(crate) agent: BuiltInAgent,
    pub(crate) dir: TempDir,
    pub(crate) model: Arc<Recorder>,
    /// The option that the user takes when asked.
    pub(crate) permits: &'static str,
    /// What the break-points to come are answered with.
    pub(crate) steers: VecDeque<Vec<&'static str>>,
    /// How the editor answers; offers nothing at first.
    pub(crate) client: Answerer,
    /// What [`Event::Config`] last said.
    pub(crate) config: Option<RawJson>,
    /// The updates as they came.
    pub(crate) updates: Vec<Value>,
    pub(crate) log: Vec<String>,
}

impl Driver {
    pub(crate) fn new(rehearsal: &str) -> Self {
        Self::with(rehearsal, TempDir::new().unwrap(), None, Conversation::new())
    }

    /// The same with a model that counts as one of a provider.
    pub(crate) fn of_provider(rehearsal: &str) -> Self {
        let (dir, history) = (TempDir::new().unwrap(), Conversation::new());
        Self::of_source(rehearsal, dir, None, history, |model| Arc::new(Provided(FixedModel::new(model))))
    }

    pub(crate) fn with(
        rehearsal: &str,
        dir: TempDir,
        config: Option<RawJson>,
        history: Conversation,
    ) -> Self {
        Self::of_source(rehearsal, dir, config, history, |model| Arc::new(FixedModel::new(model)))
    }

    fn of_source(
        rehearsal: &str,
        dir: TempDir,
        config: Option<RawJson>,
        history: Conversation,
        source: impl FnOnce(Arc<Recorder>) -> Arc<dyn ModelSource>,
    ) -> Self {
        let script = ScriptedModel::parse(rehearsal).unwrap();
        let model = Arc::new(Recorder { script, asked: Mutex::default() });
        let setup = AgentSetup {
            session_id: "s1".to_owned(),
            cwd: dir.path().to_owned(),
            additional_directories: Vec::new(),
            config,
            client: nudge_wire::ClientContext::default(),
            history,
        };
        let agent = BuiltInAgent::start(source(model.clone()), setup);
        Self {
            agent,
            dir,
            model,
            permits: "allow_once",
            steers: VecDeque::new(),
            client: Box::new(|method, _| Some(Err(nobody_answers(method)))),
            config: None,
            updates: Vec::new(),
            log: Vec::new(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.agent.prompt(vec![message(text)], nudge_wire::ClientContext::default());
    }

    pub(crate) fn set(&mut self, option: &str, value: &str) {
        self.agent.set(option, &RawJson::of(value).unwrap()).unwrap();
    }

    /// What the model was told in its last question.
    pub(crate) fn asked(&self) -> Vec<ChatMessage> {
        self.model.asked.lock().last().unwrap().clone()
    }

    /// The next event, which must come soon; `None` when there will be no more.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        tokio::time::timeout(PATIENCE * 1000, self.agent.next()).await.expect("an event comes")
    }

    /// Takes events, and answers them, until one is `until`. That one is given unanswered.
    pub(crate) async fn until(&mut self, until: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.next().await.expect("the agent goes on");
            if until(&event) {
                return event;
            }
            self.take(event);
        }
    }

    /// Prompts and gives what happened until the turn was over.
    pub(crate) async fn turn(&mut self, text: &str) -> Vec<String> {
        self.prompt(text);
        self.idle().await;
        std::mem::take(&mut self.log)
    }

    /// Takes events until the turn is over; gives the stop reason.
    pub(crate) async fn idle(&mut self) -> String {
        let event = self.until(|event| matches!(event, Event::TurnEnded(_))).await;
        let Event::TurnEnded(end) = &event else { unreachable!("it was just matched") };
        let stop_reason = stop_reason(end);
        self.take(event);
        stop_reason
    }

    /// Answers an event and writes it down.
    pub(crate) fn take(&mut self, event: Event) {
        let line = match event {
            Event::Update(update) => return self.update(&update.raw),
            Event::BreakPoint => {
                let steers = self.steers.pop_front().unwrap_or_default();
                let line = format!("break-point {steers:?}");
                self.agent.go_on(steers.into_iter().map(message).collect());
                line
            }
            Event::Question(question) if question.is_permission() => {
                let mut request: Value = question.params.to().unwrap();
                request["sessionId"] = json!("s1");
                serde_json::from_value::<v2::RequestPermissionRequest>(request.clone()).unwrap();
                self.agent.answer(question.id, Ok(selected(self.permits)));
                let options = request["options"].as_array().unwrap();
                let names: Vec<&str> =
                    options.iter().map(|option| option["name"].as_str().unwrap()).collect();
                format!("permission {} {}", request["description"].as_str().unwrap(), names.join("|"))
            }
            Event::Question(AgentQuestion { id, method, params, .. }) => {
                let params: Value = params.to().unwrap();
                assert_eq!(params["sessionId"], "s1");
                let Some(given) = (self.client)(&method, &params) else { return };
                let is_offered = !given.as_ref().is_err_and(is_unanswerable);
                self.agent.answer(id, given);
                if !is_offered {
                    return;
                }
                format!("client {method}")
            }
            Event::QuestionWithdrawn(_) => return,
            Event::Config(config) => {
                self.config = Some(config);
                "config".to_owned()
            }
            Event::ToolStarted(_) => "tool started".to_owned(),
            Event::ToolFinished(_) => "tool finished".to_owned(),
            Event::TurnEnded(TurnEnd::Failed(error)) => format!("idle _error: {}", error.message),
            Event::TurnEnded(end) => format!("idle {}", stop_reason(&end)),
            other => format!("{other:?}"),
        };
        self.log.push(line);
    }

    fn update(&mut self, update: &RawJson) {
        let update: Value = update.to().unwrap();
        is_official(&update);
        let line = tell(&update, self.dir.path());
        self.updates.push(update);
        // Chunks of one kind are written down as one.
        match (self.log.last_mut(), line.split_once(": ")) {
            (Some(last), Some((kind @ ("text" | "thought" | "output"), more)))
                if last.starts_with(&format!("{kind}: ")) =>
            {
                last.push_str(more);
            }
            _ => self.log.push(line),
        }
    }

    /// What tool calls were shown to have brought, with their status.
    pub(crate) fn outcomes(&self) -> Vec<(String, String)> {
        let ended =
            |update: &&Value| matches!(update["status"].as_str(), Some("completed" | "failed" | "cancelled"));
        let text = |update: &Value| {
            let raw = update["rawOutput"]["output"].as_str();
            raw.or(update["content"][0]["content"]["text"].as_str()).unwrap_or_default().to_owned()
        };
        let ended = self.updates.iter().filter(ended);
        ended.map(|update| (update["status"].as_str().unwrap().to_owned(), text(update))).collect()
    }

    /// The last outcome.
    pub(crate) fn outcome(&self) -> (String, String) {
        self.outcomes().pop().expect("a tool call has ended")
    }
}

pub(crate) fn message(text: &str) -> UserMessage {
    let content = RawJson::of(&json!([{ "type": "text", "text": text }])).unwrap();
    UserMessage { id: format!("user_{text}").into(), content, params: None }
}

pub(crate) fn is_permission(event: &Event) -> bool {
    matches!(event, Event::Question(question) if question.is_permission())
}

/// Whether the editor is asked for a file or a terminal.
pub(crate) fn is_client_request(event: &Event) -> bool {
    matches!(event, Event::Question(_)) && !is_permission(event)
}

/// The id of a question.
pub(crate) fn question(event: &Event) -> QuestionId {
    match event {
        Event::Question(question) => question.id,
        other => panic!("a question, not {other:?}"),
    }
}

fn stop_reason(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Answered(result) => result.get(&["stopReason"]).unwrap().to().unwrap(),
        TurnEnd::State(_) | TurnEnd::Failed(_) => "_error".to_owned(),
    }
}

pub(crate) fn selected(option: &str) -> RawJson {
    RawJson::of(&json!({ "outcome": { "outcome": "selected", "optionId": option } })).unwrap()
}

/// The official types know every field of it, and it is of a kind that the agent reports.
fn is_official(update: &Value) {
    use v2::SessionUpdate as U;
    let typed: v2::SessionUpdate = serde_json::from_value(update.clone()).unwrap();
    assert!(
        !matches!(typed, U::Other(_) | U::UserMessage(_) | U::UserMessageChunk(_) | U::StateUpdate(_)),
        "{update}"
    );
    let again = serde_json::to_value(&typed).unwrap();
    for (key, value) in update.as_object().unwrap() {
        assert!(value.is_null() || again.get(key).is_some(), "{key} is unknown in {update}");
    }
}

fn tell(update: &Value, dir: &Path) -> String {
    let text = |value: &Value| value["text"].as_str().unwrap_or_default().to_owned();
    let kind = update["sessionUpdate"].as_str().unwrap();
    let line = match kind {
        "agent_message_chunk" => format!("text: {}", text(&update["content"])),
        "agent_thought_chunk" => format!("thought: {}", text(&update["content"])),
        "tool_call_update" => {
            let title = update["title"].as_str().map(|title| format!(" {title}")).unwrap_or_default();
            let status = update["status"].as_str().map(|status| format!(" {status}")).unwrap_or_default();
            let items = update["content"].as_array();
            let items = items.map(|items| items.iter().map(item).collect::<String>()).unwrap_or_default();
            format!("call{title}{status}{items}")
        }
        "terminal_output_chunk" => {
            let bytes = BASE64_STANDARD.decode(update["data"].as_str().unwrap()).unwrap();
            format!("output: {}", String::from_utf8_lossy(&bytes))
        }
        "terminal_update" if update.get("exitStatus").is_some() => {
            format!("terminal {}", update["exitStatus"])
        }
        "terminal_update" => format!("terminal {}", update["command"]),
        "plan_update" => {
            let entries = update["plan"]["entries"].as_array().unwrap();
            format!(
                "plan {}",
                entries.iter().map(|entry| entry["content"].as_str().unwrap()).collect::<Vec<_>>().join(", ")
            )
        }
        "usage_update" => format!("usage {}/{}", update["used"], update["size"]),
        other => other.to_owned(),
    };
    line.replace(&*dir.to_string_lossy(), "DIR")
}

fn item(item: &Value) -> String {
    match item["type"].as_str().unwrap() {
        "content" => format!(" “{}”", item["content"]["text"].as_str().unwrap()),
        "diff" => format!(" diff {}", item["changes"][0]["operation"].as_str().unwrap()),
        other => format!(" {other}"),
    }
}
