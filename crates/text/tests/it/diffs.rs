//! Differences by lines and by words.

use std::fmt::Write;

use nudge_text::{
    Text,
    diff::{self, LineHunk},
};
use proptest::{collection::vec, prelude::*};

use crate::naive::{self, lines_text, pick, short, text};

/// The lines with their breaks.
fn whole_lines(text: &str) -> Vec<&str> {
    naive::lines(text).into_iter().map(|[start, _, end]| &text[start..end]).collect()
}

/// Hunks are true, in order, and apart from each other.
fn check(old: &str, new: &str) {
    let (old_text, new_text) = (Text::new(old), Text::new(new));
    let hunks = diff::lines(&old_text, &new_text);
    let (old_lines, new_lines) = (whole_lines(old), whole_lines(new));
    let (mut old_at, mut new_at) = (0, 0);
    for (index, LineHunk { old, new }) in hunks.iter().enumerate() {
        assert!(!old.is_empty() || !new.is_empty());
        assert!(index == 0 || old.start > old_at, "there is a line in common between two hunks");
        assert_eq!(old_lines[old_at..old.start], new_lines[new_at..new.start]);
        (old_at, new_at) = (old.end, new.end);
    }
    assert_eq!(old_lines[old_at..], new_lines[new_at..]);
    assert_eq!(hunks.is_empty(), old == new);
    let edits = diff::edits(&old_text, &new_text);
    assert!(edits.fits(&old_text));
    assert_eq!(edits.apply(&old_text), new_text);
}

proptest! {
    #[test]
    fn any_two_texts(old in lines_text(), new in lines_text()) {
        check(&old, &new);
    }

    #[test]
    fn a_text_and_what_was_made_of_it(old in text(), picks in vec(pick(), 0..6)) {
        let new = naive::apply(&old, &naive::edits(&old, &picks));
        check(&old, &new);
    }

    /// Long enough for the ends that are in common to be left out.
    #[test]
    fn long_texts(lines in vec(0..40_u8, 300..600), picks in vec(pick(), 0..4)) {
        let old = lines.iter().fold(String::new(), |mut text, line| {
            let _ = writeln!(text, "{line}");
            text
        });
        let new = naive::apply(&old, &naive::edits(&old, &picks));
        check(&old, &new);
    }

    #[test]
    fn words_are_whole(old in text(), picks in vec(pick(), 0..3), other in short()) {
        for new in [naive::apply(&old, &naive::edits(&old, &picks)), other] {
            let (mut rebuilt, mut at, mut new_at) = (String::new(), 0, 0);
            for (from, to) in diff::words(&old, &new) {
                prop_assert_eq!(&old[at..from.start], &new[new_at..to.start]);
                prop_assert!(!from.is_empty() || !to.is_empty());
                rebuilt.push_str(&old[at..from.start]);
                rebuilt.push_str(&new[to.clone()]);
                (at, new_at) = (from.end, to.end);
            }
            rebuilt.push_str(&old[at..]);
            prop_assert_eq!(rebuilt, new);
        }
    }
}

#[test]
fn a_line_that_is_inserted_is_nothing_else() {
    let hunks = |old: &str, new: &str| {
        let hunks = diff::lines(&Text::new(old), &Text::new(new));
        hunks.into_iter().map(|hunk| (hunk.old, hunk.new)).collect::<Vec<_>>()
    };
    assert_eq!(hunks("a\nb\n", "a\nx\nb\n"), [(1..1, 1..2)]);
    assert_eq!(hunks("a\nb\n", "a\n"), [(1..2, 1..1)]);
    assert_eq!(hunks("a\nb\nc\n", "x\nb\ny\n"), [(0..1, 0..1), (2..3, 2..3)]);
    assert_eq!(hunks("a\n", "a\r\n"), [(0..1, 0..1)]);
    assert_eq!(hunks("", "a"), [(0..1, 0..1)]);
    assert_eq!(hunks("", ""), []);
}

/// The function as a whole was inserted, not the end of the one before and the beginning of another.
#[test]
fn a_hunk_slides_to_where_it_reads_well() {
    let old = "fn a() {\n    x\n}\n\nfn c() {\n    z\n}\n";
    let new = "fn a() {\n    x\n}\n\nfn b() {\n    y\n}\n\nfn c() {\n    z\n}\n";
    let hunks = diff::lines(&Text::new(old), &Text::new(new));
    assert_eq!(hunks, [LineHunk { old: 4..4, new: 4..8 }]);
}

#[test]
fn words_are_what_a_reader_would_mark() {
    let old = "let foo_bar = 12 + x;";
    let new = "let foo_baz = 12 + (y);";
    let marked: Vec<(&str, &str)> =
        diff::words(old, new).into_iter().map(|(from, to)| (&old[from], &new[to])).collect();
    assert_eq!(marked, [("foo_bar", "foo_baz"), ("x", "(y)")]);
}
