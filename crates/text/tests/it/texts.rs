//! The rope says what the string says.

use std::borrow::Cow;

use nudge_text::{Encoding, Point, Text};
use proptest::{collection::vec, prelude::*};

use crate::naive::{self, ENCODINGS, pick, short, text};

/// Everything that can be asked about a text, at places of every kind.
fn check(text: &Text, plain: &str, places: &[u16]) {
    assert_eq!(text.to_string(), plain);
    assert_eq!(text.len(), plain.len());
    assert_eq!(text.is_empty(), plain.is_empty());
    assert_eq!(*text, Text::new(plain));
    assert_eq!(text.chunks().collect::<String>(), plain);
    let lines = naive::lines(plain);
    assert_eq!(text.line_count(), lines.len());
    for (line, &[start, end, next]) in lines.iter().enumerate() {
        assert_eq!(text.line_start(line), start);
        assert_eq!(text.line_end(line), end, "line {line} of {plain:?}");
        assert_eq!(text.line_end_with_break(line), next);
        assert_eq!(text.line(line), plain[start..end]);
    }
    for past in [lines.len(), lines.len() + 1, usize::MAX] {
        let ends = [text.line_start(past), text.line_end(past), text.line_end_with_break(past)];
        assert_eq!(ends, [plain.len(); 3]);
        assert_eq!(text.line(past), "");
    }
    let some = places.iter().map(|place| usize::from(*place) % (plain.len() + 3));
    for offset in (0..plain.len().min(40)).chain(some).chain([plain.len(), plain.len() + 1, usize::MAX]) {
        check_offset(text, plain, offset);
    }
}

fn check_offset(text: &Text, plain: &str, offset: usize) {
    let clamped = offset.min(plain.len());
    assert_eq!(text.line_of(offset), naive::line_of(plain, clamped), "{offset} in {plain:?}");
    let floor = plain.floor_char_boundary(clamped);
    assert_eq!(text.floor(offset), floor);
    assert_eq!(text.is_boundary(offset), plain.is_char_boundary(offset));
    let rest = text.chunk_at(offset);
    assert!(plain[floor..].starts_with(rest));
    assert_eq!(rest.is_empty(), floor == plain.len());
    for other in [0, offset / 2, offset.saturating_add(3), offset.saturating_add(700), usize::MAX] {
        let end = plain.floor_char_boundary(other.min(plain.len()));
        assert_eq!(text.slice(offset..other), plain[floor..end.max(floor)]);
    }
    for encoding in ENCODINGS {
        let point = text.point(offset, encoding);
        assert_eq!(point, naive::point(plain, floor, encoding), "{offset} in {plain:?}, {encoding:?}");
        let back = text.offset(point, encoding);
        let is_inside_break = plain[..floor].ends_with('\r') && plain[floor..].starts_with('\n');
        assert_eq!(back, floor - usize::from(is_inside_break));
    }
}

proptest! {
    #[test]
    fn a_text_is_its_string(plain in text(), places in vec(any::<u16>(), 20)) {
        check(&Text::new(&plain), &plain, &places);
    }

    #[test]
    fn points_are_clamped_as_the_protocol_says(
        plain in text(),
        points in vec((0..40_u32, prop_oneof![0..40_u32, Just(u32::MAX)]), 40),
    ) {
        let text = Text::new(&plain);
        for (line, character) in points {
            for encoding in ENCODINGS {
                let at = Point::new(line, character);
                let exact = naive::offset(&plain, at, encoding);
                prop_assert_eq!(text.offset_exact(at, encoding), exact);
                prop_assert_eq!(text.offset(at, encoding), exact.unwrap_or(plain.len()));
            }
        }
    }

    #[test]
    fn replacing_is_what_it_is_for_strings(plain in text(), picks in vec(pick(), 1..12), places in vec(any::<u16>(), 5)) {
        let (mut text, mut plain) = (Text::new(&plain), plain);
        for pick in &picks {
            let range = naive::range(&plain, pick);
            text.replace(range.clone(), &pick.2);
            plain.replace_range(range, &pick.2);
            prop_assert_eq!(text.line_count(), naive::lines(&plain).len());
        }
        check(&text, &plain, &places);
    }

    /// Inside a code point, outside of the text, the wrong way round: something sensible, and no panic.
    #[test]
    fn replacing_anything_is_harmless(plain in text(), start in 0..60_usize, end in 0..60_usize, with in short()) {
        let mut text = Text::new(&plain);
        text.replace(start..end, &with);
        let start = plain.floor_char_boundary(start.min(plain.len()));
        let end = plain.floor_char_boundary(end.min(plain.len())).max(start);
        prop_assert_eq!(text.to_string(), [&plain[..start], &with, &plain[end..]].concat());
    }

    #[test]
    fn the_line_break_is_the_most_frequent(plain in text()) {
        let crlf = plain.matches("\r\n").count();
        let lf = plain.matches('\n').count() - crlf;
        let cr = plain.matches('\r').count() - crlf;
        let most = lf.max(crlf).max(cr);
        let expected = if lf == most { "\n" } else if crlf == most { "\r\n" } else { "\r" };
        prop_assert_eq!(Text::new(&plain).line_break(), expected);
    }
}

#[test]
fn a_clone_does_not_see_later_changes() {
    let before = Text::new("one\ntwo\n");
    let mut after = before.clone();
    after.replace(0..3, "three");
    assert_eq!((before.to_string().as_str(), after.to_string().as_str()), ("one\ntwo\n", "three\ntwo\n"));
}

#[test]
fn a_short_slice_is_borrowed() {
    let text = Text::new("one\ntwo\n");
    assert!(matches!(text.line(1), Cow::Borrowed("two")));
}

#[test]
fn a_break_can_be_put_together_and_taken_apart() {
    let mut text = Text::new("a\r\nb");
    let mut states = vec![text.line_count()];
    for (range, with) in
        [(2..2, "x"), (2..3, ""), (1..2, ""), (1..1, "\r"), (2..3, ""), (2..2, "\n"), (2..2, "\n")]
    {
        text.replace(range, with);
        states.push(text.line_count());
    }
    assert_eq!(states, [2, 3, 2, 2, 2, 2, 2, 3]);
    assert_eq!(text.to_string(), "a\r\n\nb");
}

#[test]
fn a_long_line_without_breaks_is_no_special_case() {
    let plain = "é😀".repeat(20_000);
    let text = Text::new(&plain);
    for encoding in ENCODINGS {
        let end = text.point(plain.len(), encoding);
        assert_eq!(end, naive::point(&plain, plain.len(), encoding));
        assert_eq!(text.offset(Point::new(0, end.character - 1), encoding), {
            plain.len()
                - if encoding == Encoding::Utf8 || encoding == Encoding::Utf16 { 4 } else { "😀".len() }
        });
    }
}
