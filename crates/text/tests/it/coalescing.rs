//! How keystrokes become changes, shown by example.

use std::{fmt::Write, ops::Range, sync::Arc};

use nudge_text::{
    Document, Edit, Edits, Encoding, Point, Text, TextChange,
    history::{EditHistory, LineChange, from_diff},
};

use crate::naive::numbered;

/// A document of lines `a` to `e`.
const LETTERS: &str = "a\nb\nc\nd\ne\n";

/// What somebody does in an editor. Places are a line and a column, both from zero.
enum Do<'a> {
    /// Typed character by character.
    Type(u32, u32, &'a str),
    /// Deleted backwards, character by character, `\n` included.
    Back(u32, u32, usize),
    /// One edit.
    Put((u32, u32), (u32, u32), &'a str),
    /// Several edits at one time: at each place, the text.
    PutAll(&'a [(u32, u32)], &'a str),
    /// Goes to another document.
    Go(&'a str),
    /// Some milliseconds pass.
    Wait(u64),
    Close,
    Forget,
}
use Do::{Back, Close, Forget, Go, Put, PutAll, Type, Wait};

struct Editor {
    history: EditHistory,
    documents: Vec<(Arc<str>, Document)>,
    at: usize,
    time: u64,
}

impl Editor {
    fn new(text: &str, history: EditHistory) -> Self {
        Self { history, documents: vec![("one".into(), Document::open(0, text))], at: 0, time: 0 }
    }

    fn text(&self) -> &Text {
        self.documents[self.at].1.text()
    }

    fn edit(&mut self, range: Range<usize>, text: &str) {
        let before = self.text().clone();
        let points = [range.start, range.end].map(|at| before.point(at, Encoding::Utf16));
        let change = TextChange::Range { start: points[0], end: points[1], text: text.to_owned() };
        self.change(&[change]);
    }

    fn change(&mut self, changes: &[TextChange]) {
        let (uri, document) = &mut self.documents[self.at];
        let before = document.text().clone();
        let edits = document.change(document.version() + 1, changes, Encoding::Utf16).expect("the step fits");
        self.history.record(uri, &before, &edits, document.text(), self.time);
    }

    fn act(&mut self, step: &Do<'_>) {
        self.time += 100;
        let place = |text: &Text, line, column| text.offset(Point::new(line, column), Encoding::Utf16);
        match *step {
            Type(line, column, typed) => {
                let start = place(self.text(), line, column);
                for (at, char) in typed.char_indices() {
                    self.edit(start + at..start + at, &char.to_string());
                }
            }
            Back(line, column, count) => {
                let mut end = place(self.text(), line, column);
                for _ in 0..count {
                    let start = self.text().floor(end - 1);
                    self.edit(start..end, "");
                    end = start;
                }
            }
            Put(start, end, text) => {
                let range = place(self.text(), start.0, start.1)..place(self.text(), end.0, end.1);
                self.edit(range, text);
            }
            PutAll(places, text) => {
                let (uri, document) = &mut self.documents[self.at];
                let before = document.text().clone();
                let edit = |at: &(u32, u32)| {
                    let at = place(&before, at.0, at.1);
                    Edit::new(at..at, text)
                };
                let edits = Edits::new(places.iter().map(edit).collect()).expect("they do not overlap");
                let after = edits.apply(&before);
                *document = Document::open(document.version() + 1, &after.to_string());
                self.history.record(uri, &before, &edits, &after, self.time);
            }
            Go(uri) => {
                self.at = self.documents.iter().position(|(known, _)| **known == *uri).unwrap_or_else(|| {
                    self.documents.push((uri.into(), Document::open(0, LETTERS)));
                    self.documents.len() - 1
                });
            }
            Wait(time) => self.time += time,
            Close => self.history.close_open(),
            Forget => self.history.forget(&self.documents[self.at].0),
        }
    }
}

/// `line: -before +after`, with a star if it is open and the name of the document if it is not the first.
fn told(change: &LineChange) -> String {
    let mut told = if *change.uri == *"one" { String::new() } else { format!("{} ", change.uri) };
    let _ = write!(told, "{}{}:", change.line, if change.open { "*" } else { "" });
    for (sign, text, lines) in
        [('-', &change.before, change.before_lines), ('+', &change.after, change.after_lines)]
    {
        let mut count = 0;
        for line in text.split('\n').take(lines) {
            let _ = write!(told, " {sign}{line}");
            count += 1;
        }
        assert_eq!(count, lines, "as many lines as it says: {change:?}");
        assert!(lines > 0 || text.is_empty());
    }
    told
}

#[track_caller]
fn check(steps: &[Do<'_>], expected: &[&str]) {
    check_in(LETTERS, steps, expected);
}

#[track_caller]
fn check_in(text: &str, steps: &[Do<'_>], expected: &[&str]) {
    let mut editor = Editor::new(text, EditHistory::default());
    for step in steps {
        editor.act(step);
    }
    let told: Vec<String> = editor.history.changes().iter().map(told).collect();
    assert_eq!(told, expected);
}

#[test]
fn typing_on_a_line_is_one_change() {
    check(&[Type(1, 1, "xyz")], &["1*: -b +bxyz"]);
    check(&[Type(1, 1, "xyz"), Type(1, 0, "("), Back(1, 5, 1)], &["1*: -b +(bxy"]);
    check(&[Type(1, 1, "x"), Close], &["1: -b +bx"]);
}

#[test]
fn another_line_is_another_change_though_it_is_the_next() {
    check(&[Type(1, 1, "x"), Type(2, 1, "y")], &["1: -b +bx", "2*: -c +cy"]);
    check(&[Type(1, 1, "x"), Type(0, 1, "y")], &["1: -b +bx", "0*: -a +ay"]);
    check(&[Type(1, 1, "x"), Type(3, 1, "y"), Type(1, 2, "z")], &["1: -b +bx", "3: -d +dy", "1*: -bx +bxz"]);
}

#[test]
fn enter_and_going_on_is_one_change() {
    check(&[Type(1, 1, "x\ny\nz")], &["1*: -b +bx +y +z"]);
    check(&[Type(1, 1, "\n    new")], &["2*: +    new"]);
    check(&[Type(1, 1, "\n"), Type(2, 0, "new")], &["2*: +new"]);
    check(&[Type(1, 0, "\n"), Type(1, 0, "new")], &["1*: +new"]);
}

#[test]
fn joining_lines_is_a_replacement() {
    check(&[Back(2, 0, 1)], &["1*: -b -c +bc"]);
    check(&[Type(2, 0, "x"), Back(2, 0, 1)], &["1*: -b -c +bxc"]);
    check(&[Type(2, 1, "\n"), Back(3, 0, 1)], &[]);
}

#[test]
fn whole_lines_are_inserted_and_deleted_as_such() {
    check(&[Put((1, 0), (1, 0), "x\ny\n")], &["1*: +x +y"]);
    check(&[Put((1, 1), (1, 1), "\nx\ny")], &["2*: +x +y"]);
    check(&[Put((5, 0), (5, 0), "x\n")], &["5*: +x"]);
    check(&[Put((1, 0), (3, 0), "")], &["1*: -b -c"]);
    check(&[Put((0, 1), (2, 1), "")], &["1*: -b -c"]);
    check(&[Put((1, 0), (2, 0), ""), Put((1, 0), (2, 0), "")], &["1*: -b -c"]);
    check(&[Put((1, 0), (2, 0), "x\ny\n")], &["1*: -b +x +y"]);
    check_in("a\r\nb\r\n", &[Put((1, 0), (1, 0), "x\r\n")], &["1*: +x"]);
}

#[test]
fn what_comes_in_one_piece_is_told_from_what_is_typed() {
    let long = "x".repeat(200);
    for (steps, expected) in [
        (vec![Type(1, 1, "x y z")], false),
        (vec![Put((1, 1), (1, 1), "word")], false),
        (vec![Put((1, 1), (1, 1), "\n        ")], false),
        (vec![Put((1, 1), (1, 1), "x y")], true),
        (vec![Put((1, 0), (1, 0), "x\ny\n")], true),
        (vec![Put((1, 1), (1, 1), &long)], true),
        (vec![Put((1, 1), (1, 1), "x y"), Type(1, 4, "z")], false),
    ] {
        let mut editor = Editor::new(LETTERS, EditHistory::default());
        for step in &steps {
            editor.act(step);
        }
        let pasted = editor.history.changes().last().is_some_and(|change| change.pasted);
        assert_eq!(pasted, expected, "{:?}", editor.text().to_string());
    }
}

#[test]
fn a_deleted_line_and_then_another_line() {
    check(&[Put((1, 0), (2, 0), ""), Type(1, 1, "x")], &["1: -b", "1*: -c +cx"]);
    check(&[Type(2, 1, "x"), Put((1, 0), (2, 0), "")], &["1: -c +cx", "1*: -b"]);
}

#[test]
fn what_was_undone_is_left_out() {
    check(&[Type(1, 1, "xyz"), Back(1, 4, 3)], &[]);
    check(&[Type(1, 1, "x"), Type(3, 1, "y"), Back(3, 2, 1), Type(4, 0, "z")], &["1: -b +bx", "4*: -e +ze"]);
    check(&[Put((1, 0), (1, 1), "b")], &[]);
}

#[test]
fn untouched_lines_of_a_region_do_not_belong_to_it() {
    check(&[Put((0, 0), (4, 1), "a\nb\nX\nd\ne")], &["2*: -c +X"]);
    check(&[Type(1, 1, "x\ny"), Back(1, 2, 1)], &["2*: +y"]);
}

#[test]
fn a_pause_splits_only_if_the_place_moved() {
    check(&[Type(1, 1, "xy"), Wait(40_000), Type(1, 3, "z")], &["1*: -b +bxyz"]);
    check(&[Type(1, 1, "xy"), Wait(40_000), Type(1, 0, "z")], &["1: -b +bxy", "1*: -bxy +zbxy"]);
    check(&[Type(1, 1, "xy"), Wait(20_000), Type(1, 0, "z")], &["1*: -b +zbxy"]);
}

#[test]
fn new_lines_are_written_and_then_revised() {
    let new = "x one\ny one\n";
    check(&[Put((1, 0), (1, 0), new), Put((1, 0), (1, 1), "z")], &["1: +x one +y one", "1*: -x one +z one"]);
    check(
        &[Type(1, 1, "\nx one\ny one"), Put((2, 0), (2, 1), ""), Type(2, 0, "z")],
        &["2: +x one +y one", "2*: -x one +z one"],
    );
    // On the line that is being written, and where something is only added, it goes on.
    check(&[Type(1, 1, "\nx one\ny one"), Put((3, 0), (3, 1), "z")], &["2*: +x one +z one"]);
    check(&[Type(1, 1, "\nx one\ny one"), Type(2, 5, "!")], &["2*: +x one! +y one"]);
}

#[test]
fn documents_have_changes_of_their_own() {
    check(
        &[Type(1, 1, "x"), Go("two"), Type(1, 1, "y"), Go("one"), Type(1, 2, "z")],
        &["1: -b +bx", "two 1: -b +by", "1*: -bx +bxz"],
    );
}

#[test]
fn several_places_are_several_changes() {
    check(&[PutAll(&[(0, 0), (2, 0), (4, 0)], "x")], &["0*: -a +xa", "2*: -c +xc", "4*: -e +xe"]);
    check(&[PutAll(&[(0, 0), (1, 0), (4, 0)], "x")], &["0*: -a -b +xa +xb", "4*: -e +xe"]);
}

#[test]
fn several_carets_type_on() {
    check(&[PutAll(&[(0, 1), (2, 1)], "x"), PutAll(&[(0, 2), (2, 2)], "y")], &["0*: -a +axy", "2*: -c +cxy"]);
    check(&[PutAll(&[(0, 1), (2, 1)], "\n"), PutAll(&[(1, 0), (4, 0)], "y")], &["1*: +y", "4*: +y"]);
    check(&[PutAll(&[(0, 1), (2, 1)], "x"), Type(2, 2, "y")], &["0: -a +ax", "2*: -c +cxy"]);
    check(&[PutAll(&[(0, 1), (2, 1)], "x"), Type(0, 2, "y")], &["0: -a +ax", "2: -c +cx", "0*: -ax +axy"]);
}

#[test]
fn lines_follow_later_edits() {
    check(&[Type(3, 1, "x"), Put((1, 0), (1, 0), "1\n2\n")], &["5: -d +dx", "1*: +1 +2"]);
    check(&[Type(3, 1, "x"), Put((3, 0), (3, 0), "1\n")], &["3*: -d +1 +dx"]);
    check(&[Type(3, 1, "x"), Close, Put((3, 0), (3, 0), "1\n")], &["4: -d +dx", "3*: +1"]);
    check(&[Type(3, 1, "x"), Put((0, 0), (2, 0), "")], &["1: -d +dx", "0*: -a -b"]);
    check(&[Type(1, 1, "x"), Put((3, 0), (3, 0), "1\n")], &["1: -b +bx", "3*: +1"]);
    check(&[Type(3, 1, "x"), Forget, Put((1, 0), (1, 0), "1\n")], &["3: -d +dx", "1*: +1"]);
}

#[test]
fn a_reformatted_document_is_what_differs() {
    let before = numbered(40);
    let after = before.replace("line 3\n", "line three\n").replace("line 30\n", "");
    check_in(&before, &[Put((0, 0), (40, 0), &after)], &["3*: -line 3 +line three", "30*: -line 30"]);
}

#[test]
fn neighbours_touched_and_time() {
    let mut editor = Editor::new(LETTERS, EditHistory::default());
    editor.act(&Type(3, 1, "é"));
    let change = &editor.history.changes()[0];
    assert_eq!((change.above.join(""), change.below.join("/")), ("abc".to_owned(), "e/".to_owned()));
    assert_eq!(&change.after[change.touched.clone()], "é");
    assert_eq!(change.time, 100);
    editor.act(&Back(3, 2, 2));
    editor.act(&Put((3, 0), (3, 0), "dd"));
    let changes = editor.history.changes();
    assert_eq!((changes[0].after.as_str(), changes[0].touched.len(), changes[0].time), ("dd", 1, 300));
}

#[test]
fn the_history_is_bounded() {
    let mut editor = Editor::new(LETTERS, EditHistory::with_capacity(3));
    for turn in 0..10 {
        editor.act(&Type(turn % 5, 0, "x"));
    }
    let lines: Vec<usize> = editor.history.changes().iter().map(|change| change.line).collect();
    assert_eq!(lines, [2, 3, 4]);
    editor.act(&PutAll(&[(0, 0), (2, 0), (4, 0)], "y"));
    editor.act(&Close);
    assert_eq!(editor.history.changes().len(), 3);
}

#[test]
fn what_is_too_large_is_only_a_boundary() {
    let large = "x".repeat(70_000);
    check(&[Type(1, 1, "x"), Put((1, 2), (1, 2), &large), Type(3, 0, "y")], &["3*: -d +yd"]);
    check(&[Type(1, 1, "x"), Put((3, 1), (3, 1), &large), Type(1, 2, "y")], &["1: -b +bx", "1*: -bx +bxy"]);
}

#[test]
fn a_diff_tells_changes_too() {
    let diff = "\
--- a/x
+++ b/x
@@ -1,6 +1,6 @@
 a
-b
+B
 c
-d
 e
+f
 g
";
    let uri: Arc<str> = "one".into();
    let changes = |now: Option<&str>| {
        let now = now.map(Text::new);
        from_diff(&uri, diff, now.as_ref()).iter().map(told).collect::<Vec<_>>()
    };
    assert_eq!(changes(None), ["1: -b +B", "3: -d", "4: +f"]);
    assert_eq!(changes(Some("a\nB\nc\ne\nf\ng\n")), ["1: -b +B", "3: -d", "4: +f"]);
    assert_eq!(changes(Some("0\n0\na\nB\nc\ne\nf\ng\n")), ["3: -b +B", "5: -d", "6: +f"]);
    let first = &from_diff(&uri, diff, None)[0];
    assert_eq!((first.above.join(""), first.below.join("")), ("a".to_owned(), "cef".to_owned()));
    assert_eq!(from_diff(&uri, "not a diff", None), []);
}
