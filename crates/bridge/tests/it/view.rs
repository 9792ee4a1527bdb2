//! A session of v2 updates looks the same to a simple v1 client, through the bridge, as to a simple v2 client.

use std::collections::BTreeMap;

use nudge_bridge::{ToV1, V1Client};
use nudge_wire::{RawJson, acp::v2};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What a client shows of a session.
#[derive(Debug, Default, Clone, PartialEq)]
struct View {
    /// Texts by message id.
    messages: BTreeMap<String, String>,
    calls: BTreeMap<String, Shown>,
}

#[derive(Debug, Default, Clone, PartialEq)]
struct Shown {
    title: Option<String>,
    status: Option<String>,
    content: Vec<String>,
}

impl View {
    /// Reads an update as the v2 pages say.
    fn read_v2(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str().expect("a kind") {
            "agent_message_chunk" | "user_message_chunk" | "agent_thought_chunk" => {
                *self.message(update) += &words(&update["content"]);
            }
            "agent_message" | "user_message" | "agent_thought" => {
                if let Some(content) = update.get("content") {
                    *self.message(update) = content.as_array().into_iter().flatten().map(words).collect();
                }
            }
            "tool_call_update" => {
                let call = self.call(update);
                let patch = |member: &str, place: &mut Option<String>| {
                    if let Some(value) = update.get(member) {
                        *place = value.as_str().map(str::to_owned);
                    }
                };
                patch("title", &mut call.title);
                patch("status", &mut call.status);
                if let Some(content) = update.get("content") {
                    call.content = item_words(content);
                }
            }
            "tool_call_content_chunk" => {
                let item = words(&update["content"]["content"]);
                self.call(update).content.push(item);
            }
            other => panic!("{other}"),
        }
    }

    /// Reads an update as the v1 pages say, and the bridge's notes on what takes the place of what.
    fn read_v1(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str().expect("a kind") {
            "agent_message_chunk" | "user_message_chunk" | "agent_thought_chunk" => {
                let nudge = &update["_meta"]["nudge"];
                let id = nudge["messageId"].as_str().or(update["messageId"].as_str()).expect("an id");
                let message = self.messages.entry(id.to_owned()).or_default();
                if nudge["replaces"] == json!(true) {
                    message.clear();
                }
                *message += &words(&update["content"]);
            }
            kind @ ("tool_call" | "tool_call_update") => {
                let known = self.calls.contains_key(update["toolCallId"].as_str().expect("an id"));
                assert_eq!(known, kind == "tool_call_update", "created once, then changed: {update}");
                assert!(
                    kind == "tool_call_update" || update["title"].is_string(),
                    "v1 wants a title: {update}"
                );
                let call = self.call(update);
                if let Some(title) = update["title"].as_str() {
                    call.title = Some(title.to_owned());
                }
                if let Some(status) = update["status"].as_str() {
                    call.status = Some(status.to_owned());
                }
                if let Some(content) = update.get("content").filter(|content| content.is_array()) {
                    call.content = item_words(content);
                }
            }
            other => panic!("{other}"),
        }
    }

    fn message(&mut self, update: &Value) -> &mut String {
        self.messages.entry(update["messageId"].as_str().expect("an id").to_owned()).or_default()
    }

    fn call(&mut self, update: &Value) -> &mut Shown {
        self.calls.entry(update["toolCallId"].as_str().expect("an id").to_owned()).or_default()
    }

    /// What v1 can show of what v2 shows.
    fn projected(mut self) -> Self {
        // A message that was cleared stays on a v1 screen.
        self.messages.retain(|_, text| !text.is_empty());
        for call in self.calls.values_mut() {
            call.title.get_or_insert_with(|| "Tool call".to_owned());
            let status = call.status.get_or_insert_with(|| "pending".to_owned());
            match status.as_str() {
                "cancelled" => "failed".clone_into(status),
                "paused" => "in_progress".clone_into(status),
                _ => {}
            }
        }
        self
    }
}

fn words(block: &Value) -> String {
    block["text"].as_str().map_or_else(|| format!("<{}>", block["type"]), str::to_owned)
}

fn item_words(content: &Value) -> Vec<String> {
    content.as_array().into_iter().flatten().map(|item| words(&item["content"])).collect()
}

fn block() -> impl Strategy<Value = Value> {
    let text = prop::sample::select(vec!["", "a", "ab", "é", "aé", "b"]);
    prop_oneof![
        9 => text.prop_map(|text| json!({ "type": "text", "text": text })),
        1 => Just(json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" })),
    ]
}

/// Absent, `null` or a value.
fn patch(value: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Option<Value>> {
    prop_oneof![2 => Just(None), 1 => Just(Some(Value::Null)), 4 => value.prop_map(Some)]
}

fn message_update() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec!["agent_message", "user_message", "agent_thought"]);
    let content = patch(prop::collection::vec(block(), 0..4).prop_map(Value::Array));
    (kind, any::<bool>(), 0..2_u8, block(), content).prop_map(|(kind, chunk, id, block, content)| {
        // An id belongs to one kind of message.
        let id = format!("{kind}-{id}");
        if chunk {
            return json!({ "sessionUpdate": format!("{kind}_chunk"), "messageId": id, "content": block });
        }
        let mut update = json!({ "sessionUpdate": kind, "messageId": id });
        if let Some(content) = content {
            update["content"] = content;
        }
        update
    })
}

fn call_update() -> impl Strategy<Value = Value> {
    let item = || block().prop_map(|block| json!({ "type": "content", "content": block }));
    let title = patch(prop::sample::select(vec!["Read", "Write"]).prop_map(Value::from));
    let statuses = vec!["pending", "in_progress", "paused", "completed", "failed", "cancelled"];
    let status = patch(prop::sample::select(statuses).prop_map(Value::from));
    let content = patch(prop::collection::vec(item(), 0..3).prop_map(Value::Array));
    (0..2_u8, any::<bool>(), item(), title, status, content).prop_map(|(id, chunk, item, title, status, content)| {
        let id = format!("call-{id}");
        if chunk {
            return json!({ "sessionUpdate": "tool_call_content_chunk", "toolCallId": id, "content": item });
        }
        let mut update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id });
        for (name, value) in [("title", title), ("status", status), ("content", content)] {
            if let Some(value) = value {
                update[name] = value;
            }
        }
        update
    })
}

/// The update as the official type writes it.
fn typed(update: &Value) -> Value {
    let typed: v2::SessionUpdate = serde_json::from_str(&update.to_string()).expect("an update of v2");
    assert!(!matches!(typed, v2::SessionUpdate::Other(_)), "{update}");
    serde_json::to_value(typed).expect("what was read can be written")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_v1_client_sees_what_a_v2_client_sees(
        updates in prop::collection::vec(prop_oneof![message_update(), call_update()], 1..24),
    ) {
        let mut bridge = ToV1::new(V1Client::default());
        let (mut v2, mut v1) = (View::default(), View::default());
        for update in &updates {
            let update = typed(update);
            v2.read_v2(&update);
            for given in bridge.update(&RawJson::of(&update).expect("JSON")) {
                v1.read_v1(&given.to().expect("JSON"));
            }
            let expected = v2.clone().projected();
            let mut seen = v1.clone().projected();
            seen.messages.retain(|id, _| expected.messages.contains_key(id));
            prop_assert_eq!(&seen, &expected, "after {}", update);
        }
    }
}
