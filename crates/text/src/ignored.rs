//! The lines of an ignore file that can be followed. Who wrote the file need not be a friend: a pattern takes kilobytes once
//! it is compiled, and one that is nested without end takes the stack of the program with it.

/// How many bytes a pattern may have.
const LONGEST: usize = 1000;
/// How many braces a pattern may open. Brackets do not nest. Which brace closes which is for those to know who compile it, so
/// that all are counted.
const MOST_BRACES: usize = 16;
/// A pattern counts as one more for each time it has so many bytes.
const COUNTED: usize = 64;

/// The patterns of an ignore file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IgnoreLines {
    /// Those that can be followed, in their order.
    pub lines: Vec<String>,
    /// What they count; a long one counts as several.
    pub weight: usize,
    /// How many are too long, or nested too deeply.
    pub odd: usize,
    /// Whether there are more than there may be, so that only the first are here.
    pub is_part: bool,
}

impl IgnoreLines {
    /// Reads the beginning of an ignore file: no more than so many bytes, and patterns that count no more than `most`. To tell
    /// that there are more bytes, one more than that has to be there.
    pub fn read(bytes: &[u8], most_bytes: usize, most: usize) -> Self {
        let is_cut = bytes.len() > most_bytes;
        let mut bytes = &bytes[..bytes.len().min(most_bytes)];
        if is_cut {
            // Half a pattern may mean something else.
            let end = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
            bytes = &bytes[..end];
        }
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut read = Self { is_part: is_cut, ..Self::default() };
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            if !read.add(line, most) {
                read.is_part = true;
                break;
            }
        }
        read
    }

    /// Says whether there was room for it.
    fn add(&mut self, line: &str, most: usize) -> bool {
        if line.len() > LONGEST || line.matches('{').count() > MOST_BRACES {
            self.odd += 1;
            return true;
        }
        let weight = 1 + line.len() / COUNTED;
        let has_room = self.weight + weight <= most;
        if has_room {
            self.weight += weight;
            self.lines.push(line.to_owned());
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, most_bytes: usize, most: usize) -> (Vec<String>, usize, bool) {
        let read = IgnoreLines::read(text.as_bytes(), most_bytes, most);
        (read.lines, read.odd, read.is_part)
    }

    fn owned(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn patterns_are_read_without_marks_and_notes() {
        let text = "\u{feff}target/\r\n# a note\n\n  \n\\#odd\n!kept \n";
        assert_eq!(lines(text, 1000, 10), (owned(&["target/", "\\#odd", "!kept "]), 0, false));
        assert_eq!(lines("", 10, 10), (Vec::new(), 0, false));
    }

    #[test]
    fn of_too_many_the_first_are_kept() {
        assert_eq!(lines("a\nb\nc\n", 1000, 2), (owned(&["a", "b"]), 0, true));
        assert_eq!(lines("a\nb\n", 1000, 2), (owned(&["a", "b"]), 0, false));
        // Not half of one.
        assert_eq!(lines("target\nnode_modules\n", 12, 10), (owned(&["target"]), 0, true));
        assert_eq!(lines("node_modules\n", 4, 10), (Vec::new(), 0, true));
        // Long ones count more.
        let long = "x".repeat(640);
        assert_eq!(lines(&format!("{long}\n{long}\n"), 10_000, 20), (owned(&[&long]), 0, true));
    }

    #[test]
    fn what_is_too_long_or_nested_is_left_out() {
        let nested = format!("{}a{}", "{".repeat(30_000), "}".repeat(30_000));
        // To whom a brace belongs that has a mark before it is not for us to know.
        let hidden = "{\\}".repeat(300);
        let text = format!("{nested}\n{hidden}\ntarget/\n*.{{a,b}}\n");
        assert_eq!(lines(&text, 100_000, 10), (owned(&["target/", "*.{a,b}"]), 2, false));
    }
}
