//! What is said and done in a conversation, as a person would tell it.

use serde_json::Value;

/// The prompts of the first process and what follows each.
const TURNS: [(&str, &[&str]); 8] = [
    ("hello", &["agent: heard hello", "stop: end_turn"]),
    ("plan", &["plan", "thought: I think", "usage", "agent: planned", "stop: end_turn"]),
    (
        "read editor.txt",
        &["tool: pending", "tool: in_progress", "tool: completed", "agent: FILE", "stop: end_turn"],
    ),
    (
        "write allowed.txt words",
        &[
            "tool: pending",
            "asked",
            "tool: in_progress",
            "tool: completed",
            "agent: written",
            "stop: end_turn",
        ],
    ),
    (
        "write rejected.txt words",
        &["tool: pending", "asked", "tool: failed", "agent: written", "stop: end_turn"],
    ),
    ("write cancelled.txt words", &["tool: pending", "asked", "tool: CANCELLED", "stop: cancelled"]),
    ("talk", &["agent: word", "stop: cancelled"]),
    (
        "talk",
        &[
            "agent: word",
            "user: left",
            "agent: steered by left",
            "stop: end_turn",
            "user: later",
            "agent: heard later",
            "stop: end_turn",
        ],
    ),
];

/// Asserts that the events are those of the whole conversation.
pub(super) fn check(version: u64, events: &[Value]) {
    let second = events.iter().rposition(|event| event.get("initialized").is_some());
    let (first, second) = events.split_at(second.expect("a client initialises first"));
    // A client of version 1 knows what it said itself.
    assert_eq!(parts(told(first)), parts(told_of_turns(version, version == 2)));
    check_answers(first);

    let (lines, stops) = parts(told(second));
    assert_eq!(lines, parts(in_second_process(version)).0);
    // How things stand may be told with the history.
    assert_eq!(stops.last().map(String::as_str), Some("stop: end_turn"));
}

fn check_answers(events: &[Value]) {
    let last = |name: &str| events.iter().rev().find_map(|event| event.get(name)).unwrap_or(&Value::Null);
    let listed: Vec<_> = last("listed")["sessions"].as_array().into_iter().flatten().collect();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["sessionId"], last("opened")["sessionId"]);
    assert_eq!(listed[0]["title"], "hello");
    assert_eq!(events.iter().filter(|event| event["injected"]["messageId"].is_string()).count(), 2);
}

/// What was said, and how turns ended: an SDK may give an answer before or after the updates around it.
fn parts(lines: Vec<String>) -> (Vec<String>, Vec<String>) {
    lines.into_iter().partition(|line| !line.starts_with("stop"))
}

/// The history, and one more turn.
fn in_second_process(version: u64) -> Vec<String> {
    let mut told = told_of_turns(version, true);
    told.retain(|line| line != "asked");
    told.extend((version == 2).then(|| "user: again".to_owned()));
    told.push("agent: heard again".to_owned());
    told
}

fn told_of_turns(version: u64, with_prompts: bool) -> Vec<String> {
    // In version 1 the client offers its files.
    let file = if version == 1 { "it says: in the editor" } else { "it says: on disk" };
    // Version 1 has no other word for it.
    let cancelled = if version == 1 { "failed" } else { "cancelled" };
    let lines = TURNS.iter().flat_map(|(prompt, lines)| {
        let prompt = with_prompts.then(|| format!("user: {prompt}"));
        prompt
            .into_iter()
            .chain(lines.iter().map(|line| line.replace("FILE", file).replace("CANCELLED", cancelled)))
    });
    lines.collect()
}

/// The events as lines. Chunks of one message are one line.
fn told(events: &[Value]) -> Vec<String> {
    let mut lines: Vec<(Value, String)> = Vec::new();
    for event in events {
        let Some((message, line)) = line(event) else { continue };
        match lines.last_mut() {
            Some((last, told)) if !message.is_null() && *last == message => {
                told.push_str(line.split_once(": ").map_or("", |(_, text)| text));
            }
            _ => lines.push((message, line)),
        }
    }
    lines.into_iter().map(|(_, line)| shortened(line)).collect()
}

/// The message an event belongs to, if any, and what it says.
fn line(event: &Value) -> Option<(Value, String)> {
    let update = &event["update"];
    let said =
        |who: &str| Some((update["messageId"].clone(), format!("{who}: {}", text(&update["content"]))));
    let done = |what: String| Some((Value::Null, what));
    match update["sessionUpdate"].as_str() {
        Some("user_message" | "user_message_chunk") => said("user"),
        Some("agent_message" | "agent_message_chunk") => said("agent"),
        Some("agent_thought" | "agent_thought_chunk") => said("thought"),
        // Some leave out what is the default.
        Some("tool_call") => done(format!("tool: {}", update["status"].as_str().unwrap_or("pending"))),
        Some("tool_call_update") => done(format!("tool: {}", update["status"].as_str()?)),
        Some("plan" | "plan_update") => done("plan".to_owned()),
        Some("usage_update") => done("usage".to_owned()),
        _ if event.get("permission").is_some() => done("asked".to_owned()),
        _ => {
            let reasons =
                [&event["prompted"]["stopReason"], &update["stopReason"], &update["_meta"]["stopReason"]];
            done(format!("stop: {}", reasons.iter().find_map(|reason| reason.as_str())?))
        }
    }
}

/// The text of one content block or several.
fn text(content: &Value) -> String {
    let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

/// How often a word is said and how a result is worded is not what is tested.
fn shortened(line: String) -> String {
    let known = ["agent: word", "agent: written"];
    known.iter().find(|start| line.starts_with(**start)).map_or(line, |start| (*start).to_owned())
}
