//! What is known of files that are not open.

use std::sync::Arc;

use nudge_syntax::{FileFacts, Language, WorkspaceIndex};
use proptest::prelude::*;

fn facts(text: &str) -> Arc<FileFacts> {
    Arc::new(FileFacts::of(Language::Rust, text))
}

fn names(index: &WorkspaceIndex, name: &str) -> Vec<String> {
    index.files_with(name).map(ToString::to_string).collect()
}

#[test]
fn files_are_found_by_the_names_in_them() {
    let mut index = WorkspaceIndex::default();
    index.insert("file:///a.rs".into(), facts("fn größe() { width + 1 }"));
    index.insert("file:///b.rs".into(), facts("let width = depth;"));
    assert_eq!(names(&index, "width"), ["file:///a.rs", "file:///b.rs"]);
    assert_eq!(names(&index, "größe"), ["file:///a.rs"]);
    assert_eq!(names(&index, "wid"), [""; 0]);
    index.insert("file:///a.rs".into(), facts("fn height() {}"));
    assert_eq!(names(&index, "width"), ["file:///b.rs"]);
    index.remove("file:///b.rs");
    assert_eq!(names(&index, "width"), [""; 0]);
    assert_eq!(index.len(), 1);
}

#[test]
fn a_clone_stays_as_it_was() {
    let mut index = WorkspaceIndex::default();
    index.insert("file:///a.rs".into(), facts("one();"));
    let published = index.clone();
    index.insert("file:///b.rs".into(), facts("two();"));
    index.remove("file:///a.rs");
    assert_eq!(names(&published, "one"), ["file:///a.rs"]);
    assert_eq!(published.len(), 1);
    assert_eq!(names(&index, "one"), [""; 0]);
}

#[test]
fn what_machines_wrote_is_not_kept() {
    let mut index = WorkspaceIndex::default();
    index.insert("file:///a.min.js".into(), facts(&"a(b,c);".repeat(100_000)));
    assert!(index.bytes() < 1000, "{}", index.bytes());
    assert_eq!(names(&index, "b"), ["file:///a.min.js"]);
}

#[test]
fn it_takes_a_few_bytes_for_each_byte_of_source() {
    let mut index = WorkspaceIndex::default();
    let mut source = 0;
    for file in 0..200 {
        let lines = (0..200).map(|line| format!("    let value_{line} = self.read_{file}({line})?;\n"));
        let text: String = lines.collect();
        source += text.len();
        index.insert(format!("file:///{file}.rs").into(), facts(&text));
    }
    assert!(index.bytes() < source * 7 / 2, "{} bytes for {source}", index.bytes());
}

/// Pieces of imports, whole and cut short.
const PIECES: [&str; 24] = [
    "import ",
    "from ",
    "use ",
    "using ",
    "#include ",
    "a.b",
    "a::b",
    "(",
    ")",
    "{",
    "}",
    ",",
    " as ",
    ";",
    "\n",
    "\\\n",
    "#",
    "// x",
    "'m'",
    "\"p\"",
    "*",
    "type ",
    "export ",
    "é",
];

proptest! {
    #[test]
    fn no_import_however_broken_stops_the_reading(
        picks in prop::collection::vec(0..PIECES.len(), 0..24),
        name in prop::sample::select(vec!["a.rs", "a.ts", "a.js", "a.py", "a.go", "a.java", "a.c", "a.cs"]),
    ) {
        let text: String = picks.into_iter().map(|pick| PIECES[pick]).collect();
        FileFacts::of(Language::of(None, name), &text);
    }
}
