//! What is known of files that are not open.

use std::{collections::BTreeMap, sync::Arc};

use nudge_predict::{FileFacts, Index, Kind, Language};
use proptest::prelude::*;

use crate::complete::Moment;

fn facts(text: &str) -> Arc<FileFacts> {
    Arc::new(FileFacts::of(Language::Rust, text))
}

fn names(index: &Index, name: &str) -> Vec<String> {
    index.files_with(name).map(ToString::to_string).collect()
}

#[test]
fn files_are_found_by_the_names_in_them() {
    let mut index = Index::default();
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
    let mut index = Index::default();
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
    let mut index = Index::default();
    index.insert("file:///a.min.js".into(), facts(&"a(b,c);".repeat(100_000)));
    assert!(index.bytes() < 1000, "{}", index.bytes());
    assert_eq!(names(&index, "b"), ["file:///a.min.js"]);
}

#[test]
fn it_takes_a_few_bytes_for_each_byte_of_source() {
    let mut index = Index::default();
    let mut source = 0;
    for file in 0..200 {
        let lines = (0..200).map(|line| format!("    let value_{line} = self.read_{file}({line})?;\n"));
        let text: String = lines.collect();
        source += text.len();
        index.insert(format!("file:///{file}.rs").into(), facts(&text));
    }
    assert!(index.bytes() < source * 7 / 2, "{} bytes for {source}", index.bytes());
}

/// What an index says of names, and of how a line goes on.
fn answers(index: &Index) -> Vec<String> {
    let mut found: Vec<String> =
        ["alpha", "beta", "gamma", "delta"].iter().flat_map(|name| names(index, name)).collect();
    for typed in ["alpha(", "beta = ", "gam", "alpha(beta, "] {
        for suggestion in Moment::new("fn f() {\n    ", typed, "\n}\n", index.clone()).completions() {
            let Kind::Edit { edits, .. } = &suggestion.kind else { continue };
            found.push(format!("{typed}{} {:.3}", edits.as_slice()[0].text, suggestion.confidence));
        }
    }
    found
}

fn file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("    alpha(beta, gamma);\n"),
        Just("    alpha(beta);\n"),
        Just("    beta = gamma + 1;\n"),
        Just("    gamma.delta(alpha)?;\n"),
        Just("}\n\nfn f() {\n"),
    ];
    prop::collection::vec(line, 0..5).prop_map(|lines| lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_was_there_before_does_not_matter(steps in prop::collection::vec((0..12_u8, prop::option::weighted(0.8, file())), 0..60)) {
        let mut index = Index::default();
        let mut left: BTreeMap<u8, String> = BTreeMap::new();
        for (file, text) in steps {
            let uri = format!("file:///w/{file}.rs");
            if let Some(text) = text {
                index.insert(uri.into(), facts(&text));
                left.insert(file, text);
            } else {
                index.remove(&uri);
                left.remove(&file);
            }
        }
        let mut fresh = Index::default();
        for (file, text) in &left {
            fresh.insert(format!("file:///w/{file}.rs").into(), facts(text));
        }
        prop_assert_eq!(index.len(), fresh.len());
        prop_assert_eq!(answers(&index), answers(&fresh));
    }
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

proptest::proptest! {
    #[test]
    fn no_import_however_broken_stops_the_reading(
        picks in proptest::collection::vec(0..PIECES.len(), 0..24),
        name in proptest::sample::select(vec!["a.rs", "a.ts", "a.js", "a.py", "a.go", "a.java", "a.c", "a.cs"]),
    ) {
        let text: String = picks.into_iter().map(|pick| PIECES[pick]).collect();
        nudge_predict::FileFacts::of(nudge_predict::Language::of(None, name), &text);
    }
}
