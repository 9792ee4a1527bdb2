//! A change that is still being made.

use std::{borrow::Cow, ops::Range, sync::Arc};

use super::{LineChange, runs::LineRun};
use crate::{
    Text,
    diff::split_lines,
    edits::{common_prefix, common_suffix},
};

/// A change with more bytes than this, before or after, is not told.
const LARGEST: usize = 64 * 1024;

/// No key puts more bytes than this, with the blanks that an editor adds.
const LONGEST_KEY: usize = 120;

/// How many lines above and below are told.
const NEIGHBOURS: usize = 3;

/// After a pause longer than this, in milliseconds, only an edit right where the last one was goes on with it.
const PAUSE: u64 = 30_000;

/// Lines of a document as it was, and what stands there now. Nothing is copied until it is asked for.
#[derive(Debug, Clone)]
pub(super) struct OpenLines {
    pub(super) uri: Arc<str>,
    before: Text,
    before_lines: Range<usize>,
    after: Text,
    after_lines: Range<usize>,
    /// The bytes of `after` that the last edit put there.
    last: Range<usize>,
    time: u64,
}

impl OpenLines {
    pub(super) fn new(uri: &Arc<str>, before: &Text, run: &LineRun, after: &Text, time: u64) -> Self {
        Self {
            uri: uri.clone(),
            before: before.clone(),
            before_lines: run.old.clone(),
            after: after.clone(),
            after_lines: run.new.clone(),
            last: run.new_bytes.clone(),
            time,
        }
    }

    /// Whether a run of lines of the text as it is now belongs to this change. `within` allows no line outside.
    pub(super) fn owns(&self, run: &LineRun, time: u64, within: bool) -> bool {
        let (lines, old) = (&self.after_lines, &run.old);
        let overlaps = old.start < lines.end && lines.start < old.end;
        let inserts = old.is_empty() && lines.start <= old.start && old.start <= lines.end;
        // One line deleted after the other.
        let deletes =
            lines.is_empty() && run.new.is_empty() && old.start <= lines.end && lines.start <= old.end;
        let is_inside = lines.start <= old.start && old.end <= lines.end;
        if !(overlaps || inserts || deletes) || within && !is_inside {
            return false;
        }
        let paused = time.saturating_sub(self.time) > PAUSE;
        let same_place = run.old_bytes.start <= self.last.end && self.last.start <= run.old_bytes.end;
        (!paused || same_place) && !self.is_revised(run)
    }

    /// Whether a run replaces something on another line than the last edit where several lines are new: whoever wrote them
    /// has finished and looks them over.
    fn is_revised(&self, run: &LineRun) -> bool {
        let is_new = self.after_lines.len() > self.before_lines.len() + 1;
        let line = self.after.line_of(self.last.end);
        is_new && !run.old_bytes.is_empty() && !run.old.contains(&line)
    }

    /// Goes on with a run that this change owns.
    pub(super) fn extend(&mut self, run: &LineRun, after: &Text, time: u64) {
        let above = self.after_lines.start.saturating_sub(run.old.start);
        let below = run.old.end.saturating_sub(self.after_lines.end);
        // The lines that come in stood unchanged around the region until now.
        self.before_lines.start = self.before_lines.start.saturating_sub(above);
        self.before_lines.end += below;
        let start = self.after_lines.start - above;
        let rest = self.after_lines.end + below - run.old.end;
        self.after_lines = (start + run.new.start).saturating_sub(run.old.start)..run.new.end + rest;
        self.last = run.new_bytes.clone();
        self.after = after.clone();
        self.time = time;
    }

    /// Whether the last edit put several words there. An editor that indents a new line has put none.
    fn is_pasted(&self) -> bool {
        self.last.len() > LONGEST_KEY
            || self.after.slice(self.last.clone()).trim().contains(char::is_whitespace)
    }

    /// The change, if it comes to something.
    pub(super) fn change(&self, open: bool) -> Option<LineChange> {
        let old_text = Part::of(&self.before, &self.before_lines)?;
        let new_text = Part::with_neighbours(&self.after, &self.after_lines)?;
        let (old, new) = (old_text.lines(), new_text.lines());
        let end = new.len() - new_text.below;
        let (before, after) = (old.as_slice(), &new[new_text.above..end]);
        let front = before.iter().zip(after).take_while(|(a, b)| a == b).count();
        let (before, after) = (&before[front..], &after[front..]);
        let back = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
        let (before, after) = (&before[..before.len() - back], &after[..after.len() - back]);
        if before.is_empty() && after.is_empty() {
            return None;
        }
        let (above, below) = (&new[..new_text.above + front], &new[end - back..]);
        let owned = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect();
        Some(LineChange {
            above: owned(&above[above.len().saturating_sub(NEIGHBOURS)..]),
            below: owned(&below[..below.len().min(NEIGHBOURS)]),
            pasted: self.is_pasted(),
            ..LineChange::of_lines(&self.uri, before, after, self.after_lines.start + front, self.time, open)
        })
    }
}

/// Some lines of a text, in one piece.
struct Part<'a> {
    text: Cow<'a, str>,
    /// Whether the last line of the text is among them, which has no break.
    last: bool,
    /// How many of them are neighbours.
    above: usize,
    below: usize,
}

impl<'a> Part<'a> {
    /// The lines, unless they are too large.
    fn of(text: &'a Text, lines: &Range<usize>) -> Option<Self> {
        let bytes = text.line_start(lines.start)..text.line_start(lines.end);
        let last = lines.end >= text.line_count() && !lines.is_empty();
        let is_large = bytes.len() > LARGEST;
        (!is_large).then(|| Self { text: text.slice(bytes), last, above: 0, below: 0 })
    }

    /// The lines with those around them, or without if those are large.
    fn with_neighbours(text: &'a Text, lines: &Range<usize>) -> Option<Self> {
        let count = text.line_count();
        let (start, end) = (lines.start.min(count), lines.end.min(count));
        let wide = start.saturating_sub(NEIGHBOURS)..(end + NEIGHBOURS).min(count);
        let part = Self::of(text, &wide);
        let part = part.map(|part| Self { above: start - wide.start, below: wide.end - end, ..part });
        part.or_else(|| Self::of(text, lines))
    }

    /// The lines without their breaks.
    fn lines(&self) -> Vec<&str> {
        split_lines(&self.text, self.last).map(|line| line.trim_end_matches(['\r', '\n'])).collect()
    }
}

impl LineChange {
    /// A change of these lines, without its neighbours.
    pub(super) fn of_lines<S: AsRef<str>>(
        uri: &Arc<str>,
        before: &[S],
        after: &[S],
        line: usize,
        time: u64,
        open: bool,
    ) -> Self {
        let (old, new) = (joined(before), joined(after));
        let front = common_prefix(&old, &new);
        let back = common_suffix(&old[front..], &new[front..]);
        Self {
            uri: uri.clone(),
            touched: front..new.len() - back,
            before: old,
            after: new,
            before_lines: before.len(),
            after_lines: after.len(),
            line,
            above: Vec::new(),
            below: Vec::new(),
            time,
            open,
            pasted: false,
        }
    }
}

fn joined<S: AsRef<str>>(lines: &[S]) -> String {
    let mut whole = String::new();
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            whole.push('\n');
        }
        whole.push_str(line.as_ref());
    }
    whole
}
