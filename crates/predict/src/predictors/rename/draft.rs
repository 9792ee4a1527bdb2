//! What is offered, and what is offered together.

use nudge_syntax::Source;

use super::{super::Candidate, score::Evidence};
use crate::{Predictor, runs::EditRun};

/// Renames as likely as this are joined where their lines meet.
const MERGED_FROM: f32 = 0.3;

/// What is to be offered: uses on adjacent lines.
pub(in crate::predictors) struct Draft<'a> {
    pub(in crate::predictors) predictor: Predictor,
    pub(in crate::predictors) source: &'a Source,
    pub(in crate::predictors) run: EditRun,
    pub(in crate::predictors) reason: String,
    pub(in crate::predictors) prior: f32,
    pub(in crate::predictors) chain: u64,
    pub(in crate::predictors) evidence: Evidence,
}

impl Draft<'_> {
    pub(in crate::predictors) fn into_candidate(self) -> Option<Candidate> {
        let Self { predictor, source, run, reason, prior, chain, evidence } = self;
        let kind = run.into_kind(source)?;
        Some(Candidate { kind, predictor, reason, prior, chain, evidence })
    }
}

/// Joins likely renames of different names on adjacent lines: who did one would have done the other.
pub(in crate::predictors) fn merged(drafts: Vec<Draft<'_>>) -> Vec<Draft<'_>> {
    let mut merged: Vec<Draft<'_>> = Vec::new();
    for draft in drafts {
        let joins = |known: &&mut Draft<'_>| {
            known.source.uri() == draft.source.uri()
                && known.chain != draft.chain
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
