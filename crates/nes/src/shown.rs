//! What was suggested: remembered for the feedback, and not taken back while nothing has changed.

use std::{collections::VecDeque, ops::Range, sync::Arc};

use nudge_predict::{EngineSuggestion, SuggestionEffect, SuggestionKind};
use nudge_syntax::AnalysedDocument;
use nudge_text::{Edit, Edits, InsertBias, Text};

use crate::{answer::PositionedSuggestion, limits};

/// The suggestions of a session.
#[derive(Default)]
pub(crate) struct ShownSuggestions {
    made: u64,
    /// The last ones by their id, the oldest first.
    known: VecDeque<(String, EngineSuggestion)>,
    shown: Option<ShownAt>,
}

/// What the client shows, and where the user was when it was offered.
pub(crate) struct ShownAt {
    place: CursorPlace,
    entries: Vec<ShownSuggestion>,
}

/// One suggestion that is shown.
#[derive(Clone)]
pub(crate) struct ShownSuggestion {
    pub(crate) id: String,
    pub(crate) suggestion: EngineSuggestion,
    /// The text its places refer to, if it can be told whether that has changed.
    pub(crate) target: Option<Text>,
    /// How the client was told.
    pub(crate) answer: PositionedSuggestion,
}

/// A suggestion that can be shown, without its id.
pub(crate) struct ReadySuggestion {
    pub(crate) suggestion: EngineSuggestion,
    pub(crate) target: Option<Text>,
    pub(crate) answer: PositionedSuggestion,
}

/// Where the user is.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct CursorPlace {
    pub(crate) uri: Arc<str>,
    pub(crate) text: Text,
    pub(crate) cursor: usize,
    pub(crate) selection: Option<Range<usize>>,
}

impl CursorPlace {
    pub(crate) fn new(source: &AnalysedDocument, cursor: usize, selection: Option<Range<usize>>) -> Self {
        Self { uri: Arc::clone(source.uri()), text: source.text().clone(), cursor, selection }
    }
}

impl ShownSuggestions {
    /// Enters a suggestion and gives it an id.
    pub(crate) fn enter(&mut self, ready: ReadySuggestion) -> ShownSuggestion {
        let ReadySuggestion { suggestion, target, answer } = ready;
        self.made += 1;
        let id = format!("s{}", self.made);
        if self.known.len() == limits::REMEMBERED {
            self.known.pop_front();
        }
        self.known.push_back((id.clone(), suggestion.clone()));
        self.forget_texts();
        ShownSuggestion { answer: PositionedSuggestion { id: id.clone(), ..answer }, id, suggestion, target }
    }

    /// Makes room for bytes: what has to do with the oldest texts can still be judged, but not be known again.
    fn forget_texts(&mut self) {
        let mut bytes = 0;
        for (_, suggestion) in self.known.iter_mut().rev() {
            bytes += suggestion.effect.bytes();
            if bytes > limits::REMEMBERED_BYTES {
                suggestion.effect = SuggestionEffect::default();
            }
        }
    }

    /// The suggestion with this id, if it is one of the last.
    pub(crate) fn find(&self, id: &str) -> Option<&EngineSuggestion> {
        self.known.iter().rev().find(|(known, _)| known == id).map(|(_, suggestion)| suggestion)
    }

    /// The suggestion has been judged: it is not shown any more, and what else is said about it does not count.
    pub(crate) fn settle(&mut self, id: &str) {
        self.known.retain(|(known, _)| known != id);
        if let Some(shown) = &mut self.shown {
            shown.entries.retain(|entry| entry.id != id);
        }
    }

    /// What is shown from now on.
    pub(crate) fn show(&mut self, place: CursorPlace, entries: Vec<ShownSuggestion>) {
        self.shown = (!entries.is_empty()).then_some(ShownAt { place, entries });
    }

    /// Whether a suggestion is shown.
    pub(crate) fn is_shown(&self, id: &str) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.entries.iter().any(|entry| entry.id == id))
    }

    /// Nothing is shown any more.
    pub(crate) fn clear(&mut self) {
        self.shown = None;
    }

    /// What is shown, if the user is still where it was offered. `current` gives the texts as they are now.
    pub(crate) fn standing<'a>(
        &self,
        place: &CursorPlace,
        current: impl Fn(&str) -> Option<&'a Text>,
    ) -> Vec<ShownSuggestion> {
        let Some(shown) = self.shown.as_ref().filter(|shown| shown.place == *place) else {
            return Vec::new();
        };
        let stands = |entry: &&ShownSuggestion| match &entry.target {
            Some(target) => current(entry.suggestion.kind.uri()).is_some_and(|text| text == target),
            None => true,
        };
        shown.entries.iter().filter(stands).cloned().collect()
    }

    /// What is left of the suggestion that is shown, if all the user did since was to type its beginning.
    pub(crate) fn remainder(&self, place: &CursorPlace) -> Option<EngineSuggestion> {
        let shown = self.shown.as_ref().filter(|shown| shown.place.uri == place.uri)?;
        let typed = typed(&shown.place, place)?;
        shown.entries.iter().find_map(|entry| left_over(&entry.suggestion, &shown.place, place, &typed))
    }
}

/// The text typed at the cursor, if nothing else was done between the two places.
fn typed(then: &CursorPlace, now: &CursorPlace) -> Option<String> {
    let len = now.text.len().checked_sub(then.text.len()).filter(|len| *len > 0)?;
    let alone = then.selection.is_none() && now.selection.is_none();
    if !alone || now.cursor != then.cursor + len {
        return None;
    }
    let typed = now.text.slice(then.cursor..now.cursor).into_owned();
    (Edits::one(then.cursor..then.cursor, typed.as_str()).apply(&then.text) == now.text).then_some(typed)
}

fn left_over(
    suggestion: &EngineSuggestion,
    then: &CursorPlace,
    now: &CursorPlace,
    typed: &str,
) -> Option<EngineSuggestion> {
    let SuggestionKind::Edit { uri, edits, cursor } = &suggestion.kind else { return None };
    if *uri != then.uri {
        return None;
    }
    let at = then.cursor;
    let here = |edit: &&Edit| edit.range.start <= at && at <= edit.range.end;
    // Of two edits that touch at the cursor the one that inserts there is meant.
    let target = edits.iter().filter(here).find(|edit| begins_with(edit, then, typed))?;
    let moved = Edits::one(at..at, typed);
    let mut left = Vec::with_capacity(edits.len());
    for edit in edits {
        if edit == target {
            let done = at - edit.range.start + typed.len();
            left.push(Edit::new(now.cursor..edit.range.end + typed.len(), &edit.text[done..]));
        } else {
            let bias = if edit.range.start >= at { InsertBias::After } else { InsertBias::Before };
            left.push(Edit::new(
                moved.map(edit.range.start, bias)..moved.map(edit.range.end, bias),
                edit.text.as_str(),
            ));
        }
    }
    let left = Edits::new(left).ok().filter(|left| left.fits(&now.text))?;
    let is_worth_it =
        left.iter().any(|edit| !is_same_but_space(&now.text.slice(edit.range.clone()), &edit.text));
    // The text after both is the same, so the cursor is where it was to be.
    let kind = SuggestionKind::Edit { uri: Arc::clone(uri), edits: left, cursor: *cursor };
    let effect = SuggestionEffect::of(&kind, |_| Some(&now.text));
    is_worth_it.then(|| EngineSuggestion { kind, effect, ..suggestion.clone() })
}

fn is_same_but_space(old: &str, new: &str) -> bool {
    let visible = |char: &char| !char.is_whitespace();
    old.chars().filter(visible).eq(new.chars().filter(visible))
}

/// Whether an edit begins with what stands before the cursor in its range and then goes on with what was typed.
fn begins_with(edit: &Edit, then: &CursorPlace, typed: &str) -> bool {
    let before = then.text.slice(edit.range.start..then.cursor);
    edit.text.strip_prefix(&*before).is_some_and(|rest| rest.starts_with(typed))
}

/// Whether a suggestion does all that another does, and more.
pub(crate) fn extends(new: &EngineSuggestion, old: &EngineSuggestion) -> bool {
    let (
        SuggestionKind::Edit { uri, edits: more, .. },
        SuggestionKind::Edit { uri: old_uri, edits: less, .. },
    ) = (&new.kind, &old.kind)
    else {
        return false;
    };
    let goes_on = |edit: &Edit| {
        more.iter().any(|other| other.range == edit.range && other.text.starts_with(edit.text.as_str()))
    };
    uri == old_uri && more != less && less.iter().all(goes_on)
}
