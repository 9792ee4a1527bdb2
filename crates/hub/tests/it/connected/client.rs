//! A client with one session, in raw messages.

use serde_json::{Value, json};

use super::{Connection, Place, content, is_turn_end, is_user, notice, story, text};

/// A message to the client, as it came and read.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) line: String,
    pub(crate) value: Value,
}

/// A client with one session. What it says goes out at once; what it waits for is awaited.
pub(crate) struct Client {
    pub(crate) connection: Connection,
    pub(crate) version: u64,
    pub(crate) log: Vec<Message>,
    pub(crate) session: String,
    /// The answer to its greeting.
    pub(crate) initialized: Value,
    next: u64,
    /// Requests of the agent that were looked at.
    asked: usize,
    /// Whether it knows the method by which an agent asks what was said meanwhile.
    pub(crate) keeps_what_is_said: bool,
}

/// By which some agents ask what the user has said meanwhile.
const DRAIN: &str = "craft/drainMidTurnQueue";

impl Client {
    /// A client that has greeted.
    pub(crate) async fn new(connection: Connection, version: u64, capabilities: &Value) -> Self {
        let mut client = Self::silent(connection, version);
        let id = client.greet(capabilities);
        client.initialized = client.result(id).await;
        client
    }

    /// A client that has said nothing.
    pub(crate) fn silent(connection: Connection, version: u64) -> Self {
        let (log, session, initialized) = (Vec::new(), String::new(), Value::Null);
        Self { connection, version, log, session, initialized, next: 0, asked: 0, keeps_what_is_said: false }
    }

    pub(crate) fn greet(&mut self, capabilities: &Value) -> u64 {
        let member = if self.version == 1 { "clientCapabilities" } else { "capabilities" };
        let mut params = json!({"protocolVersion": self.version, member: capabilities});
        if self.version == 2 {
            params["info"] = json!({"name": "test", "version": "1"});
        }
        self.send("initialize", &params)
    }

    /// A client of either version with a new session.
    pub(crate) async fn with_session(place: &Place, version: u64) -> Self {
        let mut client = place.client(version).await;
        client.new_session(&place.cwd()).await;
        client
    }

    /// A client in whose session the agent speaks until it is stopped.
    pub(crate) async fn talking(place: &Place, version: u64) -> Self {
        let mut client = Self::with_session(place, version).await;
        client.prompt("talk");
        client.said("word").await;
        client
    }

    /// A client in whose session a command runs that was permitted.
    pub(crate) async fn running(place: &Place, version: u64, prompt: &str) -> Self {
        let mut client = Self::with_session(place, version).await;
        client.prompt(prompt);
        let request = client.agent_request().await;
        client.permit(&request, "allow_once");
        client.tool("in_progress").await;
        client
    }

    pub(crate) async fn new_session(&mut self, cwd: &str) {
        let opened = self.ask("session/new", &json!({"cwd": cwd, "mcpServers": []})).await;
        opened["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).clone_into(&mut self.session);
    }

    /// Loads a session with its history.
    pub(crate) async fn load(&mut self, session: &str, cwd: &str) -> Value {
        session.clone_into(&mut self.session);
        let params =
            json!({"sessionId": session, "cwd": cwd, "mcpServers": [], "replayFrom": {"type": "start"}});
        self.ask(if self.version == 1 { "session/load" } else { "session/resume" }, &params).await
    }

    /// Is gone at once.
    pub(crate) async fn vanish(self) {
        self.connection.vanish().await;
    }

    /// Leaves in order: what was said is on disk then, and what is still said is given.
    pub(crate) async fn leave(self) -> Vec<String> {
        self.connection.finish().await
    }

    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.send_raw(method, &params.to_string())
    }

    /// Sends a request whose params are this text.
    pub(crate) fn send_raw(&mut self, method: &str, params: &str) -> u64 {
        self.next += 1;
        let id = self.next;
        self.connection
            .line(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        id
    }

    pub(crate) fn note(&mut self, method: &str, params: &Value) {
        self.note_raw(method, &params.to_string());
    }

    /// Sends a notification whose params are this text.
    pub(crate) fn note_raw(&mut self, method: &str, params: &str) {
        self.connection.line(format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#));
    }

    async fn receive(&mut self, what: &str) {
        let Some(line) = self.connection.next_line().await else {
            panic!("the end came before {what}: {:#?}", self.story())
        };
        let value: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        if value["method"] == DRAIN && !self.keeps_what_is_said {
            let error = json!({ "code": -32601, "message": "Method not found" });
            let id = &value["id"];
            self.connection.line(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
        }
        self.log.push(Message { line, value });
    }

    /// Reads until the connection ends.
    pub(crate) async fn end(&mut self) {
        while let Some(line) = self.connection.next_line().await {
            let value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
            self.log.push(Message { line, value });
        }
    }

    /// The place of the `count`th message that fits, from the beginning.
    pub(crate) async fn place_of(
        &mut self,
        what: &str,
        count: usize,
        fits: impl Fn(&Value) -> bool,
    ) -> usize {
        let (mut at, mut found) = (0, 0);
        loop {
            while at < self.log.len() {
                found += usize::from(fits(&self.log[at].value));
                if found == count {
                    return at;
                }
                at += 1;
            }
            self.receive(what).await;
        }
    }

    /// The `count`th message that fits, from the beginning.
    pub(crate) async fn nth(&mut self, what: &str, count: usize, fits: impl Fn(&Value) -> bool) -> Value {
        let at = self.place_of(what, count, fits).await;
        self.log[at].value.clone()
    }

    /// Reads until a message fits; those before it are kept.
    pub(crate) async fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.nth(what, 1, fits).await
    }

    /// The response to a request, as it came.
    pub(crate) async fn response_line(&mut self, id: u64) -> String {
        let is_answer = |message: &Value| message["id"] == id && message.get("method").is_none();
        let at = self.place_of("a response", 1, is_answer).await;
        self.log[at].line.clone()
    }

    pub(crate) async fn response(&mut self, id: u64) -> Value {
        serde_json::from_str(&self.response_line(id).await).expect("it was read before")
    }

    /// The result of a request that was sent.
    pub(crate) async fn result(&mut self, id: u64) -> Value {
        let response = self.response(id).await;
        assert!(response.get("error").is_none(), "{response}");
        response["result"].clone()
    }

    /// The result of a request.
    pub(crate) async fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        self.result(id).await
    }

    /// The error that a request gets.
    pub(crate) async fn refused(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let response = self.response(id).await;
        assert!(response.get("error").is_some(), "{method}: {response}");
        response["error"].clone()
    }

    /// Code and reason of the error that a request gets.
    pub(crate) async fn refusal(&mut self, method: &str, params: &Value) -> (i64, String) {
        let error = self.refused(method, params).await;
        let reason = error["data"]["reason"].as_str().unwrap_or_default().to_owned();
        (error["code"].as_i64().expect("an error has a code"), reason)
    }

    /// Sends a prompt; in version 1 the answer comes with the end of the turn.
    pub(crate) fn prompt(&mut self, text: &str) -> u64 {
        let params = json!({"sessionId": self.session, "prompt": content(text)});
        self.send("session/prompt", &params)
    }

    /// A whole turn, and what was said in it.
    pub(crate) async fn turn(&mut self, text: &str) -> String {
        let (before, ends) = (self.log.len(), self.ends());
        self.prompt(text);
        self.turn_end(ends + 1).await;
        self.said_since(before)
    }

    /// All that a scripted agent was told in this session, in order. A turn of its own.
    pub(crate) async fn recall(&mut self) -> Vec<String> {
        let told = self.turn("recall").await;
        let mut told: Vec<_> = told.split('|').map(str::to_owned).collect();
        assert_eq!(told.pop().as_deref(), Some("recall"));
        told
    }

    pub(crate) async fn inject(&mut self, mode: &str, text: &str) -> String {
        let params = json!({"sessionId": self.session, "mode": mode, "content": content(text)});
        let result = self.ask("session/inject", &params).await;
        result["messageId"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
    }

    pub(crate) async fn revoke(&mut self, id: &str) -> Value {
        let params = json!({"sessionId": self.session, "messageId": id});
        self.ask("session/revoke_inject", &params).await
    }

    pub(crate) fn cancel(&mut self) {
        let params = json!({"sessionId": self.session});
        self.note("session/cancel", &params);
    }

    /// Waits for a message of the user with this id; gives its text.
    pub(crate) async fn delivered(&mut self, id: &str) -> String {
        let update = self.until("a delivery", |message| {
            let update = &message["params"]["update"];
            update["messageId"] == id && is_user(update)
        });
        text(&update.await["params"]["update"]["content"])
    }

    /// Waits for a message of the user that says this.
    pub(crate) async fn delivered_text(&mut self, words: &str) {
        let delivery = self.until(words, |message| {
            let update = &message["params"]["update"];
            is_user(update) && text(&update["content"]) == words
        });
        delivery.await;
    }

    /// Waits until Nudge has told that the agent is `gone` or `back`.
    pub(crate) async fn agent_is(&mut self, what: &str) {
        self.until(what, |message| notice(message)["_meta"]["nudge"]["agent"] == what).await;
    }

    /// Waits until the agent has said this.
    pub(crate) async fn said(&mut self, words: &str) {
        while !self.story().iter().any(|line| line.starts_with("agent: ") && line.contains(words)) {
            self.receive(words).await;
        }
    }

    /// Waits until a tool call has this status, seen for the first time.
    pub(crate) async fn tool(&mut self, status: &str) -> Value {
        let update = self.until("a tool call", |message| {
            let update = &message["params"]["update"];
            update["toolCallId"].is_string() && update["status"] == status
        });
        update.await
    }

    /// Waits for the `count`th end of a turn; gives the stop reason.
    pub(crate) async fn turn_end(&mut self, count: usize) -> String {
        let end = self.nth("the end of a turn", count, is_turn_end).await;
        let update = &end["params"]["update"];
        let reasons = [&end["result"]["stopReason"], &update["stopReason"], &update["_meta"]["stopReason"]];
        reasons.iter().find_map(|reason| reason.as_str()).unwrap_or("none").to_owned()
    }

    /// How many turns have ended so far.
    pub(crate) fn ends(&self) -> usize {
        self.log.iter().filter(|message| is_turn_end(&message.value)).count()
    }

    /// The next request of the agent that was not looked at yet.
    pub(crate) async fn agent_request(&mut self) -> Value {
        self.asked += 1;
        let is_request = |message: &Value| message.get("method").is_some() && message.get("id").is_some();
        self.nth("a request", self.asked, is_request).await
    }

    pub(crate) fn answer(&mut self, request: &Value, result: &Value) {
        self.answer_raw(request, &result.to_string());
    }

    /// Answers with a result that is this text.
    pub(crate) fn answer_raw(&mut self, request: &Value, result: &str) {
        self.connection.line(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request["id"]));
    }

    /// Answers a permission request with the option of this kind.
    pub(crate) fn permit(&mut self, request: &Value, kind: &str) {
        let options = request["params"]["options"].as_array().expect("a permission request has options");
        let option = options.iter().find(|option| option["kind"] == kind).expect("the option is offered");
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option["optionId"]}});
        self.answer(request, &outcome);
    }

    /// The messages there have been, in order.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &Value> {
        self.log.iter().map(|message| &message.value)
    }

    /// The updates there have been, in order.
    pub(crate) fn updates(&self) -> impl Iterator<Item = &Value> {
        self.messages().map(|message| &message["params"]["update"]).filter(|update| !update.is_null())
    }

    /// What the agent has said since a place in the log.
    pub(crate) fn said_since(&self, from: usize) -> String {
        let updates = self.log[from..].iter().map(|message| &message.value["params"]["update"]);
        let said = updates.filter(|update| update["sessionUpdate"] == "agent_message_chunk");
        said.map(|update| text(&update["content"])).collect()
    }

    /// What was said and done, as a person would tell it. Chunks of one message are one line.
    pub(crate) fn story(&self) -> Vec<String> {
        story::story(self.messages())
    }

    /// What was said and done, an update a line, tool calls by their names.
    pub(crate) fn steps(&self) -> Vec<String> {
        story::steps(self.messages())
    }

    /// What the user said.
    pub(crate) fn users(&self) -> Vec<String> {
        without("user: ", &self.steps())
    }

    /// The lines of the story that the user said.
    pub(crate) fn user_lines(&self) -> Vec<String> {
        self.story().into_iter().filter(|line| line.starts_with("user")).collect()
    }

    /// What the user said, a line for each message.
    pub(crate) fn user_messages(&self) -> Vec<String> {
        without("user: ", &self.story())
    }
}

/// The lines that begin so, without that.
fn without(prefix: &str, lines: &[String]) -> Vec<String> {
    lines.iter().filter_map(|line| line.strip_prefix(prefix)).map(str::to_owned).collect()
}
