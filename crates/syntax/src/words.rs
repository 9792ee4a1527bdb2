//! Finds whole words in a text.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::token::stands_alone;

/// The places inside `within` where `word` stands alone, in order; at most `limit`.
pub fn occurrences(text: &str, word: &str, within: Range<usize>, limit: usize) -> Vec<Range<usize>> {
    let Some(part) = text.get(within.clone()) else { return Vec::new() };
    if word.is_empty() {
        return Vec::new();
    }
    Finder::new(word)
        .find_iter(part.as_bytes())
        .map(|at| within.start + at..within.start + at + word.len())
        .filter(|range| stands_alone(text, range))
        .take(limit)
        .collect()
}

/// Whether `word` stands alone somewhere in the text.
pub fn contains_word(text: &str, word: &str) -> bool {
    !occurrences(text, word, 0..text.len(), 1).is_empty()
}
