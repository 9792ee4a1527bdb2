//! What a v1 client is sent of a v2 session grows with what comes, and the last of it always arrives.

use std::collections::BTreeMap;

use nudge_bridge::{ToV1, ToV2, V1Client};
use nudge_wire::RawJson;
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
    /// What each update of a tool call said beside the content.
    said: Vec<Value>,
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
            self.said.push(update);
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

fn reference(id: &str) -> Value {
    json!({ "type": "terminal", "terminalId": id })
}

fn exit(id: &str, status: &Value) -> Value {
    json!({ "sessionUpdate": "terminal_update", "terminalId": id, "exitStatus": status })
}

/// This many letters in base64; three are four.
fn base64(length: usize) -> String {
    "eXl5".repeat(length.div_ceil(3))
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
fn a_terminal_is_shown_once_in_a_tool_call() {
    let mut client = Client::new();
    client.take(&output("t", &base64(16_000)));
    let mut update = call("c", "in_progress");
    update["content"] = json!(vec![reference("t"); 1000]);
    client.take(&update);
    client.take(
        &json!({ "sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": reference("t") }),
    );
    client.take(&output("t", "eA=="));
    client.flush();
    assert_eq!(client.calls["c"].len(), 1);
    assert!(client.sent < 2 * client.came, "{} became {}", client.came, client.sent);
}

#[test]
fn short_references_to_long_output_wait() {
    const TURNS: usize = 200;
    let many = |update: &mut dyn FnMut(usize) -> Vec<Value>| {
        let mut client = Client::new();
        client.take(&output("t", &base64(16_000)));
        for turn in 0..TURNS {
            for update in update(turn) {
                client.take(&update);
            }
        }
        assert!(client.sent < 8 * client.came + 300_000, "{} became {}", client.came, client.sent);
        client.flush();
        client
    };
    let showing = |id: &str, content: Value| {
        let mut update = call(id, "in_progress");
        update["content"] = content;
        update
    };
    let client = many(&mut |_| vec![showing("c", json!([reference("t")]))]);
    assert!(client.text("c").contains("yyy"), "content that is replaced by the same");
    let client = many(&mut |_| vec![showing("c", json!([])), showing("c", json!([reference("t")]))]);
    assert!(client.text("c").contains("yyy"), "content that comes and goes");
    let client = many(&mut |turn| vec![showing(&format!("c{turn}"), json!([reference("t")]))]);
    assert!(client.text("c199").contains("yyy"), "many tool calls");
    let client = many(&mut |turn| {
        let id = format!("c{turn}");
        vec![showing(&id, json!([reference("t")])), output("t", "eA=="), call(&id, "completed")]
    });
    assert!(client.text("c199").contains("yyy"), "many tool calls that end");
}

#[test]
fn the_end_of_a_terminal_is_not_that_of_others() {
    for id in ["q", "own"] {
        let mut client = Client::new();
        client.take(&chunk("c", &"x".repeat(200_000)));
        client.take(&json!({ "sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": reference("own") }));
        for turn in 0..100 {
            client.take(&chunk("c", "z"));
            let id = if id == "q" { format!("q{turn}") } else { id.to_owned() };
            client.take(&exit(&id, &json!({ "exitCode": 0 })));
            client.take(&exit(&id, &Value::Null));
        }
        assert!(client.sent < 4 * client.came, "{id}: {} became {}", client.came, client.sent);
        client.take(&call("c", "completed"));
        assert!(client.text("c").contains("zzz"));
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

/// What happens to one of two tool calls, to one of three terminals, or beside them.
fn update() -> impl Strategy<Value = Value> {
    let id = || prop::sample::select(vec!["c", "d"]);
    let terminal = || prop::sample::select(vec!["t", "u", "v"]);
    let length = prop_oneof![4 => 0..200_usize, 1 => 0..2000_usize];
    let written = prop_oneof![4 => 0..30_usize, 1 => 0..8000_usize];
    let status = prop::sample::select(vec!["pending", "in_progress", "completed", "failed"]);
    let item = prop_oneof![
        (0..1000_usize).prop_map(|length| text_item(&"y".repeat(length))),
        terminal().prop_map(reference),
    ];
    let ended = prop::sample::select(vec![Value::Null, json!({ "exitCode": 1 })]);
    prop_oneof![
        12 => (id(), length).prop_map(|(id, length)| chunk(id, &"x".repeat(length))),
        2 => (id(), terminal()).prop_map(|(id, terminal)| {
            json!({ "sessionUpdate": "tool_call_content_chunk", "toolCallId": id, "content": reference(terminal) })
        }),
        6 => (terminal(), written).prop_map(|(id, length)| output(id, &base64(length))),
        2 => (terminal(), ended).prop_map(|(id, status)| exit(id, &status)),
        1 => (id(), status).prop_map(|(id, status)| call(id, status)),
        3 => (id(), prop::collection::vec(item, 0..6)).prop_map(|(id, items)| {
            let mut update = call(id, "in_progress");
            update["content"] = json!(items);
            update
        }),
        1 => Just(json!({ "sessionUpdate": "agent_message_chunk", "messageId": "m", "content": { "type": "text", "text": "z" } })),
        1 => Just(json!({ "sessionUpdate": "state_update", "state": "running" })),
    ]
}

/// What a client knows that is told each tool call once, when all is over.
fn told_at_the_end(updates: &[Value]) -> Client {
    let mut client = Client::new();
    let mut contents: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for update in updates {
        match (&update["toolCallId"], &update["content"]) {
            (Value::String(id), Value::Array(items)) => drop(contents.insert(id, items.clone())),
            (Value::String(id), item @ Value::Object(_)) => {
                contents.entry(id).or_default().push(item.clone());
            }
            (Value::String(_), _) => {}
            _ => client.take(update),
        }
    }
    for (id, content) in contents {
        client.take(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "content": content }));
    }
    client.flush();
    client
}

/// Updates of one tool call, with what each says beside the content counted up, and a status that only goes on.
fn steps() -> impl Strategy<Value = Vec<Value>> {
    let step = (0..4_u8, prop_oneof![3 => 0..40_usize, 1 => 0..4000_usize], 0..6_u8, 0..12_u8);
    prop::collection::vec(step, 1..60).prop_map(|steps| {
        let mut reached = 0;
        let build = |(number, (form, length, beside, advance)): (usize, (u8, usize, u8, u8))| {
            let mut update = match form {
                0 => json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c" }),
                1 => json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "content": [text_item(&"y".repeat(length))] }),
                _ => chunk("c", &"x".repeat(length)),
            };
            if beside < 2 {
                update["_meta"] = json!({ "step": number });
            }
            if beside % 2 == 0 {
                update["extra"] = json!(number);
            }
            reached = (reached + usize::from(advance == 0)).min(2);
            if advance < 3 {
                update["status"] = json!(STATUSES[reached]);
            }
            update
        };
        steps.into_iter().enumerate().map(build).collect()
    })
}

const STATUSES: [&str; 3] = ["pending", "in_progress", "completed"];

/// The values that one member took, in order.
fn values(updates: &[Value], pointer: &str) -> Vec<Value> {
    updates.iter().filter_map(|update| update.pointer(pointer)).cloned().collect()
}

proptest! {
    #[test]
    fn bytes_grow_with_what_comes_and_the_last_state_arrives(
        updates in prop::collection::vec(update(), 1..100),
    ) {
        let mut client = Client::new();
        for update in &updates {
            client.take(update);
        }
        client.flush();
        prop_assert_eq!(&client.calls, &told_at_the_end(&updates).calls);
        prop_assert!(client.sent <= 10 * client.came + 300_000, "{} became {}", client.came, client.sent);
    }

    #[test]
    fn what_updates_say_beside_their_content_comes_in_order(updates in steps()) {
        let mut client = Client::new();
        for update in &updates {
            client.take(update);
        }
        client.flush();
        for pointer in ["/_meta/step", "/extra"] {
            let said = values(&client.said, pointer);
            prop_assert!(said.is_sorted_by_key(Value::as_u64), "{} {:?}", pointer, said);
            prop_assert_eq!(said.last().cloned(), values(&updates, pointer).last().cloned());
        }
        let said = values(&client.said, "/status");
        let rank = |value: &Value| STATUSES.iter().position(|status| value == status);
        prop_assert!(said.is_sorted_by_key(rank), "{:?}", said);
        prop_assert_eq!(said.last().cloned(), values(&updates, "/status").last().cloned());
        prop_assert_eq!(&client.calls, &told_at_the_end(&updates).calls);
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
