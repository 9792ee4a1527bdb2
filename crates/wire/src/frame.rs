//! Lines out of a byte stream, with a bound on their length.

use std::ops::Range;

use bytes::{Buf, Bytes, BytesMut};
use serde_json::value::RawValue;

use crate::{Id, RawJson, id::MAX_ID};

/// The longest message taken, in bytes, unless somebody chooses another limit.
pub const DEFAULT_MESSAGE_LIMIT: usize = 64 * 1024 * 1024;

/// The byte order mark some programs begin their output with.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Cuts a byte stream into lines.
///
/// Call [`LineFramer::next`] until it returns `None`, read more bytes into the same buffer, and so on; at the end of the
/// stream call [`LineFramer::finish`] once. A line longer than the limit is dropped as it arrives, without being kept, and
/// reported with what could be told about it.
///
/// Lines end at `\n`; a `\r` before it, a byte order mark at the start of a line, and empty lines are dropped.
#[derive(Debug)]
pub struct LineFramer {
    max: usize,
    /// How much of the buffer is known to hold no newline.
    scanned: usize,
    skim: Option<Skim>,
}

/// What the stream held next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FramePiece {
    /// A line, not yet known to be UTF-8 or JSON.
    Line(Bytes),
    /// A line over the limit, dropped.
    TooLong(SkimmedFrame),
}

/// What is known about a dropped line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkimmedFrame {
    /// Its length in bytes.
    pub length: usize,
    /// Its top-level `id`, if it was a message with one.
    pub id: Option<Id>,
    /// Whether it had a `result` or `error` and no `method`.
    pub is_response: bool,
    /// Whether it had a `method`.
    pub has_method: bool,
}

impl FramePiece {
    /// What a message is that came whole, by a transport that knows where messages end: what it would be as a line. It is
    /// dropped if it is longer than `max` bytes, and put on one line if it is not; `None` if it is blank.
    pub fn of_message(mut message: Bytes, max: usize) -> Option<Self> {
        if message.len() > max {
            return Some(Self::TooLong(SkimmedFrame::of(&message)));
        }
        let line = trimmed(&message)?;
        message.truncate(line.end);
        message.advance(line.start);
        Some(Self::Line(on_one_line(message)))
    }
}

impl SkimmedFrame {
    /// What is told of a message that is dropped.
    pub fn of(message: &[u8]) -> Self {
        let mut skim = Skim::default();
        skim.feed(message);
        skim.done()
    }
}

impl LineFramer {
    /// A framer that drops lines longer than `max` bytes.
    pub fn new(max: usize) -> Self {
        Self { max, scanned: 0, skim: None }
    }

    /// The next piece that is complete in `buffer`, which is taken off it.
    pub fn next(&mut self, buffer: &mut BytesMut) -> Option<FramePiece> {
        loop {
            let newline = memchr::memchr(b'\n', &buffer[self.scanned..]).map(|at| self.scanned + at);
            if let Some(skim) = &mut self.skim {
                skim.feed(&buffer[..newline.unwrap_or(buffer.len())]);
                buffer.advance(newline.map_or(buffer.len(), |at| at + 1));
                newline?;
                return self.skim.take().map(|skim| FramePiece::TooLong(skim.done()));
            }
            let Some(newline) = newline else {
                self.scanned = buffer.len();
                if self.scanned > self.max {
                    self.begin_skimming();
                    continue;
                }
                return None;
            };
            if newline > self.max {
                self.begin_skimming();
                continue;
            }
            self.scanned = 0;
            match trimmed(&buffer[..newline]) {
                Some(line) => return Some(FramePiece::Line(cut(buffer, line, newline + 1))),
                None => buffer.advance(newline + 1),
            }
        }
    }

    /// What is left when the stream ends without a newline.
    pub fn finish(&mut self, buffer: &mut BytesMut) -> Option<FramePiece> {
        let rest = buffer.split().freeze();
        self.scanned = 0;
        match self.skim.take() {
            Some(mut skim) => {
                skim.feed(&rest);
                Some(FramePiece::TooLong(skim.done()))
            }
            None => trimmed(&rest).map(|line| FramePiece::Line(rest.slice(line))),
        }
    }

    fn begin_skimming(&mut self) {
        self.scanned = 0;
        self.skim = Some(Skim::default());
    }
}

/// Where the line is without byte order mark and trailing `\r`, unless nothing but white space is left.
fn trimmed(line: &[u8]) -> Option<Range<usize>> {
    let mut range = 0..line.len();
    if line.starts_with(BOM) {
        range.start = BOM.len();
    }
    if line[range.clone()].ends_with(b"\r") {
        range.end -= 1;
    }
    let blank = line[range.clone()].iter().all(u8::is_ascii_whitespace);
    (!blank).then_some(range)
}

/// The same JSON with spaces for newlines, which mean the same between tokens. What is no JSON stays as it is: a newline in
/// a string is an error, and it is told as one.
fn on_one_line(message: Bytes) -> Bytes {
    let is_line = memchr::memchr2(b'\n', b'\r', &message).is_none();
    if is_line || serde_json::from_slice::<&RawValue>(&message).is_err() {
        return message;
    }
    let space = |byte: &u8| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte };
    message.iter().map(space).collect()
}

/// Takes `count` bytes off the buffer and gives the line in them. A line that is a small part of the buffer is copied: a
/// slice would keep all of it alive.
fn cut(buffer: &mut BytesMut, line: Range<usize>, count: usize) -> Bytes {
    if line.len() >= buffer.capacity() / 4 {
        return buffer.split_to(count).freeze().slice(line);
    }
    let copy = Bytes::copy_from_slice(&buffer[line]);
    buffer.advance(count);
    copy
}

/// Looks for the envelope's members in a line that is thrown away as it comes, in constant memory.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "a scanner's state is made of small facts")]
struct Skim {
    length: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Whether the next string at depth one is a key.
    at_key: bool,
    key: Vec<u8>,
    value: Vec<u8>,
    capture: Capture,
    has_method: bool,
    has_outcome: bool,
    id: Option<Id>,
}

#[derive(Debug, Default, PartialEq, Clone, Copy)]
enum Capture {
    #[default]
    Nothing,
    Key,
    /// The value of `id`.
    Value,
}

/// No envelope key is longer.
const MAX_KEY: usize = 16;

impl Skim {
    fn feed(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        let mut rest = bytes;
        while let Some((&byte, tail)) = rest.split_first() {
            if self.in_string && !self.escaped && self.capture == Capture::Nothing {
                let skip = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                if skip > 0 {
                    rest = &rest[skip..];
                    continue;
                }
            }
            self.step(byte);
            rest = tail;
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.step_in_string(byte);
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if self.depth == 1 && self.at_key {
                    self.at_key = false;
                    self.key.clear();
                    self.capture = Capture::Key;
                    return;
                }
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.at_key = self.depth == 1 && byte == b'{';
            }
            b'}' | b']' => {
                self.end_of_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' if self.depth == 1 => {
                self.end_of_value();
                self.at_key = true;
                return;
            }
            b':' if self.depth == 1 => {
                self.begin_value();
                return;
            }
            _ => {}
        }
        self.keep(byte);
    }

    fn step_in_string(&mut self, byte: u8) {
        let ends = byte == b'"' && !self.escaped;
        self.escaped = byte == b'\\' && !self.escaped;
        self.in_string = !ends;
        if ends && self.capture == Capture::Key {
            self.capture = Capture::Nothing;
            return;
        }
        self.keep(byte);
    }

    fn keep(&mut self, byte: u8) {
        match self.capture {
            Capture::Key if self.key.len() <= MAX_KEY => self.key.push(byte),
            Capture::Value if self.value.len() <= MAX_ID => self.value.push(byte),
            _ => {}
        }
    }

    fn begin_value(&mut self) {
        match self.key.as_slice() {
            b"method" => self.has_method = true,
            b"result" | b"error" => self.has_outcome = true,
            b"id" => {
                self.value.clear();
                self.capture = Capture::Value;
            }
            _ => {}
        }
        self.key.clear();
    }

    fn end_of_value(&mut self) {
        if self.depth == 1 && self.capture == Capture::Value {
            self.capture = Capture::Nothing;
            let text = std::str::from_utf8(&self.value).ok().filter(|text| text.len() <= MAX_ID);
            let json = text.and_then(|text| RawJson::parse(text.trim().to_owned()).ok());
            self.id = json.and_then(|json| Id::from_json(&json));
        }
    }

    fn done(self) -> SkimmedFrame {
        SkimmedFrame {
            length: self.length,
            is_response: self.has_outcome && !self.has_method,
            has_method: self.has_method,
            id: self.id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pieces of `input`, fed in chunks of `chunk` bytes.
    fn pieces(input: &[u8], max: usize, chunk: usize) -> Vec<FramePiece> {
        let mut framer = LineFramer::new(max);
        let mut buffer = BytesMut::new();
        let mut found = Vec::new();
        for part in input.chunks(chunk) {
            buffer.extend_from_slice(part);
            while let Some(piece) = framer.next(&mut buffer) {
                found.push(piece);
            }
        }
        found.extend(framer.finish(&mut buffer));
        found
    }

    fn lines(input: &[u8]) -> Vec<String> {
        let texts = |chunk| {
            pieces(input, 1 << 20, chunk)
                .into_iter()
                .map(|piece| match piece {
                    FramePiece::Line(line) => String::from_utf8(line.to_vec()).unwrap(),
                    FramePiece::TooLong(_) => panic!("nothing here is too long"),
                })
                .collect::<Vec<_>>()
        };
        let whole = texts(input.len().max(1));
        assert_eq!(whole, texts(1), "the cut must not depend on how the bytes arrive");
        whole
    }

    #[test]
    fn lines_are_cut_and_trimmed() {
        assert_eq!(lines(b"{}\n[]\n"), ["{}", "[]"]);
        assert_eq!(lines(b"{}\r\n\r\n \n{}"), ["{}", "{}"]);
        assert_eq!(lines(b"\xef\xbb\xbf{}\n\xef\xbb\xbf{}\n"), ["{}", "{}"]);
        assert!(lines(b"").is_empty());
        assert!(lines(b"\n\n").is_empty());
    }

    fn skim(line: &str) -> SkimmedFrame {
        let input = format!("{line}\n{{}}\n");
        let check = |chunk| {
            let found = pieces(input.as_bytes(), 10, chunk);
            assert_eq!(found.len(), 2, "the line after a dropped one is read");
            assert_eq!(found[1], FramePiece::Line(Bytes::from_static(b"{}")));
            match found.into_iter().next().unwrap() {
                FramePiece::TooLong(skimmed) => skimmed,
                FramePiece::Line(line) => panic!("{line:?} is not too long"),
            }
        };
        let whole = check(input.len());
        assert_eq!(whole, check(1));
        assert_eq!(whole.length, line.len());
        whole
    }

    #[test]
    fn a_dropped_line_is_still_answered_under_its_id() {
        let id = |line: &str| skim(line).id.map(|id| id.to_string());
        assert_eq!(id(r#"{"jsonrpc":"2.0","id": 7 ,"method":"m"}"#).as_deref(), Some("7"));
        assert_eq!(
            id(r#"{"params":{"id":1,"x":"\"id\":2"},"id":"a\"b","m":[{}]}"#).as_deref(),
            Some(r#""a\"b""#)
        );
        assert_eq!(id(r#"{"params":["}"],"id":1.50}"#).as_deref(), Some("1.50"));
        assert_eq!(id(r#"[{"id":1},{"id":2}]"#), None);
        assert_eq!(id(r#"{"id":{"a":1},"x":1}"#), None);
        assert_eq!(id(r#"{"nid":3,"idx":4,"x":"id"}"#), None);
        assert_eq!(id(&format!(r#"{{"id":"{}"}}"#, "x".repeat(5000))), None);
    }

    #[test]
    fn a_whole_message_becomes_a_line() {
        let of = |message: &'static str| FramePiece::of_message(Bytes::from_static(message.as_bytes()), 30);
        let line = |text: &'static str| Some(FramePiece::Line(Bytes::from_static(text.as_bytes())));
        assert_eq!(of("{}"), line("{}"));
        assert_eq!(of("\u{feff}{\n\t\"a\":\r\n1}"), line("{ \t\"a\":  1}"));
        assert_eq!(of("{\"a\":\"\n\"}"), line("{\"a\":\"\n\"}"), "no JSON is made of what is none");
        assert_eq!(of(" \n"), None);
        assert_eq!(of(""), None);
        let long = r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#;
        assert_eq!(of(long), Some(FramePiece::TooLong(skim(long))));
    }

    #[test]
    fn a_dropped_response_is_known_as_one() {
        let response = skim(r#"{"id":1,"result":{"method":"no"}}"#);
        assert!(response.is_response && !response.has_method);
        let request = skim(r#"{"method":"m","params":{"result":1}}"#);
        assert!(request.has_method && !request.is_response);
    }
}
