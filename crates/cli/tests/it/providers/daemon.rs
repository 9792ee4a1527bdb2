//! A daemon that runs takes over a login, and its end, at once.

use std::time::Duration;

use nudge_testkit::Process;
use serde_json::{Value, json};

use super::{Home, KEY};

struct Client {
    process: Process,
    next: u64,
    /// Notifications that came.
    told: Vec<Value>,
}

impl Client {
    fn of(home: &Home) -> Self {
        let env = home.env();
        let own = env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        // An Ollama of the machine that tests is not to be found.
        let more = [("NUDGE_LINGER", "5"), ("NUDGE_DAEMON", "on"), ("OLLAMA_HOST", "")];
        let env: Vec<_> = own.chain(more).collect();
        let process = Process::start(env!("CARGO_BIN_EXE_nudge"), &["acp", "--provider", "custom"], &env);
        let mut client = Self { process, next: 0, told: Vec::new() };
        client.ask("initialize", &json!({ "protocolVersion": 1, "clientCapabilities": {} }));
        client
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.process
            .line(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        loop {
            let message = self.process.next_json().expect("it answers");
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.told.push(message);
        }
    }

    /// The address of the provider, as the client is told it.
    fn address(&mut self) -> Value {
        let listed = self.ask("providers/list", &json!({}));
        let listed = listed["result"]["providers"].as_array().expect("a list").clone();
        let custom = listed.into_iter().find(|provider| provider["providerId"] == "custom");
        custom.expect("it is listed")["current"]["baseUrl"].clone()
    }

    /// Waits until the client is told that its status is this.
    fn status(&mut self, state: &str) {
        let is_it = |message: &Value| {
            message["method"] == "auth/status_update" && message["params"]["state"] == state
        };
        while !self.told.iter().any(is_it) {
            let message = self.process.json_within(Duration::from_secs(30));
            self.told.push(message.expect("it comes soon").expect("it goes on"));
        }
        self.told.clear();
    }
}

#[test]
fn a_login_counts_for_sessions_that_run() {
    let home = Home::new();
    let mut client = Client::of(&home);
    assert_eq!(client.address(), Value::Null);
    let status = client.ask("auth/status", &json!({}));
    assert_eq!(status["result"]["state"], "unauthenticated", "{status}");
    home.sign_in();
    assert_eq!(client.address(), json!(home.url()), "it is seen at once");
    client.status("authenticated");
    let cwd = home.path("").to_str().expect("its name is text").to_owned();
    let opened = client.ask("session/new", &json!({ "cwd": cwd, "mcpServers": [] }));
    let session = opened["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "sing" }] });
    let ended = client.ask("session/prompt", &prompt);
    assert_eq!(ended["result"]["stopReason"], "end_turn", "{ended}");
    let asked = home.provider.requests().pop().expect("it was asked");
    assert!(asked.last_user().contains("sing") && asked.has_header("authorization"), "{}", asked.summary());
    let before = home.provider.requests().len();
    home.said(&["logout"], "");
    assert_eq!(client.address(), Value::Null, "so is its end");
    let refused = client.ask("session/prompt", &prompt);
    assert!(refused.get("error").is_some() || refused["result"]["stopReason"] != "end_turn", "{refused}");
    assert_eq!(home.provider.requests().len(), before, "nobody is asked with a key that is forgotten");
    client.status("unauthenticated");
    let log = std::fs::read_to_string(home.path("data/daemon.log")).unwrap_or_default();
    assert!(!log.contains("hush") && !format!("{:?}", client.told).contains(KEY));
}
