//! From the updates of a transcript back to what was said.

use std::collections::HashMap;

use nudge_bridge::UpdateKind;
use nudge_model::{AnswerPart, ChatMessage, SignedReasoning, ToolCall, text_of};
use nudge_wire::RawJson;
use nudge_workspace::output;
use serde::Deserialize;

use super::{Conversation, weight_of_part};
use nudge_backend::UserMessage;

/// How many tool calls without an end are kept track of.
const MOST_OPEN: usize = 100;

/// What later updates may refer to.
#[derive(Debug, Clone, Default)]
pub(super) struct RestoredReferences {
    /// The id of the message that is last in the history.
    last: Option<String>,
    /// The answer that the last signed reasoning is of.
    answer: Option<String>,
    /// Whether an answer has begun of which no text is there yet.
    is_begun: bool,
    /// The output so far of tool calls that have not ended.
    open: HashMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    #[serde(rename = "sessionUpdate")]
    kind: String,
    message_id: Option<String>,
    tool_call_id: Option<String>,
    content: Option<RawJson>,
    name: Option<String>,
    title: Option<String>,
    status: Option<String>,
    raw_input: Option<RawJson>,
    raw_output: Option<RawJson>,
    model: Option<String>,
    cost: Option<Cost>,
}

#[derive(Deserialize)]
struct Cost {
    amount: f64,
}

pub(super) fn take_in(history: &mut Conversation, update: &RawJson) {
    let Ok(update) = update.to::<Update>() else { return };
    match update.kind.as_str() {
        "user_message" | "user_message_chunk" => user(history, &update),
        "agent_message" | "agent_message_chunk" => agent(history, &update),
        "tool_call_update" => tool_call(history, &update),
        "usage_update" => {
            history.restored_cost = update.cost.map_or(history.restored_cost, |cost| cost.amount);
        }
        kind if kind == UpdateKind::SignedReasoning.name() => reasoning(history, update),
        _ => {}
    }
}

/// The content as an array, whether it came whole or as a chunk.
fn blocks(update: &Update) -> RawJson {
    let content = update.content.as_ref().map_or("[]", RawJson::as_str);
    let whole = if content.starts_with('[') { content.to_owned() } else { format!("[{content}]") };
    let whole = if content == "null" { "[]".to_owned() } else { whole };
    RawJson::parse(whole).expect("a JSON value in brackets is an array")
}

fn is_same_message(history: &Conversation, update: &Update) -> bool {
    update.message_id.is_some() && history.restored.last == update.message_id
}

fn user(history: &mut Conversation, update: &Update) {
    let content = blocks(update);
    if is_same_message(history, update)
        && update.kind == "user_message_chunk"
        && let Some(ChatMessage::User { text, content: known, .. }) = history.messages.back_mut()
    {
        text.push_str(&text_of(&content));
        history.bytes += 2 * content.as_str().len();
        *known = joined(known, &content);
        return;
    }
    let id = update.message_id.clone().unwrap_or_default();
    history.user(&UserMessage { id: id.into(), content, params: None }, false);
    history.restored.last.clone_from(&update.message_id);
}

fn joined(a: &RawJson, b: &RawJson) -> RawJson {
    let blocks = |all: &RawJson| all.to::<Vec<RawJson>>().unwrap_or_default();
    let all: Vec<RawJson> = blocks(a).into_iter().chain(blocks(b)).collect();
    RawJson::of(&all).unwrap_or_else(|_| a.clone())
}

fn agent(history: &mut Conversation, update: &Update) {
    let text = text_of(&blocks(update));
    // An answer that has so far been thought about alone, or has called tools, goes on.
    let goes_on = is_same_message(history, update) || history.restored.is_begun;
    if !goes_on || !matches!(history.messages.back(), Some(ChatMessage::Agent { .. })) {
        history.agent();
    } else if update.kind == "agent_message"
        && update.content.is_some()
        && is_same_message(history, update)
        && let Some(ChatMessage::Agent { parts }) = history.messages.back_mut()
    {
        let forgotten: usize = parts
            .extract_if(.., |part| matches!(part, AnswerPart::Text(_)))
            .map(|text| weight_of_part(&text))
            .sum();
        history.bytes = history.bytes.saturating_sub(forgotten);
    }
    history.restored.last.clone_from(&update.message_id);
    history.restored.is_begun = false;
    history.text(&text);
}

/// Reasoning of an answer, which may be the first that there is of it.
fn reasoning(history: &mut Conversation, update: Update) {
    let (Some(model), Some(content)) = (update.model, update.content) else { return };
    let is_next = update.message_id.is_some() && history.restored.answer != update.message_id;
    if is_next || !matches!(history.messages.back(), Some(ChatMessage::Agent { .. })) {
        history.agent();
        history.restored.last = None;
        history.restored.is_begun = true;
    }
    history.restored.answer = update.message_id;
    history.reasoning(SignedReasoning { model, content });
}

fn tool_call(history: &mut Conversation, update: &Update) {
    let Some(id) = &update.tool_call_id else { return };
    if !history.restored.open.contains_key(id) {
        // An update after the end adds nothing that a model has to know.
        let Some(name) = update.name.clone().or_else(|| update.title.clone()) else { return };
        if history.restored.open.len() >= MOST_OPEN {
            history.restored.open.clear();
        }
        if !matches!(history.messages.back(), Some(ChatMessage::Agent { .. })) {
            history.agent();
            history.restored.last = None;
        }
        let input =
            update.raw_input.clone().unwrap_or_else(|| RawJson::parse("{}").expect("braces are an object"));
        history.call(ToolCall { id: id.clone(), name, input });
        history.restored.open.insert(id.clone(), String::new());
    }
    if let Some(text) = output_of(update) {
        history.restored.open.insert(id.clone(), text);
    }
    let status = update.status.as_deref().unwrap_or_default();
    // Who has cancelled one call has said so to the model.
    let is_told = update.raw_output.is_some();
    if matches!(status, "completed" | "failed" | "cancelled") {
        let text = history.restored.open.remove(id).unwrap_or_default();
        let text = if status == "cancelled" && !is_told {
            "This was cancelled before it was done.".to_owned()
        } else {
            text
        };
        history.result(id, output::cut(&text), status != "completed");
    }
}

/// What the update says came out of the call.
fn output_of(update: &Update) -> Option<String> {
    #[derive(Deserialize)]
    struct Output {
        output: String,
    }
    #[derive(Deserialize)]
    struct Item {
        content: Option<RawJson>,
    }
    if let Some(Output { output }) = update.raw_output.as_ref().and_then(|raw| raw.to().ok()) {
        return Some(output);
    }
    let items: Vec<Item> = update.content.as_ref()?.to().ok()?;
    let texts: Vec<RawJson> = items.into_iter().filter_map(|item| item.content).collect();
    Some(text_of(&RawJson::of(&texts).ok()?))
}
