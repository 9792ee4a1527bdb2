//! Unified diffs, read: as tools print them and as people and models write them.

use thiserror::Error;

use super::{DiffHunk, DiffLine, FileDiff};

/// Why a text is not a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ParseError {
    /// There is text, but neither a hunk nor a file header in it.
    #[error("expected a unified diff with lines that begin with \"@@\", \"+\" or \"-\", found none")]
    NoHunks,
}

/// Reads a unified diff of any number of files.
///
/// File headers may be missing, the numbers of a hunk may be missing or wrong, and lines may end with `\r\n`; text around
/// the diff is skipped. An empty text is a diff of nothing.
pub fn parse(diff: &str) -> Result<Vec<FileDiff>, ParseError> {
    let lines = split(diff);
    let has_headers = lines.iter().any(|line| line.starts_with("@@"));
    let mut parser = Parser { bare: !has_headers, ..Parser::default() };
    let mut at = 0;
    while at < lines.len() {
        at += parser.take(&lines[at..]);
    }
    parser.end_file();
    if parser.files.is_empty() && !diff.trim().is_empty() {
        return Err(ParseError::NoHunks);
    }
    Ok(parser.files)
}

/// The lines; a carriage return belongs to the line unless all of the diff seems to have been sent with them.
fn split(diff: &str) -> Vec<&str> {
    let sent_with_returns = diff.split('\n').next().is_some_and(|line| line.ends_with('\r'));
    let cut = |line| if sent_with_returns { str::strip_suffix(line, '\r').unwrap_or(line) } else { line };
    diff.split_terminator('\n').map(cut).collect()
}

#[derive(Default)]
struct Parser {
    files: Vec<FileDiff>,
    file: Option<FileDiff>,
    hunk: Option<Open>,
    /// No hunk has a header: any line with a sign begins one.
    bare: bool,
}

/// A hunk that is being read.
#[derive(Default)]
struct Open {
    hunk: DiffHunk,
    /// How many lines its header still promises, before and after.
    old_left: usize,
    new_left: usize,
    /// Lines past the promised ones that may be context, if more of the hunk follows.
    maybe: Vec<String>,
}

impl Parser {
    /// Reads one thing from the front and says how many lines it was.
    fn take(&mut self, lines: &[&str]) -> usize {
        let line = lines[0];
        if let Some(rest) = line.strip_prefix("@@") {
            self.end_hunk();
            self.hunk = Some(Open::with_header(rest));
            return 1;
        }
        if line.starts_with("diff --git ") || line.starts_with("Index: ") {
            self.end_file();
            self.file = Some(from_git_line(line));
            return 1;
        }
        if self.is_file_header(lines) {
            self.begin_file(path_of(&line[4..]), path_of(&lines[1][4..]));
            return 2;
        }
        match &mut self.hunk {
            Some(open) => {
                if !open.take(line) {
                    self.end_hunk();
                }
            }
            None if self.bare && line.starts_with(['+', '-']) => {
                let mut open = Open::default();
                open.take(line);
                self.hunk = Some(open);
            }
            None => self.take_extended(line),
        }
        1
    }

    /// A removed line can look like a file header too: then its hunk still lacks lines, and no other begins behind it.
    fn is_file_header(&self, lines: &[&str]) -> bool {
        let [old, new, rest @ ..] = lines else { return false };
        if !old.starts_with("--- ") || !new.starts_with("+++ ") {
            return false;
        }
        match &self.hunk {
            Some(open) if open.old_left > 0 || open.new_left > 0 => {
                (open.old_left, open.new_left) != (1, 1)
                    && rest.first().is_some_and(|line| line.starts_with("@@"))
            }
            _ => true,
        }
    }

    /// Takes the lines that git prints between its own header and that of the file.
    fn take_extended(&mut self, line: &str) {
        let Some(file) = self.file.as_mut().filter(|file| file.hunks.is_empty()) else { return };
        if let Some(path) = line.strip_prefix("rename from ").or_else(|| line.strip_prefix("copy from ")) {
            file.old_path = Some(unquoted(path));
        } else if let Some(path) = line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to ")) {
            file.new_path = Some(unquoted(path));
        } else if line.starts_with("new file mode ") {
            file.old_path = None;
        } else if line.starts_with("deleted file mode ") {
            file.new_path = None;
        }
    }

    fn begin_file(&mut self, old_path: Option<String>, new_path: Option<String>) {
        self.end_hunk();
        if self.file.as_ref().is_some_and(|file| !file.hunks.is_empty()) {
            self.end_file();
        }
        self.file = Some(FileDiff { old_path, new_path, hunks: Vec::new() });
    }

    fn end_hunk(&mut self) {
        if let Some(open) = self.hunk.take().filter(|open| !open.hunk.lines.is_empty()) {
            self.file.get_or_insert_default().hunks.push(open.hunk);
        }
    }

    fn end_file(&mut self) {
        self.end_hunk();
        self.files.extend(self.file.take());
    }
}

impl Open {
    fn with_header(rest: &str) -> Self {
        let mut open = Self::default();
        let numbers = rest.split("@@").next().unwrap_or_default();
        for word in numbers.split_ascii_whitespace() {
            if let Some((start, len)) = word.strip_prefix('-').and_then(extent) {
                (open.hunk.old_start, open.old_left) = (start, len);
            } else if let Some((start, len)) = word.strip_prefix('+').and_then(extent) {
                (open.hunk.new_start, open.new_left) = (start, len);
            }
        }
        open
    }

    /// Takes a line of the hunk; `false` if it does not belong to it.
    fn take(&mut self, line: &str) -> bool {
        let promised = self.old_left > 0 || self.new_left > 0;
        match line.as_bytes().first() {
            Some(b'\\') => self.no_newline(),
            // What git puts below a mail.
            Some(b'-') if !promised && line == "-- " => return false,
            Some(b'-') => {
                self.old_left = self.old_left.saturating_sub(1);
                self.push(DiffLine::Removed(line[1..].to_owned()));
            }
            Some(b'+') => {
                self.new_left = self.new_left.saturating_sub(1);
                self.push(DiffLine::Added(line[1..].to_owned()));
            }
            // Editors cut the blank off an empty context line.
            None | Some(b' ' | b'\r') => {
                let text = line.strip_prefix(' ').unwrap_or(line).to_owned();
                if promised {
                    self.old_left = self.old_left.saturating_sub(1);
                    self.new_left = self.new_left.saturating_sub(1);
                    self.push(DiffLine::Context(text));
                } else {
                    self.maybe.push(text);
                }
            }
            _ => return false,
        }
        true
    }

    fn push(&mut self, line: DiffLine) {
        self.hunk.lines.extend(self.maybe.drain(..).map(DiffLine::Context));
        self.hunk.lines.push(line);
    }

    fn no_newline(&mut self) {
        match self.hunk.lines.last() {
            Some(DiffLine::Removed(_)) => self.hunk.old_no_newline = true,
            Some(DiffLine::Added(_)) => self.hunk.new_no_newline = true,
            Some(DiffLine::Context(_)) => {
                self.hunk.old_no_newline = true;
                self.hunk.new_no_newline = true;
            }
            None => {}
        }
    }
}

/// `3,4` or `3`.
fn extent(numbers: &str) -> Option<(usize, usize)> {
    let (start, len) = numbers.split_once(',').unwrap_or((numbers, "1"));
    Some((start.parse().ok()?, len.parse().ok()?))
}

/// The paths of `diff --git a/x b/x`, as far as they can be told apart.
fn from_git_line(line: &str) -> FileDiff {
    let mut file = FileDiff::default();
    if let Some(paths) = line.strip_prefix("diff --git ")
        && let Some((old, new)) = paths.split_once(" b/")
    {
        file.old_path = path_of(old);
        file.new_path = Some(unquoted(new));
    } else if let Some(path) = line.strip_prefix("Index: ") {
        file.old_path = path_of(path);
        file.new_path = path_of(path);
    }
    file
}

/// The path of a file header, without the prefix of its side and without a time.
fn path_of(header: &str) -> Option<String> {
    let path = unquoted(header.split('\t').next().unwrap_or_default().trim_end());
    if path == "/dev/null" || path.is_empty() {
        return None;
    }
    let bare = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
    Some(bare.unwrap_or(&path).to_owned())
}

/// A path that git has put into quotes because of unusual characters.
fn unquoted(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|path| path.strip_suffix('"')) else {
        return path.to_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (byte, len) = escaped(rest);
        bytes.push(byte);
        rest = &rest[len..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The byte that stands behind a backslash, and how long it is written.
fn escaped(rest: &[u8]) -> (u8, usize) {
    if let [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] = rest {
        return ((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'), 3);
    }
    match rest.first() {
        Some(b'n') => (b'\n', 1),
        Some(b't') => (b'\t', 1),
        Some(b'r') => (b'\r', 1),
        Some(other) => (*other, 1),
        None => (b'\\', 0),
    }
}
