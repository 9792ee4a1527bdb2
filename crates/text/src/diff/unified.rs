//! Unified diffs, written.

use std::fmt::Write;

use super::lines::{LineHunk, compare};
use crate::Text;

/// The difference as a unified diff of one file, with `context` lines around what differs; empty if nothing does.
///
/// As in all unified diffs a line ends at its line feed. A carriage return before it belongs to the line.
pub fn unified(old: &Text, new: &Text, path: &str, context: usize) -> String {
    if old == new {
        return String::new();
    }
    let (old, new) = (old.to_string(), new.to_string());
    let (old, new) = (split(&old), split(&new));
    let hunks = compare(old.iter().copied(), new.iter().copied());
    let mut out = format!("--- a/{path}\n+++ b/{path}\n");
    for group in grouped(&hunks, context) {
        write_group(&mut out, group, &old, &new, context);
    }
    out
}

/// The lines with their line feeds.
pub(super) fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Hunks that are close enough for their context to meet are printed as one.
fn grouped(hunks: &[LineHunk], context: usize) -> impl Iterator<Item = &[LineHunk]> {
    hunks.chunk_by(move |a, b| b.old.start - a.old.end <= context.saturating_mul(2))
}

fn write_group(out: &mut String, group: &[LineHunk], old: &[&str], new: &[&str], context: usize) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let above = first.old.start.min(context);
    let below = (old.len() - last.old.end).min(context);
    let (old_start, new_start) = (first.old.start - above, first.new.start - above);
    let (old_end, new_end) = (last.old.end + below, last.new.end + below);
    let _ = writeln!(
        out,
        "@@ -{} +{} @@",
        extent(old_start, old_end - old_start),
        extent(new_start, new_end - new_start)
    );
    let mut at = old_start;
    for hunk in group {
        write_lines(out, ' ', &old[at..hunk.old.start]);
        write_lines(out, '-', &old[hunk.old.clone()]);
        write_lines(out, '+', &new[hunk.new.clone()]);
        at = hunk.old.end;
    }
    write_lines(out, ' ', &old[at..old_end]);
}

fn extent(start: usize, len: usize) -> String {
    match len {
        // Without lines, the number is that of the line before.
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        _ => format!("{},{len}", start + 1),
    }
}

fn write_lines(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}
