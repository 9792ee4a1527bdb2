//! `nudge watch`: a session, live, in a terminal.

use std::{
    collections::HashMap,
    io::{self, IsTerminal, Write},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, Result};
use nudge_store::SessionRow;
use nudge_wire::RawJson;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use super::{
    DaemonLink,
    control::{self, SeenUpdate},
    markdown::MarkdownPainter,
    permission_text::ToldCalls,
    question,
    render::{ConversationPart, RenderedTranscript},
};
use crate::{data_place::DataPlace, output, settings::Settings, terminal_text};

/// How long a text has to rest before a question is put in the middle of a sentence: it may be what it waits for.
const REST: Duration = Duration::from_millis(700);
/// Lines of what a tool printed that are shown, letters of a line, and bytes that are looked at.
const OUTPUT_LINES: usize = 30;
const OUTPUT_COLUMNS: usize = 400;
const OUTPUT_BYTES: usize = 64 * 1024;
/// How many tools are remembered for what they have printed.
const TOOLS: usize = 64;

pub(crate) async fn watch(
    place: &DataPlace,
    settings: &Settings,
    session: &SessionRow,
    is_json: bool,
    history: bool,
) -> Result<ExitCode> {
    end_at_ctrl_c()?;
    let control = DaemonLink::start(place, settings)?.looking_on();
    let mut params = json!({
        "sessionId": &*session.id,
        "additionalDirectories": session.additional_directories,
        "_meta": { "nudge": { "hold": true, "keepDirectories": true } },
    });
    if history {
        params["replayFrom"] = json!({ "type": "start" });
    }
    let mut screen = Screen::new(session, is_json);
    control
        .run(async |client| {
            // The history is longer than what may wait, so it is read while the answer is awaited.
            let joined = client.ask("session/resume", &params)?;
            let mut joined = std::pin::pin!(joined);
            let mut is_joined = false;
            loop {
                let seen = tokio::select! {
                    answer = &mut joined, if !is_joined => {
                        answer?;
                        is_joined = true;
                        continue;
                    }
                    seen = client.seen.recv() => seen,
                    () = tokio::time::sleep(REST), if screen.is_waiting() => {
                        screen.put_waiting();
                        screen.write()?;
                        continue;
                    }
                };
                let is_over = match seen {
                    None => true,
                    Some(SeenUpdate::Update(update)) => {
                        screen.update(&update);
                        update.get(&["_meta", "nudge", "left"]).is_some()
                    }
                    Some(SeenUpdate::Asked(params)) => {
                        screen.asked(&params);
                        false
                    }
                };
                // Whoever reads has read enough, or there is nothing more to see.
                if screen.write().is_err() || is_over {
                    return Ok(ExitCode::SUCCESS);
                }
            }
        })
        .await
}

/// Ends the process at Ctrl-C, also while what is written is not read: nothing is lost by it. In a thread of its own, for a
/// write that waits holds up the event loop.
fn end_at_ctrl_c() -> Result<()> {
    let runtime = control::runtime()?;
    let listening = {
        let _inside = runtime.enter();
        signal(SignalKind::interrupt())
    };
    let mut pressed = listening.context("cannot wait for Ctrl-C")?;
    std::thread::spawn(move || {
        if runtime.block_on(pressed.recv()).is_some() {
            std::process::exit(130);
        }
    });
    Ok(())
}

/// What is shown of a session.
struct Screen {
    is_json: bool,
    /// Whether what tools print is shown.
    has_output: bool,
    session: String,
    transcript: RenderedTranscript,
    told: ToldCalls,
    painter: MarkdownPainter,
    /// What is to be written.
    out: String,
    /// How the text so far ends.
    last: char,
    state: String,
    /// What is to be said when the sentence is over.
    waiting: Vec<Note>,
    /// What tools have printed so far, as it is shown.
    printed: HashMap<String, Printed>,
    /// What was shown last is what this one has printed.
    printing: Option<String>,
    /// The tool call that was named last, if nothing but its output was shown since.
    named: Option<String>,
}

/// Something beside the conversation.
struct Note {
    /// It only tells that a turn runs or not.
    is_state: bool,
    text: String,
}

#[derive(Default)]
struct Printed {
    text: String,
    lines: usize,
}

impl Screen {
    fn new(session: &SessionRow, is_json: bool) -> Self {
        Self {
            is_json,
            has_output: io::stdout().is_terminal(),
            session: session.id.to_string(),
            transcript: RenderedTranscript::default(),
            told: ToldCalls::default(),
            painter: MarkdownPainter::new(output::has_colours(&io::stdout())),
            out: String::new(),
            last: '\n',
            state: String::new(),
            waiting: Vec::new(),
            printed: HashMap::new(),
            printing: None,
            named: None,
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(std::mem::take(&mut self.out).as_bytes())?;
        out.flush()
    }

    fn update(&mut self, raw: &RawJson) {
        if self.is_json {
            self.out.push_str(&terminal_text::json(raw.as_str()));
            return self.out.push('\n');
        }
        let update: Value = raw.to().unwrap_or_default();
        let title = || terminal_text::one_line(update["title"].as_str().unwrap_or_default());
        match update["sessionUpdate"].as_str() {
            Some("state_update") => self.state(&update),
            Some("notice") => self.note(Note { is_state: false, text: format!("[{}]", title()) }),
            _ => {
                self.told.update(&update);
                let parts = self.transcript.update(&update);
                for part in parts {
                    self.part(part);
                }
            }
        }
    }

    /// A turn begins or ends. That it waits for an answer is said by the question.
    fn state(&mut self, update: &Value) {
        let state = update["state"].as_str().unwrap_or_default();
        if state == "requires_action" || state == self.state {
            return;
        }
        state.clone_into(&mut self.state);
        let reason = update["stopReason"].as_str().filter(|reason| *reason != "end_turn");
        let line = terminal_text::one_line(&match reason {
            Some(reason) => format!("[{state}: {reason}]"),
            None => format!("[{state}]"),
        });
        // What was not said of the state by now is not so any more.
        self.waiting.retain(|note| !note.is_state);
        self.note(Note { is_state: true, text: line });
        if state == "idle" {
            // Nothing more is said of what is being said.
            self.put_waiting();
        }
    }

    fn asked(&mut self, params: &RawJson) {
        if !self.is_json {
            let mut params = params.to().unwrap_or_default();
            self.told.fill_in(&mut params);
            self.note(Note { is_state: false, text: question::asked(&params, &self.session) });
        }
    }

    /// Says something beside the conversation, when no sentence is broken by it.
    fn note(&mut self, note: Note) {
        let is_between = !self.transcript.is_open() || matches!(self.last, '\n' | '.' | '!' | '?' | ':');
        self.waiting.push(note);
        if is_between {
            self.put_waiting();
        }
    }

    /// Whether something is to be said that the text may be waiting for.
    fn is_waiting(&self) -> bool {
        self.waiting.iter().any(|note| !note.is_state)
    }

    fn put_waiting(&mut self) {
        for note in std::mem::take(&mut self.waiting) {
            self.put(&note.text);
        }
    }

    /// Puts a line of its own.
    fn put(&mut self, line: &str) {
        let end = self.painter.finish();
        self.out.push_str(&end);
        self.out.push_str(if self.last == '\n' { "\n" } else { "\n\n" });
        self.out.push_str(&self.painter.dim(line));
        self.out.push('\n');
        (self.last, self.printing, self.named) = ('\n', None, None);
    }

    fn part(&mut self, part: ConversationPart) {
        match part {
            ConversationPart::Text { text, is_new } => self.text(&text, is_new),
            ConversationPart::Call { id, text } => {
                self.text(&text, true);
                self.named = Some(id);
            }
            ConversationPart::CallEnded { id, status, text } => {
                self.put_waiting();
                let is_named = self.named.as_ref() == Some(&id);
                let line = if is_named && self.printing.is_some() { "\n   " } else { "" };
                self.text(&if is_named { format!("{line}{status}") } else { text }, true);
            }
            ConversationPart::Output { call, id, text, is_all } if self.has_output => {
                if self.output(&id, &text, is_all) {
                    self.named.take_if(|named| Some(&*named) != call.as_ref());
                }
            }
            ConversationPart::Output { .. } => {}
        }
    }

    fn text(&mut self, text: &str, is_new: bool) {
        // The sentence before it is over.
        if is_new {
            self.put_waiting();
            let end = self.painter.finish();
            self.out.push_str(&end);
        }
        self.last = text.trim_end_matches([' ', '\t']).chars().next_back().unwrap_or(self.last);
        let painted = self.painter.paint(text);
        self.out.push_str(&painted);
        (self.printing, self.named) = (None, None);
    }

    /// Shows what a tool has printed and was not shown yet, set back; whether there was something.
    fn output(&mut self, id: &str, text: &str, is_all: bool) -> bool {
        if self.printed.len() > TOOLS && !self.printed.contains_key(id) {
            self.printed.clear();
        }
        let printed = self.printed.entry(id.to_owned()).or_default();
        let goes_on = self.printing.as_deref() == Some(id) && !printed.text.ends_with('\n');
        let shown = printed.more(text, is_all, goes_on);
        if !shown.is_empty() {
            let end = self.painter.finish();
            self.out.push_str(&end);
            self.out.push_str(&self.painter.dim(&shown));
            (self.last, self.printing) = ('x', Some(id.to_owned()));
        }
        !shown.is_empty()
    }
}

impl Printed {
    /// What is to be shown of a text that is all there is, or more of it.
    fn more(&mut self, text: &str, is_all: bool, goes_on: bool) -> String {
        let more = text.strip_prefix(self.text.as_str()).filter(|_| is_all).unwrap_or(text);
        if more.is_empty() || self.lines > OUTPUT_LINES {
            return String::new();
        }
        let lines = terminal_text::lines(more);
        let mut shown = String::new();
        for (at, line) in lines.strip_suffix('\n').unwrap_or(&lines).split('\n').enumerate() {
            let is_new = at > 0 || !goes_on;
            self.lines += usize::from(is_new);
            if self.lines > OUTPUT_LINES {
                shown.push_str("\n    │ …");
                break;
            }
            shown.push_str(if is_new { "\n    │ " } else { "" });
            shown.extend(line.chars().take(OUTPUT_COLUMNS));
        }
        if is_all {
            self.text.clear();
        }
        self.text.push_str(if is_all { text } else { more });
        if self.text.len() > OUTPUT_BYTES {
            self.lines = OUTPUT_LINES + 1;
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What a terminal without colours shows of these updates.
    fn shown(updates: &[Value]) -> String {
        let row = SessionRow { id: "s".into(), ..SessionRow::default() };
        let mut screen =
            Screen { has_output: true, painter: MarkdownPainter::new(false), ..Screen::new(&row, false) };
        for update in updates {
            screen.update(&RawJson::of(update).expect("it is JSON"));
        }
        screen.out
    }

    fn call(id: &str, fields: &Value) -> Value {
        let mut update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id });
        update.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        update
    }

    fn output(text: &str) -> Value {
        json!([{ "type": "content", "content": { "type": "text", "text": text } }])
    }

    #[test]
    fn a_tool_call_ends_on_its_line() {
        let updates =
            [call("a", &json!({ "title": "Read x" })), call("a", &json!({ "status": "completed" }))];
        assert_eq!(shown(&updates), "\n\n- `Read x` (completed)");
    }

    #[test]
    fn what_a_tool_printed_stands_before_its_end() {
        let updates = [
            call("a", &json!({ "title": "Read x" })),
            call("a", &json!({ "status": "completed", "content": output("one") })),
        ];
        assert_eq!(shown(&updates), "\n\n- `Read x`\n    │ one\n    (completed)");
    }

    #[test]
    fn a_terminal_belongs_to_its_tool_call() {
        let updates = [
            call("a", &json!({ "title": "Run", "content": [{ "type": "terminal", "terminalId": "t" }] })),
            json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "b25l" }),
            call("a", &json!({ "title": "Run", "status": "completed" })),
            call("a", &json!({ "status": "completed" })),
        ];
        assert_eq!(shown(&updates), "\n\n- `Run`\n    │ one\n    (completed)");
    }

    #[test]
    fn tool_calls_beside_each_other_are_told_apart() {
        let updates = [
            call("a", &json!({ "title": "Read x" })),
            call("b", &json!({ "title": "Read y" })),
            call("a", &json!({ "status": "completed" })),
            call("b", &json!({ "status": "failed" })),
        ];
        let ends = "\n\n- `Read x` (completed)\n\n- `Read y` (failed)";
        assert_eq!(shown(&updates), format!("\n\n- `Read x`\n\n- `Read y`{ends}"));
    }
}
