//! The end of an output, as text.

use std::collections::VecDeque;

/// The last bytes that came.
#[derive(Debug)]
pub(crate) struct OutputTail {
    bytes: VecDeque<u8>,
    limit: usize,
    /// Whether others came before them.
    is_cut: bool,
}

impl OutputTail {
    pub(crate) fn new(limit: usize) -> Self {
        Self { bytes: VecDeque::new(), limit, is_cut: false }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let new = &bytes[bytes.len().saturating_sub(self.limit)..];
        let surplus = (self.bytes.len() + new.len()).saturating_sub(self.limit);
        self.is_cut |= surplus > 0 || new.len() < bytes.len();
        // First, so that there is never room for more than the limit.
        self.bytes.drain(..surplus);
        self.bytes.extend(new);
    }

    /// The text, no longer than the limit and of whole characters, and whether something came before it. While more may
    /// come (`is_open`), a character of which the end is missing is not part of it.
    pub(crate) fn text(&self, is_open: bool) -> (String, bool) {
        let begun = self.bytes.iter().take(3).take_while(|byte| self.is_cut && is_inner(**byte)).count();
        let bytes: Vec<u8> = self.bytes.range(begun..).copied().collect();
        let whole = if is_open { whole(&bytes) } else { &bytes };
        let mut text = String::from_utf8_lossy(whole).into_owned();
        // What is no UTF-8 gets longer as text.
        let surplus = text.len().saturating_sub(self.limit);
        text.drain(..text.ceil_char_boundary(surplus));
        (text, self.is_cut || surplus > 0)
    }
}

/// Whether a byte is one of a character but its first.
fn is_inner(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Without the beginning of a character at the end.
fn whole(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().rposition(|byte| !is_inner(*byte)).unwrap_or(0);
    match std::str::from_utf8(&bytes[start..]) {
        Err(error) if error.error_len().is_none() => &bytes[..start + error.valid_up_to()],
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(limit: usize, parts: &[&[u8]], open: &str, closed: &str, is_cut: bool) {
        let mut tail = OutputTail::new(limit);
        for part in parts {
            tail.push(part);
        }
        assert_eq!(tail.text(true), (open.to_owned(), is_cut), "{parts:?}");
        assert_eq!(tail.text(false), (closed.to_owned(), is_cut), "{parts:?}");
    }

    #[test]
    fn the_end_is_kept_in_whole_characters() {
        check(5, &[b"abc", b"de"], "abcde", "abcde", false);
        check(5, &[b"abc", b"def"], "bcdef", "bcdef", true);
        check(5, &[b"abcdefgh"], "defgh", "defgh", true);
        check(0, &[b"a"], "", "", true);
        check(0, &[], "", "", false);
        check(5, &["äöü".as_bytes()], "öü", "öü", true);
        check(3, &["a😀".as_bytes()], "", "", true);
        check(9, &[b"a\xc3"], "a", "a\u{fffd}", false);
        check(9, &[b"a\xc3", b"\xa4"], "aä", "aä", false);
        check(9, &[b"a\xf0\x9f\x98"], "a", "a\u{fffd}", false);
        check(9, &[b"\x80b\xff"], "\u{fffd}b\u{fffd}", "\u{fffd}b\u{fffd}", false);
        check(4, &[b"\xff\xff"], "\u{fffd}", "\u{fffd}", true);
    }

    proptest! {
        #[test]
        fn any_text_in_any_parts_gives_its_own_end(text in ".{0,40}", limit in 0_usize..60, at in 0_usize..160) {
            let mut tail = OutputTail::new(limit);
            let (one, two) = text.as_bytes().split_at(at.min(text.len()));
            tail.push(one);
            tail.push(two);
            let start = text.ceil_char_boundary(text.len().saturating_sub(limit));
            let expected = (text[start..].to_owned(), text.len() > limit);
            prop_assert_eq!(tail.text(true), expected.clone());
            prop_assert_eq!(tail.text(false), expected);
        }
    }
}
