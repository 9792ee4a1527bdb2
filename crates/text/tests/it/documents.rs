//! Documents stay in step, or know that they do not.

use nudge_text::{Document, Encoding, OutOfSync, Point, TextChange};
use proptest::{collection::vec, prelude::*};

use crate::naive::{self, ENCODINGS, pick, text};

fn range(start: (u32, u32), end: (u32, u32), text: &str) -> TextChange {
    TextChange::Range {
        start: Point::new(start.0, start.1),
        end: Point::new(end.0, end.1),
        text: text.to_owned(),
    }
}

fn full(text: &str) -> TextChange {
    TextChange::Full(text.to_owned())
}

proptest! {
    /// One notification with many changes, told in each encoding: the same text, and edits that say the same.
    #[test]
    fn changes_follow_each_other(
        plain in text(),
        picks in vec((pick(), prop::bool::weighted(0.1)), 0..8),
    ) {
        for encoding in ENCODINGS {
            let mut document = Document::open(1, &plain);
            let before = document.text().clone();
            let mut expected = plain.clone();
            let mut changes = Vec::new();
            for (pick, is_full) in &picks {
                let range = naive::range(&expected, pick);
                // A place between the two halves of a break cannot be told.
                let told = [range.start, range.end].map(|at| naive::point(&expected, at, encoding));
                let [start, end] = told.map(|at| naive::offset(&expected, at, encoding).unwrap());
                expected.replace_range(start..end, &pick.2);
                changes.push(if *is_full {
                    full(&expected)
                } else {
                    TextChange::Range { start: told[0], end: told[1], text: pick.2.clone() }
                });
            }
            let edits = document.change(2, &changes, encoding).unwrap();
            prop_assert_eq!(document.text().to_string(), expected.as_str());
            prop_assert!(edits.fits(&before));
            prop_assert_eq!(edits.apply(&before).to_string(), expected);
            prop_assert_eq!(document.version(), 2);
        }
    }
}

#[test]
fn a_character_past_the_end_is_the_end_of_the_line() {
    let mut document = Document::open(1, "ab\r\ncd");
    document.change(2, &[range((0, 99), (1, 0), "-")], Encoding::Utf16).unwrap();
    assert_eq!(document.text().to_string(), "ab-cd");
}

#[test]
fn the_line_past_the_last_is_the_end_of_the_document() {
    let mut document = Document::open(1, "ab\ncd");
    document.change(2, &[range((0, 0), (2, 0), "x")], Encoding::Utf16).unwrap();
    assert_eq!(document.text().to_string(), "x");
}

#[test]
fn what_cannot_be_made_leaves_the_text_alone() {
    let outside = |line| OutOfSync::RangeOutside { line, lines: 2 };
    let cases = [
        (2, range((2, 1), (2, 1), "x"), outside(2)),
        (2, range((0, 0), (3, 0), "x"), outside(3)),
        (2, range((1, 1), (0, 0), "x"), OutOfSync::RangeReversed),
        (1, range((0, 0), (0, 0), "x"), OutOfSync::VersionNotNewer { have: 1, got: 1 }),
        (0, full("x"), OutOfSync::VersionNotNewer { have: 1, got: 0 }),
    ];
    for (version, change, expected) in cases {
        let mut document = Document::open(1, "ab\ncd");
        let good = range((0, 0), (0, 0), "y");
        assert_eq!(document.change(version, &[good.clone(), change], Encoding::Utf16), Err(expected));
        assert_eq!(document.text().to_string(), "ab\ncd");
        assert_eq!((document.version(), document.in_sync()), (1, false));
        assert_eq!(document.change(3, &[good], Encoding::Utf16), Err(OutOfSync::NotInSync));
    }
}

#[test]
fn a_full_text_heals() {
    let mut document = Document::open(1, "ab\ncd");
    document.change(2, &[range((9, 0), (9, 0), "x")], Encoding::Utf16).unwrap_err();
    let changes = [range((9, 0), (9, 0), "x"), full("new\n"), range((1, 0), (1, 0), "end")];
    let before = document.text().clone();
    let edits = document.change(2, &changes, Encoding::Utf16).unwrap();
    assert_eq!(document.text().to_string(), "new\nend");
    assert_eq!(edits.apply(&before), *document.text());
    assert!(document.in_sync());
}

#[test]
fn a_full_text_is_compared_with_the_one_before() {
    let before = naive::numbered(1000);
    let after = before.replace("line 17\n", "line 17!\n").replace("line 900\n", "");
    let mut document = Document::open(1, &before);
    let edits = document.change(2, &[full(&after)], Encoding::Utf16).unwrap();
    let texts: Vec<(&str, &str)> =
        edits.iter().map(|edit| (&before[edit.range.clone()], edit.text.as_str())).collect();
    assert_eq!(texts, [("", "!"), ("line 900\n", "")]);
}

#[test]
fn many_changes_in_one_notification_are_no_burden() {
    let mut document = Document::open(1, &"line\n".repeat(5000));
    let changes: Vec<TextChange> = (0..5000).rev().map(|line| range((line, 0), (line, 0), "// ")).collect();
    let edits = document.change(2, &changes, Encoding::Utf16).unwrap();
    assert_eq!(edits.len(), 5000);
    assert_eq!(document.text().to_string(), "// line\n".repeat(5000));
}
