//! Carries a changed declaration to what depends on it.
//!
//! The head of a function that a recent change touched is compared with what it was. Other declarations of the function
//! that were alike get the same change; calls lose, gain and reorder arguments as the parameters did. What came to a struct
//! or an enumeration is carried to its literals, arms and patterns.

mod before;
mod call;
mod counterpart;
mod delta;
mod field;
mod mould;
mod payload;
mod variant;

use std::ops::Range;
use std::slice;

use nudge_syntax::{AnalysedDocument, EnumVariant, Enumeration, FunctionHeader, related};
use nudge_text::{Edit, history::LineChange};

use self::{before::before, delta::SignatureDelta};
use super::{
    Candidate,
    rename::draft::{RenameDraft, merged},
};
use crate::{PredictorName, Scene, engine::find, runs::edit_runs};

/// Changes that are looked at, the newest first.
const MAX_CHANGES: usize = 6;
/// A change with more text than this is not taken apart.
const MAX_CHANGE: usize = 6 * 1024;
/// Candidates of one changed declaration.
const MAX_CANDIDATES: usize = 20;

/// Says what has to follow changed declarations.
pub(crate) fn predict(scene: &Scene<'_>, out: &mut Vec<Candidate>) {
    let mut drafts: Vec<RenameDraft<'_>> = Vec::new();
    for change in scene.changes.iter().rev().take(MAX_CHANGES) {
        if (scene.cancelled)() {
            return;
        }
        let is_small = change.before.len() + change.after.len() < MAX_CHANGE;
        let Some(source) = find(scene, &change.uri).filter(|_| is_small) else { continue };
        field::predict(scene, source, change, &mut drafts);
        enumerations(scene, source, change, &mut drafts);
        if change.before_lines == 0 || change.after_lines == 0 {
            continue;
        }
        for altered in altered(source, change) {
            let begin = drafts.len();
            counterpart::predict(scene, &altered, &mut drafts);
            call::predict(scene, &altered, &mut drafts);
            drafts.truncate(begin + MAX_CANDIDATES);
        }
    }
    out.extend(merged(drafts).into_iter().filter_map(RenameDraft::into_candidate));
}

/// Says what has to follow a changed enumeration.
fn enumerations<'s>(
    scene: &Scene<'s>,
    source: &AnalysedDocument,
    change: &LineChange,
    drafts: &mut Vec<RenameDraft<'s>>,
) {
    let Some(region) = region(source, change) else { return };
    let touched = region.start + change.touched.start..(region.start + change.touched.end).min(region.end);
    let inside = source.content().get(touched.clone()).unwrap_or_default();
    let first = touched.start + inside.len() - inside.trim_start().len();
    let begin = drafts.len();
    if let Some(enumeration) = Enumeration::around(source, first) {
        let changed = Changed { source, change, enumeration, region };
        variant::predict(scene, &changed, drafts);
        payload::predict(scene, &changed, drafts);
    }
    drafts.truncate(begin + MAX_CANDIDATES);
}

/// An enumeration that was changed.
struct Changed<'a> {
    source: &'a AnalysedDocument,
    change: &'a LineChange,
    enumeration: Enumeration,
    /// Where the lines of the change are.
    region: Range<usize>,
}

impl Changed<'_> {
    /// The variants on the lines of the change, with their numbers.
    fn touched(&self) -> impl Iterator<Item = (usize, &EnumVariant)> {
        let is_inside =
            |range: &Range<usize>| self.region.start <= range.start && range.end <= self.region.end;
        self.enumeration.variants.iter().enumerate().filter(move |(_, variant)| is_inside(&variant.range))
    }
}

/// Where the lines of a change are, if they are still as it left them.
fn region(source: &AnalysedDocument, change: &LineChange) -> Option<Range<usize>> {
    let text = source.text();
    let last = (change.line + change.after_lines).checked_sub(1).filter(|_| change.after_lines > 0)?;
    let region = text.line_start(change.line)..text.line_end(last);
    let is_there = source.content().get(region.clone())?.trim_end_matches('\r') == change.after;
    is_there.then_some(region)
}

/// A function whose head was changed.
struct Altered<'a> {
    source: &'a AnalysedDocument,
    /// The head as it was, in a document of its own.
    past: AnalysedDocument,
    before: FunctionHeader,
    after: FunctionHeader,
    delta: SignatureDelta,
}

impl Altered<'_> {
    fn old_name(&self) -> &str {
        &self.past.content()[self.before.name.clone()]
    }

    fn new_name(&self) -> &str {
        &self.source.content()[self.after.name.clone()]
    }

    /// What all that follows from this change has in common.
    fn chain(&self, what: &str) -> u64 {
        let before = &self.past.content()[self.before.params.clone()];
        let after = &self.source.content()[self.after.params.clone()];
        super::group_of(&("signature", what, self.old_name(), self.new_name(), before, after))
    }
}

fn altered<'a>(source: &'a AnalysedDocument, change: &LineChange) -> Vec<Altered<'a>> {
    let Some(region) = region(source, change) else { return Vec::new() };
    let heads = FunctionHeader::all_in(source, &region).into_iter();
    let altered = heads.filter_map(|after| {
        let (past, before) = before(source, change, &region, &after)?;
        let delta = SignatureDelta::of(past.content(), &before, source.content(), &after);
        Some(Altered { source, past, before, after, delta })
    });
    altered.filter(|altered| !altered.delta.is_empty()).collect()
}

/// The documents that can have something to do with a source, it or the current one first.
fn documents<'a>(scene: &Scene<'a>, of: &AnalysedDocument) -> impl Iterator<Item = &'a AnalysedDocument> {
    let language = of.language();
    std::iter::once(scene.source)
        .chain(scene.others)
        .filter(move |source| related(source.language(), language))
}

/// Offers edits of a document run by run.
struct Offer<'r, 's> {
    scene: &'r Scene<'s>,
    source: &'s AnalysedDocument,
    prior: f32,
    chain: u64,
    evidence: Vec<(&'static str, f32)>,
}

impl<'s> Offer<'_, 's> {
    fn make(&self, mut edits: Vec<Edit>, reason: impl Fn(&str) -> String, drafts: &mut Vec<RenameDraft<'s>>) {
        edits.retain(|edit| !self.scene.memory.refuses_edits(self.source, slice::from_ref(edit)));
        let is_current = self.source.uri() == self.scene.source.uri();
        let line = if is_current { self.source.text().line_of(self.scene.cursor) } else { 0 };
        let mut rank = 0.0;
        for run in edit_runs(self.source, edits, line) {
            let reason = reason(&run.lines());
            let prior = (if is_current { self.prior } else { self.prior * 0.93 }) - rank;
            let (predictor, source, evidence) =
                (PredictorName::Signature, self.source, self.evidence.clone());
            drafts.push(RenameDraft { predictor, source, run, reason, prior, group: self.chain, evidence });
            rank = f32::min(rank + 0.004, 0.06);
        }
    }
}
