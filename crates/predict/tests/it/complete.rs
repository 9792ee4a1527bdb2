//! The rest of the line that is being typed.

use std::sync::Arc;

use nudge_predict::{
    Eagerness, EngineSuggestion, FeedbackMemory, LessonCache, OfferedKinds, PredictorName, Scene,
    SuggestTrigger, SuggestionKind, consider,
};
use nudge_syntax::{AnalysedDocument, FileFacts, Language, WorkspaceIndex};
use nudge_text::{Edits, Text, history::EditHistory};
use proptest::prelude::*;

use crate::fixture::Fixture;

/// What is proposed, of which the expected text is marked.
fn check(files: &[(&str, &str)]) {
    Fixture::new(PredictorName::Complete, files).check(0.3);
}

/// Nothing is proposed that is likely.
fn check_silent(files: &[(&str, &str)]) {
    crate::fixture::check_silent(PredictorName::Complete, files, 0.42);
}

fn reason(fixture: &Fixture) -> String {
    fixture.suggestions().first().map(|found| found.reason.clone()).unwrap_or_default()
}

const TESTS: &str = "fn one() {
    let mut reader = Reader::new(b\"a\");
    assert_eq!(reader.read(), 1);
    reader.finish().unwrap();
}

fn two() {
    let mut reader = Reader::new(b\"bc\");
    assert_eq!(reader.read(), 2);
    reader.finish().unwrap();
}

fn three() {
    let mut reader = Reader::new(b\"def\");
    assert_eq!(reader.read(), 3);
    reader.finish().unwrap();
}
";

const FOURTH: &str = "
fn four() {
    let mut reader = Reader::new(b\"ghij\");
    assert_eq!(reader.read(), 4);
    ⟦→reader.fi⟧⟨→nish().unwrap();⟩
}
";

#[test]
fn a_line_goes_on_as_it_did_before() {
    let text = format!("{TESTS}{FOURTH}");
    let files = [("file:///a.rs", &*text)];
    assert_eq!(reason(&Fixture::new(PredictorName::Complete, &files)), "continues as on line 16");
    check(&files);
}

#[test]
fn a_line_goes_on_as_elsewhere_in_the_workspace() {
    let fixture = || {
        Fixture::new(PredictorName::Complete, &[("file:///w/b.rs", FOURTH)]).indexed("file:///w/a.rs", TESTS)
    };
    assert_eq!(reason(&fixture()), "continues as elsewhere in this workspace");
    fixture().check(0.3);
}

#[test]
fn what_the_index_knows_of_an_open_document_is_old() {
    let fixture =
        Fixture::new(PredictorName::Complete, &[("file:///w/b.rs", FOURTH)]).indexed("file:///w/b.rs", TESTS);
    assert_eq!(reason(&fixture), "");
}

#[test]
fn another_open_document_counts() {
    let files = [("file:///w/a.rs", TESTS), ("file:///w/b.rs", FOURTH)];
    assert_eq!(reason(&Fixture::new(PredictorName::Complete, &files)), "continues as in `a.rs`");
    check(&files);
}

#[test]
fn a_name_stands_for_another() {
    let text = "impl Shape {
    fn new(width: u32, height: u32, depth: u32) -> Self {
        let mut shape = Self::default();
        shape.width = width;
        shape.height = height;
        ⟦→shape.depth = ⟧⟨→depth;⟩
    }
}
";
    let fixture = Fixture::new(PredictorName::Complete, &[("file:///a.rs", text)]);
    assert_eq!(reason(&fixture), "continues as on line 4, with other names");
    check(&[("file:///a.rs", text)]);
}

#[test]
fn what_an_editor_has_closed_is_not_closed_again() {
    let text = "async function all(client) {
  await client.send(request, defaults);
  await client.send(request, defaults);
  await client.send(request, defaults);
  ⟦→await client.send(⟧⟨→request, defaults⟩);
}
";
    check(&[("file:///a.js", text)]);
}

#[test]
fn lines_that_follow_closely_come_along() {
    let first = "        let mut state = State::prepare(options, defaults)?;\n";
    let block = format!("{first}        state.begin();\n        state.finish();\n");
    let tests = ["one", "two", "three", "four", "five", "six", "seven"];
    let mut text: String = tests.map(|name| format!("    fn {name}() {{\n{block}    }}\n\n")).concat();
    text = format!("{text}    fn eight() {{\n{first}        ⟦→state.be⟧\n    }}\n");
    let found = Fixture::new(PredictorName::Complete, &[("file:///a.rs", &text)]).suggestions();
    let Some(SuggestionKind::Edit { edits, .. }) = found.first().map(|found| &found.kind) else {
        panic!("{found:?}")
    };
    assert_eq!(edits.as_slice()[0].text, "gin();\n        state.finish();");
}

#[test]
fn what_stands_below_is_not_typed_again() {
    let text = "fn a() {\n    start();\n    finish();\n}\n\nfn b() {\n    start();\n    finish();\n}\n\nfn c() {\n    start();\n    ⟦→\n⟧    finish();\n}\n";
    check_silent(&[("file:///a.rs", text)]);
    let block = |word: &str, name: usize| {
        format!(
            "the size of it in bytes, always:\n    {word}\n    {{\n        {}\n    }}\n",
            "x".repeat(name)
        )
    };
    let known: String = (1..20).map(|name| block("get", name)).collect();
    let text = format!("{known}{}", block("⟦→get⟧", 30));
    check_silent(&[("file:///a.txt", &text)]);
}

#[test]
fn whoever_takes_away_does_not_want_more() {
    let given = "    if broken {\n        return nil, err\n    }\n".repeat(9);
    let text = format!("{given}    if broken {{\n        return⟦ next(c)→⟧\n    }}\n");
    check_silent(&[("file:///a.go", &text)]);
}

#[test]
fn nothing_is_proposed_in_the_middle_of_a_line() {
    let text = format!("{TESTS}\nfn four() {{\n    ⟦→reader.fi⟧ + 1;\n}}\n");
    check_silent(&[("file:///a.rs", &text)]);
}

#[test]
fn nothing_is_proposed_where_nothing_was_typed() {
    let text = format!("⟦→// A comment.\n⟧{TESTS}");
    check_silent(&[("file:///a.rs", &text)]);
}

#[test]
fn what_was_taken_away_is_not_typed_again() {
    let line = "  expect(state).not.toBe(before);\n".repeat(9);
    let text = format!(
        "{line}⟦  expect(next).toBe(before);\n  expect(state).not.toBe(before);→  expect(next).toBe(before)\n  expect(state).not.toBe(before)⟧\n"
    );
    check_silent(&[("file:///a.js", &text)]);
}

/// A document into which `typed` was just typed.
pub(crate) struct Moment {
    source: AnalysedDocument,
    history: EditHistory,
    cursor: usize,
    index: WorkspaceIndex,
}

impl Moment {
    pub(crate) fn new(before: &str, typed: &str, after: &str, index: WorkspaceIndex) -> Self {
        let uri: Arc<str> = "file:///w/focus.rs".into();
        let source =
            AnalysedDocument::new(uri.clone(), Language::Rust, Text::new(&format!("{before}{after}")));
        let edits = Edits::one(before.len()..before.len(), typed);
        let text = edits.apply(source.text());
        let mut history = EditHistory::default();
        history.record(&uri, source.text(), &edits, &text, 0);
        Self { source: source.edited(&edits, text), history, cursor: before.len() + typed.len(), index }
    }

    pub(crate) fn completions(&self) -> Vec<EngineSuggestion> {
        let (changes, memory) = (self.history.changes(), FeedbackMemory::default());
        let mut found = consider(&Scene {
            source: &self.source,
            cursor: self.cursor,
            selection: None,
            visible: None,
            others: &[],
            changes: &changes,
            diagnostics: &[],
            actions: &[],
            snippets: &[],
            index: &self.index,
            memory: &memory,
            lessons: &LessonCache::default(),
            offers: OfferedKinds::default(),
            eagerness: Eagerness::High,
            trigger: SuggestTrigger::Automatic,
            cancelled: &|| false,
        })
        .suggestions;
        found.retain(|found| found.predictor == PredictorName::Complete);
        found
    }
}

/// Texts that repeat themselves, with letters of every length and every line break.
fn repetitive() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("größe = "),
        Just("ab"),
        Just("ab.c("),
        Just(")"),
        Just(";"),
        Just("\n"),
        Just("\r\n"),
        Just("\r"),
        Just("\n    "),
        Just("\n\t"),
        Just(" "),
        Just("\u{3000}"),
        Just("文字"),
        Just("\""),
        Just("{"),
        Just("}"),
        Just("1.5"),
        Just("🦀"),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_proposal_is_an_insertion_at_the_cursor(
        before in repetitive(), typed in repetitive(), after in repetitive(), known in repetitive(),
    ) {
        let mut index = WorkspaceIndex::default();
        index.insert("file:///w/a.rs".into(), Arc::new(FileFacts::of(Language::Rust, &known)));
        let moment = Moment::new(&before, &typed, &after, index);
        let found = moment.completions();
        for suggestion in &found {
            let SuggestionKind::Edit { edits, cursor, .. } = &suggestion.kind else { panic!("only edits complete a line") };
            prop_assert_eq!(edits.len(), 1);
            let edit = &edits.as_slice()[0];
            prop_assert_eq!(&edit.range, &(moment.cursor..moment.cursor));
            prop_assert!(!edit.text.trim().is_empty());
            prop_assert_eq!(*cursor, moment.cursor + edit.text.len());
            prop_assert!((0.0..=1.0).contains(&suggestion.confidence));
        }
        let again = moment.completions();
        prop_assert_eq!(format!("{found:?}"), format!("{again:?}"));
    }

    #[test]
    fn any_text_will_do(before in "\\PC{0,80}", typed in "\\PC{0,8}", after in "[)\\]};\n\\PC]{0,20}") {
        Moment::new(&format!("{before}\n{before}"), &typed, &after, WorkspaceIndex::default()).completions();
    }
}

#[test]
fn half_a_word_is_not_a_name() {
    let check = "    check(\n        merge([ExitCode::NAME]),\n        ExitCode::NAME\n    );\n";
    let known: String = ["Success", "GeneralError"].iter().map(|name| check.replace("NAME", name)).collect();
    let text = format!(
        "fn t() {{\n{known}    check(\n        merge([ExitCode::Killed]),\n        ⟦→ExitC⟧⟨→ode::Killed⟩\n    );\n}}\n"
    );
    self::check(&[("file:///a.rs", &text)]);
    let text = "const names = {\n  regex: \"regex\",\n  email: \"email\",\n  url: \"url\",\n  uuid: \"uuid\",\n  ⟦→date⟧\n};\n";
    check_silent(&[("file:///a.ts", text)]);
}
