//! The laws of edits.

use nudge_text::{Edit, Edits, EditsError, InsertBias, Text, diff};
use proptest::{collection::vec, prelude::*};

use crate::naive::{self, pick, short, text};

proptest! {
    #[test]
    fn applying_is_what_it_is_for_strings(plain in text(), picks in vec(pick(), 0..6)) {
        let edits = naive::edits(&plain, &picks);
        let text = Text::new(&plain);
        prop_assert!(edits.fits(&text));
        prop_assert_eq!(edits.apply(&text).to_string(), naive::apply(&plain, &edits));
    }

    #[test]
    fn composed_edits_do_what_both_do(
        plain in text(),
        first in vec(pick(), 0..6),
        second in vec(pick(), 0..6),
        third in vec(pick(), 0..3),
    ) {
        let start = Text::new(&plain);
        let first = naive::edits(&plain, &first);
        let middle = naive::apply(&plain, &first);
        let second = naive::edits(&middle, &second);
        let end = naive::apply(&middle, &second);
        let third = naive::edits(&end, &third);
        let both = first.compose(&second);
        prop_assert!(both.fits(&start));
        prop_assert_eq!(both.apply(&start).to_string(), end);
        prop_assert_eq!(both.compose(&third), first.compose(&second.compose(&third)));
        prop_assert_eq!(first.compose(&Edits::default()).apply(&start).to_string(), middle.as_str());
        let undone = first.compose(&diff::edits(&Text::new(&middle), &start)).trimmed(&start);
        prop_assert_eq!(undone.apply(&start).to_string(), plain);
    }

    #[test]
    fn composing_and_mapping_what_does_not_fit_is_harmless(
        first in vec((0..20_usize, 0..20_usize, short()), 0..4),
        second in vec((0..20_usize, 0..20_usize, short()), 0..4),
        plain in text(),
    ) {
        let any = |edits: Vec<(usize, usize, String)>| {
            Edits::new(edits.into_iter().map(|(start, end, text)| Edit::new(start..end, text)).collect())
        };
        if let (Ok(first), Ok(second)) = (any(first), any(second)) {
            let text = Text::new(&plain);
            let both = first.compose(&second);
            both.apply(&text);
            both.trimmed(&text);
            both.map(7, InsertBias::After);
        }
    }

    #[test]
    fn places_keep_their_order_and_their_text(plain in text(), picks in vec(pick(), 0..6)) {
        let edits = naive::edits(&plain, &picks);
        let after = naive::apply(&plain, &edits);
        let mut last = [0; 2];
        for offset in 0..=plain.len() {
            let mapped = [InsertBias::Before, InsertBias::After].map(|bias| edits.map(offset, bias));
            prop_assert!(mapped[0] <= mapped[1] && mapped[1] <= after.len());
            prop_assert!(last[0] <= mapped[0] && last[1] <= mapped[1]);
            last = mapped;
            let is_free = edits.iter().all(|edit| offset < edit.range.start || edit.range.end < offset);
            if is_free && offset < plain.len() {
                // It stands before the same byte as ever.
                prop_assert_eq!(mapped[0], mapped[1]);
                prop_assert_eq!(after.as_bytes()[mapped[0]], plain.as_bytes()[offset]);
            }
        }
        for edit in &edits {
            if !edit.range.is_empty() {
                let mapped = edits.map_range(edit.range.clone());
                prop_assert_eq!(&after[mapped], edit.text.as_str());
            }
        }
    }

    #[test]
    fn trimmed_edits_do_the_same(plain in text(), picks in vec(pick(), 0..6)) {
        let edits = naive::edits(&plain, &picks);
        let before = Text::new(&plain);
        let after = edits.apply(&before);
        let trimmed = edits.trimmed(&before);
        prop_assert!(trimmed.fits(&before));
        prop_assert_eq!(trimmed.apply(&before), after);
        prop_assert_eq!(trimmed.trimmed(&before), trimmed.clone());
        for edit in &trimmed {
            let is_own = |at: usize| edits.iter().any(|edit| edit.range.start == at || edit.range.end == at);
            for at in [edit.range.start, edit.range.end] {
                let splits = plain[..at].ends_with('\r') && plain[at..].starts_with('\n');
                prop_assert!(!splits || is_own(at));
            }
        }
    }
}

#[test]
fn edits_are_sorted_and_insertions_joined_in_the_order_given() {
    let edits = Edits::new(vec![
        Edit::new(4..6, "X"),
        Edit::new(2..2, "b"),
        Edit::new(2..4, ""),
        Edit::new(2..2, "a"),
        Edit::new(0..0, ""),
    ]);
    let expected = [Edit::new(2..2, "ba"), Edit::new(2..4, ""), Edit::new(4..6, "X")];
    assert_eq!(edits.as_ref().map(Edits::as_slice), Ok(&expected[..]));
}

#[test]
fn overlap_and_reversal_are_refused() {
    let overlap = Edits::new(vec![Edit::new(3..5, ""), Edit::new(1..4, "")]);
    assert_eq!(overlap, Err(EditsError::Overlap { end: 4, start: 3 }));
    #[expect(clippy::reversed_empty_ranges, reason = "that is the point")]
    let reversed = Edits::new(vec![Edit::new(3..2, "")]);
    assert_eq!(reversed, Err(EditsError::Reversed { start: 3, end: 2 }));
}

#[test]
fn a_place_at_an_insertion_goes_where_it_is_told() {
    let edits = Edits::new(vec![Edit::new(2..2, "xyz"), Edit::new(5..7, "-")]).unwrap();
    let map = |offset| [edits.map(offset, InsertBias::Before), edits.map(offset, InsertBias::After)];
    assert_eq!([1, 2, 3, 5, 6, 7, 8].map(map), [[1, 1], [2, 5], [6, 6], [8, 8], [8, 9], [9, 9], [10, 10]]);
    // What is inserted at the edges stays outside, and an empty range stays empty.
    assert_eq!(edits.map_range(2..3), 5..6);
    assert_eq!(edits.map_range(1..2), 1..2);
    assert_eq!(edits.map_range(2..2), 2..2);
    assert_eq!(edits.map_range(6..6), 8..8);
}

#[test]
fn trimming_spares_line_breaks() {
    let trim = |text: &str, range, with: &str| {
        let edits = Edits::one(range, with).trimmed(&Text::new(text));
        edits.iter().map(|edit| (edit.range.clone(), edit.text.clone())).collect::<Vec<_>>()
    };
    assert_eq!(trim("abcd", 0..4, "axcd"), [(1..2, "x".to_owned())]);
    assert_eq!(trim("abcd", 1..3, "bc"), []);
    assert_eq!(trim("a\r\nb", 0..4, "a\rb"), [(1..3, "\r".to_owned())]);
    assert_eq!(trim("a\nb", 0..3, "a\r\nb"), [(1..2, "\r\n".to_owned())]);
    assert_eq!(trim("é", 0..2, "è"), [(0..2, "è".to_owned())]);
}
