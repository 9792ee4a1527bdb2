//! A client with one session, in raw messages.

use nudge_testkit::Process;
use serde_json::{Value, json};

use super::{content, text};

/// A message of the agent, as it came and read.
pub(super) struct Message {
    pub(super) line: String,
    pub(super) value: Value,
}

/// A client with one session.
pub(super) struct Client {
    pub(super) process: Process,
    pub(super) version: u64,
    pub(super) log: Vec<Message>,
    pub(super) session: String,
    pub(super) initialized: Value,
    next: u64,
    /// Requests of the agent that were looked at.
    asked: usize,
}

impl Client {
    /// A client that has greeted.
    pub(super) fn new(process: Process, version: u64, capabilities: &Value) -> Self {
        let mut client = Self::silent(process, version);
        let id = client.greet(capabilities);
        client.initialized = client.result(id);
        client
    }

    /// Leaves in order: what was said is on disk then.
    pub(super) fn leave(self) {
        let (status, _, errors) = self.process.finish();
        assert!(status.success(), "{errors}");
    }

    /// A client that has said nothing.
    pub(super) fn silent(process: Process, version: u64) -> Self {
        let (log, session, initialized) = (Vec::new(), String::new(), Value::Null);
        Self { process, version, log, session, initialized, next: 0, asked: 0 }
    }

    pub(super) fn greet(&mut self, capabilities: &Value) -> u64 {
        let params = match self.version {
            1 => json!({"protocolVersion": 1, "clientCapabilities": capabilities}),
            _ => {
                json!({"protocolVersion": 2, "capabilities": capabilities, "info": {"name": "test", "version": "1"}})
            }
        };
        self.send("initialize", &params)
    }

    pub(super) fn new_session(&mut self, cwd: &str) {
        let opened = self.ask("session/new", &json!({"cwd": cwd, "mcpServers": []}));
        opened["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).clone_into(&mut self.session);
    }

    /// Loads a session with its history.
    pub(super) fn load(&mut self, session: &str, cwd: &str) -> Value {
        session.clone_into(&mut self.session);
        let params =
            json!({"sessionId": session, "cwd": cwd, "mcpServers": [], "replayFrom": {"type": "start"}});
        self.ask(if self.version == 1 { "session/load" } else { "session/resume" }, &params)
    }

    pub(super) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.send_raw(method, &params.to_string())
    }

    /// Sends a request whose params are this text.
    pub(super) fn send_raw(&mut self, method: &str, params: &str) -> u64 {
        self.next += 1;
        let id = self.next;
        self.process.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        id
    }

    pub(super) fn note(&mut self, method: &str, params: &str) {
        self.process.line(format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#));
    }

    fn receive(&mut self, what: &str) {
        let Some(line) = self.process.next_line() else {
            panic!("the end came before {what}: {:#?}\n{}", self.story(), self.process.last_words())
        };
        let value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        self.log.push(Message { line, value });
    }

    /// The place of the `count`th message that fits, from the beginning.
    pub(super) fn nth(&mut self, what: &str, count: usize, fits: impl Fn(&Value) -> bool) -> usize {
        let (mut at, mut found) = (0, 0);
        loop {
            while at < self.log.len() {
                found += usize::from(fits(&self.log[at].value));
                if found == count {
                    return at;
                }
                at += 1;
            }
            self.receive(what);
        }
    }

    /// Reads until a message fits; those before it are kept.
    pub(super) fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let at = self.nth(what, 1, fits);
        self.log[at].value.clone()
    }

    /// The response to a request, as it came.
    pub(super) fn response_line(&mut self, id: u64) -> String {
        let is_answer = |message: &Value| message["id"] == id && message.get("method").is_none();
        let at = self.nth("a response", 1, is_answer);
        self.log[at].line.clone()
    }

    pub(super) fn response(&mut self, id: u64) -> Value {
        serde_json::from_str(&self.response_line(id)).expect("it was read before")
    }

    /// The result of a request.
    pub(super) fn result(&mut self, id: u64) -> Value {
        let response = self.response(id);
        assert!(response.get("error").is_none(), "{response}");
        response["result"].clone()
    }

    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        self.result(id)
    }

    /// The error that a request gets.
    pub(super) fn refused(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let response = self.response(id);
        assert!(response.get("error").is_some(), "{method}: {response}");
        response["error"].clone()
    }

    /// Sends a prompt; in version 1 the answer comes with the end of the turn.
    pub(super) fn prompt(&mut self, text: &str) -> u64 {
        let params = json!({"sessionId": self.session, "prompt": content(text)});
        self.send("session/prompt", &params)
    }

    /// A whole turn, and what was said in it.
    pub(super) fn turn(&mut self, text: &str) -> String {
        let (before, ends) = (self.log.len(), self.ends());
        self.prompt(text);
        self.turn_end(ends + 1);
        self.said_since(before)
    }

    /// All that the agent was told in this session, in order. A turn of its own.
    pub(super) fn recall(&mut self) -> Vec<String> {
        let told = self.turn("recall");
        let mut told: Vec<_> = told.split('|').map(str::to_owned).collect();
        assert_eq!(told.pop().as_deref(), Some("recall"));
        told
    }

    pub(super) fn inject(&mut self, mode: &str, text: &str) -> String {
        let params = json!({"sessionId": self.session, "mode": mode, "content": content(text)});
        let result = self.ask("session/inject", &params);
        result["messageId"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
    }

    pub(super) fn cancel(&mut self) {
        let params = json!({"sessionId": self.session});
        self.note("session/cancel", &params.to_string());
    }

    /// Waits for a message of the user with this id; gives its text.
    pub(super) fn delivered(&mut self, id: &str) -> String {
        let update = self.until("a delivery", |message| {
            let update = &message["params"]["update"];
            update["messageId"] == id && is_user(update)
        });
        text(&update["params"]["update"]["content"])
    }

    /// Waits until Nudge has told that the agent is `gone` or `back`.
    pub(super) fn agent_is(&mut self, what: &str) {
        self.until(what, |message| notice(message)["_meta"]["nudge"]["agent"] == what);
    }

    /// Waits for a message of the user that says this.
    pub(super) fn delivered_text(&mut self, words: &str) {
        self.until(words, |message| {
            let update = &message["params"]["update"];
            is_user(update) && text(&update["content"]) == words
        });
    }

    /// Waits until the agent has said this.
    pub(super) fn said(&mut self, words: &str) {
        while !self.story().iter().any(|line| line.starts_with("agent: ") && line.contains(words)) {
            self.receive(words);
        }
    }

    /// Waits until a tool call has this status, seen for the first time.
    pub(super) fn tool(&mut self, status: &str) {
        self.until("a tool call", |message| message["params"]["update"]["status"] == status);
    }

    /// Waits for the `count`th end of a turn; gives the stop reason.
    pub(super) fn turn_end(&mut self, count: usize) -> String {
        let at = self.nth("the end of a turn", count, is_turn_end);
        let end = &self.log[at].value;
        let update = &end["params"]["update"];
        let reasons = [&end["result"]["stopReason"], &update["stopReason"], &update["_meta"]["stopReason"]];
        reasons.iter().find_map(|reason| reason.as_str()).unwrap_or("error").to_owned()
    }

    /// How many turns have ended so far.
    pub(super) fn ends(&self) -> usize {
        self.log.iter().filter(|message| is_turn_end(&message.value)).count()
    }

    /// The next request of the agent that was not looked at yet.
    pub(super) fn agent_request(&mut self) -> Value {
        self.asked += 1;
        let at = self.nth("a request", self.asked, |message| {
            message.get("method").is_some() && message.get("id").is_some()
        });
        self.log[at].value.clone()
    }

    pub(super) fn answer(&mut self, request: &Value, result: &str) {
        self.process.line(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request["id"]));
    }

    /// The updates there have been, in order.
    pub(super) fn updates(&self) -> impl Iterator<Item = &Value> {
        self.log.iter().map(|message| &message.value["params"]["update"]).filter(|update| !update.is_null())
    }

    /// What the agent has said since a place in the log.
    pub(super) fn said_since(&self, from: usize) -> String {
        let updates = self.log[from..].iter().map(|message| &message.value["params"]["update"]);
        let said = updates.filter(|update| update["sessionUpdate"] == "agent_message_chunk");
        said.map(|update| text(&update["content"])).collect()
    }

    /// What was said and done, as a person would tell it.
    pub(super) fn story(&self) -> Vec<String> {
        let line = |message: &Value| {
            let update = &message["params"]["update"];
            match update["sessionUpdate"].as_str() {
                _ if is_turn_end(message) => Some("idle".to_owned()),
                Some("user_message" | "user_message_chunk") => {
                    Some(format!("user: {}", text(&update["content"])))
                }
                Some("agent_message" | "agent_message_chunk") => {
                    Some(format!("agent: {}", text(&update["content"])))
                }
                Some("tool_call" | "tool_call_update") => {
                    let status = update["status"].as_str()?;
                    Some(format!("{} {status}", update["toolCallId"].as_str().unwrap_or_default()))
                }
                _ => None,
            }
        };
        self.log.iter().filter_map(|message| line(&message.value)).collect()
    }

    /// What the user said.
    pub(super) fn users(&self) -> Vec<String> {
        let story = self.story();
        story.iter().filter_map(|line| line.strip_prefix("user: ")).map(str::to_owned).collect()
    }
}

fn is_user(update: &Value) -> bool {
    matches!(update["sessionUpdate"].as_str(), Some("user_message" | "user_message_chunk"))
}

/// A notice of Nudge; version 1 has it in the `_meta` of another update.
pub(super) fn notice(message: &Value) -> &Value {
    let update = &message["params"]["update"];
    if update["sessionUpdate"] == "notice" { update } else { &update["_meta"]["notice"] }
}

/// A turn ends for version 2 by its state, for version 1 by the answer to its prompt or, without one, by its state.
fn is_turn_end(message: &Value) -> bool {
    let update = &message["params"]["update"];
    message["result"]["stopReason"].is_string()
        || (update["state"] == "idle" && update["stopReason"].is_string())
        || (update["_meta"]["state"] == "idle" && update["_meta"]["stopReason"].is_string())
}
