//! How likely a place is meant, from what can be counted about it.
//!
//! The forest was fitted on the history of public repositories (`fit/fit.py` of this crate says how); it is the same for
//! everybody, what a user teaches comes on top.

mod forest;

use crate::{Language, Scene, Source};

/// What is known of a place, by name.
pub(crate) type Evidence = Vec<(&'static str, f32)>;

/// What all places of a document have in common.
pub(crate) struct Around {
    /// It is the document the cursor is in.
    pub(crate) here: bool,
    /// The line of the cursor.
    pub(crate) cursor: usize,
    /// How many changes there are.
    pub(crate) changes: usize,
    /// Whether the document was changed.
    pub(crate) has_changes: bool,
    /// Its language.
    pub(crate) own: Language,
}

impl Around {
    /// What is around a document.
    pub(crate) fn of(scene: &Scene<'_>, source: &Source, here: bool) -> Self {
        Self {
            here,
            cursor: source.text().line_of(scene.cursor),
            changes: scene.changes.len(),
            has_changes: scene.changes.iter().any(|change| *change.uri == **source.uri()),
            own: source.language(),
        }
    }
}

/// What all places of one rule have in common in a document.
#[derive(Clone, Copy, Default)]
pub(crate) struct Spread {
    /// Lines it applies to.
    pub(crate) lines: usize,
    /// Of these, lines that lie between places where it was applied by hand: they were passed over.
    pub(crate) skipped: usize,
    /// Places in the document where it was applied by hand.
    pub(crate) done: usize,
    /// Lines it applies to between the cursor and the place.
    pub(crate) sooner: usize,
}

/// Adds what is known of a place whatever the rule: `at` is its line, `newest` the number of the newest example.
pub(crate) fn of_place(evidence: &mut Evidence, at: usize, around: &Around, spread: Spread, newest: usize) {
    let below = around.here && at >= around.cursor;
    let distance = at.abs_diff(around.cursor);
    let age = around.changes.saturating_sub(newest + 1);
    let signed = if below { small(distance) } else { -small(distance) };
    evidence.extend([
        ("distance", if around.here { (small(distance) + 1.0).log2().copysign(signed) } else { 20.0 }),
        ("spread", (small(spread.lines) + 1.0).log2()),
        ("passed", small(spread.skipped.min(20))),
        ("age", small(age.min(24))),
        ("changes", small(around.changes.min(24))),
        ("done here", small(spread.done.min(12))),
        ("sooner", small(spread.sooner.min(20))),
        ("prose", flag(matches!(around.own, Language::Markdown | Language::Other))),
        ("untouched file", flag(!around.here && !around.has_changes)),
    ]);
}

pub(crate) fn flag(yes: bool) -> f32 {
    f32::from(u8::from(yes))
}

#[expect(clippy::cast_precision_loss, reason = "counts of tokens and lines are small")]
pub(crate) fn small(count: usize) -> f32 {
    count as f32
}

/// The probability that follows from the evidence.
pub(crate) fn probability(evidence: &Evidence) -> f32 {
    1.0 / (1.0 + (-forest::log_odds(evidence)).exp())
}
