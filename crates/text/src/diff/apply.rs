//! A parsed diff applied to a text.

use std::ops::Range;

use thiserror::Error;

use super::{FileDiff, Hunk, Line, unified::split};
use crate::Text;

/// Why a diff does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ApplyError {
    /// The lines of a hunk are nowhere behind those of the hunk before.
    #[error("hunk {hunk}, counted from one, is about lines that the text does not have; make the diff anew")]
    NotFound {
        /// Which hunk.
        hunk: usize,
    },
}

/// How alike a line of the diff and one of the text have to be.
#[derive(Clone, Copy, PartialEq)]
enum Match {
    Exact,
    /// White space at the end does not count, and with it the way lines end.
    Loose,
}

/// Applies a diff. A hunk whose lines are not where it says is looked for, the nearest place first.
pub fn apply(diff: &FileDiff, text: &Text) -> Result<Text, ApplyError> {
    let content = text.to_string();
    let lines = split(&content);
    let mut out = String::with_capacity(content.len());
    // Up to where the text is done, and by how much the hunk before was off.
    let (mut done, mut shift) = (0, 0_isize);
    for (index, hunk) in diff.hunks.iter().enumerate() {
        let old: Vec<&str> = hunk.lines.iter().filter_map(Line::before).collect();
        let said = hunk.old_start.saturating_sub(usize::from(!old.is_empty()));
        let expected = said.saturating_add_signed(shift).clamp(done, lines.len());
        let not_found = ApplyError::NotFound { hunk: index + 1 };
        let (start, how) = find(&lines, &old, done, expected).ok_or(not_found)?;
        lines[done..start].iter().for_each(|line| out.push_str(line));
        done = start + old.len();
        shift = start.cast_signed() - said.cast_signed();
        let line_break = (how == Match::Loose).then(|| text.line_break()).filter(|end| end.ends_with('\n'));
        write_hunk(&mut out, hunk, &lines, start..done, line_break);
    }
    lines[done..].iter().for_each(|line| out.push_str(line));
    Ok(Text::from(out))
}

/// Where the lines are, at `from` or behind it and as near to `expected` as can be.
fn find(lines: &[&str], wanted: &[&str], from: usize, expected: usize) -> Option<(usize, Match)> {
    let last = lines.len().checked_sub(wanted.len())?;
    let fits = |start: usize, how| {
        start >= from && start <= last && wanted.iter().zip(&lines[start..]).all(|(a, b)| is_match(a, b, how))
    };
    for how in [Match::Exact, Match::Loose] {
        if fits(expected, how) {
            return Some((expected, how));
        }
    }
    for how in [Match::Exact, Match::Loose] {
        for far in 1..=lines.len() {
            let around = [expected.checked_sub(far), Some(expected + far)];
            if let Some(start) = around.into_iter().flatten().find(|start| fits(*start, how)) {
                return Some((start, how));
            }
        }
    }
    None
}

fn is_match(wanted: &str, line: &str, how: Match) -> bool {
    match how {
        Match::Exact => wanted == line.strip_suffix('\n').unwrap_or(line),
        Match::Loose => wanted.trim_end() == line.trim_end(),
    }
}

/// Writes what a hunk makes of the lines `at`; if it fitted loosely, added lines end as those of the text.
fn write_hunk(out: &mut String, hunk: &Hunk, lines: &[&str], at: Range<usize>, line_break: Option<&str>) {
    let begin = out.len();
    let mut kept = lines[at.clone()].iter();
    for line in &hunk.lines {
        match line {
            Line::Removed(_) => {
                kept.next();
            }
            Line::Context(_) => {
                let line = kept.next().expect("the hunk was found, so each of its old lines is there");
                ended(out);
                out.push_str(line);
            }
            Line::Added(text) => {
                ended(out);
                out.push_str(if line_break.is_some() { text.trim_end_matches('\r') } else { text });
                out.push_str(line_break.unwrap_or("\n"));
            }
        }
    }
    if at.end == lines.len() && out.len() > begin {
        let was_open = lines.last().is_some_and(|line| !line.ends_with('\n'));
        let says = hunk.old_no_newline || hunk.new_no_newline;
        let is_open = if says { hunk.new_no_newline } else { was_open };
        end_text(out, is_open, line_break.unwrap_or("\n"));
    }
}

/// Sees to it that the line before is ended: the last one of the text may not be.
fn ended(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

/// Sees to it that the text ends with a line break, or with none.
fn end_text(out: &mut String, is_open: bool, line_break: &str) {
    if !is_open {
        ended(out);
    } else if let Some(len) = out.strip_suffix(line_break).map(str::len) {
        out.truncate(len);
    }
}
