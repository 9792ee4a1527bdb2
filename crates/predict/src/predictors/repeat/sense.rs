//! Changes that turn the sign or the sense of something, which say nothing about other things.

use nudge_text::diff;

/// What turns the sense of what follows.
const NEGATIONS: [&str; 4] = ["!", "-", "~", "not"];

/// Whether the sense of what follows was turned.
pub(crate) fn is_turned(gone: &str, come: &str) -> bool {
    let (gone, come) = (gone.trim(), come.trim());
    (gone.is_empty() && NEGATIONS.contains(&come)) || (come.is_empty() && NEGATIONS.contains(&gone))
}

/// Whether all that a line has more or less than before turns the sense of something.
pub(crate) fn is_all_turned(before: &str, after: &str) -> bool {
    let mut parts = diff::words(before, after).into_iter();
    parts.all(|(old, new)| is_turned(&before[old], &after[new]))
}
