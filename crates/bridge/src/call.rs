//! Tool calls: v2 patches them and appends to their content, v1 creates them and sends their content whole.

use std::{
    borrow::Cow,
    collections::{BTreeSet, VecDeque},
};

use nudge_wire::RawJson;

use crate::{
    call_members::{default_title, members_to_v1},
    content::{item_to_v1, omitted_item, prompt_item},
    object::{JsonObject, items, list, string},
    recent::RecentValues,
    terminal::SessionTerminals,
};

/// How much content of one tool call is kept so that it can be sent whole again; the oldest goes first.
pub const CALL_CONTENT: usize = 256 * 1024;

/// How much content of all tool calls of a session is kept; that of the oldest call goes first.
pub const SESSION_CONTENT: usize = 4 * 1024 * 1024;

/// Content up to this length is sent again with every change. What is longer is sent when as much has come as it has: so
/// what is sent in all is never much more than what came.
const SENT_AT_ONCE: usize = 1024;

/// How much may be sent with references to terminals before it must wait for more to come: a short reference shows a
/// long output, to as many tool calls as have one.
const AHEAD: usize = 256 * 1024;

/// How much more of it may be sent for each byte that comes.
const AHEAD_PER_BYTE: usize = 4;

/// How much is kept of what chunks say beside their content until the content is sent.
const BESIDE: usize = 16 * 1024;

/// About how much longer a reference to a terminal is as v1 is shown it, without what the terminal shows.
const REFERENCE: usize = 160;

/// How many tool calls are remembered. One that is older is created again if it changes.
const CALLS: usize = 1024;

/// How a tool call ends.
const ENDS: [&str; 3] = ["completed", "failed", "cancelled"];

/// The tool calls of a session, as a v1 client knows them.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownToolCalls {
    known: RecentValues<Call, CALLS>,
    /// Length of the content of all of them.
    bytes: usize,
    /// The number of the first that may have content.
    first_full: usize,
    /// Those of which the client has not been sent the last content.
    unsent: BTreeSet<String>,
    /// Updates with the last content of those that were about to be forgotten.
    last_words: Vec<RawJson>,
    allowance: Allowance,
}

/// How much may still be sent with references to terminals.
#[derive(Debug, Clone)]
struct Allowance(usize);

/// What is known of one tool call.
#[derive(Debug, Clone, Default)]
struct Call {
    /// Whether the client has been told of it.
    told: bool,
    title: Option<String>,
    content: VecDeque<Item>,
    /// Length of the content, without what terminals show.
    bytes: usize,
    /// The terminals it refers to, each once.
    terminals: BTreeSet<String>,
    /// Items that no longer fit.
    omitted: usize,
    /// How much has to come before it is sent again: as much as was sent last, if that was long.
    wait: usize,
    /// What chunks said since, beside their content.
    beside: JsonObject<'static>,
    /// Whether it has completed, failed or was cancelled.
    has_ended: bool,
}

/// What a permission request asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PermissionPrompt<'a> {
    pub(crate) title: Option<&'a str>,
    pub(crate) description: Option<&'a str>,
}

/// An item of content as v1 has it, or a reference to a terminal.
#[derive(Debug, Clone)]
struct Item {
    text: String,
    /// The terminal it refers to.
    terminal: Option<String>,
}

/// How content that was replaced is written.
enum Replaced {
    AsItCame,
    /// All of it, which need not fit.
    Shown(String),
    /// What fits of it, because what terminals show is longer than what came.
    WithTerminals,
}

impl KnownToolCalls {
    /// A `tool_call_update`. Before the call ends, the last of its content is sent.
    pub(crate) fn update(
        &mut self,
        update: &RawJson,
        mut object: JsonObject<'_>,
        terminals: &SessionTerminals,
    ) -> Vec<RawJson> {
        let Some(id) = object.string("toolCallId") else { return vec![update.clone()] };
        let length = update.as_str().len();
        self.allowance.earn(length);
        let has_ended = ENDS.iter().any(|status| object.is("status", status)) && self.ends(&id);
        let replaces = object.get("content").is_some();
        let last = (has_ended && !replaces).then(|| self.send_ahead(&id, terminals)).flatten();
        if replaces {
            self.unsent.remove(&id);
        }
        let allowance = self.allowance.0;
        self.change(&id, terminals, |call| {
            let first = !std::mem::replace(&mut call.told, true);
            call.wait = call.wait.saturating_sub(length);
            let may_show = |call: &Call| call.may_show(first || has_ended, allowance, terminals);
            call.patch(&mut object, terminals, first, may_show);
            call.sent(object.get("content").map_or(0, str::len));
            if first {
                object.put("sessionUpdate", "tool_call");
                if object.get("title").is_none() {
                    let title = call.title.clone().unwrap_or_else(|| default_title(&object));
                    object.put("title", &title);
                    object.note("untitled", "true");
                }
            }
        });
        match object.get("content") {
            Some(content) => self.allowance.spend(content.len()),
            None if replaces => drop(self.unsent.insert(id)),
            None => {}
        }
        last.into_iter().chain([object.raw_or(update)]).collect()
    }

    /// A `tool_call_content_chunk`: an update with all content there is, now or when more has come.
    pub(crate) fn chunk(
        &mut self,
        chunk: &RawJson,
        mut object: JsonObject<'_>,
        terminals: &SessionTerminals,
    ) -> Option<RawJson> {
        let (Some(id), Some(item)) = (object.string("toolCallId"), object.take("content")) else {
            return Some(chunk.clone());
        };
        object.remove(&["sessionUpdate", "toolCallId"]);
        let length = chunk.as_str().len();
        self.allowance.earn(length);
        let mut is_full = false;
        self.change(&id, terminals, |call| {
            for item in Item::read(&item) {
                call.push(item);
            }
            call.fit(terminals);
            is_full = call.say_beside(&object);
        });
        let sent = self.came(&id, length, terminals);
        if is_full { sent.or_else(|| self.send(&id, terminals)) } else { sent }
    }

    /// An update for each tool call that shows the terminal, now or when more has come. `length` is that of what came,
    /// `ends` says that the terminal has ended, so that nothing more may come.
    pub(crate) fn terminal_changed(
        &mut self,
        terminal: &str,
        length: usize,
        ends: bool,
        terminals: &SessionTerminals,
    ) -> Vec<RawJson> {
        self.allowance.earn(length);
        let ids = self.showing(terminal);
        // What comes once may be sent once, whoever shows it.
        let share = (length / ids.len().max(1)).max(1);
        let sent = |id: String| {
            let sent = self.came(&id, share, terminals);
            if ends { sent.or_else(|| self.send_ahead(&id, terminals)) } else { sent }
        };
        ids.into_iter().filter_map(sent).collect()
    }

    /// The last content of every call that shows this terminal and of which the client does not have it.
    pub(crate) fn terminal_forgotten(
        &mut self,
        terminal: &str,
        terminals: &SessionTerminals,
    ) -> Vec<RawJson> {
        self.showing(terminal).iter().filter_map(|id| self.send_ahead(id, terminals)).collect()
    }

    fn showing(&self, terminal: &str) -> Vec<String> {
        let shows = |call: &Call| call.told && call.terminals.contains(terminal);
        self.known.iter().filter(|(_, call)| shows(call)).map(|(id, _)| id.to_owned()).collect()
    }

    /// The last content of every call of which the client does not have it.
    pub(crate) fn flush(&mut self, terminals: &SessionTerminals) -> Vec<RawJson> {
        let mut updates = self.last_words();
        for id in std::mem::take(&mut self.unsent) {
            updates.push(self.whole(&id, terminals));
        }
        updates
    }

    /// The last content of calls that have been forgotten since this was last asked.
    pub(crate) fn last_words(&mut self) -> Vec<RawJson> {
        std::mem::take(&mut self.last_words)
    }

    /// About how long the content is that a flush sends; `None` if there is none.
    pub(crate) fn unsent(&self, terminals: &SessionTerminals) -> Option<usize> {
        let length = |id: &String| self.known.get(id).map_or(0, |call| call.shown(terminals));
        (!self.unsent.is_empty()).then(|| self.unsent.iter().map(length).sum())
    }

    /// This much more is to be sent of a call: all of it now, or later.
    fn came(&mut self, id: &str, length: usize, terminals: &SessionTerminals) -> Option<RawJson> {
        let allowance = self.allowance.0;
        let call = self.known.entry(id);
        call.wait = call.wait.saturating_sub(length);
        let is_due = call.may_show(!call.told, allowance, terminals);
        if !self.unsent.contains(id) {
            self.unsent.insert(id.to_owned());
        }
        is_due.then(|| self.send(id, terminals)).flatten()
    }

    /// The last content of a call, if the client does not have it.
    fn send(&mut self, id: &str, terminals: &SessionTerminals) -> Option<RawJson> {
        self.unsent.remove(id).then(|| self.whole(id, terminals))
    }

    /// The same before it is due; what terminals show still waits if too much of them was sent so.
    fn send_ahead(&mut self, id: &str, terminals: &SessionTerminals) -> Option<RawJson> {
        let allowance = self.allowance.0;
        let may = self.known.get(id).is_some_and(|call| call.may_show(true, allowance, terminals));
        may.then(|| self.send(id, terminals)).flatten()
    }

    /// Notes that a call ends; whether it is the first time.
    fn ends(&mut self, id: &str) -> bool {
        self.known.get_mut(id).is_some_and(|call| !std::mem::replace(&mut call.has_ended, true))
    }

    /// The tool call that a permission request is about: patched as by an update.
    pub(crate) fn subject(
        &mut self,
        object: &mut JsonObject<'_>,
        terminals: &SessionTerminals,
        prompt: &PermissionPrompt<'_>,
    ) {
        let id = object.string("toolCallId").unwrap_or_default();
        self.change(&id, terminals, |call| {
            call.patch(object, terminals, false, |_| true);
            call.ask(object, terminals, prompt);
        });
    }

    /// A tool call that stands for something else a permission request is about: nothing of it is remembered. `item`
    /// is content of it.
    pub(crate) fn stand_in(
        &self,
        object: &mut JsonObject<'_>,
        item: Option<&str>,
        terminals: &SessionTerminals,
        prompt: &PermissionPrompt<'_>,
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
    fn change(&mut self, id: &str, terminals: &SessionTerminals, change: impl FnOnce(&mut Call)) {
        if self.known.get(id).is_none() {
            if let Some(oldest) = self.known.next_to_go().map(str::to_owned) {
                let last = self.send_ahead(&oldest, terminals);
                self.last_words.extend(last);
                self.unsent.remove(&oldest);
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

    fn fit(&mut self, changed: usize, terminals: &SessionTerminals) {
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
            self.bytes -= call.bytes;
            if self.unsent.remove(id) && call.may_show(true, self.allowance.0, terminals) {
                let last = call.whole(id, terminals);
                self.allowance.spend(last.as_str().len());
                self.last_words.push(last);
            }
            call.omitted += call.content.len();
            call.content.clear();
            call.terminals.clear();
            call.bytes = 0;
            if are_empty {
                self.first_full = number + 1;
            }
        }
    }

    fn whole(&mut self, id: &str, terminals: &SessionTerminals) -> RawJson {
        let call = self.known.entry(id);
        let before = call.bytes;
        let whole = call.whole(id, terminals);
        self.bytes = self.bytes + call.bytes - before;
        self.allowance.spend(whole.as_str().len());
        whole
    }
}

impl Default for Allowance {
    fn default() -> Self {
        Self(AHEAD)
    }
}

impl Allowance {
    fn earn(&mut self, came: usize) {
        self.0 = self.0.saturating_add(came.saturating_mul(AHEAD_PER_BYTE));
    }

    fn spend(&mut self, sent: usize) {
        self.0 = self.0.saturating_sub(sent);
    }
}

impl Call {
    /// An update with all content there is.
    fn whole(&mut self, id: &str, terminals: &SessionTerminals) -> RawJson {
        let object =
            JsonObject::default().with_str("sessionUpdate", "tool_call_update").with_str("toolCallId", id);
        let mut object = object.followed_by(&std::mem::take(&mut self.beside));
        members_to_v1(&mut object, !self.told);
        self.fit(terminals);
        let content = list(self.content_to_v1(terminals));
        self.sent(content.len());
        object.set("content", content);
        if !std::mem::replace(&mut self.told, true) {
            object.put("sessionUpdate", "tool_call");
            object.put("title", &self.title.clone().unwrap_or_else(|| default_title(&JsonObject::default())));
            object.note("untitled", "true");
        }
        object.raw()
    }

    /// Whether its content can be sent now: it is short, or as much has come as was sent, or it is sent ahead of that.
    /// What terminals show has to be allowed in any case.
    fn may_show(&self, ahead: bool, allowance: usize, terminals: &SessionTerminals) -> bool {
        let shown = self.shown(terminals);
        let is_allowed = self.terminals.is_empty() || shown <= allowance;
        shown <= SENT_AT_ONCE || (is_allowed && (ahead || self.wait == 0))
    }

    /// Notes that content of this length was sent.
    fn sent(&mut self, length: usize) {
        if length > SENT_AT_ONCE {
            self.wait = self.wait.max(length);
        }
    }

    /// About how long its content is as it is shown.
    fn shown(&self, terminals: &SessionTerminals) -> usize {
        self.bytes + terminals.shown(&self.terminals)
    }

    /// Keeps what a chunk says beside its content; what came later counts. Whether no more can be kept.
    fn say_beside(&mut self, object: &JsonObject<'_>) -> bool {
        if object.is_empty() {
            return false;
        }
        self.beside = object.to_owned().followed_by(&self.beside);
        self.beside.text().len() > BESIDE
    }

    /// Takes a patch in and makes it what v1 understands. What chunks said before it and it does not say goes with it;
    /// its content, if it refers to terminals, only if that may be shown.
    fn patch(
        &mut self,
        object: &mut JsonObject<'_>,
        terminals: &SessionTerminals,
        first: bool,
        may_show: impl FnOnce(&Self) -> bool,
    ) {
        object.follow_with(std::mem::take(&mut self.beside));
        if let Some(title) = object.get("title") {
            self.title = string(title);
        }
        let content = object.get("content").map(|content| self.replace(content, terminals));
        match content {
            Some(_) if !self.terminals.is_empty() && !may_show(self) => drop(object.take("content")),
            Some(Replaced::Shown(content)) => object.set("content", content),
            Some(Replaced::WithTerminals) => object.set("content", list(self.content_to_v1(terminals))),
            Some(Replaced::AsItCame) | None => {}
        }
        members_to_v1(object, first);
    }

    /// Takes other content in.
    fn replace(&mut self, content: &str, terminals: &SessionTerminals) -> Replaced {
        self.content.clear();
        self.terminals.clear();
        (self.bytes, self.omitted) = (0, 0);
        let parts = items(content);
        for item in parts.iter().flatten().flat_map(|part| Item::read(part)) {
            self.push(item);
        }
        let is_same = |(item, part): (&Item, &&str)| item.terminal.is_none() && item.text == **part;
        let is_as_it_came = parts.as_ref().map_or(content == "null", |parts| {
            parts.len() == self.content.len() && self.content.iter().zip(parts).all(is_same)
        });
        let replaced = match is_as_it_came {
            true => Replaced::AsItCame,
            false if self.terminals.is_empty() => Replaced::Shown(list(self.content_to_v1(terminals))),
            false => Replaced::WithTerminals,
        };
        self.fit(terminals);
        replaced
    }

    /// Adds an item. A terminal that is shown already is not shown twice.
    fn push(&mut self, item: Item) {
        if let Some(terminal) = &item.terminal
            && !self.terminals.insert(terminal.clone())
        {
            return;
        }
        self.bytes += item.length();
        self.content.push_back(item);
    }

    /// Leaves out the oldest items until what is shown fits.
    fn fit(&mut self, terminals: &SessionTerminals) {
        while self.shown(terminals) > CALL_CONTENT
            && let Some(item) = self.content.pop_front()
        {
            self.bytes -= item.length();
            self.omitted += 1;
            if let Some(terminal) = &item.terminal {
                self.terminals.remove(terminal);
            }
        }
    }

    /// Puts what asks the user ahead of the content, unless the title says it all.
    fn ask(&self, object: &mut JsonObject<'_>, terminals: &SessionTerminals, prompt: &PermissionPrompt<'_>) {
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

    fn content_to_v1(&self, terminals: &SessionTerminals) -> Vec<Cow<'_, str>> {
        let omitted = (self.omitted > 0).then(|| omitted_item(self.omitted));
        let items = self.content.iter().map(|item| item.show(terminals));
        omitted.map(Cow::Owned).into_iter().chain(items).collect()
    }
}

impl Item {
    /// The items that a v2 item becomes.
    fn read(text: &str) -> Vec<Self> {
        let Some(object) = JsonObject::read(text) else { return vec![Self::plain(text.to_owned())] };
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

    fn show(&self, terminals: &SessionTerminals) -> Cow<'_, str> {
        match &self.terminal {
            Some(_) => JsonObject::read(&self.text)
                .map_or((&self.text).into(), |object| terminals.item(&object).into()),
            None => (&self.text).into(),
        }
    }

    /// Its length as it is shown, without what a terminal shows.
    fn length(&self) -> usize {
        let reference = if self.terminal.is_some() { REFERENCE } else { 0 };
        self.text.len() + reference
    }
}
