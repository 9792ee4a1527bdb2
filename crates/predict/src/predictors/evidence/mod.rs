//! How likely a place is meant, from what can be counted about it.
//!
//! The forest was fitted on the history of public repositories (`fit/fit.py` of this crate says how); it is the same for
//! everybody, what a user teaches comes on top.

mod forest;

use nudge_syntax::{AnalysedDocument, Language};
use nudge_text::history::LineChange;

use super::Candidate;
use crate::{PredictorName, Scene, SuggestionKind, engine::find};

/// What is known of a place, by name.
pub(crate) type PlaceEvidence = Vec<(&'static str, f32)>;

/// Where the user has gone to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserArrival {
    /// Nowhere: the cursor is where something was changed, or in another document.
    None,
    /// To a line.
    Line,
    /// To the end of a line, where new ones are begun.
    End,
}

impl UserArrival {
    fn of(scene: &Scene<'_>, line: usize) -> Self {
        let end = scene.source.text().line_end(line);
        let behind = scene.source.content().get(scene.cursor..end);
        match behind {
            _ if is_changed(scene, line) => Self::None,
            Some(behind) if behind.trim().is_empty() => Self::End,
            _ => Self::Line,
        }
    }
}

/// What all places of a document have in common.
pub(crate) struct DocumentEvidence {
    /// It is the document the cursor is in.
    pub(crate) here: bool,
    /// The line of the cursor.
    pub(crate) cursor: usize,
    /// Where in it the user has gone to.
    pub(crate) arrival: UserArrival,
    /// How many lines from that of the cursor on belong to the same place.
    pub(crate) reaches: usize,
    /// How many changes there are.
    pub(crate) changes: usize,
    /// Whether the document was changed.
    pub(crate) has_changes: bool,
    /// Its language.
    pub(crate) own: Language,
}

impl DocumentEvidence {
    /// What is around a document.
    pub(crate) fn of(scene: &Scene<'_>, source: &AnalysedDocument, here: bool) -> Self {
        let cursor = source.text().line_of(scene.cursor);
        Self {
            here,
            cursor,
            arrival: if here { UserArrival::of(scene, cursor) } else { UserArrival::None },
            reaches: 1,
            changes: scene.changes.len(),
            has_changes: scene.changes.iter().any(|change| *change.uri == **source.uri()),
            own: source.language(),
        }
    }

    /// Whether the user has gone somewhere.
    pub(crate) fn has_come(&self) -> bool {
        self.arrival != UserArrival::None
    }

    /// Whether the user went to this line: by half if to one just above it.
    pub(crate) fn at_cursor(&self, line: usize) -> f32 {
        match line.checked_sub(self.cursor) {
            Some(0) if self.has_come() => 1.0,
            Some(below) if self.has_come() && below < self.reaches => 0.5,
            _ => 0.0,
        }
    }
}

/// Whether the line of the cursor is one that was changed, or next to one that went. Behind the line break of the last
/// change, the cursor is where that left it.
fn is_changed(scene: &Scene<'_>, line: usize) -> bool {
    let is_own = |change: &&LineChange| *change.uri == **scene.source.uri();
    let end = |change: &LineChange| change.line + change.after_lines.max(1);
    let is_left = scene.source.text().line_start(line) == scene.cursor
        && scene.changes.last().filter(is_own).is_some_and(|last| last.after_lines > 0 && end(last) == line);
    is_left || scene.changes.iter().filter(is_own).any(|change| (change.line..end(change)).contains(&line))
}

/// What the place says about what a predictor proposes by rules of its own, in the logarithm of the odds.
struct InPlace {
    /// How far its own odds count, and what comes to them whatever the place. Those of renames are too low.
    own: (f32, f32),
    /// The user has gone to the line.
    at_cursor: f32,
    /// The user has gone elsewhere.
    elsewhere: f32,
    /// It is in another document.
    other_document: f32,
}

const RENAME: InPlace =
    InPlace { own: (0.7, 0.86), at_cursor: 0.56, elsewhere: -0.51, other_document: -0.52 };
const SIGNATURE: InPlace =
    InPlace { own: (1.0, 0.0), at_cursor: 1.72, elsewhere: -0.85, other_document: -0.41 };
const IMPORT: InPlace =
    InPlace { own: (1.1, 0.24), at_cursor: 1.08, elsewhere: -0.27, other_document: -1.67 };

impl InPlace {
    /// What the place of an edit comes to; what is done everywhere at once has none.
    fn of(&self, scene: &Scene<'_>, kind: &SuggestionKind) -> f32 {
        let SuggestionKind::Edit { uri, edits, .. } = kind else { return 0.0 };
        let (Some(source), Some(first)) = (find(scene, uri), edits.as_slice().first()) else { return 0.0 };
        let around = DocumentEvidence::of(scene, source, **uri == **scene.source.uri());
        let is_at = around.at_cursor(source.text().line_of(first.range.start)) > 0.0;
        self.at_cursor * flag(is_at)
            + self.elsewhere * flag(around.has_come() && !is_at)
            + self.other_document * flag(!around.here)
    }
}

/// How likely it is what a predictor proposes by rules of its own, seen together with the place.
pub(crate) fn in_place(scene: &Scene<'_>, candidate: &mut Candidate) {
    let counts = match candidate.predictor {
        PredictorName::Rename => RENAME,
        PredictorName::Signature => SIGNATURE,
        PredictorName::Import => IMPORT,
        _ => return,
    };
    let prior = candidate.prior.clamp(0.01, 0.99);
    let odds = counts.own.0 * (prior / (1.0 - prior)).ln() + counts.own.1 + counts.of(scene, &candidate.kind);
    candidate.prior = 1.0 / (1.0 + (-odds).exp());
}

/// What all places of one rule have in common in a document.
#[derive(Clone, Copy, Default)]
pub(crate) struct RuleSpread {
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
pub(crate) fn of_place(
    evidence: &mut PlaceEvidence,
    at: usize,
    around: &DocumentEvidence,
    spread: RuleSpread,
    newest: usize,
) {
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
        ("has come", flag(around.has_come())),
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
pub(crate) fn probability(evidence: &PlaceEvidence) -> f32 {
    1.0 / (1.0 + (-forest::log_odds(evidence)).exp())
}
