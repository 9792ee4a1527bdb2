//! What is drawn anew below the conversation: what still changes, what waits, what is asked, what is written, and how it stands.

use super::{ChatCore, ChatStage, TurnView, questions::QuestionPlace};
use crate::styled::{BOLD, DIM, PLAIN, REVERSED, StyledRow, TextColour, TextStyle};

/// Rows of the text that is written, and of messages that wait.
const WRITTEN: usize = 8;
const WAITING: usize = 5;

/// In so few rows there is no place for what is only told.
pub(super) const CRAMPED: usize = 6;

/// The rows below the conversation.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LiveRows {
    pub(crate) rows: Vec<StyledRow>,
    /// Row and column.
    pub(crate) cursor: (usize, usize),
}

impl ChatCore {
    /// What is drawn now: at most one row less than the terminal has.
    pub(crate) fn live(&self) -> LiveRows {
        let room = self.height.saturating_sub(1).max(3);
        if let Some(picker) = &self.picker {
            let (rows, cursor) = picker.rows(self.width, room);
            return LiveRows { rows, cursor };
        }
        let mut below = Vec::new();
        let mut cursor = None;
        let plan = self.plan_rows();
        if !plan.is_empty() && room > 14 {
            below.push(StyledRow::default());
            below.extend(plan);
        }
        if let Some(question) = self.question() {
            below.push(StyledRow::default());
            let place = QuestionPlace { count: self.questions.len(), has_draft: !self.is_free(), room };
            let (rows, at) = question.rows(self.width, &place);
            cursor = at.map(|(row, column)| (below.len() + row, column));
            below.extend(rows);
        }
        let waiting = self.waiting_rows();
        below.push(StyledRow::default());
        below.extend(waiting);
        if !self.is_in_form() || !self.is_free() {
            let (rows, (row, column)) = self.written_rows();
            cursor = Some((below.len() + row, column));
            below.extend(rows);
        }
        let mut completions = self.completion_rows();
        if below.len() + completions.len() >= room {
            // The one that is chosen, beside the line that is written.
            let chosen = self.completions.as_ref().map_or(0, |completions| completions.selected);
            completions = completions.into_iter().skip(chosen).take(1).collect();
        }
        below.extend(completions);
        if room > CRAMPED || self.hint.is_some() {
            below.push(self.status_row());
        }
        if below.len() > room {
            // Space between the rows is for those who have it.
            let (row, column) = cursor.unwrap_or((below.len() - 1, 0));
            let is_blank = |row: &StyledRow| row.width() == 0;
            let before = below[..row].iter().filter(|row| is_blank(row)).count();
            cursor = Some((row - before, column));
            let mut at = 0;
            below.retain(|kept| {
                at += 1;
                at == row + 1 || !is_blank(kept)
            });
        }
        // What is asked and written comes before what is only told.
        let hidden = below.len().saturating_sub(room);
        below.drain(..hidden);
        let open = self.conversation.open_rows(room - below.len());
        let (row, column) = cursor.unwrap_or((below.len() + hidden - 1, 0));
        let cursor = (open.len() + row.saturating_sub(hidden), column.min(self.width));
        let rows = open.into_iter().chain(below).map(|row| row.cut(self.width)).collect();
        LiveRows { rows, cursor }
    }

    fn waiting_rows(&self) -> Vec<StyledRow> {
        let waiting = self.pending.waiting();
        let selected = self.pending.selected;
        let first = selected.map_or(0, |at| (at + 1).saturating_sub(WAITING));
        let mut rows = Vec::new();
        for (at, message) in waiting.iter().enumerate().skip(first).take(WAITING) {
            let is_selected = selected == Some(at);
            let style = if is_selected { REVERSED } else { DIM };
            let how = if message.is_steer { "↯ steer " } else { "⧗ queued" };
            let mark = if is_selected { "› " } else { "" };
            rows.push(StyledRow::of(style, format!("{mark}{how} {}", message.line())).cut(self.width));
        }
        let hidden = waiting.len().saturating_sub(first + WAITING);
        if hidden > 0 {
            rows.push(StyledRow::of(DIM, format!("  … {hidden} more wait")));
        }
        if selected.is_some() {
            let text = "  Enter edits it · Ctrl-S steers with it · Del takes it back · Esc";
            rows.push(StyledRow::of(DIM, text).cut(self.width));
        }
        let under_way = self.pending.under_way(self.now);
        rows.extend(
            under_way
                .take(WAITING)
                .map(|text| StyledRow::of(DIM, format!("… sending {text}")).cut(self.width)),
        );
        rows
    }

    fn written_rows(&self) -> (Vec<StyledRow>, (usize, usize)) {
        let is_editing = self.pending.editing.is_some();
        let (mark, style) =
            if is_editing { ("✎ ", TextColour::Yellow.text()) } else { ("› ", TextColour::Cyan.text()) };
        let (lines, (row, column)) = self.composer.rows(self.width.saturating_sub(2));
        let first = (row + 1).saturating_sub(WRITTEN);
        let mut rows = Vec::new();
        for (at, line) in lines.iter().enumerate().skip(first).take(WRITTEN) {
            rows.push(StyledRow::of(style, if at == 0 { mark } else { "  " }).and(PLAIN, line));
        }
        if self.composer.is_empty() {
            rows[0].push(DIM, self.prompt());
        }
        (rows, (row - first, 2 + column))
    }

    /// What stands where nothing is written yet.
    fn prompt(&self) -> &'static str {
        match (self.stage, self.turn) {
            (ChatStage::SignedOut, _) => "/login signs in",
            (ChatStage::Failed, _) => "/new begins a session, /resume chooses one",
            _ if self.is_permission_asked() => "Enter takes what is marked ›; or say something",
            (_, TurnView::Idle) => "say something · /help",
            _ => "Enter queues · Alt-Enter or Ctrl-S steers · Esc stops",
        }
    }

    fn completion_rows(&self) -> Vec<StyledRow> {
        let Some(completions) = &self.completions else { return Vec::new() };
        let rows = completions.items.iter().enumerate().map(|(at, item)| {
            let style = if at == completions.selected { REVERSED } else { BOLD };
            StyledRow::of(PLAIN, if at == completions.selected { "› " } else { "  " })
                .and(style, &item.text)
                .and(DIM, &format!("  {}", item.about))
                .cut(self.width)
        });
        rows.collect()
    }

    fn status_row(&self) -> StyledRow {
        if let Some((hint, _)) = &self.hint {
            return StyledRow::of(TextColour::Yellow.text(), crate::terminal_text::one_line(hint))
                .cut(self.width);
        }
        let seconds = self.now.saturating_sub(self.turn_since).as_secs();
        let (text, style): (String, TextStyle) = match (self.stage, self.turn) {
            (ChatStage::Connecting, _) => ("◌ connecting".to_owned(), TextColour::Yellow.text()),
            (ChatStage::Opening, _) => ("◌ opening the session".to_owned(), TextColour::Yellow.text()),
            (ChatStage::SignedOut, _) => ("○ not signed in".to_owned(), TextColour::Yellow.text()),
            (ChatStage::Failed | ChatStage::Choosing, _) => ("○ no session".to_owned(), DIM),
            (_, TurnView::Running | TurnView::NeedsUser) if self.is_stopping => {
                ("◌ stopping".to_owned(), TextColour::Yellow.text())
            }
            (_, TurnView::Running) => (format!("● working {}", clock(seconds)), TextColour::Green.text()),
            (_, TurnView::NeedsUser) => ("◆ waits for you".to_owned(), TextColour::Yellow.text()),
            (_, TurnView::Idle) => ("○ idle".to_owned(), DIM),
        };
        let mut row = StyledRow::of(style, text);
        for part in self.status_parts() {
            row.push(DIM, &format!(" · {part}"));
        }
        row.cut(self.width)
    }

    fn status_parts(&self) -> Vec<String> {
        let option = |name: &str| self.option(name).map(super::options::SessionOption::shown);
        let usage = self.usage.as_ref();
        let tokens = usage.filter(|usage| usage.used > 0).map(|usage| match usage.size {
            0 => thousands(usage.used),
            size => format!("{}/{}", thousands(usage.used), thousands(size)),
        });
        let cost = usage.and_then(|usage| usage.cost.clone());
        let agent = Some(self.agent.clone());
        let parts = [agent, option("model"), option("mode"), tokens, cost];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect()
    }
}

fn clock(seconds: u64) -> String {
    if seconds < 60 { format!("{seconds}s") } else { format!("{}m{:02}s", seconds / 60, seconds % 60) }
}

fn thousands(tokens: u64) -> String {
    if tokens < 1000 { tokens.to_string() } else { format!("{}k", tokens / 1000) }
}
