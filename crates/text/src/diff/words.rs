//! The words in which two texts differ.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// The parts in which two short texts differ, in bytes of each. A part begins and ends at the edge of a word, a number,
/// a run of white space or a single other character.
pub fn words(old: &str, new: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let (old_ends, new_ends) = (ends(old), ends(new));
    let parts =
        single((old, &old_ends), (new, &new_ends)).unwrap_or_else(|| all((old, &old_ends), (new, &new_ends)));
    let bytes = |ends: &[usize], range: Range<usize>| {
        let at = |token: usize| token.checked_sub(1).map_or(0, |before| ends[before]);
        at(range.start)..at(range.end)
    };
    parts.into_iter().map(|(was, is)| (bytes(&old_ends, was), bytes(&new_ends, is))).collect()
}

/// A text and where each of its tokens ends.
type Cut<'a> = (&'a str, &'a [usize]);

/// Tokens of the one text and those of the other that are in their place.
type Part = (Range<usize>, Range<usize>);

/// More pairs of tokens than this are not compared one by one.
const MAX_PAIRS: usize = 64;

/// What differs, if that is one part only, as most often. To find that out takes a fraction of the time.
fn single(old: Cut<'_>, new: Cut<'_>) -> Option<Vec<Part>> {
    let token = |(_, ends): Cut<'_>, at: usize| at.checked_sub(1).map_or(0, |before| ends[before])..ends[at];
    let is_same = |a: usize, b: usize| old.0[token(old, a)] == new.0[token(new, b)];
    let (old_len, new_len) = (old.1.len(), new.1.len());
    let front = (0..old_len.min(new_len)).take_while(|&at| is_same(at, at)).count();
    let rest = old_len.min(new_len) - front;
    let back = (1..=rest).take_while(|&at| is_same(old_len - at, new_len - at)).count();
    let (was, is) = (front..old_len - back, front..new_len - back);
    if was.len() * is.len() > MAX_PAIRS || was.clone().any(|a| is.clone().any(|b| is_same(a, b))) {
        return None;
    }
    let differs = !was.is_empty() || !is.is_empty();
    Some(differs.then_some((was, is)).into_iter().collect())
}

/// All parts that differ.
fn all(old: Cut<'_>, new: Cut<'_>) -> Vec<Part> {
    let mut input = InternedInput::default();
    input.update_before(tokens(old.0, old.1));
    input.update_after(tokens(new.0, new.1));
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_no_heuristic(&input);
    let tokens = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| (tokens(hunk.before), tokens(hunk.after))).collect()
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// One part is found the short way as it is found the long way.
        #[test]
        fn the_short_way_leads_to_the_same(old in "[ab ,\n]{0,12}", new in "[ab ,\n]{0,12}") {
            let (old_ends, new_ends) = (ends(&old), ends(&new));
            let (old, new) = ((&*old, &*old_ends), (&*new, &*new_ends));
            if let Some(short) = single(old, new) {
                prop_assert_eq!(short, all(old, new));
            }
        }
    }
}
