//! The examples of the protocol's pages about providers, sign-in, elicitation and options of sessions: what they ask is answered,
//! and what they show is what is said, member for member.

use std::time::Duration;

use nudge_gateway::ConnectionOptions;
use nudge_hub::Environment;
use nudge_peer::Transport;
use nudge_stage::StageProvider;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};

use super::{
    PATIENCE, Place,
    dialect::OLLAMA,
    heard::{Heard, read_all, write_all},
};

/// Bytes on their way.
const ROOM: usize = 64 * 1024;

/// A client that says lines as they are.
struct LineClient {
    heard: mpsc::UnboundedReceiver<Heard>,
    lines: mpsc::UnboundedSender<String>,
}

impl LineClient {
    fn connect(place: &Place) -> Self {
        let (ours, theirs) = tokio::io::duplex(ROOM);
        let (reader, writer) = tokio::io::split(theirs);
        let environment = Some(Environment::new(std::collections::BTreeMap::new()));
        let options = ConnectionOptions { environment, ..ConnectionOptions::default() };
        let served = place.gateway.connect(Transport::new(reader, writer), options);
        tokio::spawn(served.expect("memory can be connected").run());
        let (reader, writer) = tokio::io::split(ours);
        let (lines, said) = mpsc::unbounded_channel();
        tokio::spawn(write_all(writer, said));
        let (told, heard) = mpsc::unbounded_channel();
        tokio::spawn(read_all(reader, told));
        Self { heard, lines }
    }

    fn say(&self, frame: &str) {
        let _ = self.lines.send(format!("{frame}\n"));
    }

    async fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let heard = timeout(PATIENCE, self.heard.recv()).await;
            let heard = heard.unwrap_or_else(|_| panic!("{what} does not come")).expect("it goes on");
            if fits(&heard.value) {
                return heard.value;
            }
        }
    }

    /// Says a request; gives the answer to it, without what comes before.
    async fn ask(&mut self, frame: &str) -> Value {
        let id = serde_json::from_str::<Value>(frame).expect("a frame is JSON")["id"].clone();
        self.say(frame);
        self.until(frame, |message| message["id"] == id && message.get("method").is_none()).await
    }
}

/// Whether a value has all that the example has, in the same kinds. Where the example has nothing, anything may be; lists have
/// items like one of the example's, and the members of `properties` are named by who asks.
fn fits(example: &Value, value: &Value) -> bool {
    match (example, value) {
        (Value::Null, _) => true,
        (Value::Object(members), Value::Object(found)) => members.iter().all(|(name, member)| {
            found.get(name).is_some_and(|found| match (name.as_str(), member, found) {
                ("properties", Value::Object(members), Value::Object(found)) => {
                    found.values().all(|found| members.values().any(|member| fits(member, found)))
                }
                _ => fits(member, found),
            })
        }),
        (Value::Array(items), Value::Array(found)) => {
            found.iter().all(|found| items.is_empty() || items.iter().any(|item| fits(item, found)))
        }
        _ => std::mem::discriminant(example) == std::mem::discriminant(value),
    }
}

#[track_caller]
fn check(example: &str, value: &Value) {
    let example: Value = serde_json::from_str(example).expect("an example is JSON");
    assert!(fits(&example, value), "expected the shape of {example:#}, got {value:#}");
}

const GREETING: &str = r#"{ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": 1, "clientCapabilities": { "auth": { "terminal": true } } } }"#;
/// Without an `id` in the example, which therefore could not be answered.
const GREETING_BY_DATE: &str = r#"{ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-11-25", "clientCapabilities": { "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": true, "elicitation": { "form": {}, "url": {} } }, "clientInfo": { "name": "my-client", "version": "1.0.0" } } }"#;
const GREETING_V2: &str = r#"{ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": 2, "capabilities": {}, "clientInfo": { "name": "my-client", "title": "My Client", "version": "1.0.0" } } }"#;

/// What is asked in one frame, after a greeting: the frame, and the shape of its answer.
const ASKED: [(&str, &str); 4] = [
    (
        r#"{ "jsonrpc": "2.0", "id": 1, "method": "providers/list", "params": {} }"#,
        r#"{ "jsonrpc": "2.0", "id": 1, "result": { "providers": [ { "id": "main", "supported": ["bedrock", "vertex", "azure", "anthropic"], "required": true, "current": { "apiType": "anthropic", "baseUrl": "http://localhost/anthropic" } }, { "id": "openai", "supported": ["openai"], "required": false, "current": null } ] } }"#,
    ),
    (
        r#"{ "jsonrpc": "2.0", "id": 3, "method": "providers/disable", "params": { "id": "openai" } }"#,
        r#"{ "jsonrpc": "2.0", "id": 3, "result": {} }"#,
    ),
    (
        r#"{ "jsonrpc": "2.0", "id": 1, "method": "nes/start", "params": { "workspaceUri": "file:///Users/alice/projects/my-app", "workspaceFolders": [ { "uri": "file:///Users/alice/projects/my-app", "name": "my-app" } ], "repository": { "name": "my-app", "owner": "alice", "remoteUrl": "https://github.com/alice/my-app.git" } } }"#,
        r#"{ "jsonrpc": "2.0", "id": 1, "result": { "sessionId": "s" } }"#,
    ),
    (
        r#"{ "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": { "cwd": "/nowhere/project", "additionalDirectories": [ "/nowhere/shared-lib", "/nowhere/product-docs" ], "mcpServers": [] } }"#,
        r#"{ "jsonrpc": "2.0", "id": 1, "error": { "code": -32000, "message": "Authentication required", "data": { "reason": "auth_required" } } }"#,
    ),
];

#[tokio::test]
async fn what_is_asked_is_answered_in_the_shape_of_the_example() {
    let place = Place::new().await;
    for greeting in [GREETING, GREETING_V2] {
        for (asked, answer) in ASKED {
            let mut client = LineClient::connect(&place);
            client.ask(greeting).await;
            let answered = client.ask(asked).await;
            check(answer, &answered);
            let example: Value = serde_json::from_str(answer).unwrap();
            assert_eq!(example.get("error").is_some(), answered.get("error").is_some(), "{answered}");
            for place in ["/error/code", "/error/data/reason"] {
                assert_eq!(example.pointer(place), answered.pointer(place), "{answered}");
            }
        }
    }
}

#[tokio::test]
async fn greetings_are_answered_in_the_shape_of_the_examples() {
    let place = Place::new().await;
    let answer = LineClient::connect(&place).ask(GREETING).await;
    check(
        r#"{ "jsonrpc": "2.0", "id": 0, "result": { "protocolVersion": 1, "agentInfo": { "name": "MyAgent", "version": "2.0.0" }, "agentCapabilities": { "providers": {}, "sessionCapabilities": {} } } }"#,
        &answer,
    );
    check(
        r#"{ "jsonrpc": "2.0", "id": 0, "result": { "protocolVersion": 1, "agentCapabilities": { "auth": { "logout": {} } }, "authMethods": [ { "id": "agent-login", "name": "Agent login", "description": "Sign in using the agent's login flow" } ] } }"#,
        &answer,
    );
    assert_eq!(answer["result"]["agentCapabilities"]["auth"]["logout"], json!({}), "{answer}");
    assert_eq!(
        answer["result"]["authMethods"].as_array().map(Vec::len),
        Some(1),
        "the client has a terminal"
    );
    let answer = LineClient::connect(&place).ask(GREETING_V2).await;
    check(
        r#"{ "protocolVersion": 2, "capabilities": {}, "agentInfo": { "name": "MyAgent", "version": "2.0.0" }, "authMethods": [] }"#,
        &answer["result"],
    );
}

#[tokio::test]
async fn a_greeting_by_date_names_forms_and_pages_in_the_words_of_version_1() {
    let place = Place::with_page_lifetime(Duration::from_millis(1)).await;
    let mut client = LineClient::connect(&place);
    let answer = client.ask(GREETING_BY_DATE).await;
    assert_eq!(answer["result"]["protocolVersion"], 2, "{answer}");
    let methods = answer["result"]["authMethods"].as_array().expect("methods are listed");
    assert_eq!(methods.len(), 1, "it shows pages: {answer}");
    check(r#"{ "methodId": "agent-login", "name": "Agent login", "description": "Sign in" }"#, &methods[0]);
    // It shows forms, so the first session asks by one, about the request for it.
    client.say(r#"{ "jsonrpc": "2.0", "id": 12, "method": "session/new", "params": { "cwd": "/", "mcpServers": [] } }"#);
    let form = client.until("a form", |message| message["method"] == "elicitation/create").await;
    check(
        r#"{ "jsonrpc": "2.0", "id": 45, "method": "elicitation/create", "params": { "requestId": 12, "mode": "form", "message": "Please provide your workspace name to continue setup.", "requestedSchema": { "type": "object", "properties": { "workspaceName": { "type": "string", "title": "Workspace Name", "description": "The name of your workspace" } }, "required": ["workspaceName"] } } }"#,
        &form,
    );
    assert_eq!(form["params"]["requestId"], 12, "{form}");
    // A key is typed on a page, of which it is told when it is over.
    let choice = json!({ "jsonrpc": "2.0", "id": form["id"], "result": { "action": "accept", "content": { "choice": "key" } } });
    client.say(&choice.to_string());
    let complete = client.until("the end", |message| message["method"] == "elicitation/complete").await;
    check(
        r#"{ "jsonrpc": "2.0", "method": "elicitation/complete", "params": { "elicitationId": "github-oauth-001" } }"#,
        &complete,
    );
    let refused = client.until("an answer", |message| message["id"] == 12).await;
    assert_eq!(refused["error"]["code"], -32000, "nothing was typed in time: {refused}");
}

/// The option of this id, in either version.
fn option<'o>(options: &'o Value, id: &str) -> &'o Value {
    let mut options = options.as_array().expect("options are a list").iter();
    options.find(|option| option["id"] == id || option["configId"] == id).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn options_have_the_ids_categories_and_shapes_of_the_examples() {
    let (place, stage) = (Place::new().await, StageProvider::start().await);
    let mut client = place.session(1, OLLAMA, &stage).await;
    let options = client.offered("context_size", "8192").await;
    let shape = r#"{ "id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "model-1", "options": [ { "value": "model-1", "name": "Model 1" } ] }"#;
    for (id, category) in [("mode", "mode"), ("model", "model"), ("context_size", "model_config")] {
        let option = option(&options, id);
        check(shape, option);
        assert_eq!((&option["category"], &option["type"]), (&json!(category), &json!("select")), "{option}");
    }
    check(
        r#"[ { "value": "ask", "name": "Ask", "description": "Request permission" } ]"#,
        &option(&options, "mode")["options"],
    );
    // The page about suggestions has `enum` and `label`; they are written as all other options are.
    for version in [1, 2] {
        let mut client = place.client(version).await;
        let started = client.ask("nes/start", &json!({})).await;
        let engine = option(&started["configOptions"], "engine");
        check(
            r#"{ "name": "Prediction Model", "type": "select", "currentValue": "fast", "options": [ { "value": "fast", "name": "Fast" } ] }"#,
            engine,
        );
        assert_eq!(engine["type"], "select", "{engine}");
        assert!(engine["options"][0]["label"].is_null(), "{engine}");
    }
}
