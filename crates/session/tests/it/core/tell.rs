//! What a session does, in short notation.

use nudge_backend::{BackendParting, UserMessage};
use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_mailbox::{MailboxChange, MessageId};
use nudge_session::{InputContent, JoinedClient, PendingMessage, RowChange, SessionEffect, StoreOperation};
use nudge_wire::{Error, RawJson};
use serde_json::Value;

use super::script::{Play, client_name};

/// Something that is done.
pub(super) fn effect(play: &Play, effect: &SessionEffect) -> String {
    match effect {
        SessionEffect::Show { update, skip } => {
            let but: Vec<_> = skip.iter().map(|client| client_name(*client)).collect();
            let but = if but.is_empty() { String::new() } else { format!(" but {}", but.join(" ")) };
            format!("show {}{but}", entry(play, update))
        }
        SessionEffect::NotifyOne(client, message) => {
            format!("notify {} {}", client_name(*client), message.method().map_or("", |name| name))
        }
        SessionEffect::Notify(message) => format!("notify {}", message.method().map_or("", |name| name)),
        SessionEffect::Answer { request, outcome } => {
            format!("answer {}: {}", play.request(*request), answer(play, outcome))
        }
        SessionEffect::Joined(it) => joined(play, it),
        SessionEffect::ReadOn(request) => format!("read on {}", play.request(*request)),
        SessionEffect::TakenUpBy(client) => format!("taken up by {}", client_name(*client)),
        SessionEffect::Flush => "flush".to_owned(),
        SessionEffect::TellPending(pending) => format!("{} wait", pending.len()),
        SessionEffect::Prompt { messages, prompter } => {
            format!("prompt {} by {}", said(play, messages), client_name(*prompter))
        }
        SessionEffect::Steer(messages) => format!("steer {}", said(play, messages)),
        SessionEffect::GoOn(messages) if messages.is_empty() => "go on".to_owned(),
        SessionEffect::GoOn(messages) => format!("go on with {}", said(play, messages)),
        SessionEffect::Interrupt => "interrupt".to_owned(),
        SessionEffect::Cancel => "cancel".to_owned(),
        SessionEffect::AnswerAgent(question, outcome) => {
            format!("tell {}: {}", play.question(*question), answer(play, outcome))
        }
        SessionEffect::SetOption(option) => format!("set {}", option.config_id),
        SessionEffect::ForgetOptions => "forget options".to_owned(),
        SessionEffect::Ask { client, question, .. } => {
            format!("ask {} {}", client_name(*client), name_in(&question.params))
        }
        SessionEffect::WithdrawAsk { ask, client } => {
            let name = play.asks.iter().find(|(_, known)| *known == ask).map_or("?", |(name, _)| name);
            format!("unask {} {name}", client_name(*client))
        }
        SessionEffect::Serve(question) => format!("serve {}", name_in(&question.params)),
        SessionEffect::Leave { parting, waiting } => {
            let how = match parting {
                BackendParting::Leave => "leave",
                BackendParting::Close => "leave closed",
                BackendParting::Delete => "leave deleted",
            };
            let waiting = waiting.iter().map(|request| format!(" {}", play.request(*request)));
            format!("{how}{}", waiting.collect::<String>())
        }
    }
}

fn joined(play: &Play, joined: &JoinedClient) -> String {
    let missed = joined.missed.iter().map(|update| entry(play, update));
    let mut parts: Vec<_> = missed.collect();
    parts.push(entry(play, &joined.state));
    if !joined.pending.is_empty() {
        parts.push(format!("pending {}", pending(play, &joined.pending)));
    }
    format!("joined {}({})", client_name(joined.client), parts.join("; "))
}

/// Something that is written down.
pub(super) fn operation(play: &Play, operation: &StoreOperation) -> String {
    match operation {
        StoreOperation::Append { update, .. } => entry(play, update).replace(' ', ":"),
        StoreOperation::Input(input) => change(play, &input.change),
        StoreOperation::UpdateSession(row) => tell_row(row),
        StoreOperation::DeleteSession => "delete".to_owned(),
    }
}

fn change(play: &Play, change: &MailboxChange<InputContent>) -> String {
    match change {
        MailboxChange::Added(message) => format!("+{}", play.message(&message.id)),
        MailboxChange::Replaced { id, content } => {
            format!("{}={}", play.message(id), text_of(&content.content))
        }
        MailboxChange::Revoked { id } => format!("-{}", play.message(id)),
        MailboxChange::Forgotten { id } => format!("~{}", play.message(id)),
        MailboxChange::Delivered { ids } => {
            let ids = ids.iter().map(|id: &MessageId| format!(">{}", play.message(id)));
            ids.collect::<Vec<_>>().join(" ")
        }
    }
}

fn tell_row(row: &RowChange) -> String {
    let parts = [
        row.title.as_ref().map(|title| format!("title={title}")),
        row.config.as_ref().map(|config| format!("config={}", config.as_str())),
        row.closed.map(|closed| format!("closed={closed}")),
        row.agent_session_id.as_ref().map(|id| format!("agent={id}")),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "row".to_owned() } else { parts.join(" ") }
}

/// An update.
fn entry(play: &Play, update: &IndexedUpdate) -> String {
    let value: Value = update.raw.to().expect("updates are JSON");
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    match &update.kind {
        UpdateKind::UserMessage => {
            let id = update.message_id.as_deref().unwrap_or_default();
            format!("user {}", named(&play.message(id), &texts(&value["content"])))
        }
        UpdateKind::StateUpdate => state(&value),
        UpdateKind::AgentMessageChunk => format!("words {}", texts(&value["content"])),
        UpdateKind::AgentMessage => {
            let said = texts(&value["content"]);
            let why = said.strip_prefix("The turn was interrupted: ").and_then(|why| why.split('.').next());
            why.map_or(said.clone(), |why| format!("interrupted [{}]", why.replace(',', "")))
        }
        UpdateKind::Notice => {
            let title = text("title");
            format!("notice [{}]", title.split(';').next().unwrap_or_default())
        }
        UpdateKind::ToolCallUpdate => format!("tool {} {}", text("toolCallId"), text("status")),
        UpdateKind::SessionInfoUpdate => format!("info {}", text("title")),
        UpdateKind::PermissionAnswer => format!("permit {} {}", text("toolCallId"), option(&value["answer"])),
        kind => format!("{} {}", kind.name(), texts(&value["content"])),
    }
}

fn state(value: &Value) -> String {
    let state = match value["state"].as_str().unwrap_or_default() {
        "requires_action" => "asking",
        state => state,
    };
    let more = [value["stopReason"].as_str(), value["error"]["message"].as_str()];
    [Some(state)].into_iter().chain(more).flatten().collect::<Vec<_>>().join(" ")
}

/// The answer to a request, of a client or of the agent.
fn answer(play: &Play, outcome: &Result<RawJson, Error>) -> String {
    let result = match outcome {
        Ok(result) => result.to::<Value>().expect("results are JSON"),
        Err(error) => return format!("no [{}]", error.get_reason().unwrap_or_else(|| error.message.clone())),
    };
    let of = result["_meta"]["messageId"].as_str().map(|id| format!(" of {}", play.message(id)));
    if let Some(reason) = result["stopReason"].as_str() {
        return format!("{reason}{}", of.unwrap_or_default());
    }
    match (&result["messageId"], &result["outcome"]) {
        (Value::String(id), _) => format!("is {}", play.message(id)),
        (_, Value::String(outcome)) => outcome.clone(),
        (_, Value::Object(_)) => option(&result),
        _ => result.to_string(),
    }
}

/// What a user chose.
fn option(answer: &Value) -> String {
    let outcome = &answer["outcome"];
    let chosen = outcome["optionId"].as_str().or(outcome["outcome"].as_str());
    chosen.unwrap_or_default().to_owned()
}

/// Messages of the user as the agent gets them.
fn said(play: &Play, messages: &[UserMessage]) -> String {
    let told = messages.iter().map(|message| {
        let name = named(&play.message(&message.id), &text_of(&message.content));
        if message.params.is_some() { format!("{name}+params") } else { name }
    });
    told.collect::<Vec<_>>().join(" ")
}

/// Messages that wait; how, unless they are queued.
pub(super) fn pending(play: &Play, pending: &[PendingMessage]) -> String {
    let told = pending.iter().map(|it| {
        let name = named(&play.message(&it.message_id), &text_of(&it.content));
        if it.mode == "queue" { name } else { format!("{}:{name}", it.mode) }
    });
    told.collect::<Vec<_>>().join(" ")
}

/// A message by its name, and what it says if that was replaced.
fn named(name: &str, text: &str) -> String {
    if name == text { name.to_owned() } else { format!("{name}={text}") }
}

/// What a question of the agent is called in the script.
pub(super) fn name_in(params: &RawJson) -> String {
    let name = params.get(&["name"]).and_then(|name| name.to().ok());
    name.unwrap_or_default()
}

/// What content blocks say.
pub(super) fn text_of(content: &RawJson) -> String {
    texts(&content.to().expect("content is JSON"))
}

fn texts(content: &Value) -> String {
    let one = |block: &Value| block["text"].as_str().unwrap_or_default().to_owned();
    match content {
        Value::Array(blocks) => blocks.iter().map(one).collect(),
        block => one(block),
    }
}
