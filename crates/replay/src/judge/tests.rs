use super::*;
use crate::case::ChangedFile;

fn draft(before: &str, after: &str) -> FileDraft {
    FileDraft::new(&ChangedFile {
        path: "a.rs".to_owned(),
        before: before.to_owned(),
        after: after.to_owned(),
    })
}

/// `done` are the hunks that a suggestion does, and `suggested` is the text that it leaves.
#[track_caller]
fn check(before: &str, after: &str, suggested: &str, expected: &str) {
    let mut draft = draft(before, after);
    let judgement = draft.judge(suggested);
    let done: Vec<usize> = judgement
        .places
        .iter()
        .filter(|(place, then)| draft.places[*place].want == *then)
        .map(|(place, _)| *place)
        .collect();
    let word = match judgement.verdict {
        SuggestionVerdict::Exact => format!("exact {done:?}"),
        SuggestionVerdict::Partial if judgement.near => "near".to_owned(),
        SuggestionVerdict::Partial => format!("partial {done:?}"),
        SuggestionVerdict::Wrong => "wrong".to_owned(),
    };
    assert_eq!(word, expected);
    if judgement.verdict != SuggestionVerdict::Wrong {
        draft.take(&judgement);
        assert_eq!(draft.text(), suggested, "what was taken is what was suggested");
    }
}

const BEFORE: &str = "use a;\nfn f() {\n    a(1);\n    b();\n    a(2);\n}\n";
const AFTER: &str = "use c;\nfn f() {\n    c(1);\n    b();\n    c(2);\n    d();\n}\n";

#[test]
fn a_whole_hunk_is_exact() {
    check(BEFORE, AFTER, "use c;\nfn f() {\n    a(1);\n    b();\n    a(2);\n}\n", "exact [0]");
    check(BEFORE, AFTER, "use a;\nfn f() {\n    c(1);\n    b();\n    a(2);\n}\n", "exact [1]");
}

#[test]
fn several_hunks_in_one_suggestion_are_all_done() {
    check(BEFORE, AFTER, "use c;\nfn f() {\n    c(1);\n    b();\n    a(2);\n}\n", "exact [0, 1]");
    check(BEFORE, AFTER, AFTER, "exact [0, 1, 2]");
}

#[test]
fn some_lines_of_a_hunk_are_partial() {
    check(BEFORE, AFTER, "use a;\nfn f() {\n    a(1);\n    b();\n    c(2);\n}\n", "partial []");
    check(BEFORE, AFTER, "use a;\nfn f() {\n    a(1);\n    b();\n    a(2);\n    d();\n}\n", "partial []");
    // One hunk done, another begun.
    check(BEFORE, AFTER, "use c;\nfn f() {\n    a(1);\n    b();\n    c(2);\n}\n", "partial [0]");
}

#[test]
fn a_line_half_done_is_partial_and_near() {
    check("let a = f(x, 1);\n", "let b = f(y, 1);\n", "let b = f(x, 1);\n", "near");
    // The old word gone and the new one not there is no use to anyone.
    check("let a = f(x, 1);\n", "let b = f(y, 1);\n", "let  = f(x, 1);\n", "wrong");
    // What it did would have to be undone.
    check("let a = f(x, 1);\n", "let b = f(y, 1);\n", "let c = f(y, 1);\n", "wrong");
}

#[test]
fn anything_else_is_wrong() {
    // The right text in the wrong place.
    check(BEFORE, AFTER, "use a;\nfn f() {\n    a(1);\n    c();\n    a(2);\n}\n", "wrong");
    // One hunk done, and a line touched that stays.
    check(BEFORE, AFTER, "use c;\nfn f() {\n    a(1);\n    B();\n    a(2);\n}\n", "wrong");
    // Other text in the right place.
    check(BEFORE, AFTER, "use x;\nfn f() {\n    a(1);\n    b();\n    a(2);\n}\n", "wrong");
    // More than the commit has there.
    check(BEFORE, AFTER, "use c;\nuse d;\nfn f() {\n    a(1);\n    b();\n    a(2);\n}\n", "wrong");
    // Nothing at all.
    check(BEFORE, AFTER, BEFORE, "wrong");
}

#[test]
fn what_is_done_must_stay() {
    let mut draft = draft("a\nb\nc\n", "A\nb\nC\n");
    draft.finish(0);
    assert_eq!(draft.judge("a\nb\nc\n").verdict, SuggestionVerdict::Wrong);
    assert_eq!(draft.judge("a\nb\nC\n").verdict, SuggestionVerdict::Wrong);
    assert_eq!(draft.judge("A\nb\nC\n").verdict, SuggestionVerdict::Exact);
}

#[test]
fn it_does_not_matter_at_which_equal_line_something_is_inserted() {
    let before = "f {\n}\n\ng {\n}\n";
    let after = "f {\n}\n\nnew {\n}\n\ng {\n}\n";
    check(before, after, after, "exact [0]");
    // The first of two blocks: a diff may put the hunk a line up or down.
    let more = "f {\n}\n\nnew {\n}\n\nold {\n}\n\ng {\n}\n";
    check(before, more, after, "partial []");
}

#[test]
fn deletions_and_ends_of_files() {
    check("a\nb\nc\nd\n", "a\nd\n", "a\nd\n", "exact [0]");
    check("a\nb\nc\nd\n", "a\nd\n", "a\nc\nd\n", "partial []");
    check("a\nb", "a\nb\nc\n", "a\nb\nc\n", "exact [0]");
    check("a\nb\n", "a\nb\nc\nd\n", "a\nb\nc\n", "partial []");
    check("a\r\nb\r\n", "a\r\nB\r\n", "a\r\nB\n", "wrong");
    check("", "a\nb\n", "a\n", "partial []");
}
