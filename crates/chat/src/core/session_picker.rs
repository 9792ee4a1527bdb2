//! The list of sessions that one can be chosen from.

use serde_json::Value;

use crate::{
    composer::Composer,
    styled::{BOLD, DIM, PLAIN, REVERSED, StyledRow},
    terminal_text,
};

/// Sessions to choose from, and which is meant.
#[derive(Debug, Default)]
pub(super) struct SessionPicker {
    sessions: Vec<ListedSession>,
    pub(super) search: Composer,
    selected: usize,
    /// Whether there is one to go back to.
    has_session: bool,
}

#[derive(Debug)]
struct ListedSession {
    id: String,
    line: String,
}

impl SessionPicker {
    pub(super) fn of(sessions: &[Value], has_session: bool) -> Self {
        let one = |session: &Value| {
            let id = session["sessionId"].as_str()?.to_owned();
            // Where nothing was said there is nothing to come back to.
            let title = terminal_text::row(session["title"].as_str()?);
            let at = terminal_text::row(session["updatedAt"].as_str().unwrap_or_default());
            let at = at.get(..16).unwrap_or(&at).replace('T', " ");
            Some(ListedSession { id, line: format!("{at}  {title}") })
        };
        Self { sessions: sessions.iter().filter_map(one).collect(), has_session, ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Each with its number.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.sessions.iter().enumerate().map(|(at, session)| (at + 1, session.line.as_str()))
    }

    /// The id of the session of this number.
    pub(super) fn numbered(&self, number: usize) -> Option<String> {
        Some(self.sessions.get(number.checked_sub(1)?)?.id.clone())
    }

    pub(super) fn select(&mut self, is_down: bool) {
        let count = self.found().count();
        if count > 0 {
            self.selected = (self.selected.min(count - 1) + if is_down { 1 } else { count - 1 }) % count;
        }
    }

    pub(super) fn chosen(&self) -> Option<String> {
        let last = self.found().count().checked_sub(1)?;
        Some(self.found().nth(self.selected.min(last))?.id.clone())
    }

    fn found(&self) -> impl Iterator<Item = &ListedSession> {
        let wanted = self.search.text().to_lowercase();
        self.sessions.iter().filter(move |session| session.line.to_lowercase().contains(&wanted))
    }

    /// The rows that show it, and where the cursor is.
    pub(super) fn rows(&self, width: usize, height: usize) -> (Vec<StyledRow>, (usize, usize)) {
        let esc = if self.has_session { "Esc goes back" } else { "Esc begins a new one" };
        let keys = format!("  ↑↓ choose · Enter takes it up · type to search · {esc}");
        let mut rows = vec![StyledRow::of(BOLD, "Which session?").and(DIM, &keys).cut(width)];
        let count = self.found().count();
        let selected = self.selected.min(count.saturating_sub(1));
        let most = height.saturating_sub(4).max(1);
        let first = (selected + 1).saturating_sub(most);
        for (at, session) in self.found().enumerate().skip(first).take(most) {
            let style = if at == selected { REVERSED } else { PLAIN };
            let mark = if at == selected { "› " } else { "  " };
            rows.push(StyledRow::of(style, format!("{mark}{}", session.line)).cut(width));
        }
        if count == 0 {
            rows.push(StyledRow::of(DIM, "  none has this in its title"));
        }
        let (search, (_, column)) = self.search.rows(width.saturating_sub(8));
        let search = search.into_iter().next().unwrap_or_default();
        rows.push(StyledRow::of(DIM, "search: ").and(PLAIN, &search));
        let at = (rows.len() - 1, 8 + column);
        (rows, at)
    }
}
