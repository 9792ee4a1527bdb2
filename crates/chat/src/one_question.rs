//! One question, and its answer on standard output.

use std::io::{self, IsTerminal, Write};

use nudge_wire::RawJson;
use serde_json::{Value, json};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

use crate::{
    ChatConnector, ChatEnd, ChatSettings,
    agent_link::{AgentLink, LinkError, LinkEvent},
    content_text::content_text,
    core::SessionWish,
    permission_text::{self, ToldCalls},
    terminal_text,
};

/// How long what is said last may take.
const GOODBYE: std::time::Duration = std::time::Duration::from_secs(2);

/// A question that is put once.
#[derive(Debug, Clone)]
pub struct OneQuestion {
    /// What is asked.
    pub text: String,
    /// Whether every update is written as a line of JSON, in place of the answer's text.
    pub is_json: bool,
    /// Settings of the session, by name.
    pub options: Vec<(String, String)>,
}

/// Puts a question, writes the answer, and ends.
pub async fn ask(
    settings: ChatSettings,
    question: OneQuestion,
    connector: ChatConnector,
) -> io::Result<ChatEnd> {
    let failed = |problem: String| Ok(ChatEnd { problem: Some(problem), ..ChatEnd::of(1) });
    let transport = match connector().await {
        Ok(transport) => transport,
        Err(why) => return failed(why),
    };
    let (link, events) = AgentLink::open(transport)?;
    let mut asker = Asker {
        link,
        events,
        question,
        session: None,
        switches: Vec::new(),
        said_last: None,
        own: None,
        is_own_turn: false,
        early: Vec::new(),
        told: ToldCalls::default(),
        is_line_open: false,
        end: None,
    };
    let code = asker.run(&settings).await;
    asker.end_line();
    let session = asker.session.clone();
    asker.link.close().await;
    match code {
        Ok(code) => Ok(ChatEnd { session, ..ChatEnd::of(code) }),
        Err(AskError::Link(error)) => {
            Ok(ChatEnd { session, problem: Some(problem(&error)), ..ChatEnd::of(1) })
        }
        Err(AskError::Output(error)) => Err(error),
    }
}

struct Asker {
    link: AgentLink,
    events: mpsc::Receiver<LinkEvent>,
    question: OneQuestion,
    session: Option<String>,
    /// The settings that are on or off.
    switches: Vec<String>,
    /// The message of the user that was delivered last.
    said_last: Option<String>,
    /// The id of the question.
    own: Option<String>,
    /// Whether its turn runs.
    is_own_turn: bool,
    /// What came before that id was known.
    early: Vec<RawJson>,
    told: ToldCalls,
    is_line_open: bool,
    end: Option<u8>,
}

#[derive(Debug)]
enum AskError {
    Link(Box<LinkError>),
    Output(io::Error),
}

impl From<LinkError> for AskError {
    fn from(error: LinkError) -> Self {
        Self::Link(Box::new(error))
    }
}

impl From<io::Error> for AskError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Asker {
    async fn run(&mut self, settings: &ChatSettings) -> Result<u8, AskError> {
        self.link.initialize(&json!({})).await?;
        self.open(settings).await?;
        let session = self.session.clone().unwrap_or_default();
        for (name, value) in self.question.options.clone() {
            let is_switch = self.switches.contains(&name);
            let value =
                if is_switch { json!(matches!(&*value, "true" | "on" | "yes")) } else { json!(value) };
            let kind = if is_switch { "boolean" } else { "id" };
            let params = json!({ "sessionId": session, "configId": name, "type": kind, "value": value });
            self.link.ask("session/set_config_option", &params).await?;
        }
        let content = json!([{ "type": "text", "text": self.question.text }]);
        let params = json!({ "sessionId": session, "mode": "queue", "content": content });
        self.link.ask_later(0, "session/inject", &params);
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        loop {
            let code = tokio::select! {
                event = self.events.recv() => {
                    match event {
                        Some(event) => {
                            if let Err(error) = self.heard(event) {
                                self.take_back(&session).await;
                                return Err(error);
                            }
                        }
                        None => return Err(AskError::from(lost("Nudge has ended the connection"))),
                    }
                    self.end
                }
                _ = interrupt.recv() => Some(130),
                _ = terminate.recv() => Some(143),
            };
            match code {
                Some(code @ (130 | 143)) => {
                    self.take_back(&session).await;
                    return Ok(code);
                }
                Some(code) => return Ok(code),
                None => {}
            }
        }
    }

    /// Nobody waits for the answer any more: the turn is stopped if it is ours, and what waits is taken back.
    async fn take_back(&self, session: &str) {
        match &self.own {
            Some(own) if !self.is_own_turn => {
                let params = json!({ "sessionId": session, "messageId": own });
                // It may be delivered just now; then it is answered without us.
                let _ = tokio::time::timeout(GOODBYE, self.link.ask("session/revoke_inject", &params)).await;
            }
            _ => self.link.tell("session/cancel", &json!({ "sessionId": session })),
        }
    }

    async fn open(&mut self, settings: &ChatSettings) -> Result<(), AskError> {
        let (method, params) = match &settings.wish {
            SessionWish::Resume(session) => {
                self.session = Some(session.clone());
                let meta = json!({ "nudge": { "keepDirectories": true } });
                ("session/resume", json!({ "sessionId": session, "mcpServers": [], "_meta": meta }))
            }
            _ => ("session/new", json!({ "cwd": settings.cwd_text(), "mcpServers": [] })),
        };
        let opened = self.link.ask(method, &params).await?;
        if let Some(session) = opened["sessionId"].as_str() {
            self.session = Some(session.to_owned());
        }
        let options = opened["configOptions"].as_array().into_iter().flatten();
        let switches = options.filter(|option| option["currentValue"].is_boolean());
        self.switches =
            switches.filter_map(|option| option["configId"].as_str().map(str::to_owned)).collect();
        Ok(())
    }

    fn heard(&mut self, event: LinkEvent) -> Result<(), AskError> {
        match event {
            LinkEvent::Update { session, update } if self.session.as_ref() == Some(&session) => {
                if self.own.is_some() {
                    self.update(&update)?;
                } else {
                    self.early.push(update);
                }
            }
            LinkEvent::Answered { outcome, .. } => {
                let id = outcome?["messageId"].as_str().unwrap_or_default().to_owned();
                self.own = Some(id);
                for update in std::mem::take(&mut self.early) {
                    self.update(&update)?;
                }
            }
            LinkEvent::Asked { number, params, method } => self.refuse(number, &method, params)?,
            LinkEvent::Over(why) => return Err(AskError::from(lost(&why))),
            _ => {}
        }
        Ok(())
    }

    fn update(&mut self, raw: &RawJson) -> io::Result<()> {
        let Ok(update) = raw.to::<Value>() else { return Ok(()) };
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        if kind == "user_message" {
            self.said_last = update["messageId"].as_str().map(str::to_owned);
        }
        self.told.update(&update);
        // What others say and are answered is theirs, but for what they say into this turn.
        self.is_own_turn |= self.said_last.is_some() && self.said_last == self.own;
        if !self.is_own_turn || self.end.is_some() {
            return Ok(());
        }
        if self.question.is_json {
            writeln!(io::stdout(), "{}", terminal_text::json(raw.as_str()))?;
        } else {
            self.show(kind, &update)?;
        }
        if kind == "state_update" && update["state"] == "idle" {
            self.end = Some(u8::from(update["stopReason"] != "end_turn"));
            self.tell_end(&update);
        }
        Ok(())
    }

    fn show(&mut self, kind: &str, update: &Value) -> io::Result<()> {
        match kind {
            "agent_message" | "agent_message_chunk" => {
                let text = terminal_text::lines(&content_text(&update["content"]));
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()?;
                if !text.is_empty() {
                    self.is_line_open = !text.ends_with('\n');
                }
            }
            "tool_call" | "tool_call_update" => {
                let is_over = matches!(update["status"].as_str(), Some("failed" | "cancelled"));
                let status =
                    update["status"].as_str().filter(|_| is_over).map(|status| format!(" ({status})"));
                if let Some(title) = update["title"].as_str().map(terminal_text::row) {
                    self.remark(&format!("· {title}{}", status.unwrap_or_default()));
                }
            }
            "notice" => {
                let title = terminal_text::one_line(update["title"].as_str().unwrap_or_default());
                self.remark(&format!("· {title}"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Says how the turn has ended, where that is not as usual.
    fn tell_end(&mut self, update: &Value) {
        let reason = update["stopReason"].as_str().unwrap_or("end_turn");
        match update["error"]["message"].as_str() {
            Some(why) => self.remark(&format!("nudge: {}", terminal_text::one_line(why))),
            None if reason != "end_turn" => {
                self.remark(&format!("nudge: the turn ended: {}", terminal_text::row(reason)));
            }
            None => {}
        }
    }

    /// Nobody is there who could answer: it is refused, and said how it can be permitted.
    fn refuse(&mut self, number: u64, method: &str, mut request: Value) -> io::Result<()> {
        self.told.fill_in(&mut request);
        let options = request["options"].as_array().into_iter().flatten();
        let refusal = options.into_iter().find(|option| option["kind"] == "reject_once");
        let result = match (method, refusal) {
            ("session/request_permission", Some(option)) => {
                json!({ "outcome": { "outcome": "selected", "optionId": option["optionId"] } })
            }
            ("session/request_permission", None) => json!({ "outcome": { "outcome": "cancelled" } }),
            _ => json!({ "action": "decline" }),
        };
        self.link.answer(number, result);
        if self.question.is_json {
            let line = json!({ "sessionUpdate": "_nudge/refused", "method": method, "request": request });
            return writeln!(io::stdout(), "{}", terminal_text::json(&line.to_string()));
        }
        let what = permission_text::headline(&request);
        self.remark(&format!(
            "nudge: refused, since nobody is asked here: {what}; `--set mode=NAME` chooses what may be done, `nudge chat` asks"
        ));
        Ok(())
    }

    /// Says something beside the answer.
    fn remark(&mut self, text: &str) {
        if io::stdout().is_terminal() {
            self.end_line();
        }
        let _ = writeln!(io::stderr(), "{text}");
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.is_line_open) {
            let _ = writeln!(io::stdout());
        }
    }
}

fn lost(why: &str) -> LinkError {
    LinkError { message: terminal_text::one_line(why), code: None, reason: None, data: Value::Null }
}

fn problem(error: &LinkError) -> String {
    match error.code {
        None => format!("the connection broke: {}", error.message),
        Some(_) => error.message.clone(),
    }
}
