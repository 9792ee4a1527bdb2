//! Runs of lines that edits change.

use std::ops::Range;

use crate::{Edit, Edits, Text, diff};

/// From how many lines on a replacement of both sides is compared line by line, as when a formatter sends all of a text.
const COMPARED: usize = 16;

/// Lines that are replaced by others, and where in them the edit was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineRun {
    /// The lines before.
    pub(super) old: Range<usize>,
    /// The lines after.
    pub(super) new: Range<usize>,
    /// The replaced bytes.
    pub(super) old_bytes: Range<usize>,
    /// The bytes in their place.
    pub(super) new_bytes: Range<usize>,
}

/// The runs of lines that edits change, in order. Lines that an edit only touches at their edge do not belong.
pub(super) fn runs(before: &Text, edits: &Edits, after: &Text) -> Vec<LineRun> {
    let mut runs: Vec<LineRun> = Vec::new();
    for (edit, start) in fine(before, edits).with_new_starts() {
        let run = match runs.is_empty().then(|| inside_line(before, edit)).flatten() {
            Some(run) => run,
            None => run(before, after, &edit.range, start..start + edit.text.len()),
        };
        match runs.last_mut() {
            Some(last) if run.old.start <= last.old.end || run.new.start <= last.new.end => last.join(&run),
            _ => runs.push(run),
        }
    }
    runs
}

/// Where a line is after the runs.
pub(super) fn mapped(runs: &[LineRun], line: usize) -> usize {
    let mut mapped = line;
    for run in runs {
        if line >= run.old.end {
            mapped = run.new.end + (line - run.old.end);
        } else if line >= run.old.start {
            return run.new.start + (line - run.old.start).min(run.new.len().saturating_sub(1));
        } else {
            break;
        }
    }
    mapped
}

impl LineRun {
    fn join(&mut self, other: &Self) {
        self.old.end = self.old.end.max(other.old.end);
        self.new.end = self.new.end.max(other.new.end);
        self.old_bytes.end = other.old_bytes.end;
        self.new_bytes.end = other.new_bytes.end;
    }
}

/// The edits, with nothing in them that stays as it was.
fn fine(before: &Text, edits: &Edits) -> Edits {
    let touches = edits.as_slice().windows(2).any(|pair| pair[0].range.end == pair[1].range.start);
    // What touches is one edit: each by itself would be looked at in the light of the other's text.
    let trimmed =
        if touches { edits.compose(&Edits::default()).trimmed(before) } else { edits.trimmed(before) };
    if !trimmed.iter().any(|edit| is_long(before, edit)) {
        return trimmed;
    }
    let mut fine = Edits::default();
    for edit in &trimmed {
        if !is_long(before, edit) {
            fine.push(edit.clone());
            continue;
        }
        let start = edit.range.start;
        let old = Text::from(before.slice(edit.range.clone()).into_owned());
        for part in &diff::edits(&old, &Text::new(&edit.text)) {
            fine.push(Edit::new(start + part.range.start..start + part.range.end, part.text.as_str()));
        }
    }
    fine
}

fn is_long(before: &Text, edit: &Edit) -> bool {
    edit.range.len().min(edit.text.len()) >= COMPARED
        && before.line_of(edit.range.end) - before.line_of(edit.range.start) >= COMPARED
        && edit.text.bytes().filter(|byte| matches!(byte, b'\n' | b'\r')).nth(COMPARED).is_some()
}

/// The line of an edit that neither adds nor removes a line break, as most keystrokes: nothing else has to be looked at.
fn inside_line(before: &Text, edit: &Edit) -> Option<LineRun> {
    let Range { start, end } = edit.range;
    let has_break =
        [&edit.text, &*before.slice(start..end)].into_iter().any(|text| text.contains(['\n', '\r']));
    let joins_break = before.byte(end) == Some(b'\n') && before.byte_before(start) == Some(b'\r');
    if has_break || joins_break {
        return None;
    }
    let line = before.line_of(start);
    let lines = line..line + 1;
    let new_bytes = start..start + edit.text.len();
    Some(LineRun { old: lines.clone(), new: lines, old_bytes: start..end, new_bytes })
}

/// The lines of one edit.
fn run(before: &Text, after: &Text, old_bytes: &Range<usize>, new_bytes: Range<usize>) -> LineRun {
    // An edge inside a line break is moved out of it, on both sides.
    let front = before.splits_break(old_bytes.start) || after.splits_break(new_bytes.start);
    let back = before.splits_break(old_bytes.end) || after.splits_break(new_bytes.end);
    let start = |bytes: &Range<usize>| bytes.start.saturating_sub(usize::from(front));
    let end = |bytes: &Range<usize>| bytes.end + usize::from(back);
    let (old_start, old_end) = (start(old_bytes), end(old_bytes));
    let (new_start, new_end) = (start(&new_bytes), end(&new_bytes));
    let mut old = before.line_of(old_start)..before.line_of(old_end) + 1;
    let mut new = after.line_of(new_start)..after.line_of(new_end) + 1;
    if before.line_end(old.start) == old_start && after.line_end(new.start) == new_start {
        // Begins behind a line that stays.
        old.start += 1;
        new.start += 1;
    }
    let is_last_whole = before.line_start(old.end - 1) == old_end && after.line_start(new.end - 1) == new_end;
    if is_last_whole && !old.is_empty() && !new.is_empty() {
        old.end -= 1;
        new.end -= 1;
    }
    LineRun { old, new, old_bytes: old_bytes.clone(), new_bytes }
}
