//! Types a commit key by key, asks after each key, and counts the keys that suggestions save.
//!
//! Removing text is one key, as is taking a suggestion. Right is what goes on typing the current hunk as the commit has
//! it, and what is right by the rules for whole hunks and leaves less to type. A wrong suggestion that stays while the user types is one.

use std::{
    collections::{BTreeMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

use nudge_text::{Edit, Text};
use nudge_wire::nes::RejectReason;
use serde::Serialize;

use crate::{
    ReplayError,
    ask::AskMode,
    draft::FileDraft,
    driver::{EngineDriver, ShownEdit},
    judge::{SuggestionJudgement, SuggestionVerdict},
    tally::share,
    walk::CommitWalk,
};

/// Hunks with more to type are taken as pasted: they are done at once and not counted.
const MAX_TYPED: usize = 400;

/// What typing came to.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TypedScore {
    /// The keys it takes without suggestions.
    pub keys: usize,
    /// The keys it took with them.
    pub pressed: usize,
    /// The share of keys saved.
    pub saved_share: Option<f64>,
    /// The questions asked.
    pub asks: usize,
    /// The different suggestions shown.
    pub shown: usize,
    /// Those that were right.
    pub right: usize,
    /// Those that were wrong.
    pub wrong: usize,
    /// The share of suggestions that were right.
    pub precision: Option<f64>,
}

impl TypedScore {
    /// Both together.
    pub(crate) fn sum(self, other: Self) -> Self {
        let mut sum = Self {
            keys: self.keys + other.keys,
            pressed: self.pressed + other.pressed,
            asks: self.asks + other.asks,
            shown: self.shown + other.shown,
            right: self.right + other.right,
            wrong: self.wrong + other.wrong,
            ..Self::default()
        };
        sum.work_out();
        sum
    }

    /// What was saved of the keys of all, where these are the keys that were spared and those that it took.
    pub(crate) fn of_all(mut self, all: Self) -> Self {
        self.pressed = all.keys - self.keys.saturating_sub(self.pressed).min(all.keys);
        self.keys = all.keys;
        self.work_out();
        self
    }

    fn work_out(&mut self) {
        self.saved_share = share(self.keys.saturating_sub(self.pressed), self.keys);
        self.precision = share(self.right, self.shown);
    }
}

/// What came of typing a commit.
#[derive(Debug, Default)]
pub(crate) struct TypedOutcome {
    /// By the language of what was typed.
    pub(crate) languages: BTreeMap<&'static str, TypedScore>,
    /// By who made the suggestions: the keys that right ones spared, and those that took them.
    pub(crate) predictors: BTreeMap<String, TypedScore>,
    /// How long each answer took.
    pub(crate) micros: Vec<u64>,
}

impl TypedOutcome {
    /// All of it together.
    pub(crate) fn all(&self) -> TypedScore {
        self.languages.values().fold(TypedScore::default(), |all, typed| all.sum(*typed))
    }
}

/// Types a commit from the first hunk to the last.
pub(crate) fn run<D: EngineDriver>(walk: &mut CommitWalk<'_, D>) -> Result<TypedOutcome, ReplayError> {
    let mut outcome = TypedOutcome::default();
    for draft in &walk.drafts {
        let by_hand = (0..draft.places()).map(|place| keys(&draft.by_hand(place)));
        let keys: usize = by_hand.filter(|keys| *keys <= MAX_TYPED).sum();
        outcome.languages.entry(draft.language).or_default().keys += keys;
    }
    let mut typist = Typist { walk, outcome, wrong: HashSet::new() };
    while let Some((file, place)) = typist.walk.next() {
        typist.hunk(file, place)?;
    }
    let mut outcome = typist.outcome;
    outcome.languages.values_mut().for_each(TypedScore::work_out);
    Ok(outcome)
}

/// How many keys an edit takes.
fn keys(edit: &Edit) -> usize {
    let breaks = edit.text.matches("\r\n").count();
    edit.text.chars().count() - breaks + usize::from(!edit.range.is_empty())
}

struct Typist<'a, 'b, D> {
    walk: &'a mut CommitWalk<'b, D>,
    outcome: TypedOutcome,
    /// What was shown and wrong, so that it counts once.
    wrong: HashSet<u64>,
}

impl<D: EngineDriver> Typist<'_, '_, D> {
    fn hunk(&mut self, file: usize, place: usize) -> Result<(), ReplayError> {
        let mut rest = self.walk.drafts[file].by_hand(place);
        if keys(&rest) > MAX_TYPED {
            return self.walk.do_by_hand(file, place);
        }
        self.walk.go(file, rest.range.start)?;
        self.walk.set_out(file, place);
        while !self.walk.drafts[file].places[place].is_done() {
            self.walk.go(file, rest.range.start)?;
            let stroke = next_stroke(&mut rest);
            self.typed(file).pressed += 1;
            self.walk.press(file, place, stroke)?;
            while self.walk.remaining() > 0 && self.ask(file, place, &rest)? {
                rest = self.walk.drafts[file].by_hand(place);
            }
        }
        Ok(())
    }

    /// Asks, and says whether something was taken.
    fn ask(&mut self, file: usize, place: usize, rest: &Edit) -> Result<bool, ReplayError> {
        let here = self.walk.file;
        let answer = self.walk.driver.suggest(&self.walk.drafts[here].uri, self.walk.cursor)?;
        self.typed(file).asks += 1;
        self.outcome.micros.push(answer.micros);
        let Some(shown) = answer.shown else { return Ok(false) };
        let Some(judgement) = self.right(&shown, file, place, rest) else {
            if self.wrong.insert(self.identity(&shown)) {
                for typed in self.counted(file, &shown) {
                    typed.shown += 1;
                    typed.wrong += 1;
                }
                self.walk.write_down(AskMode::Typed, Some((&shown, &SuggestionJudgement::wrong())));
            }
            self.walk.driver.reject(&shown.id, RejectReason::Ignored)?;
            return Ok(false);
        };
        let spared = self.spared(&shown, &judgement);
        for typed in self.counted(file, &shown) {
            typed.shown += 1;
            typed.right += 1;
            typed.pressed += 1;
        }
        self.outcome.predictors.entry(shown.predictor.clone()).or_default().keys += spared;
        self.walk.write_down(AskMode::Typed, Some((&shown, &judgement)));
        self.walk.take(&shown, &judgement)?;
        Ok(true)
    }

    /// What is counted for the language of a file.
    fn typed(&mut self, file: usize) -> &mut TypedScore {
        self.outcome.languages.entry(self.walk.drafts[file].language).or_default()
    }

    /// What a suggestion counts for.
    fn counted(&mut self, file: usize, shown: &ShownEdit) -> [&mut TypedScore; 2] {
        let language = self.walk.drafts[file].language;
        let TypedOutcome { languages, predictors, .. } = &mut self.outcome;
        [languages.entry(language).or_default(), predictors.entry(shown.predictor.clone()).or_default()]
    }

    /// What a right suggestion would leave.
    fn right(
        &self,
        shown: &ShownEdit,
        file: usize,
        place: usize,
        rest: &Edit,
    ) -> Option<SuggestionJudgement> {
        let draft = &self.walk.drafts[file];
        if draft.uri == shown.uri && rest.range.is_empty() {
            let text = draft.text();
            let after = shown.edits.apply(&Text::new(&text)).to_string();
            let more =
                after.len().checked_sub(text.len()).filter(|more| (1..=rest.text.len()).contains(more));
            if let Some(typed) = more.and_then(|more| rest.text.get(..more)) {
                let (before, behind) = text.split_at(rest.range.start);
                if after.strip_prefix(before).and_then(|after| after.strip_prefix(typed)) == Some(behind) {
                    let then = draft.with(place, &Edit::new(rest.range.clone(), typed));
                    return Some(SuggestionJudgement {
                        verdict: SuggestionVerdict::Partial,
                        near: false,
                        places: vec![(place, then)],
                    });
                }
            }
        }
        let judgement = self.walk.judge(shown);
        (judgement.verdict != SuggestionVerdict::Wrong && self.spared(shown, &judgement) > 0)
            .then_some(judgement)
    }

    /// How many keys less are left to type afterwards. By the rules for whole hunks it is no harm to remove a line that is
    /// half typed; to who types it, it is.
    fn spared(&self, shown: &ShownEdit, judgement: &SuggestionJudgement) -> usize {
        let Some(file) = self.walk.file_of(shown) else { return 0 };
        let before = &self.walk.drafts[file];
        let mut after = before.clone();
        after.take(judgement);
        let left = |draft: &FileDraft| {
            judgement.places.iter().map(|(place, _)| keys(&draft.by_hand(*place))).sum::<usize>()
        };
        left(before).saturating_sub(left(&after))
    }

    /// Two suggestions with the same effect are the same.
    fn identity(&self, shown: &ShownEdit) -> u64 {
        let mut hasher = DefaultHasher::new();
        shown.uri.hash(&mut hasher);
        match self.walk.file_of(shown) {
            Some(file) => {
                let text = Text::new(&self.walk.drafts[file].text());
                shown.edits.apply(&text).to_string().hash(&mut hasher);
            }
            None => shown.edits.iter().for_each(|edit| (&edit.range, &edit.text).hash(&mut hasher)),
        }
        hasher.finish()
    }
}

/// The next key of what is left to do.
fn next_stroke(rest: &mut Edit) -> Edit {
    let start = rest.range.start;
    if !rest.range.is_empty() {
        let removed = Edit::new(rest.range.clone(), "");
        rest.range = start..start;
        return removed;
    }
    let length = match rest.text.chars().next() {
        Some('\r') if rest.text.starts_with("\r\n") => 2,
        first => first.map_or(0, char::len_utf8),
    };
    let behind = rest.text.split_off(length);
    let key = Edit::new(start..start, std::mem::replace(&mut rest.text, behind));
    rest.range = start + length..start + length;
    key
}

#[cfg(test)]
mod tests;
