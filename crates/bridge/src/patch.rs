//! Patches in the format of git, read into the texts before and after each hunk, and made from two texts.

/// Lines shown around a change.
const CONTEXT: usize = 3;
const NOWHERE: &str = "/dev/null";
const NO_NEWLINE: &str = "\\ No newline at end of file\n";

/// What a patch does to one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PatchSection {
    /// Its path before; `None` if there was none.
    pub(crate) old: Option<String>,
    /// Its path after; `None` if there is none.
    pub(crate) new: Option<String>,
    pub(crate) hunks: Vec<PatchHunk>,
}

/// One place that changes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PatchHunk {
    /// The line that says where.
    pub(crate) header: String,
    pub(crate) old: String,
    pub(crate) new: String,
}

/// Reads what can be read; lines that make no sense are passed over.
pub(crate) fn parse(text: &str) -> Vec<PatchSection> {
    let mut reader = Reader::default();
    text.split('\n').for_each(|line| reader.line(line));
    reader.sections
}

/// The first lines of both sides that a hunk header names.
pub(crate) fn starts(header: &str) -> Option<(usize, usize)> {
    let (old, new) = ranges(header)?;
    Some((old.0, new.0))
}

/// What happens to the file as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFate {
    Added,
    Deleted,
    Kept,
}

/// A patch of one file with one hunk; `None` if there is nothing to show. `starts` are the lines of the file the
/// texts begin at.
pub(crate) fn make(
    path: &str,
    whole: FileFate,
    old: &str,
    new: &str,
    starts: (usize, usize),
) -> Option<String> {
    let path = quoted(path);
    let header = match whole {
        FileFate::Added => "new file mode 100644\n",
        FileFate::Deleted => "deleted file mode 100644\n",
        FileFate::Kept if old == new => return None,
        FileFate::Kept => "",
    };
    let mut text = format!("diff --git {path} {path}\n{header}");
    if old != new {
        let end = if path.contains(' ') { "\t" } else { "" };
        let side = |gone: FileFate| if whole == gone { NOWHERE.to_owned() } else { format!("{path}{end}") };
        text.extend(["--- ", &side(FileFate::Added), "\n+++ ", &side(FileFate::Deleted), "\n"]);
        text += &hunk(old, new, starts);
    }
    Some(text)
}

fn hunk(old: &str, new: &str, starts: (usize, usize)) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
    let before = same(&mut old.iter().zip(&new));
    let after = same(&mut old[before..].iter().rev().zip(new[before..].iter().rev()));
    let first = before.saturating_sub(CONTEXT);
    let last = after.min(CONTEXT);
    let (old_end, new_end) = (old.len() - after, new.len() - after);

    let range = |start: usize, count: usize| {
        let start = if count == 0 { (start + first).saturating_sub(1) } else { start + first };
        format!("{start},{count}")
    };
    let removed = range(starts.0, old_end + last - first);
    let added = range(starts.1, new_end + last - first);
    let mut text = format!("@@ -{removed} +{added} @@\n");
    let mut put = |mark: char, lines: &[&str]| {
        for line in lines {
            text.push(mark);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push('\n');
                text.push_str(NO_NEWLINE);
            }
        }
    };
    put(' ', &old[first..before]);
    put('-', &old[before..old_end]);
    put('+', &new[before..new_end]);
    put(' ', &old[old_end..old_end + last]);
    text
}

/// As git writes a path: in quotes if it has what would end the line or the quotes.
fn quoted(path: &str) -> String {
    if !path.contains(|c: char| c.is_control() || c == '"' || c == '\\') {
        return path.to_owned();
    }
    let mut text = String::from("\"");
    for c in path.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            c if c.is_ascii_control() => text.extend(format!("\\{:03o}", u32::from(c)).chars()),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

#[derive(Default)]
struct Reader {
    sections: Vec<PatchSection>,
    /// Lines of the open hunk that are still to come, on either side.
    left: (usize, usize),
    last: Side,
}

/// Which side the last line of a hunk belongs to.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Side {
    #[default]
    None,
    Old,
    New,
    Both,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if line.starts_with('\\') {
            self.no_newline();
        } else if self.left == (0, 0) || !self.hunk_line(line) {
            self.left = (0, 0);
            self.last = Side::None;
            self.header_line(line);
        }
    }

    /// Takes a line of the open hunk; `false` if it is none.
    fn hunk_line(&mut self, line: &str) -> bool {
        let (old, new) = self.left;
        let (side, rest) = match line.as_bytes().first() {
            // Some tools cut the space of an empty line.
            None if old > 0 && new > 0 => (Side::Both, ""),
            Some(b' ') if old > 0 && new > 0 => (Side::Both, &line[1..]),
            Some(b'-') if old > 0 => (Side::Old, &line[1..]),
            Some(b'+') if new > 0 => (Side::New, &line[1..]),
            _ => return false,
        };
        let Some(hunk) = self.sections.last_mut().and_then(|section| section.hunks.last_mut()) else {
            return false;
        };
        if side != Side::New {
            hunk.old.push_str(rest);
            hunk.old.push('\n');
            self.left.0 -= 1;
        }
        if side != Side::Old {
            hunk.new.push_str(rest);
            hunk.new.push('\n');
            self.left.1 -= 1;
        }
        self.last = side;
        true
    }

    fn no_newline(&mut self) {
        let side = std::mem::take(&mut self.last);
        let Some(hunk) = self.sections.last_mut().and_then(|section| section.hunks.last_mut()) else {
            return;
        };
        if matches!(side, Side::Old | Side::Both) {
            hunk.old.pop();
        }
        if matches!(side, Side::New | Side::Both) {
            hunk.new.pop();
        }
    }

    fn header_line(&mut self, line: &str) {
        if line.starts_with("diff --git ") {
            self.sections.push(PatchSection::default());
        } else if let Some((old, new)) = ranges(line) {
            let Some(section) = self.sections.last_mut() else { return };
            section.hunks.push(PatchHunk { header: line.to_owned(), ..PatchHunk::default() });
            self.left = (old.1, new.1);
        } else if let Some(path) = line.strip_prefix("--- ") {
            // Without `diff --git`, this is what begins a file.
            if self.sections.last().is_none_or(|section| !section.hunks.is_empty()) {
                self.sections.push(PatchSection::default());
            }
            self.paths(Some(path), None);
        } else if let Some(path) = line.strip_prefix("+++ ") {
            self.paths(None, Some(path));
        } else if let Some(path) = strip_either(line, "rename from ", "copy from ") {
            self.paths(Some(path), None);
        } else if let Some(path) = strip_either(line, "rename to ", "copy to ") {
            self.paths(None, Some(path));
        }
    }

    fn paths(&mut self, old: Option<&str>, new: Option<&str>) {
        let Some(section) = self.sections.last_mut() else { return };
        if let Some(path) = old {
            section.old = unquoted(path);
        }
        if let Some(path) = new {
            section.new = unquoted(path);
        }
    }
}

fn strip_either<'a>(line: &'a str, one: &str, other: &str) -> Option<&'a str> {
    line.strip_prefix(one).or_else(|| line.strip_prefix(other))
}

type Range = (usize, usize);

/// The two ranges of `@@ -1,2 +3,4 @@`.
fn ranges(header: &str) -> Option<(Range, Range)> {
    let (old, rest) = header.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<Range> {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse::<u32>().ok()? as usize, count.parse::<u32>().ok()? as usize))
    };
    Some((range(old)?, range(new)?))
}

/// The path of a header line; `None` for no file.
fn unquoted(text: &str) -> Option<String> {
    let text = text.split('\t').next().unwrap_or_default().trim_end_matches('\r');
    let path = match text.strip_prefix('"') {
        Some(inside) => unescaped(inside),
        None => text.to_owned(),
    };
    (path != NOWHERE).then_some(path)
}

fn unescaped(inside: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = inside.bytes().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => break,
            b'\\' => match rest.next() {
                Some(digit @ b'0'..=b'7') => {
                    let mut code = u32::from(digit - b'0');
                    for _ in 0..2 {
                        let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) else { break };
                        code = code * 8 + u32::from(digit - b'0');
                    }
                    bytes.push(u8::try_from(code).unwrap_or(b'?'));
                }
                Some(b'n') => bytes.push(b'\n'),
                Some(b't') => bytes.push(b'\t'),
                Some(b'r') => bytes.push(b'\r'),
                Some(other) => bytes.push(other),
                None => break,
            },
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &str) {
        assert_eq!(hunk(old, new, (1, 1)), expected);
        let patch = make("/p q", FileFate::Kept, old, new, (1, 1)).unwrap();
        let sections = parse(&patch);
        assert_eq!(sections.len(), 1, "{patch}");
        assert_eq!(sections[0].new.as_deref(), Some("/p q"));
        assert_eq!(sections[0].hunks.len(), 1, "{patch}");
        let read = &sections[0].hunks[0];
        assert!(old.contains(&read.old) && new.contains(&read.new), "{patch}");
    }

    #[test]
    fn hunks_say_where_they_are() {
        check("a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        check("1\n2\n3\n4\n5\n", "1\n2\n3\n4\nx\n5\n", "@@ -2,4 +2,5 @@\n 2\n 3\n 4\n+x\n 5\n");
        check("", "a\n", "@@ -0,0 +1,1 @@\n+a\n");
        check("a\n", "", "@@ -1,1 +0,0 @@\n-a\n");
        check("a\n", "a", "@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n");
        check("a\nz", "b\nz", "@@ -1,2 +1,2 @@\n-a\n+b\n z\n\\ No newline at end of file\n");
        check("a\na\n", "a\na\na\n", "@@ -1,2 +1,3 @@\n a\n a\n+a\n");
    }

    #[test]
    fn a_made_patch_reads_as_both_texts() {
        let patch = make("/a \"b\\\u{1}\n", FileFate::Added, "", "x\n\ny", (1, 1)).unwrap();
        let sections = parse(&patch);
        let hunk = &sections[0].hunks[0];
        assert_eq!((sections[0].old.as_deref(), sections[0].new.as_deref()), (None, Some("/a \"b\\\u{1}\n")));
        assert_eq!((hunk.old.as_str(), hunk.new.as_str()), ("", "x\n\ny"));
    }

    #[test]
    fn several_files_and_hunks() {
        let patch = "diff --git /a /a\nindex 1..2 100644\n--- /a\n+++ /a\n@@ -1 +1 @@ fn x\n-1\n+2\n@@ -9,2 +9,2 @@\n \
                     q\n--- r\n+++ s\ndiff --git /b /c\nsimilarity index 90%\nrename from /b\nrename to /c\n\
                     diff --git /d /d\ndeleted file mode 100644\n--- /d\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n\
                     \\ No newline at end of file\n";
        let sections = parse(patch);
        assert_eq!(sections.len(), 3);
        assert_eq!(sections[0].hunks[0].header, "@@ -1 +1 @@ fn x");
        assert_eq!(
            (sections[0].hunks[1].old.as_str(), sections[0].hunks[1].new.as_str()),
            ("q\n-- r\n", "q\n++ s\n")
        );
        assert_eq!((sections[1].old.as_deref(), sections[1].new.as_deref()), (Some("/b"), Some("/c")));
        assert_eq!((sections[2].new.as_deref(), sections[2].hunks[0].old.as_str()), (None, "x"));
        assert_eq!(starts(&sections[0].hunks[1].header), Some((9, 9)));
    }

    #[test]
    fn nonsense_is_passed_over() {
        for text in [
            "",
            "@@ -1 +1 @@\n-x",
            "diff --git\n@@ -4294967296 +1 @@\n@@ -9 +9 @@",
            "\\ x",
            "--- \"\\",
            "+++ x",
        ] {
            assert!(parse(text).iter().all(|section| section.hunks.iter().all(|hunk| hunk.old.is_empty())));
        }
    }
}
