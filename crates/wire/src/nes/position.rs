//! Places in a document, and the units they are counted in.

use super::shape::{object, open_enum};

object! {
    /// A place between two characters of a document.
    pub struct Position as "Position" {
        /// Lines before it.
        line: u32,
        /// Units of the agreed position encoding before it on its line.
        character: u32,
    }
}

object! {
    /// The text between two places.
    pub struct Range as "Range" {
        /// Where it begins.
        start: Position,
        /// Where it ends; that place is not part of it.
        end: Position,
    }
}

open_enum! {
    /// What a position's `character` counts.
    pub enum PositionEncoding as "PositionEncodingKind" {
        /// Bytes of UTF-8.
        Utf8 = "utf-8",
        /// Code units of UTF-16, the default.
        Utf16 = "utf-16",
        /// Code points.
        Utf32 = "utf-32",
    }
}

impl PositionEncoding {
    /// The encoding to answer a client with that offers these, best first: the first that is known, and UTF-16
    /// where there is none, because everyone has to know that one.
    pub fn choose(offered: &[Self]) -> Self {
        offered.iter().find(|encoding| Self::KNOWN.contains(encoding)).cloned().unwrap_or(Self::Utf16)
    }
}
