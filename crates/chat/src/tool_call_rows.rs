//! One tool call: what is known of it, and the rows that show it.

use std::fmt::Write as _;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;

use crate::{
    content_text::content_text,
    printed_tail::PrintedTail,
    styled::{DIM, PLAIN, StyledRow, TextColour, TextStyle, wrapped},
    terminal_text,
};

/// How much of a call is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallDetail {
    /// Lines of a change in files.
    pub(crate) diff: usize,
    /// Lines of what was printed.
    pub(crate) output: usize,
}

/// While it runs, once it is over, and when all is asked for.
pub(crate) const RUNNING: CallDetail = CallDetail { diff: 8, output: 5 };
pub(crate) const OVER: CallDetail = CallDetail { diff: 40, output: 8 };
pub(crate) const IN_FULL: CallDetail = CallDetail { diff: 1000, output: 400 };

/// How many lines of changes are kept, and how many terminals a call may have.
const DIFF_KEPT: usize = 1000;
const TERMINALS: usize = 8;

/// A tool call as far as it is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolCallView {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) status: CallStatus,
    /// What it runs, if its title does not say so.
    command: Option<String>,
    diff: Vec<String>,
    /// How many lines of the changes are not kept.
    diff_dropped: usize,
    output: PrintedTail,
    pub(crate) terminals: Vec<String>,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum CallStatus {
    #[default]
    Running,
    Completed,
    Failed,
    Cancelled,
}

impl CallStatus {
    fn of(name: &str) -> Self {
        match name {
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "cancelled" => Self::Cancelled,
            _ => Self::Running,
        }
    }

    /// A mark, its look, and a word where the mark alone does not say it.
    fn mark(self) -> (&'static str, TextStyle, &'static str) {
        match self {
            Self::Running => ("◌", TextColour::Yellow.text(), ""),
            Self::Completed => ("✓", TextColour::Green.text(), ""),
            Self::Failed => ("✗", TextColour::Red.text(), " (failed)"),
            Self::Cancelled => ("⊘", DIM, " (cancelled)"),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Running => "runs",
            Self::Completed => "is done",
            Self::Failed => "has failed",
            Self::Cancelled => "was cancelled",
        }
    }
}

impl ToolCallView {
    pub(crate) fn new(id: &str) -> Self {
        Self { id: id.to_owned(), title: terminal_text::row(id), ..Self::default() }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.status != CallStatus::Running
    }

    /// Takes in an update of either version's names.
    pub(crate) fn update(&mut self, update: &Value) {
        if let Some(title) = update["title"].as_str() {
            self.title = terminal_text::row(title);
        }
        if let Some(command) = update["rawInput"]["command"].as_str() {
            self.command = Some(terminal_text::one_line(command));
        }
        if let Some(items) = update["content"].as_array() {
            self.set_content(items);
        }
        if let Some(status) = update["status"].as_str() {
            self.status = CallStatus::of(status);
        }
    }

    /// More of what it has come to.
    pub(crate) fn add_content(&mut self, item: &Value) {
        match item["type"].as_str() {
            Some("content") => self.output.push(&content_text(&item["content"])),
            Some("diff") => self.add_diff(item),
            Some("terminal") => {
                let id = item["terminalId"].as_str().unwrap_or_default();
                if self.terminals.len() < TERMINALS && !self.terminals.iter().any(|known| known == id) {
                    self.terminals.push(id.to_owned());
                }
            }
            _ => {}
        }
    }

    /// All that a terminal of the call has printed, or more of it.
    pub(crate) fn terminal_output(&mut self, data: &Value, is_all: bool) {
        let Some(bytes) = data.as_str().and_then(|data| BASE64_STANDARD.decode(data).ok()) else { return };
        if is_all {
            self.output = PrintedTail::default();
        }
        self.output.push_bytes(&bytes);
    }

    fn set_content(&mut self, items: &[Value]) {
        let has_text = items.iter().any(|item| item["type"] == "content");
        if has_text {
            self.output = PrintedTail::default();
        }
        (self.diff, self.diff_dropped) = (Vec::new(), 0);
        for item in items {
            self.add_content(item);
        }
    }

    fn add_diff(&mut self, item: &Value) {
        let patch = item["patch"]["text"].as_str().unwrap_or_default();
        let changes = item["changes"].as_array().into_iter().flatten();
        let paths =
            changes.filter_map(|change| Some((change["operation"].as_str()?, change["path"].as_str()?)));
        let headers = paths.map(|(operation, path)| format!("{operation} {}", terminal_text::row(path)));
        let is_line = |line: &&str| {
            let is_header = ["+++ ", "--- ", "diff ", "index "].iter().any(|header| line.starts_with(header));
            !is_header && line.starts_with(['+', '-', ' ', '@'])
        };
        let lines = patch.lines().filter(is_line).map(terminal_text::one_line);
        for line in headers.chain(lines) {
            if self.diff.len() < DIFF_KEPT {
                self.diff.push(line);
            } else {
                self.diff_dropped += 1;
            }
        }
    }

    /// The rows that show it.
    pub(crate) fn rows(&self, detail: CallDetail, width: usize) -> Vec<StyledRow> {
        let (mark, style, word) = self.status.mark();
        let title = format!("{}{word}", self.title);
        let mut rows = wrapped(&title, PLAIN, &StyledRow::of(PLAIN, "  "), width);
        if let Some(first) = rows.first_mut() {
            let text = first.text().trim_start().to_owned();
            *first = StyledRow::of(style, mark).and(PLAIN, " ").and(PLAIN, &text);
        }
        if let Some(command) = self.command.as_ref().filter(|command| !self.title.contains(command.as_str()))
        {
            rows.push(StyledRow::of(DIM, format!("  $ {command}")).cut(width));
        }
        rows.extend(self.diff_rows(detail.diff, width));
        rows.extend(self.output_rows(detail.output, width));
        rows
    }

    fn diff_rows(&self, most: usize, width: usize) -> Vec<StyledRow> {
        let row = |line: &String| {
            let style = match line.as_bytes().first() {
                Some(b'+') => TextColour::Green.text(),
                Some(b'-') => TextColour::Red.text(),
                Some(b'@') => TextColour::Cyan.text(),
                _ => DIM,
            };
            StyledRow::of(DIM, "  │ ").and(style, line).cut(width)
        };
        let mut rows: Vec<_> = self.diff.iter().take(most).map(row).collect();
        let hidden = self.diff.len().saturating_sub(most) + self.diff_dropped;
        if hidden > 0 {
            rows.push(StyledRow::of(DIM, format!("  │ … {hidden} more lines")));
        }
        rows
    }

    fn output_rows(&self, most: usize, width: usize) -> Vec<StyledRow> {
        let (hidden, lines) = self.output.last(most);
        let mut rows = Vec::new();
        if hidden > 0 {
            rows.push(StyledRow::of(DIM, format!("  │ … {hidden} lines before")));
        }
        rows.extend(lines.into_iter().map(|line| StyledRow::of(DIM, format!("  │ {line}")).cut(width)));
        rows
    }

    /// What is said of it where rows are read aloud.
    pub(crate) fn spoken(&self) -> String {
        let mut text = format!("Tool: {} {}", self.title, self.status.word());
        if self.is_over() && !self.output.is_empty() {
            let count = self.output.count();
            let _ = write!(text, ", {count} {} of output", if count == 1 { "line" } else { "lines" });
        }
        if !self.diff.is_empty() {
            let of = |mark: char| self.diff.iter().filter(|line| line.starts_with(mark)).count();
            let _ = write!(text, ", lines added: {}, removed: {}", of('+'), of('-'));
        }
        text
    }
}
