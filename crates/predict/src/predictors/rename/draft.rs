//! What is offered, and what is offered together.

use nudge_syntax::AnalysedDocument;

use super::{super::Candidate, score::UseEvidence};
use crate::{PredictorName, runs::EditRun};

/// Renames as likely as this are joined where their lines meet.
const MERGED_FROM: f32 = 0.3;

/// What is to be offered: uses on adjacent lines.
pub(in crate::predictors) struct RenameDraft<'a> {
    pub(in crate::predictors) predictor: PredictorName,
    pub(in crate::predictors) source: &'a AnalysedDocument,
    pub(in crate::predictors) run: EditRun,
    pub(in crate::predictors) reason: String,
    pub(in crate::predictors) prior: f32,
    pub(in crate::predictors) group: u64,
    pub(in crate::predictors) evidence: UseEvidence,
}

impl RenameDraft<'_> {
    pub(in crate::predictors) fn into_candidate(self) -> Option<Candidate> {
        let Self { predictor, source, run, reason, prior, group: chain, evidence } = self;
        let kind = run.into_kind(source)?;
        Some(Candidate { kind, predictor, reason, prior, group: chain, evidence })
    }
}

/// Joins likely renames of different names on adjacent lines: who did one would have done the other.
pub(in crate::predictors) fn merged(drafts: Vec<RenameDraft<'_>>) -> Vec<RenameDraft<'_>> {
    let mut merged: Vec<RenameDraft<'_>> = Vec::new();
    for draft in drafts {
        let joins = |known: &&mut RenameDraft<'_>| {
            known.source.uri() == draft.source.uri()
                && known.group != draft.group
                && known.run.first <= draft.run.last + 1
                && draft.run.first <= known.run.last + 1
                && known.prior.min(draft.prior) >= MERGED_FROM
        };
        match merged.iter_mut().find(joins) {
            Some(known) => {
                known.run.first = known.run.first.min(draft.run.first);
                known.run.last = known.run.last.max(draft.run.last);
                known.run.edits.extend(draft.run.edits);
                if draft.prior < known.prior {
                    known.prior = draft.prior;
                    known.evidence = draft.evidence;
                }
                known.reason = format!(
                    "renames {} uses of changed names on {}",
                    known.run.edits.len(),
                    known.run.lines()
                );
            }
            None => merged.push(draft),
        }
    }
    merged
}
