//! What the user has said and nobody has taken in yet: not sent, or waiting for its turn.

use std::{collections::VecDeque, time::Duration};

use serde_json::{Value, json};

use super::{ChatCore, ChatStage, TurnView, opening::AskPurpose};
use crate::{
    agent_link::LinkError, composer::Composer, content_text::content_text, conversation::ConversationForm,
    styled::DIM, terminal_text,
};

/// How many messages are remembered whose turn is over.
const ANSWERED: usize = 64;
/// After how long a message that is under way is shown as such.
const UNDER_WAY: Duration = Duration::from_millis(400);

/// When a message goes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SayMode {
    /// As a turn of its own.
    Queue,
    /// Into the turn that runs.
    Steer,
}

impl SayMode {
    fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Steer => "steer",
        }
    }
}

/// The messages of a session that wait, in its order, and those that were not accepted yet.
#[derive(Debug, Default)]
pub(super) struct PendingInput {
    waiting: Vec<WaitingMessage>,
    unsent: VecDeque<UnsentMessage>,
    /// Which of those that wait the keys are about.
    pub(super) selected: Option<usize>,
    /// The message that is being written anew, and what was being written before.
    pub(super) editing: Option<(String, String)>,
    made: u64,
    /// The messages that were said here and whose turn is not over.
    unanswered: Vec<String>,
    /// The messages that were delivered to the turn that runs, whoever said them, and those whose turn is over, newest last.
    in_turn: Vec<String>,
    answered: VecDeque<String>,
    /// Whether what waits was told since the session was asked for.
    is_told: bool,
    /// Messages that were to be taken back and said again when the connection broke.
    cut: Vec<(String, Value)>,
}

/// A message that was accepted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WaitingMessage {
    pub(super) id: String,
    pub(super) is_steer: bool,
    content: Value,
}

#[derive(Debug, Clone, PartialEq)]
struct UnsentMessage {
    key: String,
    mode: SayMode,
    content: Value,
    since: Duration,
    is_under_way: bool,
}

/// What follows when a message was taken back.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AfterRevoke {
    Nothing,
    /// It is said again, into the turn that runs.
    Steer(Value),
}

impl WaitingMessage {
    /// Its text on one line.
    pub(super) fn line(&self) -> String {
        terminal_text::one_line(content_text(&self.content).trim())
    }

    /// Its text alone.
    fn text(&self) -> String {
        let blocks = self.content.as_array().into_iter().flatten();
        blocks.filter_map(|block| block["text"].as_str()).collect()
    }

    /// The same with another text; what is linked to it stays.
    fn with_text(&self, text: &str) -> Value {
        let others = self.content.as_array().into_iter().flatten().filter(|block| block["type"] != "text");
        let text = json!({ "type": "text", "text": text });
        std::iter::once(text).chain(others.cloned()).collect()
    }
}

impl PendingInput {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.unsent.is_empty()
    }

    pub(super) fn waiting(&self) -> &[WaitingMessage] {
        &self.waiting
    }

    pub(super) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// The texts of messages that have been under way for a while.
    pub(super) fn under_way(&self, now: Duration) -> impl Iterator<Item = String> {
        let late = self.unsent.iter().filter(move |message| now.saturating_sub(message.since) >= UNDER_WAY);
        late.map(|message| terminal_text::one_line(content_text(&message.content).trim()))
    }

    /// The texts of all that were not accepted.
    fn unsent_texts(&self) -> Vec<String> {
        self.unsent.iter().map(|message| content_text(&message.content)).collect()
    }

    /// Whether a message that was said here waits for its turn, or for the end of it.
    pub(super) fn has_unanswered(&self) -> bool {
        !self.unanswered.is_empty()
    }

    pub(super) fn delivered(&mut self, id: &str) {
        self.in_turn.push(id.to_owned());
    }

    pub(super) fn turn_over(&mut self) {
        self.unanswered.retain(|id| !self.in_turn.contains(id));
        self.answered.extend(self.in_turn.drain(..));
        self.answered.drain(..self.answered.len().saturating_sub(ANSWERED));
    }

    /// A message that was said here was accepted. That may be learned late: when it was delivered, or its turn is over.
    fn accepted(&mut self, id: &str) {
        if !self.answered.iter().any(|answered| answered == id) {
            self.unanswered.push(id.to_owned());
        }
    }

    /// The session is asked for anew.
    pub(super) fn session_asked_for(&mut self) {
        self.is_told = false;
    }

    /// What was not answered may not have arrived.
    pub(super) fn connection_lost(&mut self) {
        for message in &mut self.unsent {
            message.is_under_way = false;
        }
    }

    /// What waits in another session is none of this one's.
    pub(super) fn forget_session(&mut self) {
        self.waiting.clear();
        self.unanswered.clear();
        self.in_turn.clear();
        self.answered.clear();
        (self.selected, self.editing) = (None, None);
    }
}

impl ChatCore {
    /// What was said and not taken in.
    pub(crate) fn unsaid(&self) -> Vec<String> {
        self.pending.unsent_texts()
    }

    /// What is written is said.
    pub(super) fn submit(&mut self, mode: SayMode) {
        self.completions = None;
        if let Some((id, draft)) = self.pending.editing.take() {
            let text = self.composer.take();
            self.composer.set(&draft);
            return match mode {
                SayMode::Queue => self.replace(&id, text),
                SayMode::Steer => self.steer_anew(&id, text),
            };
        }
        let text = self.composer.take();
        if text.trim().is_empty() {
            return;
        }
        if self.is_no_command(&text) {
            self.composer.set(&text);
            return self.hint("there is no such command; /help lists them, // says it as it is");
        }
        if let Some(command) = text.strip_prefix('/')
            && !command.starts_with('/')
            && self.command(command.trim())
        {
            return;
        }
        let text = text.strip_prefix('/').filter(|rest| rest.starts_with('/')).unwrap_or(&text);
        self.say(mode, text);
    }

    /// Whether it looks like a command that nobody has.
    fn is_no_command(&self, text: &str) -> bool {
        let Some(name) = text.strip_prefix('/').and_then(|text| text.split_whitespace().next()) else {
            return false;
        };
        let is_name = text[1..].starts_with(name)
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c));
        let known = self.all_commands();
        is_name && name != "exit" && known.iter().all(|command| command.text[1..] != *name)
    }

    /// Hands a message over.
    pub(super) fn say(&mut self, mode: SayMode, text: &str) {
        let content = self.content_of(text);
        self.say_content(mode, content);
    }

    fn say_content(&mut self, mode: SayMode, content: Value) {
        // Where nothing runs there is nothing to steer, and it begins at once.
        let mode = if self.turn == TurnView::Idle { SayMode::Queue } else { mode };
        self.pending.made += 1;
        let key = format!("chat-{:016x}-{}", self.seed, self.pending.made);
        let (since, is_under_way) = (self.now, false);
        self.pending.unsent.push_back(UnsentMessage { key, mode, content, since, is_under_way });
        self.send_unsent();
        match self.stage {
            ChatStage::SignedOut => self.hint("sign in first: /login"),
            ChatStage::Failed => self.hint("it waits for a session: /new begins one, /resume chooses one"),
            _ => {}
        }
    }

    /// The text, and links to the files that it names.
    fn content_of(&self, text: &str) -> Value {
        let words = text.split_whitespace().filter_map(|word| word.strip_prefix('@'));
        let mut blocks = vec![json!({ "type": "text", "text": text })];
        let mut linked = Vec::new();
        for word in words {
            let word = word.trim_end_matches([',', ';', ':', '?', '!', ')']);
            let path =
                if self.files.iter().any(|file| file == word) { word } else { word.trim_end_matches('.') };
            if self.files.iter().any(|file| file == path) && !linked.contains(&path) {
                linked.push(path);
                let uri = format!("file://{}", percent_encoded(&format!("{}/{path}", self.cwd)));
                blocks.push(json!({ "type": "resource_link", "uri": uri, "name": path }));
            }
        }
        Value::Array(blocks)
    }

    /// Sends what is not under way, in order.
    pub(super) fn send_unsent(&mut self) {
        let (ChatStage::Open, Some(session)) = (self.stage, self.session.clone()) else { return };
        let mut asks = Vec::new();
        for message in self.pending.unsent.iter_mut().filter(|message| !message.is_under_way) {
            message.is_under_way = true;
            let params = json!({ "sessionId": session, "mode": message.mode.name(), "content": message.content,
                "_meta": { "idempotencyKey": message.key } });
            asks.push((message.key.clone(), params));
        }
        for (key, params) in asks {
            self.ask(AskPurpose::Inject { key }, "session/inject", params);
        }
    }

    pub(super) fn injected(&mut self, key: &str, outcome: Result<Value, LinkError>) {
        let Some(at) = self.pending.unsent.iter().position(|message| message.key == key) else { return };
        let error = match outcome {
            Ok(accepted) => {
                self.pending.unsent.remove(at);
                if let Some(id) = accepted["messageId"].as_str() {
                    self.pending.accepted(id);
                }
                return;
            }
            // Nobody knows whether it has arrived: it is said again under its key.
            Err(error) if error.code.is_none() => return,
            Err(error) => error,
        };
        let Some(message) = self.pending.unsent.remove(at) else { return };
        if error.reason.as_deref() == Some("no_running_turn") && message.mode == SayMode::Steer {
            self.hint("the turn was over already; it begins one of its own");
            self.turn = TurnView::Idle;
            return self.say_content(SayMode::Queue, message.content);
        }
        self.complain("it was not said", &error);
        // Nothing that was written is lost.
        let text = content_text(&message.content);
        if self.composer.is_empty() {
            self.composer.set(&text);
        } else {
            self.note(DIM, &text);
        }
        if error.code == Some(nudge_wire::ErrorCode::AUTH_REQUIRED) {
            self.show_sign_in();
        }
    }

    /// What waited in the session when it was opened. What was told after that may have come before it.
    pub(super) fn set_pending_at_first(&mut self, pending: &Value) {
        if !self.pending.is_told {
            self.set_pending(pending);
        }
    }

    /// What waits in the session is this.
    pub(super) fn set_pending(&mut self, pending: &Value) {
        self.pending.is_told = true;
        let one = |message: &Value| {
            let id = message["messageId"].as_str()?.to_owned();
            Some(WaitingMessage {
                id,
                is_steer: message["mode"] == "steer",
                content: message["content"].clone(),
            })
        };
        let waiting: Vec<_> = pending.as_array().into_iter().flatten().filter_map(one).collect();
        if self.form == ConversationForm::Spoken {
            self.speak_of_new(&waiting);
        }
        let selected = self.pending.selected.and_then(|at| self.pending.waiting.get(at));
        let selected = selected.and_then(|before| waiting.iter().position(|message| message.id == before.id));
        self.pending.selected = selected;
        self.pending.waiting = waiting;
    }

    fn speak_of_new(&mut self, waiting: &[WaitingMessage]) {
        for (at, message) in waiting.iter().enumerate() {
            if !self.pending.waiting.iter().any(|known| known == message) {
                let how = if message.is_steer { "goes into this turn" } else { "waits for its turn" };
                self.note(DIM, &format!("Message {} {how}: {}", at + 1, message.line()));
            }
        }
    }

    /// The message of this number, or the selected one.
    pub(super) fn waiting_message(&self, number: Option<usize>) -> Option<WaitingMessage> {
        let at = match number {
            Some(number) => number.checked_sub(1)?,
            None => self.pending.selected?,
        };
        self.pending.waiting.get(at).cloned()
    }

    /// Takes a message back.
    pub(super) fn take_back(&mut self, message: &WaitingMessage) {
        self.revoke(message, AfterRevoke::Nothing);
    }

    /// Has a message that waits for its turn go into the one that runs.
    pub(super) fn steer_with(&mut self, message: &WaitingMessage) {
        if message.is_steer {
            return self.hint("it goes into this turn already");
        }
        if self.turn == TurnView::Idle {
            return self.hint("nothing runs that could be steered");
        }
        self.revoke(message, AfterRevoke::Steer(message.content.clone()));
    }

    /// Has a message go into the turn that runs, written anew.
    fn steer_anew(&mut self, id: &str, text: String) {
        let message = self.pending.waiting.iter().find(|message| message.id == id).cloned();
        match message {
            Some(message) if !message.is_steer && self.turn != TurnView::Idle && !text.trim().is_empty() => {
                self.revoke(&message, AfterRevoke::Steer(message.with_text(&text)));
            }
            _ => self.replace(id, text),
        }
    }

    /// Writes a message anew that waits.
    pub(super) fn edit(&mut self, message: &WaitingMessage) {
        let draft = self.composer.text().to_owned();
        self.pending.editing = Some((message.id.clone(), draft));
        self.pending.selected = None;
        self.composer = std::mem::take(&mut self.composer).emptied();
        self.composer.insert(&message.text());
    }

    pub(super) fn stop_editing(&mut self) {
        if let Some((_, draft)) = self.pending.editing.take() {
            self.composer.set(&draft);
        }
    }

    pub(super) fn replace(&mut self, id: &str, text: String) {
        let Some(session) = self.session.clone() else { return };
        let Some(message) = self.pending.waiting.iter().find(|message| message.id == id).cloned() else {
            self.composer.set(&text);
            let what = if self.conversation.has_shown(id) { "delivered" } else { "taken back elsewhere" };
            return self.hint(format!("it has been {what} meanwhile; Enter says this as a new message"));
        };
        if text.trim().is_empty() {
            return self.take_back(&message);
        }
        let params = json!({ "sessionId": session, "messageId": id, "content": message.with_text(&text) });
        self.ask(AskPurpose::Replace { text }, "session/replace_inject", params);
    }

    fn revoke(&mut self, message: &WaitingMessage, then: AfterRevoke) {
        let Some(session) = &self.session else { return };
        let params = json!({ "sessionId": session, "messageId": message.id });
        let id = message.id.clone();
        self.ask(AskPurpose::Revoke { id, then }, "session/revoke_inject", params);
    }

    pub(super) fn revoked(&mut self, id: &str, then: AfterRevoke, outcome: Result<Value, LinkError>) {
        if outcome.is_ok() {
            self.pending.unanswered.retain(|own| own != id);
        }
        match (then, outcome) {
            (AfterRevoke::Nothing, Ok(_)) => self.hint("taken back"),
            (AfterRevoke::Steer(content), Ok(_)) => self.say_content(SayMode::Steer, content),
            (_, Err(error)) => self.complain("it cannot be taken back", &error),
        }
    }

    /// The connection is a new one: what was asked over the old one is not answered, and none of its words may be lost.
    pub(super) fn keep_what_was_cut(&mut self) {
        for (_, purpose) in std::mem::take(&mut self.asked) {
            match purpose {
                AskPurpose::Revoke { id, then: AfterRevoke::Steer(content) } => {
                    self.pending.cut.push((id, content));
                }
                AskPurpose::Replace { text } if self.composer.is_empty() => self.composer.set(&text),
                AskPurpose::Replace { text } => self.note(DIM, &text),
                _ => {}
            }
        }
    }

    /// Says again what was taken back for it.
    pub(super) fn say_what_was_cut(&mut self) {
        for (id, content) in std::mem::take(&mut self.pending.cut) {
            let is_there = self.pending.waiting.iter().any(|message| message.id == id);
            if !is_there && !self.conversation.has_shown(&id) {
                self.say_content(SayMode::Steer, content);
            }
        }
    }

    pub(super) fn replaced(&mut self, text: &str, outcome: Result<Value, LinkError>) {
        match outcome {
            Ok(_) => self.hint("changed"),
            Err(error) => {
                self.complain("it was not changed", &error);
                if self.composer.is_empty() {
                    self.composer.set(text);
                    self.hint("Enter says this as a new message");
                } else {
                    self.note(DIM, text);
                }
            }
        }
    }
}

/// A path as it stands in an address.
fn percent_encoded(path: &str) -> String {
    use std::fmt::Write;
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(byte.into());
            }
            byte => drop(write!(encoded, "%{byte:02X}")),
        }
    }
    encoded
}

impl Composer {
    /// The same with nothing written; what was said before can still be recalled.
    fn emptied(mut self) -> Self {
        self.set("");
        self
    }
}
