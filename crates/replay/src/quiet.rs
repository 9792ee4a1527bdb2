//! Asks where nothing is left to do: whatever is shown there is one too many.

use nudge_wire::nes::RejectReason;
use serde::Serialize;

use crate::{
    ReplayError,
    ask::AskMode,
    case::uri,
    chance::SeededChance,
    driver::{EngineDriver, ShownEdit},
    judge::SuggestionJudgement,
    paths,
    tally::share,
    walk::CommitWalk,
};

/// How many times it is asked in the finished files of a commit.
const IN_FINISHED: usize = 6;

/// What was shown where nothing was to be done.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuietScore {
    /// Questions at random places of the files of a commit that is done.
    pub finished_asks: usize,
    /// Suggestions shown there.
    pub finished_shown: usize,
    /// Questions in files that were just opened and not touched, in the same session.
    pub untouched_asks: usize,
    /// Suggestions shown there.
    pub untouched_shown: usize,
    /// The share of questions with something shown.
    pub shown_share: Option<f64>,
}

impl QuietScore {
    /// Both together.
    pub(crate) fn sum(self, other: Self) -> Self {
        let mut sum = Self {
            finished_asks: self.finished_asks + other.finished_asks,
            finished_shown: self.finished_shown + other.finished_shown,
            untouched_asks: self.untouched_asks + other.untouched_asks,
            untouched_shown: self.untouched_shown + other.untouched_shown,
            shown_share: None,
        };
        sum.work_out();
        sum
    }

    fn work_out(&mut self) {
        let asks = self.finished_asks + self.untouched_asks;
        self.shown_share = share(self.finished_shown + self.untouched_shown, asks);
    }
}

/// Does a commit without asking, then asks.
pub(crate) fn run<D: EngineDriver>(
    walk: &mut CommitWalk<'_, D>,
    seed: u64,
) -> Result<QuietScore, ReplayError> {
    let mut chance = SeededChance::for_name(seed, &format!("quiet {}", walk.case.commit));
    while let Some((file, place)) = walk.next() {
        walk.do_by_hand(file, place)?;
    }
    let mut quiet = QuietScore::default();
    for _ in 0..IN_FINISHED {
        walk.file = chance.below(walk.drafts.len());
        let draft = &walk.drafts[walk.file];
        let (uri, text) = (draft.uri.clone(), draft.text());
        quiet.finished_asks += 1;
        if let Some(shown) = shown(walk, &uri, &text, &mut chance)? {
            quiet.finished_shown += 1;
            walk.write_down(AskMode::Quiet, Some((&shown, &SuggestionJudgement::wrong())));
        }
    }
    for file in &walk.case.untouched {
        let (uri, language) = (uri(&file.path), paths::language(&file.path));
        walk.driver.open(&uri, language, &file.text)?;
        quiet.untouched_asks += 1;
        if let Some(shown) = shown(walk, &uri, &file.text, &mut chance)? {
            quiet.untouched_shown += 1;
            walk.write_down_elsewhere(
                &file.path,
                language,
                &file.text,
                (&shown, &SuggestionJudgement::wrong()),
            );
        }
    }
    quiet.work_out();
    Ok(quiet)
}

/// What is shown at a place that chance chooses.
fn shown<D: EngineDriver>(
    walk: &mut CommitWalk<'_, D>,
    uri: &str,
    text: &str,
    chance: &mut SeededChance,
) -> Result<Option<ShownEdit>, ReplayError> {
    walk.cursor = text.floor_char_boundary(chance.below(text.len() + 1));
    walk.driver.focus(uri, walk.cursor)?;
    let shown = walk.driver.suggest(uri, walk.cursor)?.shown;
    if let Some(shown) = &shown {
        walk.driver.reject(&shown.id, RejectReason::Ignored)?;
    }
    Ok(shown)
}
