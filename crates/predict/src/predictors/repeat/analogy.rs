//! What a change makes of lines that are not the same but alike: as they differ from what stood there before the change, so
//! what they become differs from what it made.

use std::ops::Range;

use nudge_syntax::token::{TokenKind, is_word, solid, tokens};
use nudge_text::diff;

use super::{block::LineBlock, template};
use crate::case;

/// Longer texts are not compared.
const MAX_LENGTH: usize = 1200;
/// More differences than this are not told apart from other lines altogether.
const MAX_HOLES: usize = 8;

/// Lines that are like those of an example, and what they become.
pub(crate) struct LineAnalogy {
    /// How many lines are replaced.
    pub(crate) lines: usize,
    pub(crate) text: Vec<String>,
    /// How many places differ.
    pub(crate) holes: usize,
    /// The share of the words that are the same.
    pub(crate) same: f32,
    /// The share of the words that go which are the same.
    pub(crate) same_gone: f32,
    /// Differences that went with what the change took away.
    pub(crate) dropped: usize,
}

/// What was replaced, in bytes of the text before, and where it is in the text behind.
type Segment = (Range<usize>, Range<usize>);

/// What the change of a block makes of these lines, if they are like those it was made to.
pub(crate) fn of(block: &LineBlock, place: &[String]) -> Option<LineAnalogy> {
    let (before, after, there) = (joined(&block.before)?, joined(&block.after)?, joined(place)?);
    let longest = before.len().max(after.len()).max(there.len());
    if before == there || longest > MAX_LENGTH || after.trim().is_empty() {
        return None;
    }
    let (edit, other) = (diff::words(&before, &after), diff::words(&before, &there));
    if other.len() > MAX_HOLES || edit.is_empty() {
        return None;
    }
    let same = kept(&before, &there, &(0..before.len()), &other)? * lengths(&before, &there);
    let gone: Vec<f32> = edit.iter().filter_map(|(old, _)| kept(&before, &there, old, &other)).collect();
    let same_gone = if gone.is_empty() {
        same
    } else {
        gone.iter().sum::<f32>() / f32::from(u8::try_from(gone.len()).ok()?)
    };
    if same < 0.4 || same_gone < 0.3 {
        return None;
    }
    let (text, dropped) = merged(Texts { before: &before, after: &after, there: &there }, &edit, &other)?;
    if text == there || text.trim().is_empty() {
        return None;
    }
    let (from, to) = ("", template::indent(place.first()?));
    let text = text.split('\n').map(|line| template::reindent(line, from, to)).collect();
    Some(LineAnalogy { lines: place.len(), text, holes: other.len(), same, same_gone, dropped })
}

/// Lines as one text, as far to the left as the first of them can go; nothing if another cannot go as far.
fn joined(lines: &[String]) -> Option<String> {
    let indent = lines.first().map_or("", |line| template::indent(line));
    let moved = |line: &String| match line.strip_prefix(indent) {
        Some(rest) => Some(rest.to_owned()),
        None => line.trim().is_empty().then(|| line.clone()),
    };
    Some(lines.iter().map(moved).collect::<Option<Vec<String>>>()?.join("\n"))
}

/// The share of the names and numbers in a range that no difference touches; those that are another name with some of the
/// same words count by half. Nothing if there are none.
#[expect(clippy::cast_precision_loss, reason = "words of a few lines")]
fn kept(before: &str, there: &str, range: &Range<usize>, differences: &[Segment]) -> Option<f32> {
    let words = solid(before).into_iter().filter(|token| {
        token.kind != TokenKind::Mark && range.start <= token.range.start && token.range.end <= range.end
    });
    let (mut same, mut all) = (0.0, 0_usize);
    for word in words {
        all += 1;
        let differs = |(old, _): &&Segment| old.start < word.range.end && word.range.start < old.end;
        same += match differences.iter().find(differs) {
            None => 1.0,
            Some((old, new))
                if *old == word.range && has_same_words(&before[old.clone()], &there[new.clone()]) =>
            {
                0.5
            }
            Some(_) => 0.0,
        };
    }
    (all > 0).then(|| same / all as f32)
}

/// Whether two names have some words in common.
fn has_same_words(a: &str, b: &str) -> bool {
    case::difference(a, b).is_some_and(|(old, _)| old.len() < case::words(a).len())
}

/// How alike two texts are in length: from 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "lengths of a few lines")]
fn lengths(a: &str, b: &str) -> f32 {
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()).max(1));
    (short as f32 / long as f32).sqrt()
}

#[derive(Clone, Copy)]
struct Texts<'a> {
    before: &'a str,
    after: &'a str,
    there: &'a str,
}

/// Both differences in one text, and how many of the second are not in it; nothing if they are in each other's way.
fn merged(texts: Texts<'_>, edit: &[Segment], other: &[Segment]) -> Option<(String, usize)> {
    let (mut text, mut at, mut dropped) = (String::new(), 0, 0);
    let mut rest = other.iter().peekable();
    for (old, new) in edit {
        while let Some((mine, theirs)) = rest.next_if(|(mine, _)| mine.end <= old.start) {
            text.push_str(texts.before.get(at..mine.start)?);
            text.push_str(texts.there.get(theirs.clone())?);
            at = mine.end;
        }
        text.push_str(texts.before.get(at..old.start)?);
        let come = texts.after.get(new.clone())?;
        let written = with_differences(come, texts, other);
        while let Some((mine, _)) = rest.next_if(|(mine, _)| mine.start < old.end) {
            if mine.start < old.start || mine.end > old.end {
                return None;
            }
            dropped += usize::from(written == come);
        }
        text.push_str(&written);
        at = old.end;
    }
    for (mine, theirs) in rest {
        text.push_str(texts.before.get(at..mine.start)?);
        text.push_str(texts.there.get(theirs.clone())?);
        at = mine.end;
    }
    text.push_str(texts.before.get(at..)?);
    Some((text, dropped))
}

/// What a change wrote, with the names and expressions of the place.
fn with_differences(come: &str, texts: Texts<'_>, other: &[Segment]) -> String {
    let mut pairs: Vec<(&str, &str)> = other
        .iter()
        .map(|(mine, theirs)| (texts.before[mine.clone()].trim(), texts.there[theirs.clone()].trim()))
        .filter(|(from, to)| from.contains(is_word) && !to.is_empty())
        .collect();
    pairs.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
    let mut text = String::with_capacity(come.len());
    let all = tokens(come);
    let is_end = |at: usize| all.iter().any(|token| token.range.end == at);
    let mut at = 0;
    for token in &all {
        if token.range.start < at {
            continue;
        }
        let rest = &come[token.range.start..];
        let is_here = |from: &str| rest.starts_with(from) && is_end(token.range.start + from.len());
        let whole = pairs.iter().find(|(from, _)| is_here(from));
        if let Some((from, to)) = whole {
            text.push_str(to);
            at = token.range.start + from.len();
            continue;
        }
        let piece = token.text(come);
        at = token.range.end;
        let respelt = (token.kind == TokenKind::Word)
            .then(|| pairs.iter().find_map(|(from, to)| respelt(piece, from, to)))
            .flatten();
        text.push_str(respelt.as_deref().unwrap_or(piece));
    }
    text
}

/// A name that has the words in which two other names differ, with those of the second.
fn respelt(name: &str, from: &str, to: &str) -> Option<String> {
    if from.contains(|c| !is_word(c)) || to.contains(|c| !is_word(c)) {
        return None;
    }
    let (old, new) = case::difference(from, to)?;
    let letters: usize = old.iter().map(String::len).sum();
    (letters >= template::MIN_LETTERS).then(|| case::with_words(name, &old, &new, to)).flatten()
}
