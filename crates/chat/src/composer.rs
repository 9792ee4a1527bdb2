//! The text that the user is writing: letters in, letters out, without a terminal.

use unicode_segmentation::UnicodeSegmentation;

use crate::{
    styled::{char_width, text_width},
    terminal_text,
};

/// A paste of more letters or lines than this is shown by a name.
const LONG_PASTE: usize = 1000;
const MANY_LINES: usize = 12;
/// How many messages are remembered, and how much text is taken in all, in bytes.
const HISTORY: usize = 200;
const LONGEST_KEPT: usize = 64 * 1024;
const LONGEST: usize = 8 * 1024 * 1024;

/// What the user is writing.
#[derive(Debug, Default)]
pub(crate) struct Composer {
    text: String,
    /// In bytes, between letters.
    cursor: usize,
    /// What stands behind names of pastes.
    pastes: Vec<(String, String)>,
    /// How many pastes were given a name: none is given twice.
    named: usize,
    killed: String,
    history: Vec<String>,
    /// Which of the history is shown, and what was written before that.
    recalled: Option<(usize, String)>,
}

impl Composer {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Puts another text in the place of what is written.
    pub(crate) fn set(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        self.cursor = self.text.len();
        self.recalled = None;
    }

    /// All that is written, pastes in full, and an empty composer.
    pub(crate) fn take(&mut self) -> String {
        let text = self.whole();
        let written = std::mem::take(&mut self.text);
        self.remember(&written);
        (self.cursor, self.recalled) = (0, None);
        text
    }

    /// Keeps a message to be recalled.
    pub(crate) fn remember(&mut self, text: &str) {
        if text.trim().is_empty()
            || text.len() > LONGEST_KEPT
            || self.history.last().is_some_and(|last| last == text)
        {
            return;
        }
        if self.history.len() == HISTORY {
            self.history.remove(0);
        }
        self.history.push(text.to_owned());
    }

    /// What is written, with pastes in full.
    fn whole(&self) -> String {
        let mut text = self.text.clone();
        for (name, paste) in &self.pastes {
            text = text.replace(name, paste);
        }
        text
    }

    /// Whether a backslash stands before the cursor at the end: the line goes on.
    pub(crate) fn ends_with_backslash(&self) -> bool {
        self.cursor == self.text.len() && self.text.ends_with('\\')
    }

    pub(crate) fn insert(&mut self, text: &str) {
        if self.text.len() + text.len() <= LONGEST {
            self.text.insert_str(self.cursor, text);
            self.cursor += text.len();
        }
    }

    /// Takes in what was pasted: as it is, or by a name if it is long. Whether there was room.
    pub(crate) fn paste(&mut self, text: &str) -> bool {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        if !self.make_room(text.len()) {
            return false;
        }
        let lines = text.lines().count();
        if text.len() > LONG_PASTE || lines > MANY_LINES {
            let what = if lines == 1 {
                format!("{} letters", text.chars().count())
            } else {
                format!("{lines} lines")
            };
            self.named += 1;
            let name = format!("[paste {}: {what}]", self.named);
            self.pastes.push((name.clone(), text));
            self.insert(&name);
        } else {
            self.insert(&text);
        }
        true
    }

    /// Makes room for a text of this length; whether there is.
    fn make_room(&mut self, length: usize) -> bool {
        if !self.has_room(length) {
            self.forget_pastes();
        }
        if !self.has_room(length) && self.pastes.iter().any(|(name, _)| self.killed.contains(name)) {
            self.killed.clear();
            self.forget_pastes();
        }
        self.has_room(length)
    }

    fn has_room(&self, length: usize) -> bool {
        let held: usize = self.pastes.iter().map(|(_, paste)| paste.len()).sum();
        held + length <= LONGEST
    }

    /// Drops the pastes whose names stand nowhere from where they could come back.
    fn forget_pastes(&mut self) {
        let Self { text, killed, history, recalled, pastes, .. } = self;
        let draft = recalled.iter().map(|(_, draft)| draft);
        let texts: Vec<&String> = [&*text, &*killed].into_iter().chain(&*history).chain(draft).collect();
        pastes.retain(|(name, _)| texts.iter().any(|text| text.contains(name)));
    }

    pub(crate) fn backspace(&mut self) {
        let to = self.cursor;
        // The name of a paste goes as a whole.
        let before = &self.text[..to];
        let named = self.pastes.iter().map(|(name, _)| name).find(|name| before.ends_with(name.as_str()));
        let from = named.map_or_else(|| self.before(), |name| to - name.len());
        self.remove(from, to);
    }

    pub(crate) fn delete(&mut self) {
        self.remove(self.cursor, self.after());
    }

    pub(crate) fn left(&mut self) {
        self.cursor = self.before();
    }

    pub(crate) fn right(&mut self) {
        self.cursor = self.after();
    }

    pub(crate) fn word_left(&mut self) {
        self.cursor = self.word_before();
    }

    pub(crate) fn word_right(&mut self) {
        let rest = &self.text[self.cursor..];
        let blank = rest.len() - rest.trim_start().len();
        let word = rest[blank..].find(char::is_whitespace).unwrap_or(rest.len() - blank);
        self.cursor += blank + word;
    }

    pub(crate) fn home(&mut self) {
        self.cursor = self.line_start();
    }

    pub(crate) fn end(&mut self) {
        self.cursor = self.line_end();
    }

    pub(crate) fn kill_word(&mut self) {
        self.kill(self.word_before(), self.cursor);
    }

    pub(crate) fn kill_to_start(&mut self) {
        self.kill(self.line_start(), self.cursor);
    }

    pub(crate) fn kill_to_end(&mut self) {
        self.kill(self.cursor, self.line_end());
    }

    pub(crate) fn yank(&mut self) {
        let killed = self.killed.clone();
        self.insert(&killed);
    }

    /// Goes a line up; whether there was one.
    pub(crate) fn up(&mut self) -> bool {
        let start = self.line_start();
        if start == 0 {
            return false;
        }
        let column = text_width(&self.text[start..self.cursor]);
        let above = self.text[..start - 1].rfind('\n').map_or(0, |at| at + 1);
        self.cursor = self.at_column(above, column);
        true
    }

    /// Goes a line down; whether there was one.
    pub(crate) fn down(&mut self) -> bool {
        let end = self.line_end();
        if end == self.text.len() {
            return false;
        }
        let column = text_width(&self.text[self.line_start()..self.cursor]);
        self.cursor = self.at_column(end + 1, column);
        true
    }

    /// Shows what was said before.
    pub(crate) fn recall_older(&mut self) {
        let at = self.recalled.as_ref().map_or(self.history.len(), |(at, _)| *at);
        let Some(at) = at.checked_sub(1) else { return };
        let draft = self.recalled.take().map_or_else(|| self.text.clone(), |(_, draft)| draft);
        let text = self.history[at].clone();
        self.set(&text);
        self.recalled = Some((at, draft));
    }

    /// Shows what was said after it, and in the end what was written.
    pub(crate) fn recall_newer(&mut self) {
        let Some((at, draft)) = self.recalled.take() else { return };
        match self.history.get(at + 1).cloned() {
            Some(text) => {
                self.set(&text);
                self.recalled = Some((at + 1, draft));
            }
            None => self.set(&draft),
        }
    }

    /// Puts another text in the place of what stands from there to the cursor.
    pub(crate) fn complete(&mut self, from: usize, text: &str) {
        self.text.replace_range(from..self.cursor, text);
        self.cursor = from + text.len();
    }

    /// The lines as rows of this width, and where the cursor is: row and column.
    pub(crate) fn rows(&self, width: usize) -> (Vec<String>, (usize, usize)) {
        let width = width.max(4);
        let (mut rows, mut at) = (vec![String::new()], (0, 0));
        let mut column = 0;
        for (offset, c) in self.text.char_indices() {
            // What would command the terminal, in a paste or in what another client has said, is shown as a mark.
            let shown = match c {
                '\n' => None,
                '\t' => Some(' '),
                c => Some(terminal_text::visible(c)),
            };
            let wide = shown.map_or(0, char_width);
            if column + wide > width - 1 {
                rows.push(String::new());
                column = 0;
            }
            if offset == self.cursor {
                at = (rows.len() - 1, column);
            }
            match shown {
                None => {
                    rows.push(String::new());
                    column = 0;
                }
                Some(shown) => {
                    rows.last_mut().expect("there is a row").push(shown);
                    column += wide;
                }
            }
        }
        if self.cursor == self.text.len() {
            at = (rows.len() - 1, column);
        }
        (rows, at)
    }

    fn at_column(&self, start: usize, column: usize) -> usize {
        let mut left = column;
        for (at, c) in self.text[start..].char_indices() {
            if c == '\n' || char_width(c) > left {
                return start + at;
            }
            left -= char_width(c);
        }
        self.text.len()
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    fn before(&self) -> usize {
        let letter = self.text[..self.cursor].graphemes(true).next_back();
        self.cursor - letter.map_or(0, str::len)
    }

    fn after(&self) -> usize {
        let letter = self.text[self.cursor..].graphemes(true).next();
        self.cursor + letter.map_or(0, str::len)
    }

    fn word_before(&self) -> usize {
        let text = self.text[..self.cursor].trim_end();
        let blank = text.char_indices().rev().find(|(_, c)| c.is_whitespace());
        blank.map_or(0, |(at, c)| at + c.len_utf8())
    }

    fn kill(&mut self, from: usize, to: usize) {
        self.killed = self.text[from..to].to_owned();
        self.remove(from, to);
    }

    fn remove(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.cursor = from;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> Composer {
        let mut composer = Composer::default();
        composer.insert(text);
        composer
    }

    #[test]
    fn letters_are_taken_whole() {
        let mut composer = written("ae\u{301}");
        composer.backspace();
        assert_eq!(composer.text(), "a");
        composer.insert("b c");
        composer.word_left();
        composer.kill_to_start();
        assert_eq!((composer.text(), composer.cursor()), ("c", 0));
        composer.yank();
        assert_eq!(composer.text(), "ab c");
    }

    #[test]
    fn lines_are_gone_through_by_column() {
        let mut composer = written("one\nfour five\nsix");
        assert!(composer.up() && composer.up() && !composer.up());
        composer.end();
        assert!(composer.down());
        assert_eq!(&composer.text()[composer.cursor()..], "r five\nsix");
    }

    #[test]
    fn what_was_said_is_recalled_and_what_was_written_comes_back() {
        let mut composer = written("one");
        assert_eq!(composer.take(), "one");
        composer.insert("dra");
        composer.recall_older();
        assert_eq!(composer.text(), "one");
        composer.recall_newer();
        assert_eq!(composer.text(), "dra");
    }

    #[test]
    fn nothing_that_is_written_commands_the_terminal() {
        let mut composer = written("a\u{1b}[31m\u{9b}2J\u{202e}\u{7}b\tc");
        let (rows, _) = composer.rows(40);
        assert_eq!(rows, ["a\u{fffd}[31m\u{fffd}2J\u{fffd}\u{fffd}b c"]);
        assert_eq!(composer.take(), "a\u{1b}[31m\u{9b}2J\u{202e}\u{7}b\tc", "it is said as it is");
    }

    #[test]
    fn a_long_paste_has_a_name_until_it_is_said() {
        let mut composer = written("see ");
        let long = "line\n".repeat(200_000);
        assert!(composer.paste(&long));
        assert_eq!(composer.text(), "see [paste 1: 200000 lines]");
        composer.insert("!");
        assert_eq!(composer.take(), format!("see {long}!"));
        assert!(composer.paste(&long));
        composer.backspace();
        assert_eq!(composer.text(), "");
        assert!(!composer.paste(&"x".repeat(LONGEST)));
    }

    #[test]
    fn only_pastes_that_can_come_back_take_room() {
        let long = |number: usize| format!("{number}{}", "x".repeat(LONGEST / 8 - 1));
        let mut composer = Composer::default();
        for number in 0..10 {
            assert!(composer.paste(&long(number)), "{number}");
            composer.kill_to_start();
        }
        composer.yank();
        assert_eq!(composer.take(), long(9), "what was cut out last can be put back");
        // What was said can be recalled, and what is written is there.
        for number in 1..8 {
            assert!(composer.paste(&long(number)), "{number}");
        }
        assert!(!composer.paste(&long(8)));
        composer.kill_to_start();
        composer.recall_older();
        assert_eq!(composer.take(), long(9));
    }

    #[test]
    fn what_was_cut_out_makes_way_for_a_paste() {
        let mut composer = Composer::default();
        for _ in 0..3 {
            assert!(composer.paste(&"x".repeat(LONGEST)));
            composer.kill_to_start();
        }
        composer.insert("word");
        composer.kill_word();
        assert!(!composer.paste(&"x".repeat(LONGEST + 1)));
        composer.yank();
        assert_eq!(composer.text(), "word", "it would have made no room");
    }

    proptest! {
        #[test]
        fn the_cursor_is_always_between_letters(keys in prop::collection::vec(0u8..14, 0..60)) {
            let mut composer = Composer::default();
            for key in keys {
                match key {
                    0 => composer.insert("é"),
                    1 => composer.insert("\n"),
                    2 => composer.insert(" 漢"),
                    3 => composer.backspace(),
                    4 => composer.delete(),
                    5 => composer.left(),
                    6 => composer.right(),
                    7 => composer.word_left(),
                    8 => composer.word_right(),
                    9 => drop(composer.up()),
                    10 => drop(composer.down()),
                    11 => composer.kill_word(),
                    12 => composer.kill_to_end(),
                    _ => composer.yank(),
                }
                prop_assert!(composer.text().is_char_boundary(composer.cursor()));
                let (rows, (row, column)) = composer.rows(10);
                prop_assert!(row < rows.len() && column < 10);
            }
        }
    }
}
