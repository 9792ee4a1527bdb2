//! What Nudge sent in a conversation, as its trace has it.

use std::{collections::HashMap, fs, path::Path};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::programs::package;

/// What Nudge sent, each with the method it belongs to.
pub(super) fn read(trace: &str) -> Vec<(String, Value)> {
    let text = fs::read_to_string(trace).expect("the trace is written");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("the trace is JSON"));
    let mut asked: HashMap<String, String> = HashMap::new();
    let mut sent = Vec::new();
    for mut line in lines {
        let frame = line["frame"].take();
        let method = frame["method"].as_str().map(str::to_owned);
        let id = frame["id"].to_string();
        match (line["direction"].as_str(), method) {
            (Some("in"), Some(method)) => drop(asked.insert(id, method)),
            (Some("in"), None) => {}
            (_, Some(method)) => sent.push((method, frame)),
            (_, None) => sent.push((asked.get(&id).expect("an answer has a request").clone(), frame)),
        }
    }
    sent
}

/// Asserts that each update that was sent has reached the client, in order.
pub(super) fn check_updates(sent: &[(String, Value)], events: &[Value]) {
    let updates = sent.iter().filter(|(method, _)| method == "session/update");
    let sent = updates.map(|(_, frame)| essence(&frame["params"]["update"]));
    let heard = events.iter().filter_map(|event| Some(essence(event.get("update")?)));
    assert_eq!(heard.collect::<Vec<_>>(), sent.collect::<Vec<_>>());
}

/// What no SDK may lose of an update.
fn essence(update: &Value) -> Value {
    let members = ["sessionUpdate", "messageId", "toolCallId", "status", "title", "state", "stopReason"];
    let kept = members.iter().filter(|member| !update[**member].is_null());
    let mut essence: Value = kept.map(|member| ((*member).to_owned(), update[*member].clone())).collect();
    if update["sessionUpdate"] == "tool_call" && update["status"].is_null() {
        essence["status"] = "pending".into();
    }
    let content = |kind: &str| update["content"].as_array().map(|all| count(all, kind));
    essence["content"] = json!([content("content"), content("diff"), update["content"]["text"]]);
    essence
}

fn count(all: &[Value], kind: &str) -> usize {
    all.iter().filter(|content| content["type"] == kind).count()
}

/// Asserts that every message fits the schemas that come with the TypeScript SDK, without and with what is not yet
/// stable, or else the one of what Nudge adds.
pub(super) fn check_schema(version: u64, sent: &[(String, Value)]) {
    let folder = package().join(format!("js/node_modules/@agentclientprotocol/sdk/schema/v{version}"));
    if !folder.is_dir() {
        nudge_testkit::skipped("the schemas are not installed; run crates/interop/setup");
        return;
    }
    let added = Schema::read(&package().join("../../spec/schema/inject.json"));
    for file in ["schema.json", "schema.unstable.json"] {
        let official = Schema::read(&folder.join(file));
        for (method, frame) in sent {
            let known = official.problems(method, frame).or_else(|| added.problems(method, frame));
            let problems = known.unwrap_or_else(|| panic!("{file} does not know {frame}"));
            assert_eq!(problems, Vec::<String>::new(), "{file}: {frame}");
        }
    }
}

/// Definitions by method and kind of message.
struct Schema {
    validators: HashMap<(String, &'static str), Validator>,
}

impl Schema {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let root: Value = serde_json::from_str(&text).expect("a schema is JSON");
        let definitions = root["$defs"].as_object().expect("a schema has definitions");
        let mut validators = HashMap::new();
        for (name, definition) in definitions {
            let Some(kind) =
                ["Request", "Response", "Notification"].into_iter().find(|kind| name.ends_with(kind))
            else {
                continue;
            };
            // Nudge answers what is asked of the agent, and asks and tells the client.
            let is_sent = match definition["x-side"].as_str() {
                Some(side) => (side == "agent") == (kind == "Response"),
                None => kind == "Response",
            };
            if let Some(method) = definition["x-method"].as_str().filter(|_| is_sent) {
                let schema = json!({ "$ref": format!("#/$defs/{name}"), "$defs": definitions });
                let validator = jsonschema::validator_for(&schema).expect("a valid schema");
                validators.insert((method.to_owned(), kind), validator);
            }
        }
        Self { validators }
    }

    /// What is wrong with a message; `None` if it is none of these.
    fn problems(&self, method: &str, frame: &Value) -> Option<Vec<String>> {
        let (kind, payload) = match (frame.get("method"), frame.get("id")) {
            (Some(_), Some(_)) => ("Request", &frame["params"]),
            (Some(_), None) => ("Notification", &frame["params"]),
            _ => ("Response", frame.get("result")?),
        };
        let method = method.strip_prefix('_').filter(|method| method.ends_with("inject")).unwrap_or(method);
        let validator = self.validators.get(&(method.to_owned(), kind))?;
        Some(
            validator
                .iter_errors(payload)
                .map(|error| format!("{} {error}", error.instance_path()))
                .collect(),
        )
    }
}
