//! What became of earlier suggestions: which are not made again, and how much each predictor is trusted.

use std::collections::{BTreeMap, VecDeque};

use nudge_text::{Edit, Edits, Text};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::{Effect, Language, Predictor, Source, Suggestion, refused::Refused};

/// What the user did with a suggestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feedback {
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

/// What a confidence is made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Features {
    /// Who made the suggestion.
    pub predictor: Predictor,
    /// The language of its document.
    pub language: Language,
    /// Whether it is about the document the cursor is in.
    pub here: bool,
    /// What the predictor itself thinks, from 0 to 1.
    pub prior: f32,
}

/// How far the trust in a kind of suggestion has moved, learned online.
///
/// A logistic model: the predictor's own probability is shifted by the weights of the contexts that the suggestion is in.
/// Without feedback all weights are 0, so the predictor is believed as it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Weights(BTreeMap<String, f32>);

/// How fast the weights move.
const RATE: f32 = 0.35;
/// How far one weight may move: a run of bad luck must not silence a predictor for ever.
const BOUND: f32 = 1.5;
/// Suggestions that were taken and may be undone, and the changes within which that is noticed.
const MAX_TAKEN: usize = 4;
const UNDONE_WITHIN: u8 = 24;
/// Chains whose refusals are counted.
const MAX_CHAINS: usize = 4096;

impl Weights {
    /// The confidence in a suggestion with these features.
    pub fn confidence(&self, features: Features) -> f32 {
        let shift: f32 = contexts(features).iter().filter_map(|name| self.0.get(name)).sum();
        sigmoid(logit(features.prior) + shift)
    }

    /// Moves the weights towards what happened; `weight` says how much it counts.
    fn learn(&mut self, features: Features, outcome: f32, weight: f32) {
        let step = RATE * weight * (outcome - self.confidence(features));
        for name in contexts(features) {
            let value = self.0.entry(name).or_insert(0.0);
            *value = (*value + step).clamp(-BOUND, BOUND);
        }
    }

    /// Weights that a file may hold in any state: unknown names and wild numbers do no harm.
    pub fn checked(mut self) -> Self {
        self.0.retain(|_, value| value.is_finite());
        for value in self.0.values_mut() {
            *value = value.clamp(-BOUND, BOUND);
        }
        self
    }
}

/// The contexts of a suggestion that have a weight each.
fn contexts(features: Features) -> [String; 3] {
    let predictor = features.predictor.name();
    [
        predictor.to_owned(),
        format!("{predictor} {}", features.language.name()),
        format!("{predictor} {}", if features.here { "here" } else { "elsewhere" }),
    ]
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

fn logit(p: f32) -> f32 {
    let p = p.clamp(0.001, 0.999);
    (p / (1.0 - p)).ln()
}

/// A suggestion that was taken.
#[derive(Debug, Clone)]
struct Taken {
    effect: Effect,
    /// For so many more changes of its document it may be undone.
    changes: u8,
}

/// The accept and reject memory of one session.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    weights: Weights,
    refused: Refused,
    /// What was taken last, as long as it may be undone.
    taken: VecDeque<Taken>,
    /// By chain: how often one of its suggestions was refused since one was taken.
    refusals: FxHashMap<u64, u32>,
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

impl Memory {
    /// A memory that begins with what was learned before.
    pub fn new(weights: Weights) -> Self {
        Self { weights, ..Self::default() }
    }

    /// What has been learned.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Takes over what was learned elsewhere.
    pub fn set_weights(&mut self, weights: Weights) {
        self.weights = weights;
    }

    /// Learns from what became of a suggestion.
    pub fn feedback(&mut self, suggestion: &Suggestion, feedback: Feedback) {
        match feedback {
            Feedback::Accepted => {
                self.weights.learn(suggestion.features, 1.0, 1.0);
                self.refusals.remove(&suggestion.chain);
                self.taken.push_back(Taken { effect: suggestion.effect.clone(), changes: UNDONE_WITHIN });
                let over = self.taken.len().saturating_sub(MAX_TAKEN);
                self.taken.drain(..over);
            }
            Feedback::Rejected => {
                self.weights.learn(suggestion.features, 0.0, 1.0);
                self.refused.remember(&suggestion.effect);
                if self.refusals.len() >= MAX_CHAINS {
                    self.refusals.clear();
                }
                *self.refusals.entry(suggestion.chain).or_insert(0) += 1;
            }
            Feedback::Ignored => self.weights.learn(suggestion.features, 0.0, 0.25),
            Feedback::Replaced | Feedback::Cancelled => {}
        }
    }

    /// Whether what a suggestion does was refused before, in part or as a part of more, and its place is still as it was.
    pub fn refuses(&self, effect: &Effect) -> bool {
        self.refused.has(effect)
    }

    /// Whether edits of a document, which are in the order of its text, were refused before.
    pub(crate) fn refuses_edits(&self, source: &Source, edits: &[Edit]) -> bool {
        let (Some(first), Some(last)) = (edits.first(), edits.last()) else { return false };
        self.refused.is_near(source.uri(), source.text(), &(first.range.start..last.range.end))
            && self.refused.has(&Effect::of_edits(source.uri(), source.text(), edits))
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
    pub fn refusals(&self, chain: u64) -> u32 {
        self.refusals.get(&chain).copied().unwrap_or(0)
    }
}
