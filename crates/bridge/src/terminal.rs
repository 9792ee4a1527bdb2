//! Terminals that the agent owns, as a v1 client can be shown them: the last of their output, as text.

use std::collections::BTreeSet;

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use crate::{
    content::text_item,
    diff::fenced,
    object::{JsonObject, string},
    recent::RecentValues,
};

/// How much of a terminal's output is kept and shown.
pub const TERMINAL_TAIL: usize = 16 * 1024;

/// How many terminals are remembered.
const TERMINALS: usize = 64;
const OWN: usize = 1024;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The terminals of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionTerminals {
    known: RecentValues<Terminal, TERMINALS>,
    /// Those that the client runs itself.
    own: RecentValues<(), OWN>,
}

/// What is known of one terminal.
#[derive(Debug, Clone, Default)]
struct Terminal {
    command: Option<String>,
    tail: Vec<u8>,
    /// Whether output came before the tail.
    cut: bool,
    /// The exit status as it came.
    exit: Option<String>,
    /// Whether it has ever had one.
    has_ended: bool,
}

impl SessionTerminals {
    /// From now on the client that is written for runs this one.
    pub(crate) fn own(&mut self, id: &str) {
        self.own.insert(id, ());
    }

    /// Takes a `terminal_update`; the id, if something changed that is shown.
    pub(crate) fn update(&mut self, update: &JsonObject<'_>) -> Option<String> {
        let id = self.foreign(update)?;
        let terminal = self.known.entry(&id);
        if let Some(command) = update.get("command") {
            terminal.command = string(command);
        }
        if let Some(output) = update.get("output") {
            let data = JsonObject::read(output).and_then(|output| output.string("data"));
            terminal.tail.clear();
            terminal.cut = false;
            terminal.push(&data.unwrap_or_default());
        }
        if let Some(exit) = update.get("exitStatus") {
            terminal.exit = (exit != "null").then(|| exit.to_owned());
            terminal.has_ended |= terminal.exit.is_some();
        }
        Some(id)
    }

    /// Takes a `terminal_output_chunk`; the id, if it is one that is shown.
    pub(crate) fn chunk(&mut self, chunk: &JsonObject<'_>) -> Option<String> {
        let id = self.foreign(chunk)?;
        self.known.entry(&id).push(&chunk.string("data")?);
        Some(id)
    }

    /// Whether this update says for the first time that a terminal has ended.
    pub(crate) fn ends(&self, update: &JsonObject<'_>) -> bool {
        let runs = |id: String| self.known.get(&id).is_none_or(|terminal| !terminal.has_ended);
        update.value("exitStatus").is_some() && self.foreign(update).is_some_and(runs)
    }

    /// The terminal that is forgotten because of this update.
    pub(crate) fn forgets_for(&self, update: &JsonObject<'_>) -> Option<String> {
        self.foreign(update).filter(|id| self.known.get(id).is_none())?;
        self.known.next_to_go().map(str::to_owned)
    }

    /// About how much these show.
    pub(crate) fn shown(&self, ids: &BTreeSet<String>) -> usize {
        if ids.is_empty() {
            return 0;
        }
        self.known.iter().filter(|(id, _)| ids.contains(*id)).map(|(_, terminal)| terminal.length()).sum()
    }

    /// The item of a tool call's content that stands for a reference to a terminal.
    pub(crate) fn item(&self, reference: &JsonObject<'_>) -> String {
        let id = reference.string("terminalId").unwrap_or_default();
        if self.own.get(&id).is_some() {
            return reference.text();
        }
        let mut item = text_item(&self.known.get(&id).map(Terminal::words).unwrap_or_default());
        item.note("terminal", &reference.text());
        item.text()
    }

    fn foreign(&self, update: &JsonObject<'_>) -> Option<String> {
        update.string("terminalId").filter(|id| self.own.get(id).is_none())
    }
}

impl Terminal {
    fn push(&mut self, base64: &str) {
        self.tail.extend(BASE64.decode(base64).unwrap_or_default());
        if let Some(over) = self.tail.len().checked_sub(TERMINAL_TAIL).filter(|over| *over > 0) {
            self.tail.drain(..over);
            self.cut = true;
        }
    }

    fn length(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.tail.len() + length(&self.command) + length(&self.exit)
    }

    fn words(&self) -> String {
        let command = self.command.as_ref().map(|command| format!("$ {command}\n")).unwrap_or_default();
        let cut = if self.cut { "[…]\n" } else { "" };
        let output = transcript(&String::from_utf8_lossy(&self.tail));
        let exit = self.exit.as_deref().map(in_words).unwrap_or_default();
        let text = format!("{command}{cut}{output}");
        let shown = if text.is_empty() { text } else { fenced("console", &text) };
        [shown, exit].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

fn in_words(exit: &str) -> String {
    let exit = JsonObject::read(exit).unwrap_or_default();
    match (exit.value("exitCode"), exit.string("signal")) {
        (_, Some(signal)) => format!("Ended by {signal}"),
        (Some(code), None) => format!("Exit code {code}"),
        (None, None) => "Ended".to_owned(),
    }
}

/// Output as text: no escape sequences, no controls, of a line that was written over what it says last.
fn transcript(output: &str) -> String {
    if !output.contains(|c: char| c.is_control() && c != '\n' && c != '\t') {
        return output.to_owned();
    }
    let mut plain = String::with_capacity(output.len());
    let mut rest = output.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_escape(&mut rest),
            '\n' | '\t' | '\r' => plain.push(c),
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    let last_said = |line: &str| {
        let line = line.trim_end_matches('\r');
        line.rsplit('\r').next().unwrap_or_default().to_owned()
    };
    plain.split('\n').map(last_said).collect::<Vec<_>>().join("\n")
}

/// Passes over what follows an escape character.
fn skip_escape(rest: &mut std::str::Chars<'_>) {
    match rest.next() {
        // A control sequence ends with a letter or one of a few signs.
        Some('[') => while rest.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
        // A string ends with BEL or with ESC and a backslash.
        Some(']' | 'P' | '^' | '_' | 'X') => {
            while let Some(c) = rest.next() {
                if c == '\u{7}' {
                    break;
                }
                if c == '\u{1b}' {
                    rest.next();
                    break;
                }
            }
        }
        Some('(' | ')' | '#' | '%' | ' ') => drop(rest.next()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_shown_as_plain_text() {
        let check = |output: &str, expected: &str| assert_eq!(transcript(output), expected);
        check("a\r\nb\tc\n", "a\nb\tc\n");
        check("10%\r50%\r100%\r\ndone", "100%\ndone");
        check("\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7}x\u{1b}]8;;u\u{1b}\\y\u{1b}(Bz", "red xyz");
        check("\u{1b}[", "");
        check("bell\u{7}\u{8}", "bell");
    }

    #[test]
    fn only_the_tail_is_kept() {
        let mut terminal = Terminal::default();
        terminal.push(&BASE64.encode(vec![b'a'; TERMINAL_TAIL - 1]));
        assert!(!terminal.cut);
        terminal.push("YmI");
        assert!(terminal.cut && terminal.tail.len() == TERMINAL_TAIL && terminal.tail.ends_with(b"bb"));
        terminal.push("no base64!");
        assert!(terminal.tail.ends_with(b"bb"));
    }
}
