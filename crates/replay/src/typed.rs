//! Types a commit key by key, asks after each key, and counts the keys that suggestions save.
//!
//! Removing text is one key, as is taking a suggestion. Right is what goes on typing the current hunk as the commit has
//! it, and what is right by the rules for whole hunks and leaves less to type. A wrong suggestion that stays while the user types is one.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use nudge_text::{Edit, Text};
use nudge_wire::nes::RejectReason;
use serde::Serialize;

use crate::{
    Error,
    ask::Mode,
    draft::Draft,
    driver::{Driver, Shown},
    judge::{Judgement, Verdict},
    tally::share,
    walk::Walk,
};

/// Hunks with more to type are taken as pasted: they are done at once and not counted.
const MAX_TYPED: usize = 400;

/// What typing came to.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Typed {
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

impl Typed {
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

    fn work_out(&mut self) {
        self.saved_share = share(self.keys.saturating_sub(self.pressed), self.keys);
        self.precision = share(self.right, self.shown);
    }
}

/// Types a commit from the first hunk to the last; also gives how long each answer took.
pub(crate) fn run<D: Driver>(walk: &mut Walk<'_, D>) -> Result<(Typed, Vec<u64>), Error> {
    let by_hand =
        walk.drafts.iter().flat_map(|draft| (0..draft.places()).map(|place| keys(&draft.by_hand(place))));
    let keys = by_hand.filter(|keys| *keys <= MAX_TYPED).sum();
    let typed = Typed { keys, ..Typed::default() };
    let mut typist = Typist { walk, typed, micros: Vec::new(), wrong: HashSet::new() };
    while let Some((file, place)) = typist.walk.next() {
        typist.hunk(file, place)?;
    }
    typist.typed.work_out();
    Ok((typist.typed, typist.micros))
}

/// How many keys an edit takes.
fn keys(edit: &Edit) -> usize {
    let breaks = edit.text.matches("\r\n").count();
    edit.text.chars().count() - breaks + usize::from(!edit.range.is_empty())
}

struct Typist<'a, 'b, D> {
    walk: &'a mut Walk<'b, D>,
    typed: Typed,
    micros: Vec<u64>,
    /// What was shown and wrong, so that it counts once.
    wrong: HashSet<u64>,
}

impl<D: Driver> Typist<'_, '_, D> {
    fn hunk(&mut self, file: usize, place: usize) -> Result<(), Error> {
        let mut rest = self.walk.drafts[file].by_hand(place);
        if keys(&rest) > MAX_TYPED {
            return self.walk.do_by_hand(file, place);
        }
        self.walk.go(file, rest.range.start)?;
        self.walk.set_out(file, place);
        while !self.walk.drafts[file].places[place].is_done() {
            self.walk.go(file, rest.range.start)?;
            let stroke = next_stroke(&mut rest);
            self.typed.pressed += 1;
            self.walk.press(file, place, stroke)?;
            while self.walk.remaining() > 0 && self.ask(file, place, &rest)? {
                rest = self.walk.drafts[file].by_hand(place);
            }
        }
        Ok(())
    }

    /// Asks, and says whether something was taken.
    fn ask(&mut self, file: usize, place: usize, rest: &Edit) -> Result<bool, Error> {
        let here = self.walk.file;
        let answer = self.walk.driver.suggest(&self.walk.drafts[here].uri, self.walk.cursor)?;
        self.typed.asks += 1;
        self.micros.push(answer.micros);
        let Some(shown) = answer.shown else { return Ok(false) };
        let Some(judgement) = self.right(&shown, file, place, rest) else {
            if self.wrong.insert(self.identity(&shown)) {
                self.typed.shown += 1;
                self.typed.wrong += 1;
                self.walk.write_down(Mode::Typed, Some((&shown, &Judgement::wrong())));
            }
            self.walk.driver.reject(&shown.id, RejectReason::Ignored)?;
            return Ok(false);
        };
        self.typed.shown += 1;
        self.typed.right += 1;
        self.typed.pressed += 1;
        self.walk.write_down(Mode::Typed, Some((&shown, &judgement)));
        self.walk.take(&shown, &judgement)?;
        Ok(true)
    }

    /// What a right suggestion would leave.
    fn right(&self, shown: &Shown, file: usize, place: usize, rest: &Edit) -> Option<Judgement> {
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
                    return Some(Judgement {
                        verdict: Verdict::Partial,
                        near: false,
                        places: vec![(place, then)],
                    });
                }
            }
        }
        let judgement = self.walk.judge(shown);
        (judgement.verdict != Verdict::Wrong && self.spares_keys(shown, &judgement)).then_some(judgement)
    }

    /// Whether less is left to type afterwards. By the rules for whole hunks it is no harm to remove a line that is half
    /// typed; to who types it, it is.
    fn spares_keys(&self, shown: &Shown, judgement: &Judgement) -> bool {
        let Some(file) = self.walk.file_of(shown) else { return false };
        let before = &self.walk.drafts[file];
        let mut after = before.clone();
        after.take(judgement);
        let left = |draft: &Draft| {
            judgement.places.iter().map(|(place, _)| keys(&draft.by_hand(*place))).sum::<usize>()
        };
        left(&after) < left(before)
    }

    /// Two suggestions with the same effect are the same.
    fn identity(&self, shown: &Shown) -> u64 {
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
