//! Carries a new name to the uses of the old one.
//!
//! Each recent change that put one name in the place of another is looked at: what stands there now? At a declaration, the
//! uses in its scope follow, here and in other documents. At a use, its declaration may follow, or other uses of a name
//! from elsewhere.

pub(super) mod draft;
mod pair;
mod score;
mod target;
mod whole;

use std::slice;

use nudge_syntax::{
    AnalysedDocument, Language, NameSort, NameUse, NameUses, UseForm, occurrences, related, uses_of,
};
use nudge_text::Edit;

use self::{
    draft::{RenameDraft, merged},
    pair::{RenamePair, pairs},
    score::{UseEvidence, probability},
    target::{RenameGround, RenameTarget, target},
};
use super::Candidate;
use crate::{
    PredictorName, Scene, SuggestionKind, case,
    runs::{EditRun, edit_runs},
};

/// Candidates of one rename.
const MAX_CANDIDATES: usize = 20;
/// From this many uses on, replacing all of them at once is offered.
const MIN_REPLACED: usize = 4;

/// Says which uses of renamed names remain.
pub(crate) fn predict(scene: &Scene<'_>, out: &mut Vec<Candidate>) {
    let mut drafts = Vec::new();
    for pair in pairs(scene) {
        if (scene.cancelled)() {
            return;
        }
        if let Some(target) = target(scene, &pair) {
            let rename = Rename { scene, pair: &pair, target: &target };
            rename.carry(&mut drafts, out);
            rename.by_editor(out);
        }
    }
    out.extend(merged(drafts).into_iter().filter_map(RenameDraft::into_candidate));
}

struct Rename<'r, 's> {
    scene: &'r Scene<'s>,
    pair: &'r RenamePair<'s>,
    target: &'r RenameTarget<'s>,
}

impl<'s> Rename<'_, 's> {
    fn carry(&self, drafts: &mut Vec<RenameDraft<'s>>, out: &mut Vec<Candidate>) {
        let begin = drafts.len();
        let home = self.target.source;
        let documents = std::iter::once(self.scene.source).chain(self.scene.others);
        for source in documents.filter(|source| related(source.language(), home.language())) {
            let here = source.uri() == home.uri();
            if !here && !self.target.reaches_other_documents() {
                continue;
            }
            if (self.scene.cancelled)() || drafts.len() - begin >= MAX_CANDIDATES {
                break;
            }
            if source.find(&self.pair.old).next().is_none() {
                continue;
            }
            let uses = uses_of(source, &self.target.declaration, &self.pair.old, here);
            let best = self.in_document(source, here, &uses, drafts);
            if here {
                self.all_at_once(source, &uses, best, out);
            }
        }
        drafts.truncate(begin + MAX_CANDIDATES);
    }

    /// Drafts what follows in a document; how likely the best of it is.
    fn in_document(
        &self,
        source: &'s AnalysedDocument,
        here: bool,
        uses: &NameUses,
        drafts: &mut Vec<RenameDraft<'s>>,
    ) -> f32 {
        let old = &self.pair.old;
        let edits = uses.meant.iter().map(|found| self.edit(source, found));
        let edits =
            edits.filter(|edit| !self.scene.memory.refuses_edits(source, slice::from_ref(edit))).collect();
        let is_current = source.uri() == self.scene.source.uri();
        let line = if is_current { source.text().line_of(self.scene.cursor) } else { 0 };
        let mut best: f32 = 0.0;
        for (rank, run) in edit_runs(source, edits, line).into_iter().enumerate() {
            let reason = match run.edits.len() {
                1 => format!("renames the use of `{old}` on {}", run.lines()),
                count => format!("renames {count} uses of `{old}` on {}", run.lines()),
            };
            let evidence = self.evidence(source, here, uses, &run, rank);
            let prior = probability(&evidence);
            best = best.max(prior);
            drafts.push(RenameDraft {
                predictor: PredictorName::Rename,
                source,
                run,
                reason,
                prior,
                group: self.chain(),
                evidence,
            });
        }
        best
    }

    fn edit(&self, source: &AnalysedDocument, found: &NameUse) -> Edit {
        let (old, new) = (&self.pair.old, &self.pair.new);
        if self.target.both {
            return Edit::new(found.range.clone(), new.as_str());
        }
        // `new: old` becomes `new` where a label and its value may be written as one.
        let text = source.content();
        let label =
            text[..found.range.start].strip_suffix(": ").and_then(|before| before.strip_suffix(new.as_str()));
        let label = label.filter(|before| before.ends_with([' ', '{', '\n', '\t', '(']));
        let shortens = matches!(
            source.language(),
            Language::Rust | Language::TypeScript | Language::Tsx | Language::JavaScript
        );
        let ends = text[found.range.end..].starts_with([',', ' ', '}', '\n']);
        match label.filter(|_| shortens && ends && found.form == UseForm::Plain) {
            Some(before) => Edit::new(before.len()..found.range.end, new.as_str()),
            None => Edit::new(found.range.clone(), found.rewritten(old, new)),
        }
    }

    fn chain(&self) -> u64 {
        super::group_of(&("rename", &self.pair.old, &self.pair.new))
    }

    fn candidate(&self, kind: SuggestionKind, reason: String, prior: f32) -> Candidate {
        let (predictor, chain) = (PredictorName::Rename, self.chain());
        Candidate { kind, predictor, reason, prior, group: chain, evidence: Vec::new() }
    }

    fn evidence(
        &self,
        source: &AnalysedDocument,
        here: bool,
        uses: &NameUses,
        run: &EditRun,
        rank: usize,
    ) -> UseEvidence {
        let (pair, target) = (self.pair, self.target);
        let sort = target.declaration.sort;
        let flag = |is: bool| f32::from(u8::from(is));
        let small = |count: usize| f32::from(u8::try_from(count).unwrap_or(u8::MAX));
        let is_declared = target.ground == RenameGround::Declared;
        let typed_again = self.scene.changes.iter().rev().take(4).any(|change| {
            let touched = &change.after[change.touched.clone()];
            !occurrences(touched, &pair.old, 0..touched.len(), 1).is_empty()
        });
        let kept = !target.both && run.edits.iter().any(|edit| edit.text.contains(": "));
        let line = source.text().line_of(self.scene.cursor);
        let is_current = source.uri() == self.scene.source.uri();
        let near = is_current && run.first.abs_diff(line).min(run.last.abs_diff(line)) <= 12;
        let code = run.text(source);
        // The new name is on the lines already, other than as a label that becomes one with its value.
        let has_new = occurrences(code, &pair.new, 0..code.len(), 20).len()
            > run.edits.iter().filter(|edit| edit.range.len() > pair.old.len()).count();
        // What bears the old name on the lines is not all meant.
        let left = occurrences(code, &pair.old, 0..code.len(), 20).len() > run.edits.len();
        vec![
            ("bias", 1.0),
            ("local", flag(is_declared && matches!(sort, NameSort::Local | NameSort::TypeParameter))),
            ("parameter", flag(is_declared && sort == NameSort::Parameter)),
            ("field", flag(is_declared && sort == NameSort::Field)),
            ("method", flag(is_declared && sort == NameSort::Method)),
            ("variant", flag(is_declared && sort == NameSort::Variant)),
            ("import", flag(is_declared && sort == NameSort::Import)),
            ("used", flag(matches!(target.ground, RenameGround::Used { .. }))),
            ("unknown", flag(target.ground == RenameGround::Unknown)),
            ("unknown_member", flag(target.ground == RenameGround::Unknown && sort != NameSort::Import)),
            ("unknown_again", flag(!is_declared && pair.support > 1)),
            ("again", flag(is_declared && pair.support > 1)),
            ("often", (1.0 + small(pair.support)).ln()),
            ("alone", flag(target.alone)),
            ("mixed", flag(pair.mixed)),
            ("open", flag(pair.open)),
            ("age", (1.0 + small(pair.age)).ln()),
            ("rivals", flag(uses.rivals > 0)),
            ("member_rivals", flag(uses.rivals > 0 && is_member(sort))),
            ("elsewhere", flag(!here)),
            ("current", flag(is_current)),
            ("near", flag(near)),
            ("kept", flag(kept)),
            ("typed_again", flag(typed_again)),
            ("run", small(run.edits.len()).ln()),
            ("uses", (1.0 + small(uses.meant.len())).ln()),
            ("rank", (1.0 + small(rank)).ln()),
            ("left", flag(left)),
            ("has_new", flag(has_new)),
            ("similar", similarity(&pair.old, &pair.new)),
            ("parts", small(pair.parts).ln()),
            ("short", flag(pair.old.len() <= 2)),
            ("long", flag(pair.old.len() >= 8)),
        ]
    }

    /// Search and replace, where every hit is meant.
    fn all_at_once(&self, source: &AnalysedDocument, uses: &NameUses, prior: f32, out: &mut Vec<Candidate>) {
        let (old, new) = (&self.pair.old, &self.pair.new);
        let plain = uses.meant.iter().all(|found| found.form == UseForm::Plain);
        let whole = || source.occurrences(old, usize::MAX).len();
        if !self.scene.offers.search_and_replace
            || !plain
            || uses.meant.len() < MIN_REPLACED
            || whole() != uses.meant.len()
            || old.contains('$')
            || new.contains('$')
        {
            return;
        }
        let whole = uses.meant.len();
        let hits = source.find(old).count();
        let regex = hits != whole;
        let search = if regex { format!(r"\b{old}\b") } else { old.clone() };
        let kind = SuggestionKind::Replace { uri: source.uri().clone(), search, replace: new.clone(), regex };
        let reason = format!("renames all {whole} uses of `{old}`");
        out.push(self.candidate(kind, reason, prior * 0.9));
    }

    /// Where a use was renamed before its declaration, the editor can do the rest.
    fn by_editor(&self, out: &mut Vec<Candidate>) {
        let RenameGround::Used { declared_at, .. } = self.target.ground else { return };
        if !self.scene.offers.rename {
            return;
        }
        let uri = self.target.source.uri().clone();
        let edits = self.whole().unwrap_or_default();
        let kind = SuggestionKind::Rename { uri, offset: declared_at, name: self.pair.new.clone(), edits };
        let reason = format!("renames `{}` to `{}` where it is declared", self.pair.old, self.pair.new);
        let prior = if self.pair.support > 1 { 0.6 } else { 0.42 };
        out.push(self.candidate(kind, reason, prior));
    }
}

fn is_member(sort: NameSort) -> bool {
    matches!(sort, NameSort::Field | NameSort::Method | NameSort::Variant)
}

/// Which share of their words two names have in common.
fn similarity(old: &str, new: &str) -> f32 {
    let (old, new) = (case::words(old), case::words(new));
    let common = old.iter().filter(|word| new.contains(word)).count();
    let longer = old.len().max(new.len()).max(1);
    let small = |count: usize| f32::from(u8::try_from(count).unwrap_or(u8::MAX));
    small(common) / small(longer)
}
