//! The terminal: rows that stay go into its own scrollback, and those below them are drawn over what was there.

use std::{cmp::Ordering, collections::VecDeque, fmt::Write as _, io};

use crate::{core::LiveRows, styled::StyledRow};

/// Rows that are put again when the terminal gets another size.
const RECENT: usize = 300;

/// What stands on the terminal, as far as it was put there from here.
#[derive(Debug)]
pub(crate) struct TerminalScreen {
    has_colours: bool,
    columns: usize,
    rows: usize,
    /// The rows that are drawn over, as they were written.
    drawn: Vec<String>,
    /// In which of them the cursor is.
    cursor: usize,
    cursor_column: usize,
    recent: VecDeque<StyledRow>,
    /// Whether nothing that others have written may stand on it.
    is_all_own: bool,
}

impl TerminalScreen {
    pub(crate) fn new(columns: usize, rows: usize, has_colours: bool) -> Self {
        let (drawn, recent) = (Vec::new(), VecDeque::new());
        Self { has_colours, columns, rows, drawn, cursor: 0, cursor_column: 0, recent, is_all_own: false }
    }

    /// Columns that rows may take up: a row that fills the last is continued by some terminals.
    pub(crate) fn width(&self) -> usize {
        self.columns.saturating_sub(1).max(1)
    }

    /// What brings the terminal to show these.
    pub(crate) fn draw(&mut self, finished: &[StyledRow], live: &LiveRows) -> String {
        let rows: Vec<String> = live.rows.iter().map(|row| self.written(row)).collect();
        let is_same =
            finished.is_empty() && rows == self.drawn && live.cursor == (self.cursor, self.cursor_column);
        if is_same {
            return String::new();
        }
        let mut out = String::from("\u{1b}[?2026h\u{1b}[?25l");
        if finished.is_empty() {
            self.go_to_row(&mut out, 0);
            self.draw_over(&mut out, &rows);
        } else {
            self.go_to_row(&mut out, 0);
            out.push_str("\u{1b}[J");
            for row in finished {
                for row in row.for_scrollback(self.width()) {
                    row.write(&mut out, self.has_colours);
                    out.push_str("\r\n");
                }
                self.remember(row);
            }
            out.push_str(&rows.join("\r\n"));
            self.drawn = rows;
            self.cursor = self.drawn.len().saturating_sub(1);
        }
        self.place_cursor(&mut out, live.cursor);
        out.push_str("\u{1b}[?25h\u{1b}[?2026l");
        out
    }

    /// What has the terminal show all of it anew, in this size.
    pub(crate) fn redraw(&mut self, columns: usize, rows: usize, live: &LiveRows) -> String {
        self.columns = columns;
        let folded: Vec<_> = self.recent.iter().flat_map(|row| row.folded(self.width())).collect();
        let room = rows.saturating_sub(live.rows.len());
        // What was scrolled away comes back where there is more room.
        let is_all_own = self.is_all_own && rows <= self.rows;
        // What stood there before this program is not lost: it is scrolled away, once.
        let has_others = folded.len() < room && !is_all_own;
        let scrolled =
            if has_others { rows } else { self.rows_taken_below(rows, folded.len(), live.rows.len()) };
        (self.rows, self.is_all_own) = (rows, true);
        self.drawn.clear();
        (self.cursor, self.cursor_column) = (0, 0);
        let mut out = format!("\u{1b}[{rows};1H{}", "\n".repeat(scrolled));
        if !has_others {
            // Row by row: some terminals keep what is cleared at once, as if it had been scrolled away.
            for row in 1..=rows {
                let _ = write!(out, "\u{1b}[{row};1H\u{1b}[2K");
            }
        }
        out.push_str("\u{1b}[H");
        for row in &folded[folded.len().saturating_sub(room)..] {
            out.push_str(&self.written(row));
            out.push_str("\r\n");
        }
        out.push_str(&self.draw(&[], live));
        out
    }

    /// How many rows a terminal that has become less high has taken away below the cursor and not above: terminals do that first. As
    /// many that are done and are not drawn again have to be scrolled away, so as not to be lost. One that is higher now may have been less high in between.
    fn rows_taken_below(&self, rows: usize, done: usize, live: usize) -> usize {
        let empty = self.rows.saturating_sub(done + self.drawn.len());
        let below = self.drawn.len().saturating_sub(self.cursor + 1) + empty;
        let most = match rows.cmp(&self.rows) {
            Ordering::Less => self.rows - rows,
            Ordering::Equal => 0,
            Ordering::Greater => below,
        };
        most.min(below).min((done + live).saturating_sub(rows))
    }

    /// What takes the rows away that are drawn over.
    pub(crate) fn clear(&mut self) -> String {
        let mut out = String::new();
        self.go_to_row(&mut out, 0);
        out.push_str("\u{1b}[J");
        self.drawn.clear();
        (self.cursor, self.cursor_column, self.is_all_own) = (0, 0, false);
        out
    }

    fn written(&self, row: &StyledRow) -> String {
        let mut out = String::new();
        row.cut(self.width()).write(&mut out, self.has_colours);
        out
    }

    fn remember(&mut self, row: &StyledRow) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(row.clone());
    }

    /// Goes to the beginning of a row of those that are drawn over.
    fn go_to_row(&mut self, out: &mut String, row: usize) {
        if self.cursor > row {
            let _ = write!(out, "\u{1b}[{}A", self.cursor - row);
        }
        out.push('\r');
        self.cursor = row;
    }

    /// Writes the rows that are not as they were.
    fn draw_over(&mut self, out: &mut String, rows: &[String]) {
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                // Past the last row that is there the terminal makes room.
                out.push_str("\r\n");
            }
            if self.drawn.get(at) != Some(row) {
                out.push_str(row);
                out.push_str("\u{1b}[K");
            }
        }
        if rows.len() < self.drawn.len() {
            // From the end of the last row on; that one was written or is as it was.
            out.push_str("\r\n\u{1b}[J\u{1b}[A");
        }
        self.drawn = rows.to_vec();
        self.cursor = rows.len().saturating_sub(1);
    }

    fn place_cursor(&mut self, out: &mut String, (row, column): (usize, usize)) {
        self.go_to_row(out, row.min(self.drawn.len().saturating_sub(1)));
        if column > 0 {
            let _ = write!(out, "\u{1b}[{column}C");
        }
        self.cursor_column = column;
    }
}

/// Writes all of it.
pub(crate) fn put(text: &str) -> io::Result<()> {
    use io::Write;
    if text.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::styled::PLAIN;
    use proptest::prelude::*;

    /// A terminal of this many columns and rows, and what it shows.
    struct Shown {
        parser: vt100::Parser,
        screen: TerminalScreen,
    }

    impl Shown {
        fn new(columns: u16, rows: u16) -> Self {
            let size = |number: u16| std::num::NonZero::new(number).expect("it is not zero");
            let parser = vt100::Parser::new(size(rows), size(columns), 0);
            Self { parser, screen: TerminalScreen::new(columns.into(), rows.into(), false) }
        }

        fn draw(&mut self, finished: &[&str], live: &[&str]) {
            let row = |text: &&str| StyledRow::of(PLAIN, *text);
            let finished: Vec<_> = finished.iter().map(row).collect();
            let live =
                LiveRows { rows: live.iter().map(row).collect(), cursor: (live.len().saturating_sub(1), 2) };
            let out = self.screen.draw(&finished, &live);
            self.parser.process(out.as_bytes());
        }

        fn rows(&self) -> Vec<String> {
            let text = self.parser.screen().contents();
            text.lines().map(|line| line.trim_end().to_owned()).collect()
        }
    }

    #[test]
    fn what_is_finished_stays_and_the_rest_is_drawn_over() {
        let mut shown = Shown::new(20, 8);
        shown.draw(&[], &["a", "> "]);
        shown.draw(&["one"], &["b", "c", "> "]);
        assert_eq!(shown.rows(), ["one", "b", "c", ">"]);
        shown.draw(&[], &["> x"]);
        assert_eq!(shown.rows(), ["one", "> x"]);
        shown.draw(&["two", "three", "four", "five"], &["1", "2", "3", "> "]);
        assert_eq!(shown.rows(), ["two", "three", "four", "five", "1", "2", "3", ">"]);
        assert_eq!(shown.parser.screen().cursor_position(), (7, 2));
    }

    #[test]
    fn what_stood_there_before_is_scrolled_away_once() {
        let size = |number: u16| std::num::NonZero::new(number).expect("it is not zero");
        let mut parser = vt100::Parser::new(size(6), size(20), 100);
        let mut screen = TerminalScreen::new(20, 6, false);
        let live = LiveRows { rows: vec![StyledRow::of(PLAIN, "> ")], cursor: (0, 2) };
        parser.process(b"$ nudge\r\n");
        let draw = |parser: &mut vt100::Parser, out: &str| {
            parser.process(out.as_bytes());
            parser.screen_mut().set_scrollback(100);
            let scrolled = parser.screen().scrollback();
            parser.screen_mut().set_scrollback(0);
            scrolled
        };
        let said = screen.draw(&[StyledRow::of(PLAIN, "one")], &live);
        assert_eq!(draw(&mut parser, &said), 0);
        for columns in [18, 16, 20] {
            parser.screen_mut().set_size(size(6), size(columns));
            let said = screen.redraw(columns.into(), 6, &live);
            assert_eq!(draw(&mut parser, &said), 6);
            assert_eq!(parser.screen().contents().trim_end(), "one\n>");
        }
        parser.screen_mut().set_scrollback(6);
        assert!(parser.screen().contents().starts_with("$ nudge\none\n>"));
    }

    proptest! {
        #[test]
        fn the_last_rows_of_the_terminal_are_what_was_drawn_last(
            frames in prop::collection::vec((prop::collection::vec("[a-z]{0,12}", 0..5), prop::collection::vec("[a-z]{1,12}", 1..6)), 1..12)
        ) {
            let mut shown = Shown::new(14, 10);
            let mut all: Vec<String> = Vec::new();
            for (finished, live) in &frames {
                let texts = |list: &[String]| list.to_vec();
                let (finished, live) = (texts(finished), texts(live));
                let as_str = |list: &'_ [String]| list.iter().map(String::clone).collect::<Vec<_>>();
                let (one, two) = (as_str(&finished), as_str(&live));
                shown.draw(&one.iter().map(String::as_str).collect::<Vec<_>>(), &two.iter().map(String::as_str).collect::<Vec<_>>());
                all.extend(finished);
                let expected: Vec<_> = all.iter().chain(&live).cloned().collect();
                let rows = shown.rows();
                let count = rows.len().min(expected.len());
                prop_assert_eq!(&rows[rows.len() - count..], &expected[expected.len() - count..]);
            }
        }
    }
}
