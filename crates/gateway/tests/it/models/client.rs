//! A client with one session, in raw messages. Whatever it hears is held against the types of the protocol.

use nudge_gateway::{ConnectionOptions, Gateway};
use nudge_peer::Transport;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};

use super::{
    PATIENCE,
    heard::{Heard, TurnOver, content, is_response, read_all, text, values, write_all},
    schema,
};

/// Bytes on their way.
const ROOM: usize = 64 * 1024;

/// A client. What it says goes out at once; what it waits for is awaited.
pub(crate) struct Client {
    heard: mpsc::UnboundedReceiver<Heard>,
    lines: mpsc::UnboundedSender<String>,
    pub(crate) version: u64,
    pub(crate) log: Vec<Heard>,
    pub(crate) session: String,
    /// The answer to `initialize`.
    pub(crate) initialized: Value,
    /// The method of each request, in the order of their ids.
    sent: Vec<String>,
    /// Requests of the agent that were looked at.
    asked: usize,
}

impl Client {
    /// A client that has said who it is.
    pub(crate) async fn connect(
        gateway: &Gateway,
        options: ConnectionOptions,
        version: u64,
        capabilities: &Value,
    ) -> Self {
        let (ours, theirs) = tokio::io::duplex(ROOM);
        let (reader, writer) = tokio::io::split(theirs);
        let served = gateway.connect(Transport::new(reader, writer), options);
        tokio::spawn(served.expect("memory can be connected").run());
        let (reader, writer) = tokio::io::split(ours);
        let (lines, said) = mpsc::unbounded_channel();
        tokio::spawn(write_all(writer, said));
        let (told, heard) = mpsc::unbounded_channel();
        tokio::spawn(read_all(reader, told));
        let (log, session, sent) = (Vec::new(), String::new(), Vec::new());
        let mut client =
            Self { heard, lines, version, log, session, initialized: Value::Null, sent, asked: 0 };
        client.initialized = client.ask("initialize", &greeting(version, capabilities)).await;
        client
    }

    /// Sends a request; gives its id.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.sent.push(method.to_owned());
        let id = self.sent.len() as u64;
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn note(&mut self, method: &str, params: &Value) {
        self.line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(crate) fn answer(&mut self, request: &Value, result: &Value) {
        self.line(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    }

    fn line(&self, message: &Value) {
        // That nobody listens any more shows when nothing comes back.
        let _ = self.lines.send(format!("{message}\n"));
    }

    async fn receive(&mut self, what: &str) {
        let heard = timeout(PATIENCE, self.heard.recv()).await;
        let heard = heard.unwrap_or_else(|_| panic!("{what} does not come: {:#?}", self.story()));
        let heard = heard.unwrap_or_else(|| panic!("the end came before {what}: {:#?}", self.story()));
        schema::check(self.version, &heard.value, |id| self.sent[usize::try_from(id).unwrap() - 1].as_str());
        self.log.push(heard);
    }

    /// The `count`th message that fits, from this place in the log on.
    pub(crate) async fn nth_from(
        &mut self,
        from: usize,
        what: &str,
        count: usize,
        fits: impl Fn(&Value) -> bool,
    ) -> Heard {
        let (mut at, mut found) = (from, 0);
        loop {
            while at < self.log.len() {
                found += usize::from(fits(&self.log[at].value));
                if found == count {
                    return self.log[at].clone();
                }
                at += 1;
            }
            self.receive(what).await;
        }
    }

    /// The first message that fits.
    pub(crate) async fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Heard {
        self.nth_from(0, what, 1, fits).await
    }

    /// The response to a request.
    pub(crate) async fn response(&mut self, id: u64) -> Value {
        self.until("a response", |message| is_response(message, id)).await.value
    }

    /// The result of a request.
    pub(crate) async fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let response = self.response(id).await;
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    /// The error that a request gets.
    pub(crate) async fn refused(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let response = self.response(id).await;
        assert!(response.get("error").is_some(), "{method} {params}: {response}");
        response["error"].clone()
    }

    /// The next request of the agent that was not looked at.
    pub(crate) async fn agent_request(&mut self) -> Value {
        self.asked += 1;
        let is_request = |message: &Value| message.get("method").is_some() && message.get("id").is_some();
        self.nth_from(0, "a request", self.asked, is_request).await.value
    }

    /// Permits what the agent asks for next.
    pub(crate) async fn permit(&mut self) {
        let request = self.agent_request().await;
        assert_eq!(request["method"], "session/request_permission", "{request}");
        self.answer(&request, &json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } }));
    }

    pub(crate) async fn new_session(&mut self, cwd: &str) -> Value {
        let opened = self.ask("session/new", &json!({ "cwd": cwd, "mcpServers": [] })).await;
        opened["sessionId"].as_str().expect("a session has an id").clone_into(&mut self.session);
        opened
    }

    /// Loads a session with its history.
    pub(crate) async fn load(&mut self, session: &str, cwd: &str) -> Value {
        session.clone_into(&mut self.session);
        let method = if self.version == 1 { "session/load" } else { "session/resume" };
        let from = json!({ "type": "start" });
        let params = json!({ "sessionId": session, "cwd": cwd, "mcpServers": [], "replayFrom": from });
        self.ask(method, &params).await
    }

    /// Sends a prompt; in version 1 the answer comes with the end of the turn.
    pub(crate) fn prompt(&mut self, text: &str) -> u64 {
        let params = json!({ "sessionId": self.session, "prompt": content(text) });
        self.send("session/prompt", &params)
    }

    /// A whole turn.
    pub(crate) async fn turn(&mut self, text: &str) -> TurnOver {
        self.turn_with(text, &content(text)).await
    }

    /// A whole turn, whose prompt is this content with that text.
    pub(crate) async fn turn_with(&mut self, text: &str, content: &Value) -> TurnOver {
        let from = self.log.len();
        let id = self.send("session/prompt", &json!({ "sessionId": self.session, "prompt": content }));
        if self.version == 1 {
            let message =
                self.nth_from(from, "the end of a turn", 1, move |message| is_response(message, id)).await;
            return TurnOver::of(&message);
        }
        // Turns of others may end meanwhile.
        let begun = self.place_of_user(from, text).await;
        self.over_from(begun).await
    }

    /// Where in the log, from a place on, the user says this.
    pub(crate) async fn place_of_user(&mut self, from: usize, words: &str) -> usize {
        let is_it = |message: &Value| {
            let update = &message["params"]["update"];
            let kind = update["sessionUpdate"].as_str().unwrap_or_default();
            kind.starts_with("user_message") && text(&update["content"]) == words
        };
        self.nth_from(from, words, 1, is_it).await;
        let behind = self.log[from..].iter().position(|heard| is_it(&heard.value));
        from + behind.expect("it was just seen")
    }

    /// Sends a steer; gives the id of the request.
    pub(crate) fn steer(&mut self, text: &str) -> u64 {
        let params = json!({ "sessionId": self.session, "mode": "steer", "content": content(text) });
        self.send("session/inject", &params)
    }

    pub(crate) fn cancel(&mut self) {
        let params = json!({ "sessionId": self.session });
        self.note("session/cancel", &params);
    }

    pub(crate) async fn set_option(&mut self, option: &str, value: &str) -> Value {
        let params = json!({ "sessionId": self.session, "configId": option, "value": value, "type": "id" });
        self.ask("session/set_config_option", &params).await
    }

    /// Waits for the first end of a turn from this place in the log on.
    pub(crate) async fn over_from(&mut self, from: usize) -> TurnOver {
        let prompts: Vec<u64> = (1..)
            .zip(&self.sent)
            .filter(|(_, method)| *method == "session/prompt")
            .map(|(id, _)| id)
            .collect();
        let is_v1 = self.version == 1;
        let is_prompt = move |id: &Value| is_v1 && id.as_u64().is_some_and(|id| prompts.contains(&id));
        let is_over = move |message: &Value| {
            let update = &message["params"]["update"];
            let states = [update, &update["_meta"]];
            (message.get("method").is_none() && is_prompt(&message["id"]))
                || states.iter().any(|state| state["state"] == "idle" && state["stopReason"].is_string())
        };
        TurnOver::of(&self.nth_from(from, "the end of a turn", 1, is_over).await)
    }

    /// Waits until something was heard that has this in it.
    pub(crate) async fn heard(&mut self, words: &str) {
        while !self.log.iter().any(|heard| heard.line.contains(words)) {
            self.receive(words).await;
        }
    }

    /// Waits for options of the session among which this one can have this value.
    pub(crate) async fn offered(&mut self, option: &str, value: &str) -> Value {
        // With the session, or told later.
        let options = |message: &Value| {
            let places = [&message["params"]["update"], &message["result"]];
            let options = places.map(|place| place["configOptions"].clone());
            options.into_iter().find(Value::is_array).unwrap_or_default()
        };
        let is_it = |message: &Value| values(&options(message), option).iter().any(|known| known == value);
        options(&self.until(value, is_it).await.value)
    }

    /// The updates there have been, in order.
    pub(crate) fn updates(&self) -> impl Iterator<Item = &Value> {
        self.log.iter().map(|heard| &heard.value["params"]["update"]).filter(|update| !update.is_null())
    }

    /// All that the agent has said.
    pub(crate) fn agent_text(&self) -> String {
        let said = self.updates().filter(|update| {
            let kind = update["sessionUpdate"].as_str().unwrap_or_default();
            matches!(kind, "agent_message" | "agent_message_chunk")
        });
        said.map(|update| text(&update["content"])).collect()
    }

    /// What was heard, shortened, for people.
    pub(crate) fn story(&self) -> Vec<String> {
        self.log.iter().map(|heard| heard.line.chars().take(300).collect()).collect()
    }

    /// Leaves, and gives all lines that it heard.
    pub(crate) async fn leave(mut self) -> Vec<String> {
        drop(std::mem::replace(&mut self.lines, mpsc::unbounded_channel().0));
        let mut lines: Vec<String> = self.log.drain(..).map(|heard| heard.line).collect();
        while let Ok(Some(heard)) = timeout(PATIENCE, self.heard.recv()).await {
            lines.push(heard.line);
        }
        lines
    }
}

fn greeting(version: u64, capabilities: &Value) -> Value {
    if version == 1 {
        return json!({ "protocolVersion": 1, "clientCapabilities": capabilities });
    }
    let info = json!({ "name": "test", "version": "1" });
    json!({ "protocolVersion": 2, "capabilities": capabilities, "info": info })
}
