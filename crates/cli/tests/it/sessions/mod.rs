//! Sessions as clients see them, in both versions, over real pipes: what has to do with processes, the daemon, files and the
//! command line, and one test of each kind of all else, which is shown in memory in `crates/hub/tests/it`.

mod asked;
mod cancel;
mod commands;
mod daemon;
mod environment;
mod folder;
mod full_disk;
mod ghosts;
mod handover;
mod lifecycle;
mod named;
mod permission;
mod reached;
mod secrets;
mod shared;
mod small_disk;
mod tools;
mod wiring;

use std::path::{Path, PathBuf};

use nudge_testkit::Process;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::nudge_with;

/// What the agent plays.
fn rehearsal() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rehearsal.toml")
}

/// A place for sessions and a folder to work in.
pub(crate) struct Place {
    pub(crate) data: TempDir,
    pub(crate) work: TempDir,
    /// How many seconds a daemon stays with nothing to do.
    linger: u64,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = || tempfile::tempdir().expect("a temporary folder");
        Self { data: dir(), work: dir(), linger: 5 }
    }

    /// Lets a command go on that waits for this file.
    pub(crate) fn touch(&self, name: &str) {
        std::fs::write(self.work.path().join(name), "").expect("the folder can be written to");
    }

    pub(crate) fn cwd(&self) -> String {
        let path = self.work.path().canonicalize().expect("the folder is there");
        path.to_str().expect("its name is text").to_owned()
    }

    pub(crate) fn env(&self) -> Vec<(&str, String)> {
        vec![
            ("NUDGE_DATA", self.data.path().to_str().expect("its name is text").to_owned()),
            ("NUDGE_REHEARSAL", rehearsal().to_str().expect("its name is text").to_owned()),
            ("NUDGE_LINGER", self.linger.to_string()),
        ]
    }

    /// `nudge` with these arguments, at this place.
    pub(crate) fn start(&self, args: &[&str], daemon: &str) -> Process {
        let mut env = self.env();
        env.push(("NUDGE_DAEMON", daemon.to_owned()));
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        nudge_with(args, &env)
    }

    /// A client of a process of its own.
    fn client(&self, version: u64) -> Client {
        Client::new(self.start(&["acp"], "off"), version, &json!({}))
    }

    /// A client of the daemon.
    pub(crate) fn shared_client(&self, version: u64) -> Client {
        Client::new(self.start(&["acp"], "on"), version, &json!({}))
    }

    /// What a command prints.
    pub(crate) fn command(&self, args: &[&str]) -> String {
        let (status, lines, errors) = self.start(args, "on").finish();
        assert!(status.success(), "{args:?}: {errors}");
        lines.join("\n")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A daemon that was started here goes.
        drop(self.start(&["stop"], "on").finish());
    }
}

/// A client with one session, in raw messages.
pub(crate) struct Client {
    process: Process,
    version: u64,
    next: u64,
    log: Vec<Value>,
    /// Requests of the agent that were answered or looked at.
    asked: usize,
    session: String,
    /// Updates told by `session/load` or `resume`.
    initialized: Value,
}

impl Client {
    fn new(process: Process, version: u64, capabilities: &Value) -> Self {
        let (asked, session) = (0, String::new());
        let mut client =
            Self { process, version, next: 0, log: Vec::new(), asked, session, initialized: Value::Null };
        let member = if version == 1 { "clientCapabilities" } else { "capabilities" };
        let mut params = json!({"protocolVersion": version, member: capabilities});
        if version == 2 {
            params["info"] = json!({"name": "test", "version": "1"});
        }
        client.initialized = client.ask("initialize", &params);
        client
    }

    /// A client of either version with a new session.
    fn with_session(place: &Place, version: u64) -> Self {
        let mut client = place.client(version);
        client.new_session(&place.cwd());
        client
    }

    /// A client in whose session the agent speaks until it is stopped.
    fn talking(place: &Place, version: u64) -> Self {
        let mut client = Self::with_session(place, version);
        client.prompt("talk");
        client.said("word");
        client
    }

    /// A client in whose session a command runs that was permitted.
    fn running(place: &Place, version: u64, prompt: &str) -> Self {
        let mut client = Self::with_session(place, version);
        client.prompt(prompt);
        let request = client.agent_request();
        client.permit(&request, "allow_once");
        client.tool("in_progress");
        client
    }

    pub(crate) fn new_session(&mut self, cwd: &str) {
        let opened = self.ask("session/new", &json!({"cwd": cwd, "mcpServers": []}));
        opened["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).clone_into(&mut self.session);
    }

    /// Loads a session with its history.
    pub(crate) fn load(&mut self, session: &str, cwd: &str) -> Value {
        session.clone_into(&mut self.session);
        let params =
            json!({"sessionId": session, "cwd": cwd, "mcpServers": [], "replayFrom": {"type": "start"}});
        self.ask(if self.version == 1 { "session/load" } else { "session/resume" }, &params)
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.process.line(request.to_string());
        self.next
    }

    fn note(&mut self, method: &str, params: &Value) {
        self.process.line(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Reads until a message fits; those before it are kept.
    fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.nth(what, 1, fits)
    }

    /// The `count`th message that fits, from the beginning.
    fn nth(&mut self, what: &str, count: usize, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(found) = self.log.iter().filter(|message| fits(message)).nth(count - 1) {
                return found.clone();
            }
            let next = self.process.next_json();
            let next = next.unwrap_or_else(|| panic!("the end came before {what}: {:#?}", self.story()));
            self.log.push(next);
        }
    }

    /// The response to a request.
    fn response(&mut self, id: u64) -> Value {
        self.until("a response", |message| message["id"] == id && message.get("method").is_none())
    }

    /// The result of a request.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let response = self.response(id);
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    /// Code and reason of the error a request gets.
    fn refused(&mut self, method: &str, params: &Value) -> (i64, String) {
        let id = self.send(method, params);
        let response = self.response(id);
        let reason = response["error"]["data"]["reason"].as_str().unwrap_or_default().to_owned();
        (response["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method}: {response}")), reason)
    }

    /// Sends a prompt; in version 1 the answer comes with the end of the turn.
    pub(crate) fn prompt(&mut self, text: &str) -> u64 {
        let params = json!({"sessionId": self.session, "prompt": content(text)});
        self.send("session/prompt", &params)
    }

    pub(crate) fn inject(&mut self, mode: &str, text: &str) -> String {
        let params = json!({"sessionId": self.session, "mode": mode, "content": content(text)});
        let result = self.ask("session/inject", &params);
        result["messageId"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
    }

    fn revoke(&mut self, id: &str) -> Value {
        let params = json!({"sessionId": self.session, "messageId": id});
        self.ask("session/revoke_inject", &params)
    }

    pub(crate) fn cancel(&mut self) {
        let params = json!({"sessionId": self.session});
        self.note("session/cancel", &params);
    }

    /// Waits for a message of the user with this id; gives its text.
    fn delivered(&mut self, id: &str) -> String {
        let update = self.until("a delivery", |message| {
            let update = &message["params"]["update"];
            update["messageId"] == id && is_user(update)
        });
        text(&update["params"]["update"]["content"])
    }

    /// Waits until the agent has said this.
    pub(crate) fn said(&mut self, words: &str) {
        while !self.story().iter().any(|line| line.starts_with("agent: ") && line.contains(words)) {
            let next = self.process.next_json();
            self.log.push(next.unwrap_or_else(|| panic!("the end came before {words}: {:#?}", self.story())));
        }
    }

    /// Waits until a tool call has this status, seen for the first time.
    fn tool(&mut self, status: &str) -> Value {
        self.until("a tool call", |message| {
            let update = &message["params"]["update"];
            update["toolCallId"].is_string() && update["status"] == status
        })
    }

    /// Waits for the `count`th end of a turn; gives the stop reason.
    fn turn_end(&mut self, count: usize) -> String {
        let end = self.nth("the end of a turn", count, is_turn_end);
        let update = &end["params"]["update"];
        let reasons = [&end["result"]["stopReason"], &update["stopReason"], &update["_meta"]["stopReason"]];
        reasons.iter().find_map(|reason| reason.as_str()).unwrap_or("none").to_owned()
    }

    /// The next request of the agent that was not looked at yet.
    pub(crate) fn agent_request(&mut self) -> Value {
        self.asked += 1;
        self.nth("a request", self.asked, |message| {
            message.get("method").is_some() && message.get("id").is_some()
        })
    }

    fn answer(&mut self, request: &Value, result: &Value) {
        self.process.line(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string());
    }

    /// Answers a permission request with the option of this kind.
    pub(crate) fn permit(&mut self, request: &Value, kind: &str) {
        let options = request["params"]["options"].as_array().expect("a permission request has options");
        let option = options.iter().find(|option| option["kind"] == kind).expect("the option is offered");
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option["optionId"]}});
        self.answer(request, &outcome);
    }

    /// What was said and done, as a person would tell it. Chunks of one message are one line.
    fn story(&self) -> Vec<String> {
        let mut story: Vec<(String, String)> = Vec::new();
        for message in &self.log {
            let update = &message["params"]["update"];
            let (key, line) = match update["sessionUpdate"].as_str() {
                _ if is_turn_end(message) => (String::new(), "idle".to_owned()),
                Some("user_message" | "user_message_chunk") => {
                    (format!("user {}", update["messageId"]), format!("user: {}", text(&update["content"])))
                }
                Some("agent_message" | "agent_message_chunk") => {
                    (format!("agent {}", update["messageId"]), format!("agent: {}", text(&update["content"])))
                }
                Some("tool_call" | "tool_call_update") if update["status"].is_string() => {
                    (String::new(), format!("tool {}", update["status"].as_str().unwrap_or_default()))
                }
                _ => continue,
            };
            match story.last_mut() {
                Some((last, told)) if !key.is_empty() && *last == key => {
                    told.push_str(line.split_once(": ").map_or("", |(_, text)| text));
                }
                _ => story.push((key, line)),
            }
        }
        story.into_iter().map(|(_, line)| line).collect()
    }

    /// The story without what was said by the agent.
    pub(crate) fn users(&self) -> Vec<String> {
        self.story().into_iter().filter(|line| line.starts_with("user")).collect()
    }
}

fn is_user(update: &Value) -> bool {
    matches!(update["sessionUpdate"].as_str(), Some("user_message" | "user_message_chunk"))
}

/// A turn ends for version 2 by its state, for version 1 by the answer to its prompt or, without one, by its state.
fn is_turn_end(message: &Value) -> bool {
    let update = &message["params"]["update"];
    message["result"]["stopReason"].is_string()
        || (update["state"] == "idle" && update["stopReason"].is_string())
        || (update["_meta"]["state"] == "idle" && update["_meta"]["stopReason"].is_string())
        || (message.get("error").is_some() && message["error"]["data"]["turn"].is_boolean())
}

fn content(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// The text of one content block or several.
fn text(content: &Value) -> String {
    let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

/// Runs a test in both versions.
fn both(test: impl Fn(u64)) {
    for version in [1, 2] {
        println!("version {version}");
        test(version);
    }
}
