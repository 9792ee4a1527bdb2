//! Tool calls: v2 patches them and appends to their content, v1 creates them and sends their content whole.

use std::{borrow::Cow, collections::VecDeque};

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

/// How many tool calls are remembered. One that is older is created again if it changes.
const CALLS: usize = 1024;

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
    /// A `tool_call_update`.
    pub(super) fn update(
        &mut self,
        update: &RawJson,
        mut object: Object<'_>,
        terminals: &Terminals,
    ) -> RawJson {
        let Some(id) = object.string("toolCallId") else { return update.clone() };
        self.change(&id, |call| {
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
        object.raw_or(update)
    }

    /// A `tool_call_content_chunk`, as an update with all content there is.
    pub(super) fn chunk(
        &mut self,
        chunk: &RawJson,
        mut object: Object<'_>,
        terminals: &Terminals,
    ) -> RawJson {
        let (Some(id), Some(item)) = (object.string("toolCallId"), object.take("content")) else {
            return chunk.clone();
        };
        self.change(&id, |call| Item::read(&item).into_iter().for_each(|item| call.push(item)));
        object.put("sessionUpdate", "tool_call_update");
        self.whole(&id, object, terminals)
    }

    /// An update for each tool call that shows the terminal.
    pub(super) fn terminal_changed(&mut self, terminal: &str, terminals: &Terminals) -> Vec<RawJson> {
        let shows = |call: &Call| call.told && call.content.iter().any(|item| item.shows(terminal));
        let ids: Vec<String> =
            self.known.iter().filter(|(_, call)| shows(call)).map(|(id, _)| id.to_owned()).collect();
        let update = |id: String| {
            let object = Object::default().with_str("sessionUpdate", "tool_call_update");
            self.whole(&id, object.with_str("toolCallId", &id), terminals)
        };
        ids.into_iter().map(update).collect()
    }

    /// The tool call that a permission request is about: patched as by an update.
    pub(super) fn subject(&mut self, object: &mut Object<'_>, terminals: &Terminals, prompt: &Prompt<'_>) {
        let id = object.string("toolCallId").unwrap_or_default();
        self.change(&id, |call| {
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
    fn change(&mut self, id: &str, change: impl FnOnce(&mut Call)) {
        if self.known.get(id).is_none() {
            let forgotten = self.known.insert(id, Call::default());
            self.bytes -= forgotten.map_or(0, |call| call.bytes);
        }
        let call = self.known.get_mut(id).expect("known or just inserted");
        let before = call.bytes;
        change(call);
        self.bytes = self.bytes + call.bytes - before;
        let number = self.known.number(id).expect("known or just inserted");
        self.first_full = self.first_full.min(number);
        self.fit(number);
    }

    fn fit(&mut self, changed: usize) {
        if self.bytes <= SESSION_CONTENT {
            return;
        }
        let mut are_empty = true;
        for (number, call) in self.known.range_mut(self.first_full) {
            if self.bytes <= SESSION_CONTENT {
                break;
            }
            if number == changed {
                are_empty = false;
                continue;
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

    fn whole(&mut self, id: &str, mut object: Object<'_>, terminals: &Terminals) -> RawJson {
        let call = self.known.entry(id);
        object.set("content", list(call.content_to_v1(terminals)));
        if !std::mem::replace(&mut call.told, true) {
            object.put("sessionUpdate", "tool_call");
            object.put("title", &call.title.clone().unwrap_or_else(|| default_title(&Object::default())));
            object.note("untitled", "true");
        }
        object.raw()
    }
}

impl Call {
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
