//! What a tool has printed: its last lines, and how many there were.

use std::collections::VecDeque;

use crate::terminal_text;

/// How many lines are kept, and how many letters of each.
const KEPT: usize = 400;
const LETTERS: usize = 2000;

/// The end of an output that may be long.
#[derive(Debug, Clone, Default)]
pub(crate) struct PrintedTail {
    lines: VecDeque<String>,
    /// How many lines are not kept.
    dropped: usize,
    /// The last line, while it may go on.
    unfinished: String,
    /// The beginning of a letter whose other bytes are still to come.
    half: Vec<u8>,
}

impl PrintedTail {
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.unfinished.is_empty()
    }

    /// How many lines there were.
    pub(crate) fn count(&self) -> usize {
        self.dropped + self.lines.len() + usize::from(!self.unfinished.is_empty())
    }

    pub(crate) fn push(&mut self, text: &str) {
        let mut lines = text.split('\n');
        self.go_on(lines.next().unwrap_or_default());
        for line in lines {
            let done = std::mem::take(&mut self.unfinished);
            self.keep(&done);
            self.go_on(line);
        }
    }

    /// More of it, in pieces that may end in the middle of a letter.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        let mut all = std::mem::take(&mut self.half);
        all.extend_from_slice(bytes);
        let end = match std::str::from_utf8(&all) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => all.len(),
        };
        self.half = all.split_off(end);
        self.push(&String::from_utf8_lossy(&all));
    }

    /// The last lines, safe for a terminal, and how many there were before them.
    pub(crate) fn last(&self, most: usize) -> (usize, Vec<String>) {
        let unfinished = (!self.unfinished.is_empty()).then(|| shown(&self.unfinished));
        let there = self.lines.len() + usize::from(unfinished.is_some());
        let skipped = there.saturating_sub(most);
        let lines = self.lines.iter().cloned().chain(unfinished).skip(skipped).collect();
        (self.dropped + skipped, lines)
    }

    fn go_on(&mut self, text: &str) {
        let room = (4 * LETTERS).saturating_sub(self.unfinished.len());
        match text.char_indices().map(|(at, _)| at).find(|at| *at >= room) {
            // What stands behind a return takes the place of what stood before it; how it begins must not fill the room.
            Some(_) if text.contains('\r') => {
                self.unfinished.clear();
                let rest = text.rsplit('\r').find(|part| !part.is_empty()).unwrap_or_default();
                self.unfinished.extend(rest.chars().take(LETTERS));
            }
            Some(end) => self.unfinished.push_str(&text[..end]),
            None => self.unfinished.push_str(text),
        }
    }

    fn keep(&mut self, line: &str) {
        if self.lines.len() == KEPT {
            self.lines.pop_front();
            self.dropped += 1;
        }
        self.lines.push_back(shown(line));
    }
}

/// A line as it looks when it is over: a return has begun it anew.
fn shown(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let last = line.rsplit('\r').next().unwrap_or_default();
    terminal_text::lines(last).chars().take(LETTERS).map(|c| if c == '\n' { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_and_all_are_counted() {
        let mut tail = PrintedTail::default();
        for number in 0..100_000 {
            tail.push(&format!("line {number}\n"));
        }
        assert_eq!(tail.count(), 100_000);
        assert_eq!(tail.last(2), (99_998, vec!["line 99998".to_owned(), "line 99999".to_owned()]));
        assert!(tail.lines.len() <= KEPT);
    }

    #[test]
    fn letters_may_come_in_pieces() {
        let mut tail = PrintedTail::default();
        for byte in "né\n漢".as_bytes() {
            tail.push_bytes(&[*byte]);
        }
        assert_eq!(tail.last(9), (0, vec!["né".to_owned(), "漢".to_owned()]));
        tail.push_bytes(&[0xff, b'x']);
        assert_eq!(tail.last(1).1, ["漢\u{fffd}x"]);
    }

    #[test]
    fn a_line_that_is_written_anew_is_shown_as_it_ends() {
        let mut tail = PrintedTail::default();
        tail.push("10 %\r50 %\r100 %\r\nok \u{1b}[31mred\u{1b}[0m\u{1b}[2J");
        assert_eq!(tail.last(9).1, ["100 %", "ok red\u{fffd}"]);
        // A line without end does not grow without end.
        (0..1000).for_each(|_| tail.push(&"x".repeat(1000)));
        assert!(tail.unfinished.len() <= 4 * LETTERS + 4);
    }
}
