//! The words in which two texts differ.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// The parts in which two short texts differ, in bytes of each. A part begins and ends at the edge of a word, a number,
/// a run of white space or a single other character.
pub fn words(old: &str, new: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let (old_ends, new_ends) = (ends(old), ends(new));
    let mut input = InternedInput::default();
    input.update_before(tokens(old, &old_ends));
    input.update_after(tokens(new, &new_ends));
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_no_heuristic(&input);
    let bytes = |ends: &[usize], range: Range<u32>| {
        let at = |token: u32| token.checked_sub(1).map_or(0, |before| ends[before as usize]);
        at(range.start)..at(range.end)
    };
    diff.hunks().map(|hunk| (bytes(&old_ends, hunk.before), bytes(&new_ends, hunk.after))).collect()
}

#[derive(PartialEq, Eq)]
enum Kind {
    Word,
    Space,
    Other,
}

fn kind(char: char) -> Kind {
    if char.is_alphanumeric() || char == '_' {
        Kind::Word
    } else if char.is_whitespace() {
        Kind::Space
    } else {
        Kind::Other
    }
}

/// Where each token ends.
fn ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::with_capacity(text.len() / 3 + 1);
    let mut before = None;
    for (at, char) in text.char_indices() {
        let kind = kind(char);
        if before.is_some_and(|before| before == Kind::Other || before != kind) {
            ends.push(at);
        }
        before = Some(kind);
    }
    if !text.is_empty() {
        ends.push(text.len());
    }
    ends
}

fn tokens<'a>(text: &'a str, ends: &'a [usize]) -> impl Iterator<Item = &'a str> {
    ends.iter().scan(0, move |start, end| {
        let token = &text[*start..*end];
        *start = *end;
        Some(token)
    })
}
