//! What a v1 client is sent of a v2 session grows with what comes, and the last of it always arrives.

use std::collections::BTreeMap;

use nudge_wire::{
    RawJson,
    bridge::{ToV1, ToV2, V1Client},
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// One v1 client, and what it has been sent.
#[derive(Default)]
struct Client {
    bridge: ToV1,
    came: usize,
    sent: usize,
    /// The content of each tool call, as texts.
    calls: BTreeMap<String, Vec<String>>,
}

impl Client {
    fn new() -> Self {
        Self { bridge: ToV1::new(V1Client::default()), ..Self::default() }
    }

    fn take(&mut self, update: &Value) {
        let update = RawJson::of(update).expect("JSON");
        self.came += update.as_str().len();
        let given = self.bridge.update(&update);
        self.show(given);
    }

    fn flush(&mut self) {
        let given = self.bridge.flush();
        self.show(given);
        assert_eq!(self.bridge.unsent(), None);
    }

    fn show(&mut self, given: Vec<RawJson>) {
        for update in given {
            self.sent += update.as_str().len();
            let update: Value = update.to().expect("JSON");
            if let Some(content) = update["content"].as_array().filter(|_| update["toolCallId"].is_string()) {
                let id = update["toolCallId"].as_str().expect("an id").to_owned();
                self.calls.insert(id, content.iter().map(words).collect());
            }
        }
    }

    fn text(&self, id: &str) -> String {
        self.calls.get(id).map(|content| content.concat()).unwrap_or_default()
    }
}

fn words(item: &Value) -> String {
    item["content"]["text"].as_str().unwrap_or_default().to_owned()
}

fn text_item(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

fn chunk(id: &str, text: &str) -> Value {
    json!({ "sessionUpdate": "tool_call_content_chunk", "toolCallId": id, "content": text_item(text) })
}

fn call(id: &str, status: &str) -> Value {
    json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "title": "Run", "status": status })
}

fn output(id: &str, data: &str) -> Value {
    json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": id, "data": data })
}

#[test]
fn ten_thousand_chunks_are_not_sent_ten_thousand_times() {
    let mut client = Client::new();
    client.take(&call("c", "in_progress"));
    let line = "x".repeat(100);
    for _ in 0..10_000 {
        client.take(&chunk("c", &line));
    }
    client.take(&chunk("c", "last"));
    assert!(client.sent < 4 * client.came, "{} bytes became {}", client.came, client.sent);
    client.take(&call("c", "completed"));
    assert!(client.text("c").ends_with("last"), "with the end of the tool call");
    assert!(client.sent < 4 * client.came, "{} bytes became {}", client.came, client.sent);
}

#[test]
fn the_output_of_a_terminal_is_not_sent_with_every_byte() {
    for calls in [1, 20] {
        let mut client = Client::new();
        let terminal = json!([{ "type": "terminal", "terminalId": "t" }]);
        for id in 0..calls {
            let mut update = call(&format!("c{id}"), "in_progress");
            update["content"] = terminal.clone();
            client.take(&update);
        }
        for _ in 0..10_000 {
            client.take(&output("t", "eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4Cg=="));
        }
        client.take(&output("t", "bGFzdA=="));
        // A few short ones for each tool call come on top.
        assert!(client.sent < 4 * client.came + calls * 40_000, "{} became {}", client.came, client.sent);
        client.take(&json!({ "sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": { "exitCode": 0 } }));
        for id in 0..calls {
            assert!(client.text(&format!("c{id}")).contains("last\n```\nExit code 0"), "with the end of it");
        }
    }
}

#[test]
fn what_is_held_back_comes_before_what_depends_on_it() {
    let state = |state: &str| json!({ "sessionUpdate": "state_update", "state": state });
    for (next, is_due) in [
        (call("c", "completed"), true),
        (call("c", "failed"), true),
        (state("idle"), true),
        (state("requires_action"), true),
        (state("running"), false),
        (call("c", "in_progress"), false),
        (call("d", "completed"), false),
        (chunk("d", "x"), false),
    ] {
        let mut client = Client::new();
        client.take(&chunk("c", &"x".repeat(5000)));
        client.take(&chunk("c", "last"));
        assert!(client.bridge.unsent().is_some_and(|bytes| bytes > 5000));
        client.take(&next);
        assert_eq!(client.text("c").ends_with("last"), is_due, "{next}");
        client.flush();
        assert!(client.text("c").ends_with("last"));
    }
}

#[test]
fn what_is_forgotten_is_sent_before() {
    let mut client = Client::new();
    client.take(&chunk("c", &"x".repeat(5000)));
    client.take(&chunk("c", "last"));
    for other in 0..2000 {
        client.take(&call(&format!("o{other}"), "in_progress"));
    }
    assert!(client.text("c").ends_with("last"), "more tool calls than are remembered");
    let mut client = Client::new();
    client.take(&chunk("c", &"x".repeat(5000)));
    client.take(&chunk("c", "last"));
    for other in 0..20 {
        client.take(&chunk(&format!("o{other}"), &"x".repeat(250_000)));
    }
    assert!(client.text("c").ends_with("last"), "more content than is remembered");
}

#[test]
fn what_chunks_say_beside_their_content_arrives() {
    let mut client = Client::new();
    client.take(&chunk("c", &"x".repeat(5000)));
    for (name, value) in [("a", 1), ("b", 2), ("a", 3)] {
        let mut update = chunk("c", "y");
        update[name] = json!(value);
        client.take(&update);
    }
    let [last] = &client.bridge.flush()[..] else { panic!("one tool call") };
    let last: Value = last.to().unwrap();
    assert_eq!((&last["a"], &last["b"]), (&json!(3), &json!(2)));
}

/// What happens to one of two tool calls, or beside them.
fn update() -> impl Strategy<Value = Value> {
    let id = || prop::sample::select(vec!["c", "d"]);
    let length = prop_oneof![4 => 0..200_usize, 1 => 0..6000_usize];
    let status = prop::sample::select(vec!["pending", "in_progress", "completed", "failed"]);
    prop_oneof![
        12 => (id(), length).prop_map(|(id, length)| chunk(id, &"x".repeat(length))),
        1 => (id(), status).prop_map(|(id, status)| call(id, status)),
        1 => (id(), 0..3000_usize).prop_map(|(id, length)| {
            let mut update = call(id, "in_progress");
            update["content"] = json!([text_item(&"y".repeat(length))]);
            update
        }),
        1 => Just(json!({ "sessionUpdate": "agent_message_chunk", "messageId": "m", "content": { "type": "text", "text": "z" } })),
        1 => Just(json!({ "sessionUpdate": "state_update", "state": "running" })),
    ]
}

proptest! {
    #[test]
    fn bytes_grow_with_what_comes_and_the_last_state_arrives(
        updates in prop::collection::vec(update(), 1..200),
    ) {
        let mut client = Client::new();
        let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for update in &updates {
            client.take(update);
            let Some(id) = update["toolCallId"].as_str() else { continue };
            match &update["content"] {
                Value::Array(items) => {
                    expected.insert(id.to_owned(), items.iter().map(words).collect());
                }
                Value::Object(_) => {
                    expected.entry(id.to_owned()).or_default().push(words(&update["content"]));
                }
                _ => {}
            }
        }
        client.flush();
        prop_assert_eq!(&client.calls, &expected);
        prop_assert!(client.sent <= 10 * client.came + 4096, "{} became {}", client.came, client.sent);
    }

    /// The other way round a v1 agent sends all of it itself.
    #[test]
    fn from_v1_nothing_is_sent_that_did_not_come(lengths in prop::collection::vec(0..400_usize, 1..50)) {
        let mut bridge = ToV2::new("n-");
        let (mut came, mut sent, mut content) = (0, 0, Vec::new());
        let mut last = Value::Null;
        for length in lengths {
            content.push(text_item(&"x".repeat(length)));
            let update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "content": content });
            let update = RawJson::of(&update).expect("JSON");
            came += update.as_str().len();
            for given in bridge.update(&update) {
                sent += given.as_str().len();
                last = given.to().expect("JSON");
            }
        }
        prop_assert_eq!(&last["content"], &json!(content));
        prop_assert!(sent <= came + 4096);
    }
}
