//! Whoever owns a session: says what the user says, and hears what is reported, in words.

use std::{sync::Arc, time::Duration};

use nudge_adapt::{AdaptedSession, AgentSessionOpened};
use nudge_backend::{AgentQuestion, Backend, BackendEvent, SessionRecap, SessionSetup, TurnEnd, UserMessage};
use nudge_wire::{ClientContext, Version};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::scripted::{LONG, Launches, ScriptedAgent, raw};

/// A session and its owner.
pub(crate) struct Owner {
    pub(crate) session: AdaptedSession,
    /// The questions that were asked.
    pub(crate) questions: Vec<AgentQuestion>,
}

/// A new session of an agent that was started for it.
pub(crate) async fn begin(launches: &mut Launches) -> (Owner, ScriptedAgent) {
    let (agent, version) = (Arc::clone(&launches.agent), launches.version());
    let setup = setup(version, &json!({ "cwd": "/", "mcpServers": [] }));
    let opening = AdaptedSession::begin(&agent, "session/new", &setup);
    let (opened, agent) = tokio::join!(opening, async {
        let mut agent = launches.greeted().await;
        agent.expect("session/new").await.answer(json!({ "sessionId": agent.session })).await;
        agent
    });
    (Owner::of(opened.expect("the session is opened")), agent)
}

/// As [`begin`], for an agent that says this of itself.
pub(crate) async fn session(init: Value) -> (Launches, Owner, ScriptedAgent) {
    let mut launches = Launches::of(init);
    let (owner, agent) = begin(&mut launches).await;
    (launches, owner, agent)
}

/// What a session is opened with, by a request with these params.
pub(crate) fn setup(version: Version, params: &Value) -> SessionSetup {
    SessionSetup {
        session_id: "mine".into(),
        cwd: "/".to_owned(),
        additional_directories: Vec::new(),
        config: None,
        agent_session_id: None,
        params: raw(params),
        version,
        origin: None,
        client: ClientContext::default(),
        recap: conversation(),
    }
}

/// What is told of the session to an agent that does not remember it.
pub(crate) fn conversation() -> SessionRecap {
    Arc::new(|| Box::pin(async { Some("User: hello\nYou: hi\n".to_owned()) }))
}

impl Owner {
    pub(crate) fn of(opened: AgentSessionOpened) -> Self {
        Self { session: opened.session, questions: Vec::new() }
    }

    pub(crate) fn prompt(&mut self, words: &str) {
        self.session.prompt(messages(words), ClientContext::default());
    }

    /// A client of this connection begins a turn.
    pub(crate) fn prompt_from(&mut self, connection: u64, words: &str) {
        let connection = Some(nudge_wire::ConnectionId(connection));
        let client = nudge_wire::ClientContext { connection, ..nudge_wire::ClientContext::default() };
        self.session.prompt(messages(words), client);
    }

    pub(crate) fn steer(&mut self, words: &str) {
        self.session.steer(messages(words));
    }

    /// What goes in at a break-point; nothing if there are no words.
    pub(crate) fn go_on(&mut self, words: &str) {
        self.session.go_on(messages(words));
    }

    /// What is reported next.
    pub(crate) async fn hears(&mut self) -> String {
        let event = timeout(LONG, self.session.next()).await.expect("nothing is reported");
        self.note(event.expect("a session does not end by itself"))
    }

    /// These are reported next, in this order.
    pub(crate) async fn expect(&mut self, reports: &[&str]) {
        for report in reports {
            assert_eq!(self.hears().await, *report, "expected {reports:?}");
        }
    }

    /// Nothing is reported for a while.
    pub(crate) async fn expect_silence(&mut self, at_least: Duration) {
        if let Ok(event) = timeout(at_least, self.session.next()).await {
            panic!("reported: {event:?}");
        }
    }

    fn note(&mut self, event: BackendEvent) -> String {
        match event {
            BackendEvent::Update(update) => {
                let words = update.raw.get(&["content", "text"]).map(|text| text.to::<String>());
                let words = words.and_then(Result::ok).unwrap_or_default();
                format!("{} {words}", update.kind.name()).trim_end().to_owned()
            }
            BackendEvent::Notification(message) => message.method().expect("it has one").to_string(),
            BackendEvent::TurnStarted => "turn".to_owned(),
            BackendEvent::StreamStarted => "stream".to_owned(),
            BackendEvent::ToolStarted(id) => format!("tool {id}"),
            BackendEvent::ToolFinished(id) => format!("tool {id} over"),
            BackendEvent::BreakPoint => "break".to_owned(),
            BackendEvent::Question(question) => {
                let asked = format!("asked {}", question.method);
                self.questions.push(question);
                asked
            }
            BackendEvent::QuestionWithdrawn(id) => format!("withdrawn {}", id.0),
            BackendEvent::TurnEnded(end) => format!("over: {}", in_words(&end)),
            BackendEvent::Lost(error) => format!("lost: {}", error.message),
            BackendEvent::Back { id, is_recap, was_lost } => {
                let how = if was_lost { "back" } else { "moved" };
                format!("{how} as {id}{}", if is_recap { ", recap" } else { "" })
            }
            other => panic!("an agent that is adapted does not report {other:?}"),
        }
    }
}

fn in_words(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Answered(end) | TurnEnd::State(end) => {
            end.get(&["stopReason"]).expect("it has one").to().expect("it is a string")
        }
        TurnEnd::Failed(error) => error.message.clone(),
    }
}

/// One message for each line.
fn messages(words: &str) -> Vec<UserMessage> {
    let message = |line: &str| {
        let content = raw(&json!([{ "type": "text", "text": line }]));
        UserMessage { id: line.into(), content, params: None }
    };
    words.lines().map(message).collect()
}
