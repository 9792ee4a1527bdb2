//! Permission requests: v1 asks about a tool call, v2 asks a question that may be about one.

use nudge_wire::RawJson;

use crate::{
    call::{KnownToolCalls, PermissionPrompt},
    call_members,
    content::text_item,
    diff::fenced,
    object::{JsonObject, quote, string},
    terminal::SessionTerminals,
};

const PROMPT: &str = "Permission needed";
const KINDS: [&str; 4] = ["allow_once", "allow_always", "reject_once", "reject_always"];

/// The params of `session/request_permission` for v1. `minted` names a tool call where there is none.
pub(crate) fn to_v1(
    params: &RawJson,
    calls: &mut KnownToolCalls,
    terminals: &SessionTerminals,
    minted: &str,
) -> RawJson {
    let Some(mut object) = JsonObject::read(params.as_str()) else { return params.clone() };
    let title = object.take("title");
    let description = object.take("description");
    let subject = object.take("subject");
    for (key, text) in [("title", &title), ("description", &description)] {
        if let Some(text) = text {
            object.note(key, text);
        }
    }
    let title = title.as_deref().and_then(string);
    let description = description.as_deref().and_then(string);
    let subject_text = subject.unwrap_or_else(|| "null".into());
    let subject = JsonObject::read(&subject_text).unwrap_or_default();
    let prompt = PermissionPrompt { title: title.as_deref(), description: description.as_deref() };
    let about =
        subject.get("toolCall").filter(|_| subject.is("type", "tool_call")).and_then(JsonObject::read);
    let call = if let Some(mut call) = about {
        if let Some(meta) = subject.value("_meta") {
            object.note("subjectMeta", meta);
        }
        calls.subject(&mut call, terminals, &prompt);
        call
    } else {
        object.note("subject", &subject_text);
        stand_in(&subject, minted, calls, terminals, &prompt)
    };
    object.set("toolCall", call.text());
    object.edit_each("options", option_to_v1);
    object.raw()
}

/// The params of `session/request_permission` for v2. `known` is the title of the tool call as last seen.
pub(crate) fn to_v2(params: &RawJson, cwd: Option<&str>, known: impl Fn(&str) -> Option<String>) -> RawJson {
    let Some(mut object) = JsonObject::read(params.as_str()) else { return params.clone() };
    let asked = object.recall("title");
    let description = object.recall("description");
    let subject = object.recall("subject");
    let meta = object.recall("subjectMeta");
    let call_text = object.take("toolCall").unwrap_or_default();
    let mut call = JsonObject::read(&call_text).unwrap_or_default();
    let title = asked.unwrap_or_else(|| {
        let id = call.string("toolCallId").unwrap_or_default();
        let title = call.string("title").or_else(|| known(&id));
        quote(&title.unwrap_or_else(|| PROMPT.to_owned()))
    });
    call_members::to_v2(&mut call, cwd);
    object.set("title", title);
    if let Some(description) = description {
        object.set("description", description);
    }
    match subject.as_deref() {
        Some("null") => {}
        Some(subject) => object.set("subject", subject.to_owned()),
        None => {
            let mut subject =
                JsonObject::default().with_str("type", "tool_call").with("toolCall", call.text());
            if let Some(meta) = meta {
                subject.set("_meta", meta);
            }
            object.set("subject", subject.text());
        }
    }
    object.edit_each("options", option_to_v2);
    object.raw()
}

/// The answer of a v2 client for a v1 agent. One that v1 does not know is never taken for consent.
pub(crate) fn answer_to_v1(result: &RawJson) -> RawJson {
    let Some(mut object) = JsonObject::read(result.as_str()) else { return result.clone() };
    let outcome = object.get("outcome").unwrap_or("null").to_owned();
    let kind = JsonObject::read(&outcome).and_then(|outcome| outcome.string("outcome"));
    if !matches!(kind.as_deref(), Some("selected" | "cancelled")) {
        object.set("outcome", JsonObject::default().with_str("outcome", "cancelled").text());
        object.note("outcome", &outcome);
    }
    object.raw()
}

/// The answer of a v1 client for a v2 agent.
pub(crate) fn answer_to_v2(result: &RawJson) -> RawJson {
    let Some(mut object) = JsonObject::read(result.as_str()) else { return result.clone() };
    object.restore("outcome");
    object.raw()
}

/// A tool call for a question that is about none, or about a command.
fn stand_in(
    subject: &JsonObject<'_>,
    minted: &str,
    calls: &KnownToolCalls,
    terminals: &SessionTerminals,
    prompt: &PermissionPrompt<'_>,
) -> JsonObject<'static> {
    let id = subject.string("toolCallId").unwrap_or_else(|| minted.to_owned());
    let mut call = JsonObject::default().with_str("toolCallId", &id);
    let command = subject.string("command").filter(|_| subject.is("type", "command"));
    let item = command.map(|command| {
        let cwd = subject.string("cwd").unwrap_or_default();
        call.put("title", &command);
        call.put("kind", "execute");
        text_item(&format!("{}\nin {cwd}", fenced("console", &format!("$ {command}")))).text()
    });
    calls.stand_in(&mut call, item.as_deref(), terminals, prompt);
    call
}

/// A kind that v1 does not know is shown as the one that does the least harm if a client answers by itself.
fn option_to_v1(text: &str) -> String {
    let Some(mut option) = JsonObject::read(text) else { return text.to_owned() };
    if let Some(kind) = option.string("kind").filter(|kind| !KINDS.contains(&kind.as_str())) {
        option.put("kind", "reject_once");
        option.note("kind", &quote(&kind));
    }
    option.text()
}

fn option_to_v2(text: &str) -> String {
    let Some(mut option) = JsonObject::read(text) else { return text.to_owned() };
    option.restore("kind");
    option.text()
}
