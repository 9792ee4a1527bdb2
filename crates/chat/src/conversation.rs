//! The conversation as rows: what is over goes to the terminal for good, and what may still change is drawn anew.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;

use crate::{
    content_text::content_text,
    markdown_rows::MarkdownRows,
    speaker::Speaker,
    styled::{DIM, PLAIN, StyledRow, TextColour, TextStyle, worded},
    terminal_text,
    tool_call_rows::{IN_FULL, OVER, RUNNING, ToolCallView},
};

/// How many parts may be open at once; past that the oldest is shown as it is.
const OPEN: usize = 256;
/// How many tool calls and messages of the past are remembered.
const REMEMBERED: usize = 100_000;

/// Whether the conversation is drawn, or written to be read aloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConversationForm {
    Drawn,
    Spoken,
}

/// A conversation, update by update.
#[derive(Debug)]
pub(crate) struct ConversationRows {
    form: ConversationForm,
    width: usize,
    open: VecDeque<OpenPart>,
    done: Vec<StyledRow>,
    /// How much of each message was taken in, in bytes: what is told again is not shown again.
    taken: HashMap<String, usize>,
    ended_calls: HashSet<String>,
    /// The same of the conversation before.
    aside: (HashMap<String, usize>, HashSet<String>),
    /// Whether what was told before is being told again.
    is_replay: bool,
    /// The call that went to the terminal last.
    last_call: Option<ToolCallView>,
    /// What the row before the next part belongs to.
    before: Option<PartKind>,
}

#[derive(Debug)]
enum OpenPart {
    Message { who: Speaker, id: String, rows: Box<MarkdownRows>, is_over: bool },
    Call(Box<ToolCallView>),
    Note(Vec<StyledRow>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartKind {
    Message,
    Call,
    Note,
}

impl OpenPart {
    fn kind(&self) -> PartKind {
        match self {
            Self::Message { .. } => PartKind::Message,
            Self::Call(_) => PartKind::Call,
            Self::Note(_) => PartKind::Note,
        }
    }
}

impl ConversationRows {
    pub(crate) fn new(form: ConversationForm, width: usize) -> Self {
        Self {
            form,
            width,
            open: VecDeque::new(),
            done: Vec::new(),
            taken: HashMap::new(),
            ended_calls: HashSet::new(),
            aside: Default::default(),
            is_replay: false,
            last_call: None,
            before: None,
        }
    }

    /// The terminal has another width; what is done stays as it is.
    pub(crate) fn set_width(&mut self, width: usize) {
        self.width = width;
        for part in &mut self.open {
            if let OpenPart::Message { rows, .. } = part {
                rows.set_width(width);
            }
        }
    }

    /// Whether what was told before is told again now.
    pub(crate) fn set_replay(&mut self, is_replay: bool) {
        self.is_replay = is_replay;
    }

    /// Another conversation begins below this one, which may be gone back to if that comes to nothing.
    pub(crate) fn set_aside(&mut self) {
        self.aside = (std::mem::take(&mut self.taken), std::mem::take(&mut self.ended_calls));
    }

    /// Goes back to the one that was set aside.
    pub(crate) fn take_up_again(&mut self) {
        (self.taken, self.ended_calls) = std::mem::take(&mut self.aside);
    }

    /// Whether a message of this id was shown.
    pub(crate) fn has_shown(&self, id: &str) -> bool {
        self.taken.contains_key(id)
    }

    /// Takes in an update, if it is about what is said or done.
    pub(crate) fn update(&mut self, update: &Value) {
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        if let Some((who, is_whole)) = Speaker::of(kind) {
            return self.message(who, update, is_whole);
        }
        match kind {
            "tool_call" | "tool_call_update" => self.tool_call(update),
            "tool_call_content_chunk" => {
                if let Some(call) = self.call(update["toolCallId"].as_str().unwrap_or_default()) {
                    call.add_content(&update["content"]);
                }
            }
            "terminal_update" => self.terminal(update, &update["output"]["data"], true),
            "terminal_output_chunk" => self.terminal(update, &update["data"], false),
            "notice" => self.notice(update),
            "compaction_update" => self.compaction(update),
            _ => {}
        }
        self.settle();
    }

    /// Says something beside the conversation, in its place.
    pub(crate) fn note(&mut self, style: TextStyle, text: &str) {
        let rows = worded(&terminal_text::lines(text), style, self.width);
        self.note_rows(rows);
    }

    pub(crate) fn note_rows(&mut self, rows: Vec<StyledRow>) {
        self.end_message();
        self.open.push_back(OpenPart::Note(rows));
        self.settle();
    }

    /// Puts rows into the scrollback whatever is still open: they must be seen whole, now.
    pub(crate) fn note_now(&mut self, rows: Vec<StyledRow>) {
        self.end_message();
        self.settle();
        self.put(PartKind::Note, rows, false);
    }

    /// The turn is over: nothing that is open goes on.
    pub(crate) fn end_turn(&mut self) {
        self.end_message();
        self.settle();
        while self.open.front().is_some() {
            self.put_front();
        }
    }

    /// The rows that are done.
    pub(crate) fn take_done(&mut self) -> Vec<StyledRow> {
        std::mem::take(&mut self.done)
    }

    /// Puts rows back that were taken.
    pub(crate) fn restore_done(&mut self, mut rows: Vec<StyledRow>) {
        rows.append(&mut self.done);
        self.done = rows;
    }

    /// The last rows of what is open.
    pub(crate) fn open_rows(&self, most: usize) -> Vec<StyledRow> {
        let mut rows = Vec::new();
        let mut before = self.before;
        // What is being said goes on below what was said of it.
        let is_begun = |part: &&OpenPart| matches!(part, OpenPart::Message { rows, .. } if rows.has_given());
        let (begun, others): (Vec<_>, Vec<_>) = self.open.iter().partition(is_begun);
        for part in begun.into_iter().chain(others) {
            let has_given = matches!(part, OpenPart::Message { rows, .. } if rows.has_given());
            let shown = match part {
                OpenPart::Message { rows, .. } => rows.unfinished(),
                OpenPart::Call(call) => call.rows(if call.is_over() { OVER } else { RUNNING }, self.width),
                OpenPart::Note(rows) => rows.clone(),
            };
            if !shown.is_empty() && !has_given && self.is_apart(before, part.kind()) {
                rows.push(StyledRow::default());
            }
            if !shown.is_empty() {
                before = Some(part.kind());
            }
            rows.extend(shown);
        }
        rows.split_off(rows.len().saturating_sub(most))
    }

    /// The last tool call with all that is kept of it, below what is done.
    pub(crate) fn show_last_call(&mut self) -> bool {
        let open = self.open.iter().rev().find_map(|part| match part {
            OpenPart::Call(call) => Some((**call).clone()),
            _ => None,
        });
        let Some(call) = open.or_else(|| self.last_call.clone()) else { return false };
        let rows = call.rows(IN_FULL, self.width);
        self.note_now(rows);
        true
    }

    fn message(&mut self, who: Speaker, update: &Value, is_whole: bool) {
        let id = update["messageId"].as_str().unwrap_or_default().to_owned();
        let text = content_text(&update["content"]);
        if self.taken.len() > REMEMBERED {
            self.taken.clear();
        }
        let taken = self.taken.entry(id.clone()).or_default();
        let text = if is_whole && !id.is_empty() { text.get(*taken..).unwrap_or_default() } else { &text };
        *taken += text.len();
        if text.is_empty() {
            return;
        }
        let goes_on = matches!(self.open.back(), Some(OpenPart::Message { who: last, id: open, is_over: false, .. })
            if *last == who && *open == id);
        let shortened = who.shortened(text);
        let text = shortened.as_deref().unwrap_or(text);
        if !goes_on {
            self.end_message();
            self.open.push_back(self.new_message(who, id));
        }
        if let Some(OpenPart::Message { rows, is_over, .. }) = self.open.back_mut() {
            rows.push(&terminal_text::lines(text));
            *is_over = is_whole;
        }
        self.settle();
    }

    fn new_message(&self, who: Speaker, id: String) -> OpenPart {
        let mut rows = match self.form {
            ConversationForm::Drawn => {
                let (style, margin) = who.look();
                MarkdownRows::new(self.width, style, margin)
            }
            ConversationForm::Spoken => MarkdownRows::new(self.width, PLAIN, StyledRow::default()),
        };
        if self.form == ConversationForm::Spoken {
            rows.push_label(who.spoken());
            rows.set_spoken();
        }
        if who == Speaker::User {
            rows.set_verbatim();
        }
        OpenPart::Message { who, id, rows: Box::new(rows), is_over: false }
    }

    /// The message that is being said is over.
    fn end_message(&mut self) {
        if let Some(OpenPart::Message { is_over, .. }) = self.open.back_mut() {
            *is_over = true;
        }
    }

    fn call(&mut self, id: &str) -> Option<&mut ToolCallView> {
        self.open.iter_mut().find_map(|part| match part {
            OpenPart::Call(call) if call.id == id => Some(&mut **call),
            _ => None,
        })
    }

    fn tool_call(&mut self, update: &Value) {
        let id = update["toolCallId"].as_str().unwrap_or_default().to_owned();
        if self.ended_calls.contains(&id) {
            // Some agents give an id to another call.
            let is_over = matches!(update["status"].as_str(), Some("completed" | "failed" | "cancelled"));
            if self.is_replay || is_over || !update["title"].is_string() {
                return;
            }
            self.ended_calls.remove(&id);
        }
        if self.call(&id).is_none() {
            self.end_message();
            self.open.push_back(OpenPart::Call(Box::new(ToolCallView::new(&id))));
        }
        let Some(call) = self.call(&id) else { return };
        call.update(update);
        if call.is_over() {
            if self.ended_calls.len() > REMEMBERED {
                self.ended_calls.clear();
            }
            self.ended_calls.insert(id);
        }
    }

    fn terminal(&mut self, update: &Value, data: &Value, is_all: bool) {
        let id = update["terminalId"].as_str().unwrap_or_default();
        let call = self.open.iter_mut().rev().find_map(|part| match part {
            OpenPart::Call(call) if call.terminals.iter().any(|known| known == id) => Some(call),
            _ => None,
        });
        if let Some(call) = call {
            call.terminal_output(data, is_all);
        }
    }

    fn notice(&mut self, update: &Value) {
        let title = update["title"].as_str().unwrap_or_default();
        let text = match update["description"].as_str() {
            Some(more) => format!("{title}: {more}"),
            None => title.to_owned(),
        };
        let style = match update["severity"].as_str() {
            Some("error") => TextColour::Red.text(),
            Some("warning") => TextColour::Yellow.text(),
            _ => DIM,
        };
        self.note(style, &format!("· {}", terminal_text::one_line(&text)));
    }

    fn compaction(&mut self, update: &Value) {
        let what = match update["status"].as_str() {
            Some("in_progress") => "the conversation is being shortened",
            Some("completed") => "the conversation was shortened",
            Some("failed") => "the conversation could not be shortened",
            _ => return,
        };
        self.note(DIM, &format!("· {what}"));
    }

    /// What is done goes to the terminal for good; a call that runs holds up nothing but itself. What is being said is not
    /// interrupted where it is drawn: read aloud, all comes as it happens.
    fn settle(&mut self) {
        let is_spoken = self.form == ConversationForm::Spoken;
        let begun = |part: &OpenPart| matches!(part, OpenPart::Message { rows, .. } if rows.has_given());
        if !is_spoken && let Some(at) = self.open.iter().position(begun) {
            if let OpenPart::Message { is_over: false, rows, .. } = &mut self.open[at] {
                let finished = rows.take_rows();
                self.put(PartKind::Message, finished, true);
                return self.bound();
            }
            let part = self.open.remove(at);
            self.put_part(part);
        }
        let mut at = 0;
        while at < self.open.len() {
            match &mut self.open[at] {
                OpenPart::Message { rows, is_over: false, .. } => {
                    let had_given = is_spoken || rows.has_given();
                    let finished = rows.take_rows();
                    self.put(PartKind::Message, finished, had_given);
                    at += 1;
                }
                OpenPart::Call(call) if !call.is_over() => at += 1,
                _ => {
                    let part = self.open.remove(at);
                    self.put_part(part);
                }
            }
        }
        self.bound();
    }

    fn bound(&mut self) {
        while self.open.len() > OPEN {
            self.put_front();
        }
    }

    fn put_front(&mut self) {
        let part = self.open.pop_front();
        self.put_part(part);
    }

    fn put_part(&mut self, part: Option<OpenPart>) {
        match part {
            Some(OpenPart::Message { mut rows, .. }) => {
                let had_given = rows.has_given();
                rows.finish();
                let finished = rows.take_rows();
                self.put(PartKind::Message, finished, had_given);
            }
            Some(OpenPart::Call(call)) => {
                let rows = match self.form {
                    ConversationForm::Drawn => call.rows(OVER, self.width),
                    ConversationForm::Spoken => vec![StyledRow::of(PLAIN, call.spoken())],
                };
                self.put(PartKind::Call, rows, false);
                self.last_call = Some(*call);
            }
            Some(OpenPart::Note(rows)) => self.put(PartKind::Note, rows, false),
            None => {}
        }
    }

    fn put(&mut self, kind: PartKind, rows: Vec<StyledRow>, had_given: bool) {
        if rows.is_empty() {
            return;
        }
        if !had_given && self.is_apart(self.before, kind) {
            self.done.push(StyledRow::default());
        }
        self.before = Some(kind);
        self.done.extend(rows);
    }

    /// Whether an empty row stands between two parts.
    fn is_apart(&self, before: Option<PartKind>, kind: PartKind) -> bool {
        let are_alike = before == Some(kind) && kind != PartKind::Message;
        self.form == ConversationForm::Drawn && before.is_some() && !are_alike
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Conversation(ConversationRows);

    impl Conversation {
        fn new() -> Self {
            Self(ConversationRows::new(ConversationForm::Drawn, 40))
        }

        fn tell(&mut self, update: &Value) -> &mut Self {
            self.0.update(update);
            self
        }

        /// What went to the terminal for good, and what is drawn anew.
        fn shown(&mut self) -> (Vec<String>, Vec<String>) {
            let text = |rows: Vec<StyledRow>| rows.iter().map(StyledRow::text).collect();
            (text(self.0.take_done()), text(self.0.open_rows(20)))
        }
    }

    fn chunk(id: &str, text: &str) -> Value {
        json!({ "sessionUpdate": "agent_message_chunk", "messageId": id, "content": { "type": "text", "text": text } })
    }

    fn whole(kind: &str, id: &str, text: &str) -> Value {
        json!({ "sessionUpdate": kind, "messageId": id, "content": [{ "type": "text", "text": text }] })
    }

    fn call(id: &str, fields: &Value) -> Value {
        let mut update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id });
        update.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        update
    }

    #[test]
    fn lines_that_are_done_go_to_the_terminal_and_the_rest_is_drawn() {
        let mut talk = Conversation::new();
        talk.tell(&whole("user_message", "u", "hello")).tell(&chunk("a", "One.\nTw"));
        assert_eq!(talk.shown(), (vec!["┃ hello".into(), String::new(), "One.".into()], vec!["Tw".into()]));
        talk.tell(&chunk("a", "o.\n"));
        assert_eq!(talk.shown(), (vec!["Two.".into()], vec![]));
    }

    #[test]
    fn what_is_told_again_is_not_shown_again() {
        let mut talk = Conversation::new();
        talk.tell(&chunk("a", "One. T"));
        talk.tell(&whole("agent_message", "a", "One. Two.")).tell(&whole("agent_message", "a", "One. Two."));
        let first = call("t", &json!({ "title": "Read x", "status": "completed" }));
        talk.tell(&first).tell(&first);
        talk.0.end_turn();
        assert_eq!(talk.shown().0, ["One. Two.", "", "✓ Read x"]);
    }

    #[test]
    fn a_running_call_holds_up_nothing_but_itself() {
        let mut talk = Conversation::new();
        talk.tell(&call(
            "t",
            &json!({ "title": "Run tests", "content": [{ "type": "terminal", "terminalId": "x" }] }),
        ));
        talk.tell(
            &json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": "b25lCnR3bwo=" }),
        );
        talk.tell(&chunk("a", "Meanwhile.\nAnd"));
        let (done, open) = talk.shown();
        assert_eq!(done, ["Meanwhile."]);
        assert_eq!(open, ["And", "", "◌ Run tests", "  │ one", "  │ two"]);
        // What is being said is said to its end first.
        talk.tell(&call("u", &json!({ "title": "Look", "status": "completed" })));
        talk.tell(&chunk("b", "More.\nMo"));
        assert_eq!(talk.shown().0, ["And", "", "✓ Look", "", "More."]);
        talk.tell(&call("t", &json!({ "status": "failed" })));
        assert_eq!(talk.shown().0, [""; 0]);
        talk.0.end_turn();
        assert_eq!(talk.shown().0, ["Mo", "", "✗ Run tests (failed)", "  │ one", "  │ two"]);
    }

    #[test]
    fn a_change_is_shown_with_what_it_changes() {
        let mut talk = Conversation::new();
        let diff = json!({ "type": "diff", "changes": [{ "operation": "modify", "path": "/a" }],
            "patch": { "format": "git_patch", "text": "--- /a\n+++ /a\n@@ -1 +1 @@\n-old\n+new\n" } });
        talk.tell(&call("t", &json!({ "title": "Edit a", "status": "completed", "content": [diff] })));
        assert_eq!(talk.shown().0, ["✓ Edit a", "  │ modify /a", "  │ @@ -1 +1 @@", "  │ -old", "  │ +new"]);
    }

    #[test]
    fn many_open_calls_do_not_fill_the_screen() {
        let mut talk = Conversation::new();
        for number in 0..1000 {
            talk.tell(&call(&format!("t{number}"), &json!({ "title": format!("Call {number}") })));
        }
        assert!(talk.0.open.len() <= OPEN + 1);
        assert_eq!(talk.shown().1.len(), 20);
    }

    #[test]
    fn it_can_be_read_aloud() {
        let mut talk = Conversation(ConversationRows::new(ConversationForm::Spoken, 200));
        talk.tell(&whole("user_message", "u", "hello")).tell(&chunk("a", "- One\n- Two"));
        talk.tell(&call("t", &json!({ "title": "Read x", "status": "failed" })));
        assert_eq!(talk.shown().0, ["You: hello", "Agent: • One", "• Two", "Tool: Read x has failed"]);
    }

    #[test]
    fn hostile_text_commands_nothing() {
        let nasty = "\u{1b}[2J\u{1b}]0;x\u{7}\u{202e}\u{9b}1A\rgone";
        let mut talk = Conversation::new();
        talk.tell(&whole("user_message", nasty, nasty)).tell(&chunk(nasty, nasty));
        talk.tell(&call(
            nasty,
            &json!({ "title": nasty, "rawInput": { "command": nasty }, "status": "completed",
            "content": [{ "type": "content", "content": { "type": "text", "text": nasty } }] }),
        ));
        talk.tell(
            &json!({ "sessionUpdate": "notice", "severity": "info", "title": nasty, "description": nasty }),
        );
        talk.0.end_turn();
        let mut out = String::new();
        talk.0.take_done().iter().for_each(|row| row.write(&mut out, false));
        assert!(!out.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{9b}', '\r']), "{out:?}");
    }
}
