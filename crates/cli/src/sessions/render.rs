//! Sessions and conversations as text for people.

use std::time::{Duration, UNIX_EPOCH};

use nudge_store::Session;
use serde_json::Value;

/// A time as `2026-11-16T02:00:00Z`.
pub(crate) fn time(millis: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(millis)).to_string()
}

/// Text without what could command a terminal.
pub(crate) fn plain(text: &str) -> String {
    let is_command = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    text.chars().map(|c| if is_command(c) { '\u{fffd}' } else { c }).collect()
}

/// One line for a list.
pub(crate) fn row(session: &Session) -> String {
    let title = session.title.as_deref().unwrap_or("(nothing said yet)");
    plain(&format!("{}  {}  {title}  ({})", session.id, time(session.updated_at), session.cwd))
}

/// One line for what a session in use does.
pub(crate) fn live(id: &Value, live: &Value) -> String {
    let waiting = live["pending"].as_array().map_or(0, Vec::len);
    let id = id.as_str().unwrap_or_default();
    let state = live["state"].as_str().unwrap_or_default();
    format!("{id}  {state}, {} attached, {waiting} waiting", live["clients"])
}

/// A session and what waits in it.
pub(crate) fn session(shown: &Value) -> String {
    let text = |name: &str| shown[name].as_str().unwrap_or("-").to_owned();
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
    plain(&lines.join("\n"))
}

/// The text of content blocks; others are named.
pub(crate) fn content(blocks: &Value) -> String {
    let blocks = blocks.as_array().map_or(std::slice::from_ref(blocks), Vec::as_slice);
    let shown = blocks.iter().map(|block| match (block["type"].as_str(), block["text"].as_str()) {
        (_, Some(text)) => text.to_owned(),
        (Some(kind), None) => format!("[{kind} {}]", block["uri"].as_str().unwrap_or_default()),
        (None, None) => String::new(),
    });
    shown.collect()
}

/// A conversation as Markdown, update by update.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    /// Whose text is being written: kind and id of the message.
    open: Option<(String, String)>,
}

impl Markdown {
    /// What an update of version 2 adds.
    pub(crate) fn update(&mut self, update: &Value) -> String {
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        match kind {
            "user_message" => self.message("You", update, &update["content"]),
            "agent_message" | "agent_message_chunk" => self.message("Agent", update, &update["content"]),
            "agent_thought" | "agent_thought_chunk" => {
                self.message("Agent, thinking", update, &update["content"])
            }
            "tool_call_update" => self.tool_call(update),
            "plan_update" => self.plan(&update["plan"]),
            _ => String::new(),
        }
    }

    fn message(&mut self, who: &str, update: &Value, blocks: &Value) -> String {
        let id = update["messageId"].as_str().unwrap_or_default().to_owned();
        let open = Some((who.to_owned(), id));
        let text = content(blocks);
        if self.open == open {
            return text;
        }
        self.open = open;
        format!("\n\n**{who}:** {text}")
    }

    fn tool_call(&mut self, update: &Value) -> String {
        let status = update["status"].as_str().unwrap_or_default();
        let title = update["title"].as_str();
        self.open = None;
        match (title, status) {
            (Some(title), _) => format!("\n\n- `{title}`"),
            (None, "completed" | "failed" | "cancelled") => format!(" ({status})"),
            _ => String::new(),
        }
    }

    fn plan(&mut self, plan: &Value) -> String {
        self.open = None;
        let entries = plan["entries"].as_array().into_iter().flatten();
        let lines = entries.map(|entry| {
            let mark = if entry["status"] == "completed" { "x" } else { " " };
            format!("\n- [{mark}] {}", entry["content"].as_str().unwrap_or_default())
        });
        format!("\n{}", lines.collect::<String>())
    }
}
