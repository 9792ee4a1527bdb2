//! What everything is held against: strings, cut and counted in the plainest way. And where the strings come from.

use std::ops::Range;

use nudge_text::{Edit, Edits, Encoding, Point, diff::FileDiff};
use proptest::{collection::vec, prelude::*, sample::select};

pub(crate) const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

/// Letters, all kinds of line breaks, what looks like one but is none, and code points of every width.
const PIECES: &[&str] = &[
    "a",
    "b",
    "x1",
    "fn ",
    "  ",
    "\t",
    "{",
    "}",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\r\n",
    "\r",
    "é",
    "e\u{301}",
    "ß",
    "中",
    "\u{2028}",
    "\u{2029}",
    "\u{85}",
    "\u{b}",
    "\u{c}",
    "😀",
    "👩\u{200d}👧",
    "𝒳",
    "\u{feff}",
    "\u{1f1e6}\u{1f1e7}",
];

pub(crate) fn short() -> impl Strategy<Value = String> {
    vec(select(PIECES), 0..6).prop_map(|pieces| pieces.concat())
}

/// Mostly a few lines, sometimes enough for many chunks.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => vec(select(PIECES), 0..30).prop_map(|pieces| pieces.concat()),
        1 => vec(select(PIECES), 600..1500).prop_map(|pieces| pieces.concat()),
    ]
}

/// A few lines out of a small choice, so that texts have some in common.
pub(crate) fn lines_text() -> impl Strategy<Value = String> {
    let line =
        select(&["", "a", "b", "c", "    d", "{", "}", "😀", "a\r", "-- x", "++ y", "@@", "\\ z", " "][..]);
    (vec(line, 0..14), select(&["\n", "\r\n", "\r"][..]), any::<bool>()).prop_map(|(lines, end, is_ended)| {
        let mut text = lines.join(end);
        if is_ended {
            text.push_str(end);
        }
        text
    })
}

/// So many lines, no two of them the same.
pub(crate) fn numbered(count: usize) -> String {
    let lines: Vec<String> = (0..count).map(|line| format!("line {line}\n")).collect();
    lines.concat()
}

/// Two numbers that pick a range, and what to put there.
pub(crate) type Pick = (u16, u16, String);

pub(crate) fn pick() -> impl Strategy<Value = Pick> {
    // Often close together, and often at the same place.
    prop_oneof![
        (any::<u16>(), 0..4_u16, short()),
        (0..8_u16, 0..4_u16, short()),
        (any::<u16>(), any::<u16>(), short())
    ]
}

/// The range of a text that a pick means.
pub(crate) fn range(text: &str, (start, len, _): &Pick) -> Range<usize> {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let start = usize::from(*start) % places.len();
    let end = (start + usize::from(*len) % places.len()).min(places.len() - 1);
    places[start]..places[end]
}

/// As many of the picks as can be made at one time.
pub(crate) fn edits(text: &str, picks: &[Pick]) -> Edits {
    let mut edits: Vec<Edit> =
        picks.iter().map(|pick| Edit::new(range(text, pick), pick.2.as_str())).collect();
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut end = 0;
    edits.retain(|edit| {
        let fits = edit.range.start >= end;
        if fits {
            end = edit.range.end;
        }
        fits
    });
    Edits::new(edits).expect("they are sorted and do not overlap")
}

pub(crate) fn apply(text: &str, edits: &Edits) -> String {
    let mut out = String::new();
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out + &text[at..]
}

/// Where each line starts, where it ends, and where its break ends.
pub(crate) fn lines(text: &str) -> Vec<[usize; 3]> {
    let bytes = text.as_bytes();
    let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let len = match &bytes[at..] {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => {
                at += 1;
                continue;
            }
        };
        lines.push([start, at, at + len]);
        at += len;
        start = at;
    }
    lines.push([start, bytes.len(), bytes.len()]);
    lines
}

/// The contents of the lines.
pub(crate) fn contents(text: &str) -> Vec<&str> {
    lines(text).into_iter().map(|[start, end, _]| &text[start..end]).collect()
}

pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    let lines = lines(text);
    lines.iter().position(|[_, _, end]| offset < *end).unwrap_or(lines.len() - 1)
}

pub(crate) fn units(text: &str, encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => text.len(),
        Encoding::Utf16 => text.encode_utf16().count(),
        Encoding::Utf32 => text.chars().count(),
    }
}

pub(crate) fn point(text: &str, offset: usize, encoding: Encoding) -> Point {
    let line = line_of(text, offset);
    let [start, end, _] = lines(text)[line];
    let character = units(&text[start..offset.min(end)], encoding);
    Point::new(u32::try_from(line).unwrap(), u32::try_from(character).unwrap())
}

pub(crate) fn offset(text: &str, at: Point, encoding: Encoding) -> Option<usize> {
    let [start, end, _] = *lines(text).get(at.line as usize)?;
    let mut left = at.character as usize;
    for (place, char) in text[start..end].char_indices() {
        let width = units(char.encode_utf8(&mut [0; 4]), encoding);
        if left < width {
            return Some(start + place);
        }
        left -= width;
    }
    Some(end)
}

/// The text that a diff leads to, if every line of it is where it says.
pub(crate) fn patched(file: &FileDiff, old: &str) -> Option<String> {
    let mut rest = old.split_inclusive('\n').enumerate().peekable();
    let mut new = String::new();
    for hunk in &file.hunks {
        let has_old = hunk.lines.iter().any(|line| line.before().is_some());
        let start = hunk.old_start - usize::from(has_old);
        while let Some((_, line)) = rest.next_if(|(at, _)| *at < start) {
            new += line;
        }
        for line in &hunk.lines {
            if let Some(before) = line.before() {
                let (_, there) = rest.next()?;
                (there.strip_suffix('\n').unwrap_or(there) == before).then_some(())?;
            }
            new.extend(line.after().map(|after| format!("{after}\n")));
        }
        new.truncate(new.len() - usize::from(hunk.new_no_newline));
    }
    new.extend(rest.map(|(_, line)| line));
    Some(new)
}
