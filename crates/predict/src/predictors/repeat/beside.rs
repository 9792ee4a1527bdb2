//! What came or went beside a name, whatever the name: `set x` became `set -l x`, `f()` became `f(void)`.

use std::ops::Range;

use nudge_syntax::token::{Token, TokenKind};
use rustc_hash::FxHashMap;

use super::rule::{ChangedSegment, LessonLine, LineLesson, RulePattern, RuleShape, output};

/// How many neighbours are taken in before and behind, from the most telling.
const WINDOWS: [(usize, usize); 6] = [(1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (3, 2)];
/// Rewrites of one change.
const MAX_REWRITES: usize = 4;

/// The rewrites of places where marks alone were changed, or something was put in between, and for what is between them.
pub(crate) fn learn(
    line: &LessonLine<'_>,
    segments: &[ChangedSegment],
    limit: &Range<usize>,
) -> Vec<LineLesson> {
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else { return Vec::new() };
    let (old, new) = (first.0.start..last.0.end, first.1.start..last.1.end);
    let tokens = &line.tokens;
    let touches =
        |token: &Token, (old, _): &ChangedSegment| old.start < token.range.end && token.range.start < old.end;
    let is_named =
        |token: &Token| is_name(token, line.before) && segments.iter().any(|segment| touches(token, segment));
    if tokens.iter().any(is_named) {
        return Vec::new();
    }
    let from = tokens.partition_point(|token| token.range.end <= old.start);
    let to = tokens.partition_point(|token| token.range.start < old.end).max(from);
    let mut lessons: Vec<LineLesson> = Vec::new();
    for (before, behind) in WINDOWS {
        let start = from.checked_sub(before).filter(|start| tokens[*start].range.start >= limit.start);
        let end = to + behind;
        let fits = tokens.get(end - 1).is_some_and(|token| token.range.end <= limit.end);
        let Some(start) = start.filter(|_| fits) else { continue };
        let place = tokens[start].range.start..tokens[end - 1].range.end;
        let Some(then) = new.start.checked_sub(old.start - place.start) else { continue };
        let then = then..new.end + (place.end - old.end);
        let is_kept = |at: &usize| tokens[*at].range.len() >= 2 && is_name(&tokens[*at], line.before);
        let left = (start..from).rev().find(is_kept);
        let right = (to..end).find(is_kept);
        // The name next to the place is kept, or all names are open.
        for kept in [left, right, None] {
            if left.is_none() && right.is_none() || kept.is_some() || before > 1 || behind > 1 {
                lessons.extend(rewrite(line, start..end, &place, &then, kept));
            }
        }
    }
    let mut known = Vec::new();
    lessons.retain(|lesson| {
        let is_new = !known.contains(&lesson.rewrite.group);
        known.push(lesson.rewrite.group);
        is_new
    });
    lessons.truncate(MAX_REWRITES);
    lessons
}

/// The rewrite of a run of tokens in which every name is open but the one that is kept.
fn rewrite(
    line: &LessonLine<'_>,
    run: Range<usize>,
    place: &Range<usize>,
    then: &Range<usize>,
    kept: Option<usize>,
) -> Option<LineLesson> {
    let tokens = &line.tokens;
    let mut pattern = Vec::new();
    let mut open: FxHashMap<&str, usize> = FxHashMap::default();
    for at in run {
        let (token, text) = (&tokens[at], tokens[at].text(line.before));
        if Some(at) == kept || !is_name(token, line.before) {
            pattern.push(RulePattern::Hard(text.to_owned()));
        } else {
            let next = open.len();
            open.entry(text).or_insert(next);
            pattern.push(RulePattern::Soft(text.to_owned(), token.kind));
        }
    }
    let marks = pattern.iter().filter(|token| matches!(token, RulePattern::Hard(_))).count();
    if open.is_empty() || (kept.is_none() && marks < 2) {
        return None;
    }
    let output = output(line.after.get(then.clone())?, &open);
    let mut lesson = line.finish(RuleShape::Beside, pattern, output, place)?;
    if kept.is_none() {
        marks_of(&line.before[place.clone()])?.clone_into(&mut lesson.rewrite.anchor);
    }
    Some(lesson)
}

/// The longest run of marks: one alone is nearly everywhere.
fn marks_of(text: &str) -> Option<&str> {
    let runs = text.split(|c: char| c.is_alphanumeric() || c == '_' || c.is_whitespace());
    runs.max_by_key(|marks| marks.len()).filter(|marks| !marks.is_empty())
}

/// Whether a token is a name or a number, which another can stand for.
fn is_name(token: &Token, text: &str) -> bool {
    token.kind == TokenKind::Number
        || (token.kind == TokenKind::Word && token.text(text).contains(char::is_alphabetic))
}
