//! Rows of text with modest colours, and how text becomes rows that fit the terminal.

use std::fmt::Write;

use unicode_width::UnicodeWidthChar;

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a terminal has each of them by itself")]
pub(crate) struct TextStyle {
    pub(crate) is_bold: bool,
    pub(crate) is_dim: bool,
    pub(crate) is_italic: bool,
    pub(crate) is_reversed: bool,
    pub(crate) colour: Option<TextColour>,
}

/// The few colours there are; the terminal decides what they look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextColour {
    Red,
    Green,
    Yellow,
    Blue,
    Cyan,
}

pub(crate) const PLAIN: TextStyle =
    TextStyle { is_bold: false, is_dim: false, is_italic: false, is_reversed: false, colour: None };
pub(crate) const BOLD: TextStyle = TextStyle { is_bold: true, ..PLAIN };
pub(crate) const DIM: TextStyle = TextStyle { is_dim: true, ..PLAIN };
pub(crate) const REVERSED: TextStyle = TextStyle { is_reversed: true, ..PLAIN };

impl TextColour {
    /// Text in this colour.
    pub(crate) const fn text(self) -> TextStyle {
        TextStyle { colour: Some(self), ..PLAIN }
    }
}

impl TextStyle {
    /// The parameters of the sequence that turns it on.
    fn codes(self) -> String {
        let switches =
            [(self.is_bold, "1"), (self.is_dim, "2"), (self.is_italic, "3"), (self.is_reversed, "7")];
        let colour = self.colour.map(|colour| match colour {
            TextColour::Red => "31",
            TextColour::Green => "32",
            TextColour::Yellow => "33",
            TextColour::Blue => "34",
            TextColour::Cyan => "36",
        });
        let on = switches.into_iter().filter(|(is_on, _)| *is_on).map(|(_, code)| code);
        on.chain(colour).collect::<Vec<_>>().join(";")
    }
}

/// One row of the terminal. Its text is safe already.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StyledRow {
    spans: Vec<(TextStyle, String)>,
    /// Whether the terminal itself is to break it: an address can be copied whole then.
    is_unbroken: bool,
}

impl StyledRow {
    /// A row of one piece.
    pub(crate) fn of(style: TextStyle, text: impl Into<String>) -> Self {
        let text = text.into();
        let mut row = Self::default();
        if text.contains('\t') {
            row.push(style, &text);
        } else {
            row.spans.push((style, text));
        }
        row
    }

    /// A row that the terminal breaks, if it is too long.
    pub(crate) fn unbroken(style: TextStyle, text: &str) -> Self {
        Self { is_unbroken: true, ..Self::of(style, text) }
    }

    /// The row as it goes into the scrollback of a terminal of this width.
    pub(crate) fn for_scrollback(&self, width: usize) -> Vec<Self> {
        if self.is_unbroken { vec![self.clone()] } else { self.folded(width) }
    }

    /// The row with more behind it.
    pub(crate) fn and(mut self, style: TextStyle, text: &str) -> Self {
        self.push(style, text);
        self
    }

    /// The row with another behind it.
    pub(crate) fn followed_by(mut self, more: &Self) -> Self {
        more.spans.iter().for_each(|(style, text)| self.push(*style, text));
        self
    }

    pub(crate) fn push(&mut self, style: TextStyle, text: &str) {
        if text.is_empty() {
            return;
        }
        // A terminal would take more columns for a tab than anybody counts here.
        let spaced = text.contains('\t').then(|| without_tabs(text, self.width()));
        let text = spaced.as_deref().unwrap_or(text);
        match self.spans.last_mut() {
            Some((last, before)) if *last == style => before.push_str(text),
            _ => self.spans.push((style, text.to_owned())),
        }
    }

    /// Columns that it takes up.
    pub(crate) fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| text_width(text)).sum()
    }

    /// Its text alone.
    pub(crate) fn text(&self) -> String {
        self.spans.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// The row, cut off where it would be wider.
    pub(crate) fn cut(&self, width: usize) -> Self {
        if self.width() <= width {
            return self.clone();
        }
        let mut cut = Self::default();
        let mut left = width.saturating_sub(1);
        for (style, text) in &self.spans {
            for c in text.chars() {
                let wide = char_width(c);
                if wide > left {
                    cut.push(*style, "…");
                    return cut;
                }
                left -= wide;
                cut.push(*style, c.encode_utf8(&mut [0; 4]));
            }
        }
        cut
    }

    /// The row as rows that are not wider than this.
    pub(crate) fn folded(&self, width: usize) -> Vec<Self> {
        if self.width() <= width {
            return vec![self.clone()];
        }
        let mut wrapper = RowWrapper::new(width);
        for (style, text) in &self.spans {
            text.chars().for_each(|c| wrapper.push_as_is(*style, c));
        }
        wrapper.end_line();
        wrapper.take_rows()
    }

    /// Writes it for a terminal.
    pub(crate) fn write(&self, out: &mut String, has_colours: bool) {
        for (style, text) in &self.spans {
            let codes = if has_colours { style.codes() } else { String::new() };
            if codes.is_empty() {
                out.push_str(text);
            } else {
                let _ = write!(out, "\u{1b}[{codes}m{text}\u{1b}[0m");
            }
        }
    }
}

/// A text that begins in this column, with blanks in place of tabs.
fn without_tabs(text: &str, mut column: usize) -> String {
    let mut spaced = String::with_capacity(text.len() + TAB);
    for c in text.chars() {
        if c == '\t' {
            let blanks = TAB - column % TAB;
            spaced.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        } else {
            spaced.push(c);
            column += char_width(c);
        }
    }
    spaced
}

/// Columns that a character takes up.
pub(crate) fn char_width(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Columns that a text takes up.
pub(crate) fn text_width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// How far tabs go in what is kept as it is.
const TAB: usize = 4;

/// Breaks text into rows as it comes: what has become a row stays as it is, whatever follows.
#[derive(Debug, Clone)]
pub(crate) struct RowWrapper {
    width: usize,
    /// What rows begin with: the first of a line, and those that it goes on in.
    margin: (StyledRow, StyledRow),
    row: StyledRow,
    column: usize,
    /// Whether the row holds more than its margin.
    has_text: bool,
    word: Vec<(TextStyle, char)>,
    word_width: usize,
    /// A blank that stands between the row and the word, if both get onto it.
    blanks: Vec<TextStyle>,
    rows: Vec<StyledRow>,
}

impl RowWrapper {
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width: width.max(8),
            margin: Default::default(),
            row: StyledRow::default(),
            column: 0,
            has_text: false,
            word: Vec::new(),
            word_width: 0,
            blanks: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The rows that follow are of this width.
    pub(crate) fn set_width(&mut self, width: usize) {
        self.width = width.max(8);
    }

    /// What the rows of the next line begin with.
    pub(crate) fn set_margin(&mut self, first: StyledRow, rest: StyledRow) {
        self.row = first.clone();
        self.column = first.width().min(self.width / 2);
        self.margin = (first, rest);
    }

    /// More of a line of words.
    pub(crate) fn push(&mut self, style: TextStyle, c: char) {
        if c == ' ' || c == '\t' {
            self.end_word();
            self.blanks.push(style);
            return;
        }
        // A word that fits no row is broken.
        if self.word_width + char_width(c) > self.room() {
            self.end_word();
        }
        self.word_width += char_width(c);
        self.word.push((style, c));
    }

    /// More of a line that is kept as it is.
    pub(crate) fn push_as_is(&mut self, style: TextStyle, c: char) {
        let blanks = if c == '\t' { TAB - self.column % TAB } else { 0 };
        if blanks > 0 {
            (0..blanks).for_each(|_| self.put(style, ' '));
        } else {
            self.put(style, c);
        }
    }

    /// The line is over.
    pub(crate) fn end_line(&mut self) {
        self.break_line();
        self.row = self.margin.0.clone();
        self.column = self.row.width().min(self.width / 2);
    }

    /// The line goes on in another row.
    pub(crate) fn break_line(&mut self) {
        self.end_word();
        self.blanks.clear();
        self.break_row();
    }

    /// The rows that are done.
    pub(crate) fn take_rows(&mut self) -> Vec<StyledRow> {
        std::mem::take(&mut self.rows)
    }

    /// Whether something of a line is there.
    pub(crate) fn is_in_line(&self) -> bool {
        self.has_text || !self.word.is_empty()
    }

    /// Columns that a word has at most.
    fn room(&self) -> usize {
        self.width.saturating_sub(self.margin.1.width()).max(4)
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let wide = std::mem::take(&mut self.word_width);
        if word.is_empty() {
            return;
        }
        let blanks = std::mem::take(&mut self.blanks);
        if self.column + blanks.len() + wide > self.width && self.has_text {
            self.break_row();
        } else {
            for style in blanks {
                self.put(style, ' ');
            }
        }
        for (style, c) in word {
            self.put(style, c);
        }
    }

    fn put(&mut self, style: TextStyle, c: char) {
        let wide = char_width(c);
        if self.column + wide > self.width && self.has_text {
            self.break_row();
        }
        self.row.push(style, c.encode_utf8(&mut [0; 4]));
        self.column += wide;
        self.has_text = true;
    }

    fn break_row(&mut self) {
        let next = self.margin.1.clone();
        self.column = next.width().min(self.width / 2);
        self.rows.push(std::mem::replace(&mut self.row, next));
        self.has_text = false;
    }
}

/// A text of several lines as rows, each with this margin.
pub(crate) fn wrapped(text: &str, style: TextStyle, margin: &StyledRow, width: usize) -> Vec<StyledRow> {
    let mut wrapper = RowWrapper::new(width);
    for line in text.split('\n') {
        wrapper.set_margin(margin.clone(), margin.clone());
        line.chars().for_each(|c| wrapper.push_as_is(style, c));
        wrapper.end_line();
    }
    wrapper.take_rows()
}

/// A text of several lines as rows in which words stay whole.
pub(crate) fn worded(text: &str, style: TextStyle, width: usize) -> Vec<StyledRow> {
    let mut wrapper = RowWrapper::new(width);
    for line in text.split('\n') {
        let indent: String = line.chars().take_while(|c| *c == ' ').collect();
        wrapper.set_margin(StyledRow::default(), StyledRow::of(style, &indent));
        line.chars().for_each(|c| wrapper.push(style, c));
        wrapper.end_line();
    }
    wrapper.take_rows()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(text: &str, width: usize) -> Vec<String> {
        let mut wrapper = RowWrapper::new(width);
        for line in text.split('\n') {
            line.chars().for_each(|c| wrapper.push(PLAIN, c));
            wrapper.end_line();
        }
        wrapper.take_rows().iter().map(StyledRow::text).collect()
    }

    #[test]
    fn words_stay_whole_where_they_fit() {
        assert_eq!(rows("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(rows("a\n\nb", 9), ["a", "", "b"]);
        assert_eq!(rows("abcdefghijklmnop", 9), ["abcdefghi", "jklmnop"]);
        assert_eq!(rows("漢字漢字漢字", 9), ["漢字漢字", "漢字"]);
    }

    #[test]
    fn tabs_are_blanks_whose_columns_are_counted() {
        let row = StyledRow::of(DIM, "│ ").and(PLAIN, "a\tb\tc");
        assert_eq!((row.text(), row.width()), ("│ a b   c".to_owned(), 9));
        assert_eq!(StyledRow::of(PLAIN, "\tlong\t").cut(6).text(), "    l…");
        assert_eq!(rows("a\tb", 9), ["a b"]);
    }

    #[test]
    fn what_is_cut_off_says_so() {
        assert_eq!(StyledRow::of(PLAIN, "abcdef").cut(4).text(), "abc…");
        assert_eq!(StyledRow::of(PLAIN, "漢字漢字").cut(4).text(), "漢…");
        assert_eq!(StyledRow::of(PLAIN, "abcd").cut(4).text(), "abcd");
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_no_letter_is_lost(text in "[a-d漢 ]{0,80}", width in 8usize..30) {
            let rows = rows(&text, width);
            prop_assert!(rows.iter().all(|row| text_width(row) <= width), "{rows:?}");
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(letters(&rows.concat()), letters(&text));
        }

        #[test]
        fn what_is_unfinished_becomes_what_is_done(text in "[a-d漢 ]{0,80}", width in 8usize..30) {
            let mut wrapper = RowWrapper::new(width);
            let mut done = Vec::new();
            for c in text.chars() {
                wrapper.push(PLAIN, c);
                done.extend(wrapper.take_rows());
            }
            wrapper.end_line();
            done.extend(wrapper.take_rows());
            let shown: Vec<String> = done.iter().map(StyledRow::text).collect();
            if !text.trim().is_empty() {
                prop_assert_eq!(shown, rows(&text, width));
            }
        }
    }
}
