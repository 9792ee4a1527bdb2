//! Places as editors name them: a line and a character, counted in an encoding.

use crate::Text;

/// What `character` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16: what editors send if nothing else was agreed upon.
    #[default]
    Utf16,
    /// Code points.
    Utf32,
}

/// A place between two characters of a line; both count from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Point {
    /// The line.
    pub line: u32,
    /// The place in the line, in units of an [`Encoding`].
    pub character: u32,
}

impl Point {
    /// The place on this line before this character.
    pub fn new(line: u32, character: u32) -> Self {
        Self { line, character }
    }
}

impl Text {
    /// Where a point lies. Past the end of its line it is the line's end, before the break; past the last line it is the
    /// end of the text; inside a code point it is the start of that.
    pub fn offset(&self, at: Point, encoding: Encoding) -> usize {
        self.offset_exact(at, encoding).unwrap_or_else(|| self.len())
    }

    /// Where a point lies, or `None` if there is no such line. A character past the end of the line is the line's end.
    pub fn offset_exact(&self, at: Point, encoding: Encoding) -> Option<usize> {
        let line = at.line as usize;
        if line >= self.line_count() {
            return None;
        }
        let found = self.line_at(line);
        let character = at.character as usize;
        if character >= found.end - found.start {
            // No encoding has more units than there are bytes.
            return Some(found.end);
        }
        if let Some(text) = found.text {
            return Some(found.start + encoding.bytes(text, character));
        }
        Some(self.far(found.start, character, encoding).min(found.end))
    }

    /// The point at an offset. Between `\r` and `\n` it is the end of the line.
    pub fn point(&self, offset: usize, encoding: Encoding) -> Point {
        let offset = self.floor(offset);
        let line = self.line_of(offset);
        let offset = if self.splits_break(offset) { offset - 1 } else { offset };
        let (chunk, begin, _, _) = self.rope.chunk_at_byte(offset);
        let upto = &chunk[..offset - begin];
        let character = match upto.bytes().rposition(|byte| matches!(byte, b'\n' | b'\r')) {
            Some(at) => encoding.units(&upto[at + 1..]),
            None if begin == 0 => encoding.units(upto),
            None => self.far_units(self.line_start(line), offset, encoding),
        };
        Point::new(clamped(line), clamped(character))
    }

    /// The place some units behind `start`, for lines in several pieces.
    fn far(&self, start: usize, units: usize, encoding: Encoding) -> usize {
        let rope = &self.rope;
        match encoding {
            Encoding::Utf8 => self.floor(start + units),
            Encoding::Utf16 => {
                let units = rope.char_to_utf16_cu(rope.byte_to_char(start)) + units;
                rope.char_to_byte(rope.utf16_cu_to_char(units.min(rope.len_utf16_cu())))
            }
            Encoding::Utf32 => rope.char_to_byte((rope.byte_to_char(start) + units).min(rope.len_chars())),
        }
    }

    /// How many units there are between two places, for lines in several pieces.
    fn far_units(&self, start: usize, end: usize, encoding: Encoding) -> usize {
        let rope = &self.rope;
        match encoding {
            Encoding::Utf8 => end - start,
            Encoding::Utf16 => {
                rope.char_to_utf16_cu(rope.byte_to_char(end))
                    - rope.char_to_utf16_cu(rope.byte_to_char(start))
            }
            Encoding::Utf32 => rope.byte_to_char(end) - rope.byte_to_char(start),
        }
    }
}

impl Encoding {
    /// How many units a text has.
    fn units(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            Self::Utf16 => text.chars().map(char::len_utf16).sum(),
            Self::Utf32 => text.chars().count(),
        }
    }

    /// How many bytes the first `units` take, without a code point that is not complete.
    fn bytes(self, text: &str, units: usize) -> usize {
        if self == Self::Utf8 {
            return text.floor_char_boundary(units);
        }
        let mut seen = 0;
        for (at, char) in text.char_indices() {
            seen += if self == Self::Utf16 { char.len_utf16() } else { 1 };
            if seen > units {
                return at;
            }
        }
        text.len()
    }
}

fn clamped(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
