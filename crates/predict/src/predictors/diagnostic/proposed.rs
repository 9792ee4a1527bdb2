//! Replacements that a diagnostic proposes, without saying of what.

use std::ops::Range;

use nudge_text::Edit;

use super::{Problem, Solution};
use crate::token::{TokenKind, is_word, solid, stands_alone};

impl Problem<'_> {
    /// Puts a proposed text in the place of what is marked, if the two have to do with one another, or of the last call in it.
    pub(super) fn proposed(&self, new: &str) -> Option<Solution> {
        let text = self.source.content();
        let range = self.diagnostic.range.clone();
        let old = &text[range.clone()];
        let (range, prior) = if are_kin(old, new) {
            (range, 0.66)
        } else {
            let call = last_call(old).filter(|_| is_call(new))?;
            (range.start + call.start..range.end, 0.6)
        };
        let what = format!("writes `{new}`, as the diagnostic proposes");
        Some(Solution { edits: vec![Edit::new(range, new)], prior, what })
    }

    /// Puts the name that is proposed in the place of the marked one, or of the only one in what is marked that begins alike.
    pub(super) fn instead(&self, to: &str) -> Option<Solution> {
        let text = self.source.content();
        let marked = self.diagnostic.range.clone();
        let old = &text[marked.clone()];
        let alike =
            |word: &str| word.len() > 2 && word != to && (to.starts_with(word) || word.starts_with(to));
        let mut found = solid(old).into_iter().filter(|token| alike(token.text(old)));
        let place = self.place(None).or_else(|| {
            let token = found.next().filter(|token| token.kind == TokenKind::Word)?;
            found.next().is_none().then(|| marked.start + token.range.start..marked.start + token.range.end)
        })?;
        let what = format!("writes `{to}`, as the diagnostic proposes");
        Some(Solution { edits: vec![Edit::new(place, to)], prior: 0.64, what })
    }
}

/// Whether a text can stand for another: it brings at most one name of its own, and keeps one.
fn are_kin(old: &str, new: &str) -> bool {
    let known = |word: &str| contains_word(old, word);
    let words: Vec<&str> = solid(new)
        .into_iter()
        .filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Number))
        .map(|token| &new[token.range])
        .collect();
    let kept = words.iter().filter(|word| known(word)).count();
    let is_name = |text: &str| text.len() > 2 && text.chars().all(is_word);
    let is_part = is_name(old) && is_name(new) && (old.contains(new) || new.contains(old));
    old != new && (is_part || (kept > 0 && words.len() - kept <= 1))
}

fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| stands_alone(text, &(at..at + word.len())))
}

fn is_call(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic()) && text.contains('(') && text.ends_with(')')
}

/// The last call of a chain, from its name on.
fn last_call(text: &str) -> Option<Range<usize>> {
    let mut depth = 0_usize;
    let open = text.trim_end().char_indices().rev().find_map(|(at, c)| {
        match c {
            ')' => depth += 1,
            '(' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return Some(None),
            _ => {}
        }
        (c == '(' && depth == 0).then_some(Some(at))
    })??;
    let name = text[..open].trim_end_matches(is_word).len();
    (name < open && text[..name].ends_with('.')).then_some(name..text.len())
}
