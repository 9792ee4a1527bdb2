//! The history against a model that keeps every text.

use std::sync::Arc;

use nudge_text::{
    Text,
    history::{EditHistory, LineChange},
};
use proptest::{collection::vec, prelude::*};

use crate::naive::{self, Pick, pick, text};

/// The lines with a change made to them.
fn patched(lines: &[String], change: &LineChange) -> Option<Vec<String>> {
    let split =
        |text: &str, count: usize| text.split('\n').take(count).map(str::to_owned).collect::<Vec<_>>();
    let (before, after) =
        (split(&change.before, change.before_lines), split(&change.after, change.after_lines));
    let end = change.line + change.before_lines;
    let fits = before.len() == change.before_lines && lines.get(change.line..end)? == before;
    fits.then(|| [&lines[..change.line], &after, &lines[end..]].concat())
}

fn lines(text: &str) -> Vec<String> {
    naive::contents(text).into_iter().map(str::to_owned).collect()
}

/// Lines of letters that end with `\n` only, and a pick whose text is like that.
fn plain() -> impl Strategy<Value = String> {
    "([ab]{0,3}\n){0,12}[ab]{0,2}"
}

fn plain_pick() -> impl Strategy<Value = Pick> {
    (any::<u16>(), 0..6_u16, "[xy\n]{0,4}")
}

proptest! {
    /// The change says how the lines before become the lines after.
    #[test]
    fn one_edit_is_told_in_full(before in text(), pick in pick()) {
        let edits = naive::edits(&before, &[pick]);
        let after = naive::apply(&before, &edits);
        let mut history = EditHistory::default();
        history.record(&"x".into(), &Text::new(&before), &edits, &Text::new(&after), 1);
        match history.changes().as_slice() {
            [] => prop_assert_eq!(lines(&before), lines(&after)),
            [change] => prop_assert_eq!(patched(&lines(&before), change), Some(lines(&after))),
            more => {
                // A long replacement that was taken apart: from the back, so that lines stay true.
                let mut now = lines(&after);
                for change in more.iter().rev() {
                    let back = LineChange {
                        before: change.after.clone(), before_lines: change.after_lines,
                        after: change.before.clone(), after_lines: change.before_lines,
                        ..change.clone()
                    };
                    now = patched(&now, &back).expect("the lines after are there");
                }
                prop_assert_eq!(now, lines(&before));
            }
        }
    }

    /// At any moment the newest change leads from the text at its beginning to the text now.
    #[test]
    fn joined_edits_are_told_in_full(start in text(), picks in vec(pick(), 1..12)) {
        let uri: Arc<str> = "x".into();
        let mut history = EditHistory::default();
        let (mut plain, mut now) = (start.clone(), Text::new(&start));
        // The text when the newest change began.
        let mut begin = lines(&start);
        for (time, pick) in (0..).zip(&picks) {
            let edits = naive::edits(&plain, std::slice::from_ref(pick));
            let after = naive::apply(&plain, &edits);
            let next = edits.apply(&now);
            history.record(&uri, &now, &edits, &next, time);
            let (before_lines, after_lines) = (lines(&plain), lines(&after));
            let changes = history.changes();
            let open: Vec<&LineChange> = changes.iter().filter(|change| change.open).collect();
            match open.as_slice() {
                // Comes to nothing: either since long ago or since this edit.
                [] => prop_assert!(begin == after_lines || before_lines == after_lines),
                [change] => {
                    let went_on = patched(&begin, change).as_ref() == Some(&after_lines);
                    if !went_on {
                        prop_assert_eq!(patched(&before_lines, change), Some(after_lines.clone()));
                        begin = before_lines;
                    }
                    let text = now_lines(&after_lines, change.line, change.after_lines);
                    prop_assert_eq!(text, change.after.clone());
                }
                _ => begin = before_lines,
            }
            (plain, now) = (after, next);
        }
    }

    /// A line that stays keeps its name, and the history knows where it went.
    #[test]
    fn lines_are_followed(start in plain(), picks in vec(plain_pick(), 1..12)) {
        let uri: Arc<str> = "x".into();
        let mut history = EditHistory::default();
        let mut now = start.clone();
        let mut names: Vec<usize> = (0..lines(&start).len()).collect();
        let mut fresh = names.len();
        // For each closed change, the name of its line.
        let mut marked: Vec<Option<usize>> = Vec::new();
        for pick in &picks {
            let edits = naive::edits(&now, std::slice::from_ref(pick));
            let after = naive::apply(&now, &edits);
            history.record(&uri, &Text::new(&now), &edits, &Text::new(&after), 0);
            history.close_open();
            if let Some(edit) = edits.trimmed(&Text::new(&now)).iter().next() {
                names = renamed(&now, &after, &names, edit, &mut fresh);
            }
            now = after;
            let changes = history.changes();
            if changes.len() > marked.len() {
                marked.push(changes.last().and_then(|change| names.get(change.line)).copied());
            }
            for (change, name) in changes.iter().zip(&marked) {
                let place = names.iter().position(|other| Some(*other) == *name);
                prop_assert!(place.is_none_or(|place| place == change.line), "{:?} is at {:?}", change, place);
            }
        }
    }

    #[test]
    fn edits_at_many_places_are_told_in_full(before in text(), picks in vec(pick(), 0..6)) {
        let edits = naive::edits(&before, &picks);
        let after = naive::apply(&before, &edits);
        let mut history = EditHistory::default();
        history.record(&"x".into(), &Text::new(&before), &edits, &Text::new(&after), 1);
        let mut lines_now = lines(&before);
        for change in history.changes() {
            // Those above are made already, so the line is that of the text after.
            lines_now = patched(&lines_now, &change).expect("the lines before are there");
        }
        prop_assert_eq!(lines_now, lines(&after));
    }

    /// Texts that have nothing to do with the edits: no sense, but no panic either.
    #[test]
    fn nonsense_is_harmless(texts in vec(text(), 3), picks in vec(pick(), 1..6)) {
        let mut history = EditHistory::with_capacity(2);
        for (turn, pick) in picks.iter().enumerate() {
            let edits = naive::edits(&texts[turn % 3], std::slice::from_ref(pick));
            history.record(&"x".into(), &Text::new(&texts[(turn + 1) % 3]), &edits, &Text::new(&texts[(turn + 2) % 3]), 0);
            prop_assert!(history.changes().len() <= 2);
        }
    }
}

fn now_lines(lines: &[String], start: usize, count: usize) -> String {
    lines[start..start + count].join("\n")
}

/// The names of the lines after an edit: those it does not touch keep theirs.
fn renamed(
    before: &str,
    after: &str,
    names: &[usize],
    edit: &nudge_text::Edit,
    fresh: &mut usize,
) -> Vec<usize> {
    let new_end = edit.range.start + edit.text.len();
    let is_break = |text: &str, at: usize| at == text.len() || text.as_bytes()[at] == b'\n';
    let is_start = |text: &str, at: usize| at == 0 || text.as_bytes()[at - 1] == b'\n';
    let old_lines = naive::lines(before);
    let stays_above = |[_, end, _]: &[usize; 3]| {
        *end < edit.range.start || *end == edit.range.start && is_break(before, *end) && is_break(after, *end)
    };
    let stays_below = |[start, ..]: &[usize; 3]| {
        *start > edit.range.end
            || *start == edit.range.end && is_start(before, *start) && is_start(after, new_end)
    };
    let above = old_lines.iter().take_while(|line| stays_above(line)).count();
    let count = naive::lines(after).len();
    let below =
        old_lines[above..].iter().rev().take_while(|line| stays_below(line)).count().min(count - above);
    let mut new = names[..above].to_vec();
    while new.len() < count - below {
        new.push(*fresh);
        *fresh += 1;
    }
    new.extend(&names[names.len() - below..]);
    new
}
