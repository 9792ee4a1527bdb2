//! Counts, and what is worked out from them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    ask::{ReplayQuestion, ShownDetail},
    judge::SuggestionVerdict,
    quiet::QuietScore,
    typed::{TypedOutcome, TypedScore},
};

/// What came of the questions of one commit, or of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScoreCounts {
    /// The hunks there were.
    pub hunks: usize,
    /// The questions asked.
    pub asks: usize,
    /// The suggestions shown.
    pub shown: usize,
    /// Those that did one or more hunks.
    pub exact: usize,
    /// Those that did a part of a hunk.
    pub partial: usize,
    /// Those that did something else.
    pub wrong: usize,
    /// Those among the partial ones that left a line half done.
    pub near: usize,
    /// The hunks done by suggestions.
    pub hunks_done: usize,
}

impl ScoreCounts {
    fn show(&mut self, showing: &ShownDetail) {
        self.shown += 1;
        self.hunks_done += showing.finished;
        self.near += usize::from(showing.near);
        match showing.verdict {
            SuggestionVerdict::Exact => self.exact += 1,
            SuggestionVerdict::Partial => self.partial += 1,
            SuggestionVerdict::Wrong => self.wrong += 1,
        }
    }

    fn add(&mut self, other: &Self) {
        self.hunks += other.hunks;
        self.asks += other.asks;
        self.shown += other.shown;
        self.exact += other.exact;
        self.partial += other.partial;
        self.wrong += other.wrong;
        self.near += other.near;
        self.hunks_done += other.hunks_done;
    }

    /// How much of what was shown was right; nothing if nothing was shown.
    pub(crate) fn precision(&self) -> Option<f64> {
        share(self.exact + self.partial, self.shown)
    }

    /// How many of the hunks suggestions did.
    pub(crate) fn recall(&self) -> Option<f64> {
        share(self.hunks_done, self.hunks)
    }
}

/// A part of a whole, to four digits; nothing of nothing.
#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(crate) fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| rounded(part as f64 / whole as f64))
}

/// To four digits, so that a report does not end in noise.
fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

/// The mean of those that are there.
#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(crate) fn mean(numbers: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (sum, count) =
        numbers.flatten().fold((0.0, 0_usize), |(sum, count), number| (sum + number, count + 1));
    (count > 0).then(|| rounded(sum / count as f64))
}

/// Counts, and how long the answers took in microseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct ScoreTally {
    pub(crate) commits: usize,
    pub(crate) counts: ScoreCounts,
    /// What typing it came to.
    pub(crate) typed: Option<TypedScore>,
    pub(crate) micros: Vec<u64>,
}

impl ScoreTally {
    fn ask(&mut self, ask: &ReplayQuestion) {
        self.counts.asks += 1;
        self.micros.push(ask.micros);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.commits += other.commits;
        self.counts.add(&other.counts);
        self.typed = [self.typed, other.typed].into_iter().flatten().reduce(TypedScore::sum);
        self.micros.extend(&other.micros);
    }
}

/// What came of one commit.
#[derive(Debug, Clone)]
pub(crate) struct ReplayedCommit {
    pub(crate) all: ScoreTally,
    pub(crate) languages: BTreeMap<&'static str, ScoreTally>,
    pub(crate) predictors: BTreeMap<String, ScoreTally>,
    pub(crate) quiet: Option<QuietScore>,
}

impl ReplayedCommit {
    /// Counts what was asked about a commit with these hunks in these languages.
    pub(crate) fn new(hunks: impl Iterator<Item = (&'static str, usize)>, asks: &[ReplayQuestion]) -> Self {
        let mut all = ScoreTally::default();
        let (mut languages, mut predictors) =
            (BTreeMap::<_, ScoreTally>::new(), BTreeMap::<_, ScoreTally>::new());
        for (language, hunks) in hunks {
            all.counts.hunks += hunks;
            languages.entry(language).or_default().counts.hunks += hunks;
        }
        for ask in asks {
            all.ask(ask);
            languages.entry(ask.language).or_default().ask(ask);
            if let Some(showing) = &ask.showing {
                all.counts.show(showing);
                languages.entry(showing.language).or_default().counts.show(showing);
                let predictor = predictors.entry(showing.predictor.clone()).or_default();
                predictor.ask(ask);
                predictor.counts.show(showing);
            }
        }
        for tally in languages.values_mut().chain(predictors.values_mut()).chain([&mut all]) {
            tally.commits = 1;
        }
        Self { all, languages, predictors, quiet: None }
    }

    /// Adds what came of typing it.
    pub(crate) fn add_typed(&mut self, outcome: TypedOutcome) {
        self.all.typed = Some(outcome.all());
        self.all.micros.extend(outcome.micros);
        let add = |tally: &mut ScoreTally, typed: TypedScore| {
            tally.commits = 1;
            tally.typed = Some(typed);
        };
        for (language, typed) in outcome.languages {
            add(self.languages.entry(language).or_default(), typed);
        }
        for (predictor, typed) in outcome.predictors {
            add(self.predictors.entry(predictor).or_default(), typed);
        }
    }
}
