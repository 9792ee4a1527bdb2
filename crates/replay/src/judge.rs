//! Whether a suggested text is right, in the light of the commit.
//!
//! A suggestion is judged by its effect alone, the text it would leave. It is *exact* if that text is the present one
//! with one or more of the remaining hunks done and nothing else changed. It is *partial* if it touches remaining hunks
//! only and nothing that it did has to be undone, but a hunk is not finished: every touched hunk is then on a shortest
//! way, line by line, from what stands there to what the commit has, or has some of the runs of words that the commit
//! changes there changed, each of them completely. Everything else is *wrong*. A partial one is *near* if it leaves a line
//! half done.

use std::{collections::HashSet, ops::Range};

use nudge_text::{Text, diff};
use serde::Serialize;

use crate::draft::FileDraft;

/// What a suggestion is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SuggestionVerdict {
    /// It does one or more hunks.
    Exact,
    /// It does a part of a hunk.
    Partial,
    /// It does something else.
    Wrong,
}

/// The verdict on one suggestion, and what it would leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SuggestionJudgement {
    pub(crate) verdict: SuggestionVerdict,
    /// Whether a partial suggestion leaves a line half done.
    pub(crate) near: bool,
    /// What stands afterwards in the places it touches; where it is wrong, only those that could be found.
    pub(crate) places: Vec<(usize, String)>,
}

impl SuggestionJudgement {
    pub(crate) fn wrong() -> Self {
        Self { verdict: SuggestionVerdict::Wrong, near: false, places: Vec::new() }
    }
}

/// Longer comparisons, by the product of the lengths, are not made; what cannot be compared is not between.
const MAX_TABLE: usize = 4_000_000;

impl FileDraft {
    /// Judges what would make `after` of the present text.
    pub(crate) fn judge(&self, after: &str) -> SuggestionJudgement {
        let text = self.text();
        if text == after {
            return SuggestionJudgement::wrong();
        }
        if let Some(done) = self.completes(after) {
            let places = done.into_iter().map(|place| (place, self.places[place].want.clone())).collect();
            return SuggestionJudgement { verdict: SuggestionVerdict::Exact, near: false, places };
        }
        let Some(places) = self.touched(&text, after) else { return SuggestionJudgement::wrong() };
        let mut near = false;
        for (place, then) in &places {
            let place = &self.places[*place];
            if between_lines(&place.now, then, &place.want) {
                continue;
            }
            if !has_words_done(&place.now, then, &place.want) {
                return SuggestionJudgement { verdict: SuggestionVerdict::Wrong, near: false, places };
            }
            near = true;
        }
        SuggestionJudgement { verdict: SuggestionVerdict::Partial, near, places }
    }

    /// Makes what was judged to be right.
    pub(crate) fn take(&mut self, judgement: &SuggestionJudgement) {
        for (place, then) in &judgement.places {
            self.places[*place].now.clone_from(then);
        }
    }

    /// The remaining hunks that `after` has done, if it has done nothing else.
    fn completes(&self, after: &str) -> Option<Vec<usize>> {
        let kept: Vec<&str> = self.kept.iter().map(String::as_str).collect();
        let places: Vec<_> = self.places.iter().map(|place| (&*place.now, &*place.want)).collect();
        Reading { kept: &kept, places: &places, done: Vec::new(), failed: HashSet::new() }.all(after)
    }

    /// The places that differ between the present text and `after`, with what they have there, if nothing but remaining
    /// places differs.
    fn touched(&self, text: &str, after: &str) -> Option<Vec<(usize, String)>> {
        let (old, new) = (Text::new(text), Text::new(after));
        let spans = self.spans(&old);
        let mut touched: Vec<(usize, Range<usize>)> = Vec::new();
        // How many lines more the new text has up to here.
        let (mut added, mut removed) = (0, 0);
        for hunk in diff::lines(&old, &new) {
            let place = fit(&old, &new, &hunk, &spans)?;
            let lines = spans[place].start + added - removed..spans[place].end + added - removed;
            added += hunk.new.len();
            removed += hunk.old.len();
            match touched.last_mut() {
                Some((last, span)) if *last == place => span.end = spans[place].end + added - removed,
                _ => touched.push((place, lines.start..spans[place].end + added - removed)),
            }
        }
        let piece = |lines: Range<usize>| {
            new.slice(new.line_start(lines.start)..new.line_start(lines.end)).into_owned()
        };
        let places: Vec<_> = touched.into_iter().map(|(place, lines)| (place, piece(lines))).collect();
        let mut copy = self.clone();
        for (place, then) in &places {
            copy.places[*place].now.clone_from(then);
        }
        (copy.text() == after).then_some(places)
    }

    /// The lines of each place in the present text.
    fn spans(&self, text: &Text) -> Vec<Range<usize>> {
        let mut at = 0;
        let mut spans = Vec::with_capacity(self.places.len());
        for (kept, place) in self.kept.iter().zip(&self.places) {
            let start = at + kept.len();
            at = start + place.now.len();
            spans.push(text.line_of(start)..last_line(text, at));
        }
        spans
    }
}

/// The line behind what ends at this offset, which is the end of a line or of the text.
fn last_line(text: &Text, end: usize) -> usize {
    let line = text.line_of(end);
    if end == text.len() && text.line_start(line) < end { line + 1 } else { line }
}

/// The place that a hunk lies in, as it is or moved over lines that are equal.
fn fit(old: &Text, new: &Text, hunk: &diff::LineHunk, spans: &[Range<usize>]) -> Option<usize> {
    let inside = |lines: &Range<usize>| {
        spans.iter().position(|span| span.start <= lines.start && lines.end <= span.end)
    };
    if let Some(place) = inside(&hunk.old) {
        return Some(place);
    }
    let (text, lines) = match (hunk.old.is_empty(), hunk.new.is_empty()) {
        (true, false) => (new, &hunk.new),
        (false, true) => (old, &hunk.old),
        _ => return None,
    };
    let moved = |by: usize, up: bool| {
        if up { hunk.old.start - by..hunk.old.end - by } else { hunk.old.start + by..hunk.old.end + by }
    };
    let equal = |a: usize, b: usize| with_break(text, a) == with_break(text, b);
    let (mut up, mut down) = (0, 0);
    while lines.start > up && hunk.old.start > up && equal(lines.start - up - 1, lines.end - up - 1) {
        up += 1;
        if let Some(place) = inside(&moved(up, true)) {
            return Some(place);
        }
    }
    while lines.end + down < text.line_count() && equal(lines.start + down, lines.end + down) {
        down += 1;
        if let Some(place) = inside(&moved(down, false)) {
            return Some(place);
        }
    }
    None
}

fn with_break(text: &Text, line: usize) -> std::borrow::Cow<'_, str> {
    text.slice(text.line_start(line)..text.line_end_with_break(line))
}

/// Whether `then` is on a shortest way from `now` to `want`, line by line, and not where it began.
fn between_lines(now: &str, then: &str, want: &str) -> bool {
    between(&lines(now), &lines(then), &lines(want))
}

/// Whether `then` is `now` with some of the runs of words done in which `want` differs, and nothing else.
fn has_words_done(now: &str, then: &str, want: &str) -> bool {
    let (mut kept, mut places) = (Vec::new(), Vec::new());
    let mut at = 0;
    for (old, new) in diff::words(now, want) {
        kept.push(&now[at..old.start]);
        at = old.end;
        places.push((&now[old], &want[new]));
    }
    kept.push(&now[at..]);
    let reading = Reading { kept: &kept, places: &places, done: Vec::new(), failed: HashSet::new() };
    reading.all(then).is_some_and(|done| !done.is_empty())
}

/// Reads a text from the front in which each place has either what stands there now or what is wanted there. That way it
/// does not matter at which of several equal places something was inserted.
struct Reading<'a> {
    /// What stays; one piece more than there are places.
    kept: &'a [&'a str],
    /// What stands in a place, and what is wanted.
    places: &'a [(&'a str, &'a str)],
    done: Vec<usize>,
    /// Places and what was left to read there, to no avail.
    failed: HashSet<(usize, usize)>,
}

impl Reading<'_> {
    /// The places that are done in this text and were not before; nothing if it has something else.
    fn all(mut self, text: &str) -> Option<Vec<usize>> {
        let rest = text.as_bytes().strip_prefix(self.kept[0].as_bytes())?;
        self.from(0, rest).then_some(self.done)
    }

    fn from(&mut self, at: usize, rest: &[u8]) -> bool {
        let Some((now, want)) = self.places.get(at) else { return rest.is_empty() };
        if self.failed.contains(&(at, rest.len())) {
            return false;
        }
        for (text, completes) in [(want, now != want), (now, false)] {
            let behind = rest.strip_prefix(text.as_bytes());
            let Some(behind) = behind.and_then(|behind| behind.strip_prefix(self.kept[at + 1].as_bytes()))
            else {
                continue;
            };
            let length = self.done.len();
            self.done.extend(completes.then_some(at));
            if self.from(at + 1, behind) {
                return true;
            }
            self.done.truncate(length);
        }
        self.failed.insert((at, rest.len()));
        false
    }
}

fn between(now: &[&str], then: &[&str], want: &[&str]) -> bool {
    let (Some(first), Some(second), Some(whole)) =
        (distance(now, then), distance(then, want), distance(now, want))
    else {
        return false;
    };
    first > 0 && first + second == whole
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// How many lines have to be removed and added to make one list of another.
fn distance(old: &[&str], new: &[&str]) -> Option<usize> {
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[front..], &new[front..]);
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - back], &new[..new.len() - back]);
    if old.len().saturating_mul(new.len()) > MAX_TABLE {
        return None;
    }
    let mut row = vec![0; new.len() + 1];
    for a in old {
        let mut diagonal = 0;
        for (at, b) in new.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if a == b { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    Some(old.len() + new.len() - 2 * row[new.len()])
}

#[cfg(test)]
mod tests;
