//! What became of earlier suggestions: which are not made again, and how much each predictor is trusted.

use std::{collections::VecDeque, sync::Arc};

use nudge_syntax::AnalysedDocument;
use nudge_text::{Edit, Edits, Text};
use parking_lot::{Mutex, MutexGuard};
use rustc_hash::FxHashMap;

use crate::{
    EngineSuggestion, SuggestionEffect, SuggestionFeatures, TrustWeights, refused::RefusedSuggestions,
    weights::WeightLesson,
};

/// What the user did with a suggestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuggestionFeedback {
    /// Took it.
    Accepted,
    /// Refused it: it is not made again, and its like is trusted less.
    Rejected,
    /// Went on as if it were not there: its like is trusted a little less.
    Ignored,
    /// Was shown another instead: teaches nothing.
    Replaced,
    /// Never saw it: teaches nothing.
    Cancelled,
}

/// Suggestions that were taken and may be undone, and the changes within which that is noticed.
const MAX_TAKEN: usize = 4;
const UNDONE_WITHIN: u8 = 24;
/// Chains whose refusals are counted.
const MAX_CHAINS: usize = 4096;
/// Suggestions held back that are known again, and those that wait to be learned from.
const MAX_HELD_BACK: usize = 64;
/// While the user types the same one comes up with every key: of so many one counts.
const SAME_AGAIN: u32 = 8;

/// A suggestion that was taken.
#[derive(Debug, Clone)]
struct Taken {
    effect: SuggestionEffect,
    /// For so many more changes of its document it may be undone.
    changes: u8,
}

/// The accept and reject memory of one session.
#[derive(Debug, Clone, Default)]
pub struct FeedbackMemory {
    weights: TrustWeights,
    refused: RefusedSuggestions,
    /// What was taken last, as long as it may be undone.
    taken: VecDeque<Taken>,
    /// By chain: how often one of its suggestions was refused since one was taken.
    refusals: FxHashMap<u64, u32>,
    /// Shared by all clones, since the one a question is answered with is not the one that learns.
    held_back: Arc<Mutex<HeldBack>>,
}

/// What was not shown because of what was learned.
#[derive(Debug, Default)]
struct HeldBack {
    /// What tells the last ones from others, and how often each came up.
    known: VecDeque<(u64, u32)>,
    /// Those that nothing was learned from yet.
    fresh: Vec<SuggestionFeatures>,
}

impl Taken {
    fn is_in(&self, uri: &str) -> bool {
        self.effect.parts.iter().any(|part| *part.uri == *uri)
    }

    /// Whether a change has brought back the text from before.
    fn is_undone(&self, uri: &str, before: &Text, after: &Text) -> bool {
        let is_again = |text: &Text| text.len() == after.len() && text == after;
        self.effect.parts.iter().any(|part| *part.uri == *uri && is_again(&part.text) && part.text != *before)
    }
}

impl FeedbackMemory {
    /// What has been learned.
    pub fn weights(&self) -> &TrustWeights {
        &self.weights
    }

    /// Takes over what was learned elsewhere.
    pub fn set_weights(&mut self, weights: TrustWeights) {
        self.weights = weights;
    }

    /// Learns from what became of a suggestion.
    pub fn feedback(&mut self, suggestion: &EngineSuggestion, feedback: SuggestionFeedback) {
        match feedback {
            SuggestionFeedback::Accepted => {
                self.weights.learn(suggestion.features, WeightLesson::Taken);
                self.refusals.remove(&suggestion.group);
                self.taken.push_back(Taken { effect: suggestion.effect.clone(), changes: UNDONE_WITHIN });
                let over = self.taken.len().saturating_sub(MAX_TAKEN);
                self.taken.drain(..over);
            }
            SuggestionFeedback::Rejected => {
                self.weights.learn(suggestion.features, WeightLesson::Refused);
                self.refused.remember(&suggestion.effect);
                if self.refusals.len() >= MAX_CHAINS {
                    self.refusals.clear();
                }
                *self.refusals.entry(suggestion.group).or_insert(0) += 1;
            }
            SuggestionFeedback::Ignored => self.weights.learn(suggestion.features, WeightLesson::Ignored),
            SuggestionFeedback::Replaced | SuggestionFeedback::Cancelled => {}
        }
    }

    /// Takes note of a suggestion that is not shown because of what was learned; `which` tells it from others.
    pub(crate) fn hold_back(&self, which: u64, features: SuggestionFeatures) {
        let mut held_back = self.held_back();
        let HeldBack { known, fresh } = &mut *held_back;
        let again = known.iter_mut().find(|(known, _)| *known == which).map(|(_, times)| {
            *times = times.wrapping_add(1);
            *times
        });
        if again.is_none() {
            known.push_back((which, 0));
            let over = known.len().saturating_sub(MAX_HELD_BACK);
            known.drain(..over);
        }
        if again.is_none_or(|times| times % SAME_AGAIN == 0) && fresh.len() < MAX_HELD_BACK {
            fresh.push(features);
        }
    }

    /// Whether something was not shown because of what was learned, and nothing was learned from that yet.
    pub fn has_held_back(&self) -> bool {
        !self.held_back().fresh.is_empty()
    }

    /// Learns from what was not shown because of what was learned: its kind is trusted a little more again, until it is
    /// shown and the user can say what has become of it.
    pub fn recover(&mut self) {
        let fresh = std::mem::take(&mut self.held_back().fresh);
        for features in fresh {
            self.weights.ease(features);
        }
    }

    fn held_back(&self) -> MutexGuard<'_, HeldBack> {
        self.held_back.lock()
    }

    /// Whether what a suggestion does was refused before, in part or as a part of more, and its place is still as it was.
    pub fn refuses(&self, effect: &SuggestionEffect) -> bool {
        self.refused.has(effect)
    }

    /// Whether edits of a document, which are in the order of its text, were refused before.
    pub(crate) fn refuses_edits(&self, source: &AnalysedDocument, edits: &[Edit]) -> bool {
        let (Some(first), Some(last)) = (edits.first(), edits.last()) else { return false };
        self.refused.is_near(source.uri(), source.text(), &(first.range.start..last.range.end))
            && self.refused.has(&SuggestionEffect::of_edits(source.uri(), source.text(), edits))
    }

    /// Whether changes of a document matter: something was refused in it, or just taken.
    pub fn watches(&self, uri: &str) -> bool {
        self.refused.knows(uri) || self.has_taken(uri)
    }

    /// Whether something was just taken in a document and may be undone.
    pub fn has_taken(&self, uri: &str) -> bool {
        self.taken.iter().any(|taken| taken.is_in(uri))
    }

    /// Whether the text of a document is another than that in which something was refused.
    pub fn is_behind(&self, uri: &str, text: &Text) -> bool {
        self.refused.is_behind(uri, text)
    }

    /// A document has this text now.
    ///
    /// What was refused is found again without it, too, but has to be looked for with every question then.
    pub fn follow(&mut self, uri: &str, text: &Text) {
        self.refused.follow(uri, text);
    }

    /// A document was changed: closer than [`follow`](Self::follow) can tell from the texts alone.
    pub fn changed(&mut self, uri: &str, before: &Text, edits: &Edits, after: &Text) {
        self.refused.changed(uri, before, edits, after);
        for taken in self.taken.iter_mut().filter(|taken| taken.is_in(uri)) {
            taken.changes = taken.changes.saturating_sub(1);
            // Whoever undoes it refuses it after all.
            if taken.is_undone(uri, before, after) {
                self.refused.remember(&taken.effect);
                taken.changes = 0;
            }
        }
        self.taken.retain(|taken| taken.changes > 0);
    }

    /// How often suggestions of this chain were refused since one was taken.
    pub(crate) fn refusals(&self, chain: u64) -> u32 {
        self.refusals.get(&chain).copied().unwrap_or(0)
    }
}
