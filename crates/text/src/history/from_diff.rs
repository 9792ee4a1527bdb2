//! The history a unified diff tells.

use std::sync::Arc;

use super::LineChange;
use crate::{
    Text,
    diff::{self, DiffHunk, DiffLine},
};

/// How many lines above and below are told.
const NEIGHBOURS: usize = 3;

/// The changes of a unified diff, for clients that tell no edits: one for each run of changed lines.
///
/// The lines after are looked for in the text as it is `now`; where they are not found, the diff is believed.
/// A text that is not a diff has no changes.
pub fn from_diff(uri: &Arc<str>, diff: &str, now: Option<&Text>) -> Vec<LineChange> {
    let files = diff::parse(diff).unwrap_or_default();
    let mut changes = Vec::new();
    for hunk in files.iter().flat_map(|file| &file.hunks) {
        add_hunk(&mut changes, uri, hunk, now);
    }
    changes
}

fn add_hunk(changes: &mut Vec<LineChange>, uri: &Arc<str>, hunk: &DiffHunk, now: Option<&Text>) {
    let has_new = hunk.lines.iter().any(|line| line.after().is_some());
    // The line after that comes next, counted from zero.
    let mut line = hunk.new_start.saturating_sub(usize::from(has_new));
    let mut above: Vec<&str> = Vec::new();
    let mut rest = hunk.lines.as_slice();
    while let Some(first) = rest.first() {
        if let DiffLine::Context(text) = first {
            above.push(trimmed(text));
            line = line.saturating_add(1);
            rest = &rest[1..];
            continue;
        }
        let len = rest.iter().take_while(|line| !matches!(line, DiffLine::Context(_))).count();
        let (run, tail) = rest.split_at(len);
        let old: Vec<&str> = run.iter().filter_map(DiffLine::before).map(trimmed).collect();
        let new: Vec<&str> = run.iter().filter_map(DiffLine::after).map(trimmed).collect();
        let below: Vec<&str> =
            tail.iter().filter_map(DiffLine::after).map(trimmed).take(NEIGHBOURS).collect();
        let above_now = &above[above.len().saturating_sub(NEIGHBOURS)..];
        let place = now.map_or(line, |now| located(now, line, above_now, &new, &below));
        if old != new {
            changes.push(LineChange {
                above: above_now.iter().map(|&line| line.to_owned()).collect(),
                below: below.iter().map(|&line| line.to_owned()).collect(),
                ..LineChange::of_lines(uri, &old, &new, place, 0, false)
            });
        }
        line = line.saturating_add(new.len());
        above.extend(&new);
        rest = tail;
    }
}

/// A line of a document has no carriage return at its end.
fn trimmed(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

/// Where the lines are now: at the place told, or at the nearest one, first of all with the lines around them.
fn located(now: &Text, told: usize, above: &[&str], lines: &[&str], below: &[&str]) -> usize {
    let count = now.line_count();
    let told = told.min(count - 1);
    let is_at = |start: usize, wanted: &[&str]| {
        start + wanted.len() <= count
            && wanted.iter().enumerate().all(|(at, line)| now.line(start + at) == *line)
    };
    if is_at(told, lines) && !lines.is_empty() {
        return told;
    }
    let whole: Vec<&str> = above.iter().chain(lines).chain(below).copied().collect();
    for (wanted, before) in [(whole.as_slice(), above.len()), (lines, 0)] {
        if wanted.iter().all(|line| line.trim().is_empty()) {
            continue;
        }
        let expected = told.saturating_sub(before);
        let around = (0..count).flat_map(|far| [expected.checked_sub(far), expected.checked_add(far)]);
        if let Some(start) = around.flatten().find(|start| is_at(*start, wanted)) {
            return start + before;
        }
    }
    told
}
