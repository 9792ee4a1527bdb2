//! Documents: a rope, versions, positions in every encoding, edits as values, diffs and the edit history, and the
//! lines of ignore files.
//!
//! Inside, a place in a text is a byte offset. Lines, characters and encodings are for the boundary: [`Text::offset`]
//! and [`Text::point`] convert. A line ends at `\n`, `\r\n` or `\r`.
//!
//! This room is pure: texts and times come in as arguments, values go out.

mod compose;
pub mod diff;
mod document;
mod edits;
pub mod history;
mod ignored;
mod point;
mod text;

pub use document::{Document, OutOfSync, TextChange};
pub use edits::{Edit, Edits, EditsError, InsertBias};
pub use ignored::IgnoreLines;
pub use point::{Encoding, Point};
pub use text::Text;
