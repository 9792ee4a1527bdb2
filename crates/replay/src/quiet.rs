//! Asks where nothing is left to do: whatever is shown there is one too many.

use nudge_wire::nes::RejectReason;
use serde::Serialize;

use crate::{
    Error,
    ask::Mode,
    case::uri,
    chance::Chance,
    driver::{Driver, Shown},
    judge::Judgement,
    paths,
    tally::share,
    walk::Walk,
};

/// How many times it is asked in the finished files of a commit.
const IN_FINISHED: usize = 6;

/// What was shown where nothing was to be done.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Quiet {
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

impl Quiet {
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
pub(crate) fn run<D: Driver>(walk: &mut Walk<'_, D>, seed: u64) -> Result<Quiet, Error> {
    let mut chance = Chance::for_name(seed, &format!("quiet {}", walk.case.commit));
    while let Some((file, place)) = walk.next() {
        walk.do_by_hand(file, place)?;
    }
    let mut quiet = Quiet::default();
    for _ in 0..IN_FINISHED {
        walk.file = chance.below(walk.drafts.len());
        let draft = &walk.drafts[walk.file];
        let (uri, text) = (draft.uri.clone(), draft.text());
        quiet.finished_asks += 1;
        if let Some(shown) = shown(walk, &uri, &text, &mut chance)? {
            quiet.finished_shown += 1;
            walk.write_down(Mode::Quiet, Some((&shown, &Judgement::wrong())));
        }
    }
    for file in &walk.case.untouched {
        let (uri, language) = (uri(&file.path), paths::language(&file.path));
        walk.driver.open(&uri, language, &file.text)?;
        quiet.untouched_asks += 1;
        if let Some(shown) = shown(walk, &uri, &file.text, &mut chance)? {
            quiet.untouched_shown += 1;
            walk.write_down_elsewhere(&file.path, language, &file.text, (&shown, &Judgement::wrong()));
        }
    }
    quiet.work_out();
    Ok(quiet)
}

/// What is shown at a place that chance chooses.
fn shown<D: Driver>(
    walk: &mut Walk<'_, D>,
    uri: &str,
    text: &str,
    chance: &mut Chance,
) -> Result<Option<Shown>, Error> {
    walk.cursor = text.floor_char_boundary(chance.below(text.len() + 1));
    walk.driver.focus(uri, walk.cursor)?;
    let shown = walk.driver.suggest(uri, walk.cursor)?.shown;
    if let Some(shown) = &shown {
        walk.driver.reject(&shown.id, RejectReason::Ignored)?;
    }
    Ok(shown)
}
