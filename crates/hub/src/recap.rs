//! What was said in a session so far, in words, for an agent that does not remember it.

use std::{
    fmt::Write as _,
    sync::{Arc, OnceLock},
};

use nudge_backend::SessionRecap;
use nudge_bridge::{UpdateKind, UpdateSpeaker};
use nudge_store::{TranscriptEntry, TranscriptPages};
use serde_json::Value;

use crate::{history, hub::HubShared};

/// The most that is told, in bytes; the newest of it.
const MOST: usize = 48 * 1024;
/// Entries at the end of a transcript that are looked at.
const TAIL: u64 = 20_000;

/// Tells what was said in the session of this name.
pub(crate) fn of(hub: &Arc<HubShared>, name: &Arc<OnceLock<Arc<str>>>) -> SessionRecap {
    let (hub, name) = (Arc::downgrade(hub), Arc::clone(name));
    Arc::new(move || {
        let (hub, name) = (hub.upgrade(), name.get().cloned());
        Box::pin(async move { read(&*hub?, &name?).await })
    })
}

async fn read(hub: &HubShared, session: &str) -> Option<String> {
    let next = hub.store.last_seq(session).await.ok()?? + 1;
    let mut pages = TranscriptPages::new(&*hub.store, session, next.saturating_sub(TAIL));
    let mut told = Told::default();
    while let Some(page) = pages.next().await.ok()? {
        for entry in &page {
            told.take(entry);
        }
    }
    told.text()
}

/// The conversation, as it is told.
#[derive(Default)]
struct Told {
    text: String,
    /// Who speaks.
    voice: &'static str,
}

impl Told {
    fn take(&mut self, entry: &TranscriptEntry) {
        let kind = UpdateKind::of(&entry.kind);
        let voice = match kind.speaker() {
            UpdateSpeaker::User => "User",
            UpdateSpeaker::Agent => "You",
            UpdateSpeaker::Tool if kind.is_tool_call() => "Tool",
            _ => return,
        };
        let Some(update) = history::json(entry).and_then(|raw| raw.to::<Value>().ok()) else { return };
        let said = if voice == "Tool" { call(&kind, &update) } else { words(&update["content"]) };
        if said.is_empty() {
            return;
        }
        if voice == self.voice && voice == "You" {
            self.text.push_str(&said);
        } else {
            let space = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { "\n" };
            let _ = write!(self.text, "{space}{voice}: {said}");
        }
        self.voice = voice;
        self.cut();
    }

    fn cut(&mut self) {
        if self.text.len() > 2 * MOST {
            let from = self.text.len() - MOST;
            let from = (from..self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(0);
            self.text.drain(..from);
        }
    }

    fn text(mut self) -> Option<String> {
        if self.text.is_empty() {
            return None;
        }
        self.text.push('\n');
        let from = self.text.len().saturating_sub(MOST);
        let from = (from..self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(0);
        Some(self.text.split_off(from))
    }
}

/// A tool call that is told of once, when it begins.
fn call(kind: &UpdateKind, update: &Value) -> String {
    match (update["title"].as_str(), kind, update["kind"].as_str()) {
        (Some(title), UpdateKind::ToolCall, _) | (Some(title), _, Some(_)) => title.to_owned(),
        _ => String::new(),
    }
}

fn words(content: &Value) -> String {
    match content {
        Value::Array(blocks) => blocks.iter().map(words).collect(),
        block => block["text"].as_str().unwrap_or_default().to_owned(),
    }
}
