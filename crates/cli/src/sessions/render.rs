//! Sessions and conversations as text for people.

use std::{
    collections::VecDeque,
    time::{Duration, UNIX_EPOCH},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use nudge_store::SessionRow;
use serde_json::Value;

use crate::terminal_text;
use nudge_chat::content_text as content;

/// A time as `2026-11-16T02:00:00Z`.
pub(crate) fn time(millis: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(millis)).to_string()
}

/// One line for a list.
pub(crate) fn row(session: &SessionRow) -> String {
    let (id, cwd) = (terminal_text::one_line(&session.id), terminal_text::one_line(&session.cwd));
    format!("{id}  {}  {}  ({cwd})", time(session.updated_at), title(session))
}

/// What a session is called, in a row.
pub(crate) fn title(session: &SessionRow) -> String {
    session.title.as_deref().map_or_else(|| "(nothing said yet)".to_owned(), terminal_text::row)
}

/// Which session it is, beside what was done with it.
pub(crate) fn named(session: &SessionRow) -> String {
    let (id, cwd) = (terminal_text::one_line(&session.id), terminal_text::one_line(&session.cwd));
    format!("{}  ({cwd})  {id}", title(session))
}

/// A session and what waits in it.
pub(crate) fn session(shown: &Value) -> String {
    let text = |name: &str| terminal_text::one_line(shown[name].as_str().unwrap_or("-"));
    let mut lines = vec![
        text("sessionId"),
        format!("  title    {}", text("title")),
        format!("  folder   {}", text("cwd")),
        format!("  created  {}", text("createdAt")),
        format!("  updated  {}", text("updatedAt")),
        format!("  state    {}", shown["state"].as_str().unwrap_or("not in use")),
        format!("  entries  {}", shown["entries"]),
    ];
    for waiting in shown["pending"].as_array().into_iter().flatten() {
        let (mode, id) =
            (waiting["mode"].as_str().unwrap_or("?"), waiting["messageId"].as_str().unwrap_or("?"));
        lines.push(format!("  waits    {mode} {id}: {}", content(&waiting["content"])));
    }
    lines.join("\n")
}

/// How many tool calls are known by name.
const CALLS: usize = 64;
/// How many terminals of each.
const TERMINALS: usize = 8;

/// Something of a conversation. It is what was said, not yet safe for a terminal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ConversationPart {
    /// Markdown: something new, or more of what is being said.
    Text { text: String, is_new: bool },
    /// Markdown: a tool call of this id begins, or has another title.
    Call { id: String, text: String },
    /// A tool call has ended; `text` names it, as Markdown, for where something else was shown since it began.
    CallEnded { id: String, status: String, text: String },
    /// What a tool has printed, by tool call or terminal, and the call it belongs to: all of it so far, or more of it.
    Output { call: Option<String>, id: String, text: String, is_all: bool },
}

/// A conversation, update by update.
#[derive(Debug, Default)]
pub(crate) struct RenderedTranscript {
    /// Whose text is being written: kind and id of the message.
    open: Option<(String, String)>,
    /// The last tool calls, oldest first.
    calls: VecDeque<KnownCall>,
}

#[derive(Debug, Default)]
struct KnownCall {
    id: String,
    /// As Markdown.
    name: String,
    terminals: Vec<String>,
    has_ended: bool,
}

impl RenderedTranscript {
    /// Whether a message is being said that may go on.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// What an update adds. Transcripts hold updates of both versions.
    pub(crate) fn update(&mut self, update: &Value) -> Vec<ConversationPart> {
        let blocks = &update["content"];
        let (text, is_new) = match update["sessionUpdate"].as_str().unwrap_or_default() {
            "user_message" | "user_message_chunk" => self.message("You", update, blocks),
            "agent_message" | "agent_message_chunk" => self.message("Agent", update, blocks),
            "agent_thought" | "agent_thought_chunk" => self.message("Agent, thinking", update, blocks),
            "tool_call" | "tool_call_update" => return self.tool_call(update),
            "tool_call_content_chunk" => {
                return tool_output(update, std::slice::from_ref(blocks), false).into_iter().collect();
            }
            "terminal_update" => {
                return self.terminal_output(update, &update["output"]["data"], true).into_iter().collect();
            }
            "terminal_output_chunk" => {
                return self.terminal_output(update, &update["data"], false).into_iter().collect();
            }
            "plan_update" => (self.plan(&update["plan"]), true),
            "plan" => (self.plan(update), true),
            _ => return Vec::new(),
        };
        if text.is_empty() { Vec::new() } else { vec![ConversationPart::Text { text, is_new }] }
    }

    /// A text, and whether it is a new one.
    fn message(&mut self, who: &str, update: &Value, blocks: &Value) -> (String, bool) {
        let id = update["messageId"].as_str().unwrap_or_default().to_owned();
        let open = Some((who.to_owned(), id));
        let text = content(blocks);
        if self.open == open {
            return (text, false);
        }
        self.open = open;
        (format!("\n\n**{who}:** {text}"), true)
    }

    fn tool_call(&mut self, update: &Value) -> Vec<ConversationPart> {
        self.open = None;
        let id = update["toolCallId"].as_str().unwrap_or_default();
        let begun = update["title"].as_str().and_then(|title| self.begin_call(id, title));
        let items = update["content"].as_array().map_or(&[][..], Vec::as_slice);
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == id) {
            let terminals = items.iter().filter_map(|item| item["terminalId"].as_str());
            call.terminals =
                terminals.take(TERMINALS).map(str::to_owned).chain(call.terminals.drain(..)).collect();
            call.terminals.truncate(TERMINALS);
        }
        let ended = match update["status"].as_str() {
            Some(status @ ("completed" | "failed" | "cancelled")) => self.end_call(id, status),
            _ => None,
        };
        begun.into_iter().chain(tool_output(update, items, true)).chain(ended).collect()
    }

    /// Names a call, unless it is known by this name.
    fn begin_call(&mut self, id: &str, title: &str) -> Option<ConversationPart> {
        let title = terminal_text::row(title);
        let name = if title.contains('`') { title } else { format!("`{title}`") };
        let text = format!("\n\n- {name}");
        match self.calls.iter_mut().find(|call| call.id == id) {
            Some(call) if call.name == name => return None,
            Some(call) => call.name = name,
            None => {
                if self.calls.len() == CALLS {
                    self.calls.pop_front();
                }
                let call = KnownCall { id: id.to_owned(), name, ..KnownCall::default() };
                self.calls.push_back(call);
            }
        }
        Some(ConversationPart::Call { id: id.to_owned(), text })
    }

    /// Tells of an end once.
    fn end_call(&mut self, id: &str, status: &str) -> Option<ConversationPart> {
        let call = self.calls.iter_mut().find(|call| call.id == id);
        if call.as_ref().is_some_and(|call| call.has_ended) {
            return None;
        }
        let name = match call {
            Some(call) => {
                call.has_ended = true;
                call.name.clone()
            }
            None => format!("tool call `{}`", terminal_text::row(id)),
        };
        let (id, status) = (id.to_owned(), format!(" ({status})"));
        Some(ConversationPart::CallEnded { id, text: format!("\n\n- {name}{status}"), status })
    }

    /// The tool call that a terminal belongs to.
    fn call_of(&self, terminal: &str) -> Option<String> {
        let call = self.calls.iter().find(|call| call.terminals.iter().any(|known| known == terminal))?;
        Some(call.id.clone())
    }

    fn terminal_output(&self, update: &Value, data: &Value, is_all: bool) -> Option<ConversationPart> {
        let id = update["terminalId"].as_str().unwrap_or_default().to_owned();
        let bytes = BASE64_STANDARD.decode(data.as_str()?).ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Some(ConversationPart::Output { call: self.call_of(&id), id, text, is_all })
    }

    fn plan(&mut self, plan: &Value) -> String {
        self.open = None;
        let entries = plan["entries"].as_array().into_iter().flatten();
        let lines = entries.map(|entry| {
            let mark = if entry["status"] == "completed" { "x" } else { " " };
            let what = terminal_text::one_line(entry["content"].as_str().unwrap_or_default());
            format!("\n- [{mark}] {what}")
        });
        format!("\n{}", lines.collect::<String>())
    }
}

/// What a tool call has come to, as text: all of it, or with a chunk more of it.
fn tool_output(update: &Value, items: &[Value], is_all: bool) -> Option<ConversationPart> {
    let text: Vec<String> = items.iter().map(tool_content).filter(|text| !text.is_empty()).collect();
    let id = update["toolCallId"].as_str().unwrap_or_default().to_owned();
    (!text.is_empty()).then(|| ConversationPart::Output {
        call: Some(id.clone()),
        id,
        text: text.join("\n"),
        is_all,
    })
}

fn tool_content(item: &Value) -> String {
    match item["type"].as_str() {
        Some("content") => content(&item["content"]),
        Some("diff") => item["patch"]["text"].as_str().map_or_else(|| changed(item), str::to_owned),
        _ => String::new(),
    }
}

/// What a change without a patch is about.
fn changed(diff: &Value) -> String {
    let changes = diff["changes"].as_array().into_iter().flatten();
    let paths = changes.filter_map(|change| change["path"].as_str());
    paths.map(|path| format!("changes {path}")).collect::<Vec<_>>().join("\n")
}
