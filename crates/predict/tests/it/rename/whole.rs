//! A rename by the editor's own means says what it comes to: all of it, or nothing.

use std::sync::Arc;

use nudge_predict::{OfferedKinds, PredictorName, SuggestionKind};
use nudge_text::{Edits, Text};

use crate::fixture::Fixture;

const HERE: &str = "file:///a.rs";
const OTHER: &str = "file:///b.rs";
const THIRD: &str = "file:///c.rs";

/// The renames that are suggested.
fn renames(files: &[(&str, &str)]) -> Vec<SuggestionKind> {
    let mut fixture = Fixture::new(PredictorName::Rename, files);
    fixture.offers = OfferedKinds { rename: true, ..OfferedKinds::default() };
    let found = fixture.all().into_iter().map(|found| found.kind);
    found.filter(|kind| matches!(kind, SuggestionKind::Rename { .. })).collect()
}

/// The edits of the one rename that is suggested.
fn edits(files: &[(&str, &str)]) -> Vec<(Arc<str>, Edits)> {
    let found = renames(files);
    let [SuggestionKind::Rename { uri, edits, .. }] = &found[..] else { panic!("{found:#?}") };
    assert!(edits.first().is_none_or(|(first, _)| first == uri), "{edits:?}");
    edits.clone()
}

/// What is marked `⟨old→new⟩` is what the rename comes to, and nothing else.
fn check(files: &[(&str, &str)]) {
    let made = edits(files);
    assert!(!made.is_empty(), "it is not known");
    for (uri, marked) in files {
        let (now, expected) = (unmarked(marked, false), unmarked(marked, true));
        let edits = made.iter().find(|(known, _)| **known == **uri).map(|(_, edits)| edits.clone());
        assert_eq!(edits.is_some(), now != expected, "{uri}: only what changes is named");
        assert_eq!(edits.unwrap_or_default().apply(&Text::new(&now)).to_string(), expected);
    }
}

/// It is not known what the rename comes to.
fn check_unknown(files: &[(&str, &str)]) {
    assert_eq!(edits(files), []);
}

/// The text after the user's edits, and after what is to follow too if that is asked for.
fn unmarked(marked: &str, follows: bool) -> String {
    let (mut text, mut rest) = (String::new(), marked);
    while let Some((plain, mark)) = rest.find(['⟦', '⟨']).map(|at| rest.split_at(at)) {
        let (mark, after) = mark.split_once(['⟧', '⟩']).expect("a mark is closed");
        let (old, new) = mark.split_once('→').expect("a mark has an arrow");
        text.push_str(plain);
        text.push_str(if follows || mark.starts_with('⟦') { new } else { &old['⟨'.len_utf8()..] });
        rest = after;
    }
    text + rest
}

#[test]
fn the_place_is_that_of_the_declaration() {
    let files = [(HERE, "fn f() {\n    let cnt = 0;\n    show(⟦cnt→count⟧);\n}\n")];
    let place = Fixture::new(PredictorName::Rename, &files).place("cnt");
    let edits = vec![(HERE.into(), Edits::one(place.clone(), "count"))];
    let expected =
        SuggestionKind::Rename { uri: HERE.into(), offset: place.start, name: "count".into(), edits };
    assert_eq!(renames(&files), [expected]);
}

#[test]
fn all_uses_in_a_document_follow() {
    check(&[(
        HERE,
        "fn a(items: &[u8]) {
    let ⟨cnt→count⟩ = items.len(); log(⟨cnt→count⟩);

    show(⟦cnt→count⟧);
    println!(\"cnt: {⟨cnt→count⟩}\");

    other();

    show(⟨cnt→count⟩, ⟨cnt→count⟩); // cnt
    Size { ⟨cnt→cnt: count⟩ };
    Size { ⟨count: cnt→count⟩ };
}
",
    )]);
}

#[test]
fn more_uses_follow_than_are_suggested_one_by_one() {
    let text = |count: usize| {
        let uses = "    show(⟨cnt→count⟩);\n\n".repeat(count);
        format!("fn a() {{\n    let ⟨cnt→count⟩ = 1;\n    show(⟦cnt→count⟧);\n{uses}}}\n")
    };
    check(&[(HERE, &text(299))]);
    check_unknown(&[(HERE, &text(300))]);
}

#[test]
fn what_only_has_the_same_name_stays() {
    check(&[
        (
            HERE,
            "fn a(⟨cnt→count⟩: u8) -> u8 {
    show(⟦cnt→count⟧); // cnt
    all(|cnt| cnt, \"cnt\", ⟨cnt→count⟩.cnt);
    {
        let cnt = ⟨cnt→count⟩ + 1;
        show(cnt);
    }
    ⟨cnt→count⟩
}
fn b(cnt: u8) -> u8 {
    cnt
}
",
        ),
        (OTHER, "fn c(cnt: u8) -> u8 {\n    cnt\n}\n"),
    ]);
}

#[test]
fn a_use_means_the_nearest_declaration_before_it() {
    check(&[(
        HERE,
        "fn a(cnt: u8) {
    show(cnt);
    let ⟨cnt→count⟩ = cnt + 1;
    show(⟦cnt→count⟧);
    show(⟨cnt→count⟩);
    let cnt = ⟨cnt→count⟩ + 1;
    show(cnt);
}
",
    )]);
    check(&[(
        HERE,
        "fn a(⟨cnt→count⟩: u8) {
    show(⟦cnt→count⟧);
    let cnt = ⟨cnt→count⟩ + 1;
    show(cnt);
}
",
    )]);
}

#[test]
fn a_pattern_keeps_the_name_of_the_field() {
    check(&[(
        HERE,
        "fn a(size: Size) {
    let Size { ⟨cnt→cnt: count⟩ } = size;
    show(⟦cnt→count⟧);
    show(⟨cnt→count⟩);
}
",
    )]);
}

#[test]
fn other_documents_follow_what_they_can_see() {
    check(&[
        (HERE, "pub fn ⟨cnt→count⟩() {}\n\nfn a() {\n    ⟦cnt→count⟧();\n\n    ⟨cnt→count⟩();\n}\n"),
        (OTHER, "use crate::a::⟨cnt→count⟩;\n\nfn b() {\n    ⟨cnt→count⟩();\n}\n"),
        (THIRD, "fn c(cnt: u8) {\n    show(cnt);\n}\n\nfn d() {\n    a::⟨cnt→count⟩();\n}\n"),
        ("file:///d.py", "def cnt():\n    cnt()\n"),
    ]);
}

#[test]
fn places_are_counted_in_bytes() {
    check(&[
        (
            HERE,
            "pub fn ⟨größe→länge⟩() {}\nfn a() {\n    f(\"🙂é\", ⟦größe→länge⟧(), \"👩‍🚀\", ⟨größe→länge⟩());\n    größer();\n}\n",
        ),
        (OTHER, "fn b() {\n    f(\"👩‍🚀\", a::⟨größe→länge⟩());\n}\n"),
    ]);
}

#[test]
fn members_that_need_no_value_before_them_follow() {
    check(&[(
        "file:///A.java",
        "class A {
    private int ⟨cnt→count⟩ = 0;

    int next() {
        this.⟨cnt→count⟩ += 1;
        return ⟦cnt→count⟧;
    }

    int last() {
        return ⟨cnt→count⟩;
    }
}
",
    )]);
}

#[test]
fn nothing_is_known_where_something_else_has_the_name() {
    let home = "pub fn cnt() {}\n\nfn a() {\n    ⟦cnt→count⟧();\n}\n";
    let rival = "pub fn cnt() {}\n";
    check_unknown(&[(HERE, &format!("{home}impl Size {{\n    fn cnt(&self) {{}}\n}}\n"))]);
    check_unknown(&[(HERE, home), (OTHER, &format!("{rival}fn b() {{\n    cnt();\n}}\n"))]);
    check_unknown(&[(HERE, home), (OTHER, rival), (THIRD, "fn c() {\n    b::cnt();\n}\n")]);
    // At home it means what is declared at home.
    let home = home.replace("pub fn cnt", "pub fn ⟨cnt→count⟩");
    check(&[(HERE, &home), (OTHER, "impl Size {\n    fn cnt(&self) {}\n}\n")]);
}

#[test]
fn nothing_is_known_where_a_document_is_too_long_to_be_parsed() {
    let home = "pub fn cnt() {}\n\nfn a() {\n    ⟦cnt→count⟧();\n}\n";
    let other = "fn b() {\n    a::cnt();\n}\n";
    let long = format!("{}\n{other}", "// long\n".repeat(140_000));
    check_unknown(&[(HERE, home), (OTHER, other), (THIRD, &long)]);
}

#[test]
fn nothing_is_known_of_what_is_declared_elsewhere() {
    check_unknown(&[(HERE, "use b::cnt;\n\nfn a() {\n    ⟦cnt→count⟧();\n    cnt();\n}\n")]);
}

#[test]
fn nothing_is_known_where_calls_elsewhere_may_name_a_parameter() {
    let (here, other) = ("file:///a.py", "file:///b.py");
    let home =
        "def size(⟨cnt→count⟩):\n    show(⟦cnt→count⟧)\n    return ⟨cnt→count⟩\n\nsize(⟨cnt→count⟩=1)\n";
    check(&[(here, home), (other, "def other(cnt):\n    show(cnt)\n")]);
    check_unknown(&[(here, home), (other, "from a import size\n\nsize(cnt=1)\n")]);
}

#[test]
fn nothing_is_known_where_the_new_name_is_taken() {
    let home = "pub fn cnt() {}\n\nfn a() {\n    ⟦cnt→count⟧();\n}\n";
    check_unknown(&[(HERE, &format!("{home}fn b(count: u8) {{\n    show(count, cnt());\n}}\n"))]);
    check_unknown(&[(HERE, home), (OTHER, "use a::cnt;\n\nfn count() {}\n\nfn b() {\n    cnt();\n}\n")]);
    // Where it does not stand by itself it is told apart.
    let home = home.replace("pub fn cnt", "pub fn ⟨cnt→count⟩");
    check(&[(HERE, &home), (OTHER, "fn b(count: u8) {\n    show(count, a::⟨cnt→count⟩());\n}\n")]);
}

#[test]
fn a_document_that_parses_still_does() {
    let home = "int ⟨cnt→template⟩(void) { return 1; }\n\nint a(void) { return ⟦cnt→template⟧(); }\n";
    check(&[("file:///a.c", home), ("file:///b.c", "int b(void) { return ⟨cnt→template⟩(); }\n")]);
    // In the language of another document it is a keyword.
    check_unknown(&[("file:///a.c", home), ("file:///b.cpp", "int b() { return cnt(); }\n")]);
}
