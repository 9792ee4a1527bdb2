//! Tool calls: v2 patches them and appends to their content, v1 creates them and sends their content whole.

use std::{
    borrow::Cow,
    collections::{BTreeSet, VecDeque},
};

use super::{
    content::{item_to_v1, item_to_v2, location_to_v1, location_to_v2, omitted_item, prompt_item},
    object::{Object, items, json, list, quote, string},
    recent::Recent,
    terminal::Terminals,
};
use crate::RawJson;

/// How much content of one tool call is kept so that it can be sent whole again; the oldest goes first.
pub const CALL_CONTENT: usize = 256 * 1024;

/// How much content of all tool calls of a session is kept; that of the oldest call goes first.
pub const SESSION_CONTENT: usize = 4 * 1024 * 1024;

/// Content up to this length is sent again with every change. What is longer is sent when as much has come as it has: so
/// what is sent in all is never much more than what came.
const SENT_AT_ONCE: usize = 1024;

/// How much is kept of what chunks say beside their content until the content is sent.
const BESIDE: usize = 16 * 1024;

/// How many tool calls are remembered. One that is older is created again if it changes.
const CALLS: usize = 1024;

/// How a tool call ends.
const ENDS: [&str; 3] = ["completed", "failed", "cancelled"];

/// What can be cleared in v2.
const FIELDS: [&str; 8] =
    ["title", "name", "kind", "status", "content", "locations", "rawInput", "rawOutput"];

/// The tool calls of a session, as a v1 client knows them.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    known: Recent<Call, CALLS>,
    /// Length of the content of all of them.
    bytes: usize,
    /// The number of the first that may have content.
    first_full: usize,
    /// Those of which the client has not been sent the last content.
    unsent: BTreeSet<String>,
    /// Updates with the last content of those that were about to be forgotten.
    last_words: Vec<RawJson>,
}

/// What is known of one tool call.
#[derive(Debug, Clone, Default)]
struct Call {
    /// Whether the client has been told of it.
    told: bool,
    title: Option<String>,
    content: VecDeque<Item>,
    /// Length of the content.
    bytes: usize,
    /// Items that no longer fit.
    omitted: usize,
    /// Length of the content when it was last sent.
    sent: usize,
    /// Length of what has come since.
    unsent: usize,
    /// What chunks said since, beside their content.
    beside: Object<'static>,
    /// Whether it has completed, failed or was cancelled.
    has_ended: bool,
}

/// What a permission request asks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prompt<'a> {
    pub(super) title: Option<&'a str>,
    pub(super) description: Option<&'a str>,
}

/// An item of content as v1 has it, or a reference to a terminal.
#[derive(Debug, Clone)]
struct Item {
    text: String,
    /// The terminal it refers to.
    terminal: Option<String>,
}

impl Calls {
    /// A `tool_call_update`. Before the call ends, the last of its content is sent.
    pub(super) fn update(
        &mut self,
        update: &RawJson,
        mut object: Object<'_>,
        terminals: &Terminals,
    ) -> Vec<RawJson> {
        let Some(id) = object.string("toolCallId") else { return vec![update.clone()] };
        let has_ended = ENDS.iter().any(|status| object.is("status", status)) && self.ends(&id);
        let replaces = object.get("content").is_some();
        let last = (has_ended && !replaces).then(|| self.send(&id, terminals)).flatten();
        if replaces {
            self.unsent.remove(&id);
        }
        self.change(&id, terminals, |call| {
            let first = !std::mem::replace(&mut call.told, true);
            call.patch(&mut object, terminals, first);
            if first {
                object.put("sessionUpdate", "tool_call");
                if object.get("title").is_none() {
                    let title = call.title.clone().unwrap_or_else(|| default_title(&object));
                    object.put("title", &title);
                    object.note("untitled", "true");
                }
            }
        });
        last.into_iter().chain([object.raw_or(update)]).collect()
    }

    /// A `tool_call_content_chunk`: an update with all content there is, now or when more has come.
    pub(super) fn chunk(
        &mut self,
        chunk: &RawJson,
        mut object: Object<'_>,
        terminals: &Terminals,
    ) -> Option<RawJson> {
        let (Some(id), Some(item)) = (object.string("toolCallId"), object.take("content")) else {
            return Some(chunk.clone());
        };
        object.remove(&["sessionUpdate", "toolCallId"]);
        self.change(&id, terminals, |call| {
            for item in Item::read(&item) {
                call.push(item);
            }
            if !object.is_empty() {
                call.say_beside(&object);
            }
        });
        self.came(&id, chunk.as_str().len(), terminals)
    }

    /// An update for each tool call that shows the terminal, now or when more has come. `length` is that of what came.
    pub(super) fn terminal_changed(
        &mut self,
        terminal: &str,
        length: usize,
        terminals: &Terminals,
    ) -> Vec<RawJson> {
        let shows = |call: &Call| call.told && call.content.iter().any(|item| item.shows(terminal));
        let ids: Vec<String> =
            self.known.iter().filter(|(_, call)| shows(call)).map(|(id, _)| id.to_owned()).collect();
        // What comes once may be sent once, whoever shows it.
        let share = (length / ids.len().max(1)).max(1);
        ids.into_iter().filter_map(|id| self.came(&id, share, terminals)).collect()
    }

    /// The last content of every call of which the client does not have it.
    pub(super) fn flush(&mut self, terminals: &Terminals) -> Vec<RawJson> {
        let mut updates = self.last_words();
        for id in std::mem::take(&mut self.unsent) {
            updates.push(self.whole(&id, terminals));
        }
        updates
    }

    /// The last content of calls that have been forgotten since this was last asked.
    pub(super) fn last_words(&mut self) -> Vec<RawJson> {
        std::mem::take(&mut self.last_words)
    }

    /// About how long the content is that a flush sends; `None` if there is none.
    pub(super) fn unsent(&self) -> Option<usize> {
        let length = |id: &String| self.known.get(id).map_or(0, |call| call.sent + call.unsent);
        (!self.unsent.is_empty()).then(|| self.unsent.iter().map(length).sum())
    }

    /// This much more is to be sent of a call: all of it now, or later.
    fn came(&mut self, id: &str, length: usize, terminals: &Terminals) -> Option<RawJson> {
        let call = self.known.entry(id);
        call.unsent += length;
        let is_due = !call.told || call.sent <= SENT_AT_ONCE || call.unsent >= call.sent;
        if !self.unsent.contains(id) {
            self.unsent.insert(id.to_owned());
        }
        is_due.then(|| self.send(id, terminals)).flatten()
    }

    /// The last content of a call, if the client does not have it.
    fn send(&mut self, id: &str, terminals: &Terminals) -> Option<RawJson> {
        self.unsent.remove(id).then(|| self.whole(id, terminals))
    }

    /// Notes that a call ends; whether it is the first time.
    fn ends(&mut self, id: &str) -> bool {
        self.known.get_mut(id).is_some_and(|call| !std::mem::replace(&mut call.has_ended, true))
    }

    /// The tool call that a permission request is about: patched as by an update.
    pub(super) fn subject(&mut self, object: &mut Object<'_>, terminals: &Terminals, prompt: &Prompt<'_>) {
        let id = object.string("toolCallId").unwrap_or_default();
        self.change(&id, terminals, |call| {
            call.patch(object, terminals, false);
            call.ask(object, terminals, prompt);
        });
    }

    /// A tool call that stands for something else a permission request is about: nothing of it is remembered. `item`
    /// is content of it.
    pub(super) fn stand_in(
        &self,
        object: &mut Object<'_>,
        item: Option<&str>,
        terminals: &Terminals,
        prompt: &Prompt<'_>,
    ) {
        let id = object.string("toolCallId").unwrap_or_default();
        let mut call = self.known.get(&id).cloned().unwrap_or_default();
        if let Some(item) = item {
            call.content.push_front(Item { text: item.to_owned(), terminal: None });
            object.set("content", list(call.content_to_v1(terminals)));
        }
        if call.title.is_some() {
            object.take("title");
        }
        call.ask(object, terminals, prompt);
    }

    /// Changes a call, and forgets content of the oldest others until what is kept fits.
    fn change(&mut self, id: &str, terminals: &Terminals, change: impl FnOnce(&mut Call)) {
        if self.known.get(id).is_none() {
            if let Some(oldest) = self.known.next_to_go().map(str::to_owned) {
                let last = self.send(&oldest, terminals);
                self.last_words.extend(last);
            }
            let forgotten = self.known.insert(id, Call::default());
            self.bytes -= forgotten.map_or(0, |call| call.bytes);
        }
        let call = self.known.get_mut(id).expect("known or just inserted");
        let before = call.bytes;
        change(call);
        self.bytes = self.bytes + call.bytes - before;
        let number = self.known.number(id).expect("known or just inserted");
        self.first_full = self.first_full.min(number);
        self.fit(number, terminals);
    }

    fn fit(&mut self, changed: usize, terminals: &Terminals) {
        if self.bytes <= SESSION_CONTENT {
            return;
        }
        let mut are_empty = true;
        for (number, id, call) in self.known.range_mut(self.first_full) {
            if self.bytes <= SESSION_CONTENT {
                break;
            }
            if number == changed {
                are_empty = false;
                continue;
            }
            if self.unsent.remove(id) {
                self.last_words.push(call.whole(id, terminals));
            }
            self.bytes -= call.bytes;
            call.omitted += call.content.len();
            call.content.clear();
            call.bytes = 0;
            if are_empty {
                self.first_full = number + 1;
            }
        }
    }

    fn whole(&mut self, id: &str, terminals: &Terminals) -> RawJson {
        self.known.entry(id).whole(id, terminals)
    }
}

impl Call {
    /// An update with all content there is.
    fn whole(&mut self, id: &str, terminals: &Terminals) -> RawJson {
        let object =
            Object::default().with_str("sessionUpdate", "tool_call_update").with_str("toolCallId", id);
        let mut object = object.followed_by(&std::mem::take(&mut self.beside));
        let content = list(self.content_to_v1(terminals));
        (self.sent, self.unsent) = (content.len(), 0);
        object.set("content", content);
        if !std::mem::replace(&mut self.told, true) {
            object.put("sessionUpdate", "tool_call");
            object.put("title", &self.title.clone().unwrap_or_else(|| default_title(&Object::default())));
            object.note("untitled", "true");
        }
        object.raw()
    }

    /// Keeps what a chunk says beside its content; what came later counts.
    fn say_beside(&mut self, object: &Object<'_>) {
        let all = object.to_owned().followed_by(&self.beside);
        self.beside = if all.text().len() > BESIDE { object.to_owned() } else { all };
    }

    /// Takes a patch in and makes it what v1 understands.
    fn patch(&mut self, object: &mut Object<'_>, terminals: &Terminals, first: bool) {
        if let Some(title) = object.get("title") {
            self.title = string(title);
        }
        if let Some(content) = object.get("content") {
            self.content.clear();
            (self.bytes, self.omitted) = (0, 0);
            let parts = items(content);
            let items: Vec<Item> = parts.iter().flatten().flat_map(|part| Item::read(part)).collect();
            let is_same = |(item, part): (&Item, &&str)| item.terminal.is_none() && item.text == **part;
            let shown = match &parts {
                None if content == "null" => None,
                Some(parts) if parts.len() == items.len() && items.iter().zip(parts).all(is_same) => None,
                _ => Some(list(items.iter().map(|item| item.show(terminals)))),
            };
            for item in items {
                self.push(item);
            }
            (self.sent, self.unsent) = (shown.as_ref().map_or(content.len(), String::len), 0);
            if let Some(shown) = shown {
                object.set("content", shown);
            }
        }
        object.edit_each("locations", location_to_v1);
        clear(object, first);
        status_to_v1(object);
    }

    fn push(&mut self, item: Item) {
        self.bytes += item.text.len();
        self.content.push_back(item);
        while self.bytes > CALL_CONTENT
            && let Some(item) = self.content.pop_front()
        {
            self.bytes -= item.text.len();
            self.omitted += 1;
        }
    }

    /// Puts what asks the user ahead of the content, unless the title says it all.
    fn ask(&self, object: &mut Object<'_>, terminals: &Terminals, prompt: &Prompt<'_>) {
        let own = object.string("title").or_else(|| self.title.clone());
        let asked = prompt.title.filter(|title| own.as_deref().is_some_and(|own| own != *title));
        if object.get("title").is_none() {
            object.note("untitled", "true");
        }
        if let Some(shown) = own.as_deref().or(prompt.title) {
            object.put("title", shown);
        }
        if let Some(item) = prompt_item(asked, prompt.description) {
            if object.get("content").is_none() {
                object.note("contentAsBefore", "true");
            }
            object.set("content", list(std::iter::once(item.into()).chain(self.content_to_v1(terminals))));
        }
    }

    fn content_to_v1(&self, terminals: &Terminals) -> Vec<Cow<'_, str>> {
        let omitted = (self.omitted > 0).then(|| omitted_item(self.omitted));
        let items = self.content.iter().map(|item| item.show(terminals));
        omitted.map(Cow::Owned).into_iter().chain(items).collect()
    }
}

impl Item {
    /// The items that a v2 item becomes.
    fn read(text: &str) -> Vec<Self> {
        let Some(object) = Object::read(text) else { return vec![Self::plain(text.to_owned())] };
        if object.is("type", "terminal")
            && let terminal @ Some(_) = object.string("terminalId")
        {
            return vec![Self { text: text.to_owned(), terminal }];
        }
        item_to_v1(text, object).into_iter().map(Self::plain).collect()
    }

    fn plain(text: String) -> Self {
        Self { text, terminal: None }
    }

    fn show(&self, terminals: &Terminals) -> Cow<'_, str> {
        match &self.terminal {
            Some(_) => {
                Object::read(&self.text).map_or((&self.text).into(), |object| terminals.item(&object).into())
            }
            None => (&self.text).into(),
        }
    }

    fn shows(&self, terminal: &str) -> bool {
        self.terminal.as_deref() == Some(terminal)
    }
}

/// A v1 `tool_call` or `tool_call_update`, or the tool call of a permission request, as a v2 patch.
pub(super) fn to_v2(object: &mut Object<'_>, cwd: Option<&str>) {
    for field in FIELDS {
        if object.is_null(field) {
            object.take(field);
        }
    }
    if object.recall("untitled").is_some() {
        object.take("title");
    }
    if object.recall("contentAsBefore").is_some() {
        object.take("content");
    }
    object.restore("status");
    if let Some(items) = object.get("content").and_then(items) {
        let items = list(items.into_iter().filter_map(|item| item_to_v2(item, cwd)));
        object.set("content", items);
    }
    object.edit_each("locations", |location| location_to_v2(location, cwd));
    let cleared: Vec<String> =
        object.recall("cleared").and_then(|names| serde_json::from_str(&names).ok()).unwrap_or_default();
    for field in FIELDS {
        if cleared.iter().any(|name| name == field) {
            object.set(field, "null");
        }
    }
}

/// v1 takes `null` for "as it was", so what v2 clears gets the value of a tool call of which nothing is known.
fn clear(object: &mut Object<'_>, first: bool) {
    let cleared: Vec<&str> = FIELDS.into_iter().filter(|field| object.is_null(field)).collect();
    if cleared.is_empty() {
        return;
    }
    for field in FIELDS {
        if !cleared.contains(&field) {
            continue;
        }
        let value = match field {
            "title" => quote(&default_title(object)),
            "kind" => quote("other"),
            "status" => quote("pending"),
            "content" | "locations" => "[]".to_owned(),
            _ => {
                object.take(field);
                continue;
            }
        };
        if first && field != "title" {
            object.take(field);
        } else {
            object.set(field, value);
        }
    }
    object.note("cleared", &json(&cleared));
}

/// The four states of v1 are all it has.
fn status_to_v1(object: &mut Object<'_>) {
    let Some(status) = object.string("status") else { return };
    let nearest = match status.as_str() {
        "pending" | "in_progress" | "completed" | "failed" => return,
        "cancelled" => "failed",
        _ => "in_progress",
    };
    object.put("status", nearest);
    object.note("status", &quote(&status));
}

fn default_title(object: &Object<'_>) -> String {
    let name = object.string("name").or_else(|| object.string("kind").filter(|kind| kind != "other"));
    name.unwrap_or_else(|| "Tool call".to_owned())
}
