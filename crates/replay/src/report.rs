//! What a replay has found out.

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;

use crate::{
    quiet::QuietScore,
    recording::RecordingsScore,
    tally::{ReplayedCommit, ScoreCounts, ScoreTally, mean},
    typed::TypedScore,
};

/// All of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayReport {
    /// The engine that was scored.
    pub engine: String,
    /// What the choice of commits came from.
    pub seed: u64,
    /// One for each level of eagerness.
    pub runs: Vec<LevelRun>,
}

/// The scores at one level of eagerness.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LevelRun {
    /// How sure a suggestion had to be.
    pub eagerness: &'static str,
    /// The mean over the repositories, and all counts together.
    pub total: ReportScore,
    /// Each repository.
    pub repositories: Vec<ReportScore>,
    /// Commits by how many hunks they have: the more, the more there is to go by.
    pub sizes: Vec<ReportScore>,
    /// Each language.
    pub languages: Vec<ReportScore>,
    /// Each predictor, by what it showed.
    pub predictors: Vec<ReportScore>,
    /// What was shown where nothing was to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet: Option<QuietScore>,
    /// What became of recorded edits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recordings: Option<RecordingsScore>,
}

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportScore {
    /// What it is about.
    pub name: String,
    /// How many commits had something of it.
    pub commits: usize,
    /// What was counted.
    #[serde(flatten)]
    pub counts: ScoreCounts,
    /// Of a repository, the mean over its commits with something shown; of all and of a size, the mean over the
    /// repositories; of a language or a predictor, all counts together.
    pub precision: Option<f64>,
    /// The mean likewise, over all commits.
    pub recall: Option<f64>,
    /// All counts together.
    pub pooled_precision: Option<f64>,
    /// All counts together.
    pub pooled_recall: Option<f64>,
    /// What typing every hunk came to; of a predictor, how many of all keys it saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typed: Option<TypedScore>,
    /// How long answers took. It is not the same twice.
    pub latency: AnswerLatency,
}

/// How long answers took, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswerLatency {
    /// Half of them took no longer.
    pub p50_ms: f64,
    /// All but one in a hundred took no longer.
    pub p99_ms: f64,
    /// None took longer.
    pub max_ms: f64,
}

impl LevelRun {
    /// Sums up the commits of each repository.
    pub(crate) fn new(eagerness: &'static str, repositories: &[(Arc<str>, Vec<&ReplayedCommit>)]) -> Self {
        let mut all = ScoreTally::default();
        let (mut languages, mut predictors) = (BTreeMap::new(), BTreeMap::new());
        for replayed in repositories.iter().flat_map(|(_, replayed)| replayed) {
            all.add(&replayed.all);
            collect(&mut languages, replayed.languages.iter().map(|(name, tally)| (*name, tally)));
            collect(&mut predictors, replayed.predictors.iter().map(|(name, tally)| (name.as_str(), tally)));
        }
        // What a predictor found is measured against everything there was to find.
        for tally in predictors.values_mut() {
            tally.counts.hunks = all.counts.hunks;
            tally.typed = tally.typed.zip(all.typed).map(|(typed, all)| typed.of_all(all));
        }
        let scores: Vec<ReportScore> =
            repositories.iter().map(|(name, replayed)| ReportScore::of_repository(name, replayed)).collect();
        let quiet =
            repositories.iter().flat_map(|(_, replayed)| replayed).filter_map(|replayed| replayed.quiet);
        Self {
            eagerness,
            total: ReportScore::of_all("all", &scores, all),
            repositories: scores,
            sizes: SIZES.into_iter().filter_map(|size| of_size(size, repositories)).collect(),
            languages: pooled(languages),
            predictors: pooled(predictors),
            quiet: quiet.reduce(QuietScore::sum),
            recordings: None,
        }
    }
}

/// What commits are told apart by: the name of a size, the fewest hunks and the most.
type Size = (&'static str, usize, usize);

const SIZES: [Size; 4] = [
    ("2 to 4 hunks", 2, 4),
    ("5 to 9 hunks", 5, 9),
    ("10 to 29 hunks", 10, 29),
    ("30 hunks or more", 30, usize::MAX),
];

/// The commits of one size, if there are any.
fn of_size(
    (name, fewest, most): Size,
    repositories: &[(Arc<str>, Vec<&ReplayedCommit>)],
) -> Option<ReportScore> {
    let is_of_size = |replayed: &&ReplayedCommit| (fewest..=most).contains(&replayed.all.counts.hunks);
    let mut all = ScoreTally::default();
    let mut scores = Vec::new();
    for (name, replayed) in repositories {
        let own: Vec<&ReplayedCommit> = replayed.iter().copied().filter(is_of_size).collect();
        for replayed in &own {
            all.add(&replayed.all);
        }
        scores.push(ReportScore::of_repository(name, &own));
    }
    (all.commits > 0).then(|| ReportScore::of_all(name, &scores, all))
}

type Named<'a> = BTreeMap<&'a str, ScoreTally>;

fn collect<'a>(into: &mut Named<'a>, from: impl Iterator<Item = (&'a str, &'a ScoreTally)>) {
    for (name, tally) in from {
        into.entry(name).or_default().add(tally);
    }
}

/// The most hunks first.
fn pooled(named: Named<'_>) -> Vec<ReportScore> {
    let mut scores: Vec<ReportScore> =
        named.into_iter().map(|(name, tally)| ReportScore::pooled(name, tally)).collect();
    scores.sort_by_key(|score| std::cmp::Reverse((score.counts.hunks, score.counts.shown)));
    scores
}

impl ReportScore {
    fn pooled(name: &str, tally: ScoreTally) -> Self {
        let (precision, recall) = (tally.counts.precision(), tally.counts.recall());
        Self {
            name: name.to_owned(),
            commits: tally.commits,
            counts: tally.counts,
            precision,
            recall,
            pooled_precision: precision,
            pooled_recall: recall,
            typed: tally.typed,
            latency: AnswerLatency::of(tally.micros),
        }
    }

    /// The mean over repositories, and all counts together.
    fn of_all(name: &str, repositories: &[Self], all: ScoreTally) -> Self {
        Self {
            precision: mean(repositories.iter().map(|score| score.precision)),
            recall: mean(repositories.iter().map(|score| score.recall)),
            ..Self::pooled(name, all)
        }
    }

    fn of_repository(name: &str, replayed: &[&ReplayedCommit]) -> Self {
        let mut tally = ScoreTally::default();
        for replayed in replayed {
            tally.add(&replayed.all);
        }
        Self {
            precision: mean(replayed.iter().map(|replayed| replayed.all.counts.precision())),
            recall: mean(replayed.iter().map(|replayed| replayed.all.counts.recall())),
            ..Self::pooled(name, tally)
        }
    }
}

impl AnswerLatency {
    #[allow(clippy::cast_precision_loss, reason = "microseconds of one answer")]
    fn of(mut micros: Vec<u64>) -> Self {
        micros.sort_unstable();
        let Some(last) = micros.len().checked_sub(1) else { return Self::default() };
        let at = |percent: usize| micros[last * percent / 100] as f64 / 1000.0;
        Self { p50_ms: at(50), p99_ms: at(99), max_ms: at(100) }
    }
}
