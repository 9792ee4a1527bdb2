//! Places near the cursor that have the same before them but for some names.

use std::ops::Range;

use nudge_syntax::{CONTEXT_DEPTH, Lexeme, Lexer, TokenId};

use super::{
    draft::CompletionDraft,
    names::{NameTable, is_name},
    place::{is_break, line_start},
};

/// How far from the cursor is looked, in bytes.
const ABOVE: usize = 6000;
const BELOW: usize = 2500;
/// Places that are followed.
const MOST: usize = 24;
/// A word that is shorter may not be finished.
const SHORTEST_WORD: usize = 3;

/// What an analog counts for when a name stands for another, when there is nothing to stand for, and when it has a name
/// of its own.
const RENAMED: f32 = 1.0;
const SAME: f32 = 0.5;
const STRANGE: f32 = 0.1;

/// A place where the same is said about other names.
struct Analog {
    /// Which part of the document it is in, and which of the tokens there comes next.
    part: usize,
    at: usize,
    names: NameTable,
    /// How many tokens before it are the same, names that stand for others among them.
    before: usize,
}

/// What an analog says comes next.
pub(super) struct AnalogNext {
    pub(super) id: TokenId,
    pub(super) text: String,
    /// How much is the same before it; names that stand for others count against it.
    pub(super) order: usize,
    /// How much it counts for: a name that nothing stands for is likely another one here.
    pub(super) weight: f32,
    /// Whether it stands for another name there.
    pub(super) renamed: bool,
    /// Where it is in the document.
    pub(super) start: usize,
}

/// The places around the cursor, as far as they still agree with the draft.
pub(super) struct NearbyAnalogs<'a> {
    content: &'a str,
    parts: [Vec<Lexeme>; 2],
    found: Vec<Analog>,
}

impl<'a> NearbyAnalogs<'a> {
    /// Those around `gap`, which is what is being typed.
    pub(super) fn new(content: &'a str, gap: &Range<usize>, draft: &CompletionDraft<'_>) -> Self {
        if draft.place.is_prose() {
            return Self { content, parts: [Vec::new(), Vec::new()], found: Vec::new() };
        }
        let from = line_start(&content[..content.floor_char_boundary(gap.start.saturating_sub(ABOVE))]);
        let upto = content.floor_char_boundary((gap.end + BELOW).min(content.len()));
        let above = Lexer::new(&content[..gap.start], from, 0).collect();
        let below = Lexer::new(&content[..upto], gap.end, 0).collect();
        let mut analogs = Self { content, parts: [above, below], found: Vec::new() };
        for part in [0, 1] {
            let places = 1..analogs.parts[part].len();
            let found = places.rev().filter_map(|at| analogs.analog(part, at, draft)).take(MOST);
            let found: Vec<Analog> = found.collect();
            analogs.found.extend(found);
        }
        analogs
    }

    fn text_of(&self, lexeme: &Lexeme) -> &'a str {
        &self.content[lexeme.start..lexeme.end]
    }

    /// The place before a token, if the line up to it says what the draft's last line says but for some names.
    fn analog(&self, part: usize, at: usize, draft: &CompletionDraft<'_>) -> Option<Analog> {
        let mut names = NameTable::default();
        let (mut before, mut line, mut same) = (0, None, 0);
        let there = self.parts[part][..at].iter().rev();
        for (ours, theirs) in draft.lexemes.iter().rev().zip(there).take(2 * CONTEXT_DEPTH) {
            let (said, other) = (draft.text_of(ours), self.text_of(theirs));
            let breaks = is_break(ours.id);
            if ours.id == theirs.id && (breaks || names.keeps(said)) {
                same += 1;
            } else if breaks || ours.id.is_spaced() != theirs.id.is_spaced() || !names.pair(other, said) {
                break;
            }
            before += 1;
            if breaks && line.is_none() {
                line = Some(before);
            }
        }
        let typed = !draft.place.typed.is_empty();
        // Without a name that stands for another it is no analog, unless the word that is typed is the first.
        let worth = line.is_some_and(|line| line > 1 || typed) && (typed || !names.is_empty());
        if !worth || same <= 2 * names.len() || !self.matters(&self.parts[part][at..], &names, draft) {
            return None;
        }
        Some(Analog { part, at, names, before })
    }

    /// Whether the rest of a line has a name that another stands for, or begins with one that the word being typed may
    /// stand for.
    fn matters(&self, rest: &[Lexeme], names: &NameTable, draft: &CompletionDraft<'_>) -> bool {
        let mut line = rest.iter().take_while(|lexeme| !is_break(lexeme.id));
        let typed = draft.place.typed;
        !typed.is_empty() && line.clone().next().is_some_and(|first| is_name(self.text_of(first)))
            || !names.is_empty() && line.any(|lexeme| names.get(self.text_of(lexeme)).is_some())
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// What the places say comes next.
    pub(super) fn next(&self, draft: &CompletionDraft<'_>) -> Vec<AnalogNext> {
        self.found.iter().filter_map(|analog| self.next_of(analog, draft)).collect()
    }

    fn next_of(&self, analog: &Analog, draft: &CompletionDraft<'_>) -> Option<AnalogNext> {
        let lexeme = self.parts[analog.part].get(analog.at)?;
        let said = self.text_of(lexeme);
        let stands = analog.names.get(said);
        let weight = match &stands {
            Some(_) => RENAMED,
            None if is_name(said) || said.starts_with(|c: char| c.is_numeric()) => STRANGE,
            None => SAME,
        };
        let renamed = stands.is_some();
        let mut text = stands.unwrap_or_else(|| said.to_owned());
        let mut names = analog.names.len();
        if !draft.accepts(lexeme.id, &text) {
            // The word that is typed may be finished and stand for this one.
            let typed = draft.place.typed;
            let finished = !draft.open().is_empty() && is_name(said) && self.is_finished(typed);
            if !finished || !draft.accepts(lexeme.id, typed) || !analog.names.clone().pair(said, typed) {
                return None;
            }
            typed.clone_into(&mut text);
            names += 1;
        } else if names == 0 {
            return None;
        }
        let id = if is_break(lexeme.id) { lexeme.id } else { TokenId::of(&text, lexeme.id.is_spaced()) };
        let order = analog.before.saturating_sub(2 * names).clamp(1, CONTEXT_DEPTH);
        Some(AnalogNext { id, text, order, weight, renamed, start: lexeme.start })
    }

    /// Whether a word that is typed is a name that the document has elsewhere.
    fn is_finished(&self, typed: &str) -> bool {
        let known = |lexeme: &Lexeme| self.text_of(lexeme) == typed;
        typed.len() >= SHORTEST_WORD && is_name(typed) && self.parts.iter().flatten().any(known)
    }

    /// Goes on where this token comes next.
    pub(super) fn advance(&mut self, id: TokenId, text: &str) {
        let mut found = std::mem::take(&mut self.found);
        found.retain_mut(|analog| {
            let Some(lexeme) = self.parts[analog.part].get(analog.at) else { return false };
            let said = self.text_of(lexeme);
            let agrees = if is_break(id) || is_break(lexeme.id) {
                lexeme.id == id
            } else {
                lexeme.id.is_spaced() == id.is_spaced()
                    && match analog.names.get(said) {
                        Some(name) => name == text,
                        None => said == text || analog.names.pair(said, text),
                    }
            };
            analog.at += 1;
            analog.before += 1;
            agrees
        });
        self.found = found;
    }
}
