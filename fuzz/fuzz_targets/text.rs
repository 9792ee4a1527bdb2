//! The same edits told in three encodings: three equal documents, equal to a plain string; and a history within bounds.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use nudge_text::{
    Document, Edits, Encoding, InsertBias, Text, TextChange,
    diff::{self, FileDiff},
    history::EditHistory,
};

const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

/// What can be typed: every line break, what only looks like one, code points of every width, and long runs.
const PIECES: [&str; 16] = [
    "",
    "a",
    "fn x",
    "\n",
    "\r\n",
    "\r",
    "é",
    "e\u{301}",
    "中",
    "😀",
    "\u{2028}",
    "\u{85}",
    "    ",
    "}\n",
    "one\ntwo\r\n",
    "👩\u{200d}👧",
];

/// The longest text that is played with.
const LONGEST: usize = 8192;

fuzz_target!(|stream: &[u8]| {
    check_diffs(stream);
    let (uris, mut history) = (["one", "two"].map(Arc::<str>::from), EditHistory::default());
    let mut games = [Game::new(), Game::new()];
    for (turn, step) in stream.chunks(12).enumerate() {
        let which = usize::from(step[0] >> 7);
        let before = games[which].documents[0].text().clone();
        let edits = games[which].play(step);
        let after = games[which].documents[0].text();
        history.record(&uris[which], &before, &edits, after, turn as u64 * u64::from(step[0]) * 100);
        if step[0] == 3 {
            history.close_open();
        }
        if step[0] == 5 {
            history.forget("one");
        }
        check_history(&history, &uris[which], after);
    }
});

/// One text, told in each encoding.
struct Game {
    documents: [Document; 3],
    plain: String,
}

impl Game {
    fn new() -> Self {
        Self { documents: ENCODINGS.map(|_| Document::open(0, "")), plain: String::new() }
    }

    /// One notification: a few changes, each of the text after the one before.
    fn play(&mut self, step: &[u8]) -> Edits {
        let before = self.documents[0].text().clone();
        let mut changes = [const { Vec::new() }; 3];
        for pick in step[1..].chunks(4) {
            self.pick(pick, &mut changes);
        }
        let version = self.documents[0].version() + 1;
        let mut told = Vec::new();
        for ((document, changes), encoding) in self.documents.iter_mut().zip(&changes).zip(ENCODINGS) {
            told.push(document.change(version, changes, encoding).expect("the changes fit"));
            assert_eq!(document.text().to_string(), self.plain);
        }
        assert!(told[0] == told[1] && told[1] == told[2]);
        let edits = told.swap_remove(0);
        check_edits(&edits, &before, self.documents[0].text());
        check_places(self.documents[0].text(), &self.plain, step);
        edits
    }

    fn pick(&mut self, pick: &[u8], changes: &mut [Vec<TextChange>; 3]) {
        let knob = |at: usize| pick.get(at).map_or(0, |byte| usize::from(*byte));
        let text = Text::new(&self.plain);
        let at = (knob(0) + 256 * (knob(3) >> 4)) % (text.len() + 1);
        let start = text.floor(at);
        let len = if self.plain.len() > LONGEST { LONGEST / 2 } else { knob(1) % 24 };
        // What lies between the two halves of a line break cannot be told.
        let [start, end] = [start, text.floor(start + len)].map(|at| told(&self.plain, at));
        let mut new = PIECES[knob(2) % 16].repeat(if knob(2) > 250 { 200 } else { 1 });
        new.push_str(PIECES[knob(3) % 16]);
        self.plain.replace_range(start..end, &new);
        for (changes, encoding) in changes.iter_mut().zip(ENCODINGS) {
            changes.push(if knob(1) > 250 {
                TextChange::Full(self.plain.clone())
            } else {
                let [start, end] = [start, end].map(|at| text.point(at, encoding));
                TextChange::Range { start, end, text: new.clone() }
            });
        }
    }
}

fn told(plain: &str, at: usize) -> usize {
    let is_inside_break = plain[..at].ends_with('\r') && plain[at..].starts_with('\n');
    at - usize::from(is_inside_break)
}

fn check_edits(edits: &Edits, before: &Text, after: &Text) {
    assert!(edits.fits(before));
    assert_eq!(edits.apply(before), *after);
    assert_eq!(edits.trimmed(before).apply(before), *after);
    let back = diff::edits(after, before);
    assert_eq!(edits.compose(&back).apply(before), *before);
    let mut last = 0;
    for at in 0..=before.len().min(100) {
        let (front, back) = (edits.map(at, InsertBias::Before), edits.map(at, InsertBias::After));
        assert!(last <= front && front <= back && back <= after.len());
        last = front;
    }
}

fn check_places(text: &Text, plain: &str, step: &[u8]) {
    for knob in step {
        let at = text.floor(usize::from(*knob) * plain.len() / 256);
        for encoding in ENCODINGS {
            assert_eq!(text.offset(text.point(at, encoding), encoding), told(plain, at));
        }
        let line = text.line_of(at);
        assert!(text.line_start(line) <= at && at <= text.line_end_with_break(line));
        assert_eq!(text.line(line), plain[text.line_start(line)..text.line_end(line)]);
    }
}

fn check_history(history: &EditHistory, uri: &Arc<str>, now: &Text) {
    let changes = history.changes();
    assert!(changes.len() <= 64);
    for change in &changes {
        assert!(change.above.len() <= 3 && change.below.len() <= 3);
        assert!(change.before.len() <= 64 * 1024 && change.after.len() <= 64 * 1024);
        assert!((change.before_lines, &change.before) != (change.after_lines, &change.after));
        assert!(change.after.get(change.touched.clone()).is_some());
        if change.open && change.uri == *uri {
            let lines = change.line..change.line + change.after_lines;
            let there: Vec<_> = lines.map(|line| now.line(line).into_owned()).collect();
            assert_eq!(there.join("\n"), change.after);
        }
    }
}

/// Any text can be read as a diff, and any two texts have one that leads from the first to the second.
fn check_diffs(stream: &[u8]) {
    let text = String::from_utf8_lossy(stream);
    let half = text.floor_char_boundary(text.len() / 2);
    let (old, new) = (Text::new(&text[..half]), Text::new(&text[half..]));
    let _ = diff::parse(&text);
    for context in [0, 3] {
        let printed = diff::unified(&old, &new, "x", context);
        match diff::parse(&printed).expect("what is printed can be read").as_slice() {
            [] => assert_eq!(old, new),
            [file] => assert_eq!(patched(file, &old.to_string()), Some(new.to_string())),
            more => panic!("one file, not {more:?}"),
        }
    }
    assert_eq!(diff::edits(&old, &new).apply(&old), new);
}

/// The text that a diff leads to, if every line of it is where it says.
fn patched(file: &FileDiff, old: &str) -> Option<String> {
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
