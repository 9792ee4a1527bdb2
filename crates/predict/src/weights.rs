//! How far each kind of suggestion is trusted, learned from what became of earlier ones.

use std::collections::BTreeMap;

use nudge_syntax::Language;
use serde::{Deserialize, Serialize};

use crate::PredictorName;

/// What a confidence is made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuggestionFeatures {
    /// Who made the suggestion.
    pub predictor: PredictorName,
    /// The language of its document.
    pub language: Language,
    /// Whether it is about the document the cursor is in.
    pub here: bool,
    /// What the predictor itself thinks, from 0 to 1.
    pub prior: f32,
}

/// How far the trust in a kind of suggestion has moved, learned online.
///
/// The predictor's own probability is shifted, as in a logistic model, by what became of suggestions in the same contexts:
/// by how many more were taken than refused, or the other way round. Without feedback nothing is shifted, so the predictor
/// is believed as it is. The shift is bounded, and what is remembered fades: with time ([`age`](Self::age)), and where it
/// keeps suggestions from being shown, with each of them. So no kind of suggestion is silent for good.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TrustWeights(BTreeMap<String, Weight>);

/// What is remembered of one context.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Weight {
    Tally(Tally),
    /// The shift itself, as earlier versions wrote it down.
    Shift(f32),
}

/// How many suggestions were taken and how many refused, the older the less they count.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Tally {
    taken: f32,
    refused: f32,
}

/// What is learned from one suggestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WeightLesson {
    Taken,
    Refused,
    Ignored,
}

/// How far the three contexts of a suggestion may shift it together.
const MOST: f32 = 2.0;
/// How far one of them may.
const MOST_OF_ONE: f32 = MOST / 3.0;
/// How far one of them may that an earlier version wrote down.
const MOST_OF_EARLIER: f32 = 0.4;
/// So many suggestions have to be judged before what became of them counts half.
const HALF_SURE: f32 = 10.0;
/// How many are remembered.
const REMEMBERED: f32 = 30.0;
/// How much more a refusal counts for each one before it, as long as none is taken.
const INSISTENCE: f32 = 0.25;
/// What one that was ignored counts, and up to how many more than were taken.
const IGNORED: f32 = 0.25;
const MOST_IGNORED: f32 = 2.0;
/// What is left of the refusals when one is taken after all.
const FORGIVEN: f32 = 0.7;
/// What is left of the refusals when a suggestion is held back because of them.
const HELD_BACK: f32 = 0.95;
/// The hours after which half of it is forgotten.
const HALF_LIFE: f32 = 48.0;

impl TrustWeights {
    /// The confidence in a suggestion with these features.
    pub fn confidence(&self, features: SuggestionFeatures) -> f32 {
        let shift: f32 =
            contexts(features).iter().filter_map(|name| self.0.get(name)).map(Weight::shift).sum();
        sigmoid(logit(features.prior) + shift)
    }

    /// Lets it fade: so many hours have gone by.
    pub fn age(&mut self, hours: u64) {
        #[expect(clippy::cast_precision_loss, reason = "after so long nothing is left anyway")]
        let left = 0.5_f32.powf(hours as f32 / HALF_LIFE);
        for weight in self.0.values_mut() {
            match weight {
                Weight::Tally(tally) => tally.scale(left),
                Weight::Shift(shift) => *shift *= left,
            }
        }
    }

    pub(crate) fn learn(&mut self, features: SuggestionFeatures, lesson: WeightLesson) {
        for name in contexts(features) {
            let weight = self.0.entry(name).or_insert(Weight::Tally(Tally::default()));
            let mut tally = weight.tally();
            tally.learn(lesson);
            *weight = Weight::Tally(tally);
        }
    }

    /// A suggestion is not shown because of what was learned: then that counts less for the next one.
    pub(crate) fn ease(&mut self, features: SuggestionFeatures) {
        for name in contexts(features) {
            match self.0.get_mut(&name) {
                Some(Weight::Tally(tally)) => tally.refused *= HELD_BACK,
                Some(Weight::Shift(shift)) if *shift < 0.0 => *shift *= HELD_BACK,
                _ => {}
            }
        }
    }

    /// Weights that a file may hold in any state: unknown names and wild numbers do no harm.
    pub fn checked(mut self) -> Self {
        let is_sane = |number: f32| number.is_finite() && number >= 0.0;
        self.0.retain(|_, weight| match weight {
            Weight::Tally(tally) => is_sane(tally.taken) && is_sane(tally.refused),
            Weight::Shift(shift) => is_sane(shift.abs()),
        });
        for weight in self.0.values_mut() {
            match weight {
                Weight::Tally(tally) => tally.bound(),
                Weight::Shift(shift) => *shift = shift.clamp(-MOST_OF_EARLIER, MOST_OF_EARLIER),
            }
        }
        self
    }
}

impl Weight {
    fn shift(&self) -> f32 {
        match self {
            Self::Tally(tally) => tally.shift(),
            Self::Shift(shift) => *shift,
        }
    }

    /// What is remembered as a tally, with about the same shift.
    fn tally(self) -> Tally {
        match self {
            Self::Tally(tally) => tally,
            Self::Shift(shift) => {
                let share = (shift.abs() / MOST_OF_ONE).min(REMEMBERED / (REMEMBERED + HALF_SURE));
                let count = HALF_SURE * share / (1.0 - share);
                if shift < 0.0 {
                    Tally { taken: 0.0, refused: count }
                } else {
                    Tally { taken: count, refused: 0.0 }
                }
            }
        }
    }
}

impl Tally {
    /// Never below nothing while more were taken than refused.
    fn shift(self) -> f32 {
        MOST_OF_ONE * (self.taken - self.refused) / (self.taken + self.refused + HALF_SURE)
    }

    fn learn(&mut self, lesson: WeightLesson) {
        match lesson {
            WeightLesson::Taken => {
                self.taken += 1.0;
                self.refused *= FORGIVEN;
            }
            // Who refuses one after the other and never takes any has to be asked ever more rarely.
            WeightLesson::Refused if self.taken < 1.0 => {
                self.refused += 1.0 + INSISTENCE * self.refused * (1.0 - self.taken);
            }
            WeightLesson::Refused => self.refused += 1.0,
            WeightLesson::Ignored if self.refused - self.taken < MOST_IGNORED => self.refused += IGNORED,
            WeightLesson::Ignored => {}
        }
        self.bound();
    }

    fn bound(&mut self) {
        let all = self.taken + self.refused;
        if all > REMEMBERED {
            self.scale(REMEMBERED / all);
        }
    }

    fn scale(&mut self, factor: f32) {
        self.taken *= factor;
        self.refused *= factor;
    }
}

/// The contexts of a suggestion that have a weight each.
fn contexts(features: SuggestionFeatures) -> [String; 3] {
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
