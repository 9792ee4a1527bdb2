//! Takes a declaration, or several lines, away from where they were once they stand elsewhere.
//!
//! Only where the user has gone to: before that, it cannot be told whether they are moved or copied. Other lines stay: the
//! same statement may well be meant twice. The other half, to put lines where they went, is not here: of a thousand places
//! that the user goes to after taking lines away, they are put into twenty.

use nudge_syntax::{AnalysedDocument, declarations_in};
use nudge_text::{Edits, history::LineChange};

use super::{
    Candidate,
    evidence::{self, DocumentEvidence, PlaceEvidence, RuleSpread, flag, probability, small},
};
use crate::{PredictorName, Scene, SuggestionKind, engine::find};

/// How many of the newest changes may be one half of a move.
const RECENT: usize = 8;
/// Less than this is found in many places: letters and lines of a declaration, and of any other lines.
const DECLARED: (usize, usize) = (20, 2);
const OTHERS: (usize, usize) = (40, 3);
/// More lines than this are not looked for.
const MAX_LINES: usize = 60;

/// Says which lines here go, as they came elsewhere.
pub(crate) fn predict(scene: &Scene<'_>, out: &mut Vec<Candidate>) {
    let around = DocumentEvidence::of(scene, scene.source, true);
    if !around.has_come() {
        return;
    }
    let recent = scene.changes.iter().enumerate().rev().take(RECENT);
    out.extend(recent.filter_map(|(number, change)| away(scene, &around, change, number)));
}

/// The lines at the cursor go, since they came elsewhere.
fn away(
    scene: &Scene<'_>,
    around: &DocumentEvidence,
    change: &LineChange,
    number: usize,
) -> Option<Candidate> {
    let text = scene.source.text();
    let own = |line: usize| (line < text.line_count()).then(|| text.line(line));
    if change.after_lines > MAX_LINES || !stands(scene, change) {
        return None;
    }
    let came: Vec<&str> = lines(&change.after, change.after_lines);
    let is_own = *change.uri == **scene.source.uri();
    let written = if is_own { change.line..change.line + change.after_lines } else { 0..0 };
    let first = own(around.cursor)?;
    if letters(&first) == 0 || change.before.lines().any(|line| line.trim() == first.trim()) {
        return None;
    }
    let is_same = |line: usize, other: &str| {
        !written.contains(&line) && own(line).is_some_and(|own| own.trim() == other.trim())
    };
    let run = |from: usize| {
        let same =
            came[from..].iter().enumerate().take_while(|(at, other)| is_same(around.cursor + at, other));
        same.count()
    };
    let count = (0..came.len()).map(run).max()?;
    let range = text.line_start(around.cursor)..text.line_start(around.cursor + count);
    let gone = text.slice(range.clone());
    let least = if declares(scene.source, around.cursor) { DECLARED } else { OTHERS };
    let is_small = letters(&gone) < least.0 || gone.trim().lines().count() < least.1;
    // What was put right beside it is to become something else.
    let is_beside = is_own && written.start <= around.cursor + count && around.cursor <= written.end;
    if is_small || is_beside {
        return None;
    }
    let mut evidence: PlaceEvidence = vec![
        ("moved away", 1.0),
        ("moved whole", flag(count == came.len())),
        ("moved lines", small(count.min(60))),
        ("length", small(letters(&gone).min(160)) / 10.0),
    ];
    evidence::of_place(&mut evidence, around.cursor, around, RuleSpread::default(), number);
    let cursor = range.start;
    let edits = Edits::one(range, "");
    Some(Candidate {
        kind: SuggestionKind::Edit { uri: scene.source.uri().clone(), edits, cursor },
        predictor: PredictorName::Move,
        reason: format!("removes what you put {}", place(scene, change)),
        prior: probability(&evidence),
        group: super::group_of(&(&change.before, &change.after)),
        evidence,
    })
}

/// Whether what a change wrote is still there: else what is taken away here may be all there is of it.
fn stands(scene: &Scene<'_>, change: &LineChange) -> bool {
    let Some(text) = find(scene, &change.uri).map(AnalysedDocument::text) else { return false };
    let end = change.line + change.after_lines;
    change.after_lines > 0
        && end <= text.line_count()
        && text.slice(text.line_start(change.line)..text.line_end(end - 1)) == change.after
}

/// Whether a line begins a declaration that is seen outside of it.
fn declares(source: &AnalysedDocument, line: usize) -> bool {
    let text = source.text();
    let line = text.line_start(line)..text.line_end(line);
    declarations_in(source, &line, usize::MAX).any(|(_, found)| !found.sort.is_local())
}

fn lines(text: &str, count: usize) -> Vec<&str> {
    if count == 0 { Vec::new() } else { text.split('\n').collect() }
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

fn place(scene: &Scene<'_>, change: &LineChange) -> String {
    let line = change.line.saturating_add(1);
    if *change.uri == **scene.source.uri() {
        return format!("at line {line}");
    }
    format!("at line {line} of {}", change.uri.rsplit('/').next().unwrap_or_default())
}
