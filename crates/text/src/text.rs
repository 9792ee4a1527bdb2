//! The text of a document.

use std::{borrow::Cow, fmt, ops::Range};

use ropey::Rope;

/// How much of a text is looked at to find out how its lines end.
const BREAK_SAMPLE: usize = 64 * 1024;

/// A text that is cheap to clone and cheap to change in the middle.
///
/// Offsets are in bytes. None of the methods panics: what lies outside is clamped to the text, and what lies inside a
/// code point is taken back to its start. A text has at least one line, and one that ends with a line break has an empty
/// last line.
#[derive(Clone, Default)]
pub struct Text {
    pub(crate) rope: Rope,
}

/// A line without its break.
pub(crate) struct LineAt<'a> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Its text, if that lies in one piece.
    pub(crate) text: Option<&'a str>,
}

impl Text {
    /// A text with this content.
    pub fn new(text: &str) -> Self {
        Self { rope: Rope::from_str(text) }
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.rope.len_bytes()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many lines it has, at least one.
    pub fn line_count(&self) -> usize {
        self.rope.len_lines()
    }

    /// Where a line begins; the end of the text for a line past the last.
    pub fn line_start(&self, line: usize) -> usize {
        self.rope.line_to_byte(line.min(self.line_count()))
    }

    /// Where a line ends, before its break.
    pub fn line_end(&self, line: usize) -> usize {
        self.line_at(line).end
    }

    /// Where a line ends, after its break.
    pub fn line_end_with_break(&self, line: usize) -> usize {
        self.line_start(line.saturating_add(1))
    }

    /// The line an offset lies on. Between `\r` and `\n` it is still the line they end.
    pub fn line_of(&self, offset: usize) -> usize {
        self.rope.byte_to_line(offset.min(self.len()))
    }

    /// A line without its break.
    pub fn line(&self, line: usize) -> Cow<'_, str> {
        let at = self.line_at(line);
        at.text.map_or_else(|| self.slice(at.start..at.end), Cow::Borrowed)
    }

    /// A part of the text, borrowed where it lies in one piece.
    pub fn slice(&self, range: Range<usize>) -> Cow<'_, str> {
        if range.start >= range.end {
            return Cow::Borrowed("");
        }
        let (start, end) = (self.floor(range.start), self.floor(range.end));
        if start >= end {
            return Cow::Borrowed("");
        }
        let first = self.chunk_at(start);
        if end - start <= first.len() {
            return Cow::Borrowed(&first[..end - start]);
        }
        let mut whole = String::with_capacity(end - start);
        while start + whole.len() < end {
            let at = start + whole.len();
            let chunk = self.chunk_at(at);
            whole.push_str(&chunk[..chunk.len().min(end - at)]);
        }
        Cow::Owned(whole)
    }

    /// What is left of the piece an offset lies in: for parsers that pull. Empty only at the end.
    pub fn chunk_at(&self, offset: usize) -> &str {
        let offset = self.floor(offset);
        let (chunk, begin, _, _) = self.rope.chunk_at_byte(offset);
        &chunk[offset - begin..]
    }

    /// The pieces the text is kept in, one after the other.
    pub fn chunks(&self) -> impl Iterator<Item = &str> {
        self.rope.chunks()
    }

    /// The start of the code point an offset lies in.
    pub fn floor(&self, offset: usize) -> usize {
        if offset >= self.len() {
            return self.len();
        }
        let (chunk, begin, _, _) = self.rope.chunk_at_byte(offset);
        begin + chunk.floor_char_boundary(offset - begin)
    }

    /// Whether an offset lies inside the text, or at its end, and not inside a code point.
    pub fn is_boundary(&self, offset: usize) -> bool {
        self.floor(offset) == offset
    }

    /// Puts `with` in the place of a range.
    pub fn replace(&mut self, range: Range<usize>, with: &str) {
        let start = self.floor(range.start);
        let end = if range.end <= range.start { start } else { self.floor(range.end) };
        let at = self.rope.byte_to_char(start);
        if start < end {
            let upto = self.rope.byte_to_char(end);
            self.rope.remove(at..upto);
        }
        if !with.is_empty() {
            self.rope.insert(at, with);
        }
    }

    /// How most of its lines end, judged by the beginning of the text; `\n` if there is but one line.
    pub fn line_break(&self) -> &'static str {
        let (mut lf, mut crlf, mut cr, mut seen) = (0, 0, 0, 0);
        for chunk in self.chunks() {
            let bytes = chunk.as_bytes();
            for (at, byte) in bytes.iter().enumerate() {
                match byte {
                    b'\n' if at > 0 && bytes[at - 1] == b'\r' => crlf += 1,
                    b'\n' => lf += 1,
                    b'\r' if bytes.get(at + 1) != Some(&b'\n') => cr += 1,
                    _ => {}
                }
            }
            seen += chunk.len();
            if seen >= BREAK_SAMPLE && lf + crlf + cr > 0 {
                break;
            }
        }
        if lf >= crlf && lf >= cr {
            "\n"
        } else if crlf >= cr {
            "\r\n"
        } else {
            "\r"
        }
    }

    /// A line, found once and with everything that is known then.
    pub(crate) fn line_at(&self, line: usize) -> LineAt<'_> {
        let start = self.line_start(line);
        let (chunk, begin, _, _) = self.rope.chunk_at_byte(start);
        let rest = &chunk[start - begin..];
        let found = rest.bytes().position(|byte| matches!(byte, b'\n' | b'\r'));
        let len = found.or_else(|| (start + rest.len() == self.len()).then_some(rest.len()));
        if let Some(len) = len {
            return LineAt { start, end: start + len, text: Some(&rest[..len]) };
        }
        let next = self.line_end_with_break(line);
        let has_break = line + 1 < self.line_count();
        let len = if !has_break {
            0
        } else if self.splits_break(next - 1) {
            2
        } else {
            1
        };
        LineAt { start, end: next - len, text: None }
    }

    /// The byte at an offset.
    pub(crate) fn byte(&self, offset: usize) -> Option<u8> {
        self.rope.get_byte(offset)
    }

    /// The byte before an offset.
    pub(crate) fn byte_before(&self, offset: usize) -> Option<u8> {
        self.byte(offset.checked_sub(1)?)
    }

    /// Whether an offset lies between `\r` and `\n`.
    pub(crate) fn splits_break(&self, offset: usize) -> bool {
        self.byte(offset) == Some(b'\n') && self.byte_before(offset) == Some(b'\r')
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.slice(0..self.len()), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chunks().try_for_each(|chunk| f.write_str(chunk))
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.rope.is_instance(&other.rope) || self.rope == other.rope
    }
}

impl Eq for Text {}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}
