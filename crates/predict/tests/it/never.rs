//! What must never be suggested, one test each.

use std::sync::Arc;

use nudge_predict::{
    Diagnostic, Eagerness, Feedback, Index, Kind, Language, Lessons, Memory, Offers, Outcome, Scene,
    Severity, Source, Suggestion, Trigger, suggest,
};
use nudge_text::{
    Edits, Text,
    history::{Change, History},
};

/// A document whose edits were made one after the other.
struct Moment {
    source: Source,
    history: History,
    cursor: usize,
    memory: Memory,
    diagnostics: Vec<Diagnostic>,
    trigger: Trigger,
}

impl Moment {
    fn new(uri: &str, text: &str) -> Self {
        let uri: Arc<str> = uri.into();
        Self {
            source: Source::new(uri.clone(), Language::of(None, &uri), Text::new(text)),
            history: History::default(),
            cursor: 0,
            memory: Memory::default(),
            diagnostics: Vec::new(),
            trigger: Trigger::Automatic,
        }
    }

    /// Replaces the occurrence of `old` with this number.
    fn edit(mut self, old: &str, number: usize, new: &str) -> Self {
        let (at, _) = self.source.content().match_indices(old).nth(number).expect("the text is there");
        self.apply(&Edits::one(at..at + old.len(), new));
        self.cursor = at + new.len();
        self
    }

    fn apply(&mut self, edits: &Edits) {
        let after = edits.apply(self.source.text());
        self.history.record(self.source.uri(), self.source.text(), edits, &after, 0);
        self.history.close_open();
        self.source = self.source.edited(edits, after);
    }

    fn changes(&self) -> Vec<Change> {
        self.history.changes()
    }

    fn ask(&self) -> Outcome {
        suggest(&Scene {
            source: &self.source,
            cursor: self.cursor,
            selection: None,
            visible: None,
            others: &[],
            changes: &self.changes(),
            diagnostics: &self.diagnostics,
            actions: &[],
            snippets: &[],
            index: &Index::default(),
            memory: &self.memory,
            lessons: &Lessons::default(),
            offers: Offers { jump: true, rename: true, search_and_replace: true },
            eagerness: Eagerness::High,
            trigger: self.trigger,
            cancelled: &|| false,
        })
    }

    /// The texts that the suggested edits would leave.
    fn texts(&self) -> Vec<String> {
        let edits = self.ask().suggestions.into_iter().filter_map(|found| match found.kind {
            Kind::Edit { edits, .. } => Some(edits.apply(self.source.text()).to_string()),
            _ => None,
        });
        edits.collect()
    }

    fn first(&self) -> Suggestion {
        self.ask().suggestions.into_iter().next().expect("there is a suggestion")
    }
}

const LOOP: &str =
    "def f(xs):\n    total = 0\n    for x in xs:\n        total += x\n    print(total)\n    return total\n";

/// A moment at which there is something to suggest.
fn renaming() -> Moment {
    Moment::new("a.py", LOOP).edit("total", 0, "amount").edit("total", 0, "amount")
}

#[test]
fn nothing_without_history_diagnostic_or_manual_trigger() {
    let moment = Moment::new("a.py", LOOP);
    let outcome = moment.ask();
    assert!(outcome.suggestions.is_empty());
    assert_eq!(outcome.why_nothing, "nothing was changed yet");
}

#[test]
fn silence_says_why() {
    let moment = Moment::new("a.py", LOOP).edit("xs", 0, "zs").edit("zs", 0, "xs");
    let outcome = moment.ask();
    assert!(outcome.suggestions.is_empty(), "{outcome:?}");
    assert!(!outcome.why_nothing.is_empty());
}

#[test]
fn what_was_just_typed_is_not_undone() {
    // The reverse of the first edit would match the second place.
    let moment = Moment::new("a.py", "a = old_name()\nb = new_name()\nc = old_name()\n")
        .edit("old_name", 0, "new_name")
        .edit("new_name", 1, "old_name");
    for text in moment.texts() {
        assert!(text.starts_with("a = new_name()\nb = old_name()\n"), "{text}");
    }
}

#[test]
fn deleted_text_does_not_come_back() {
    let moment =
        Moment::new("a.py", "log(1)\nwork()\nlog(1)\nwork()\nlog(1)\nwork()\n").edit("log(1)\n", 0, "");
    for text in moment.texts() {
        assert!(text.matches("log(1)").count() < 2, "{text}");
    }
}

#[test]
fn a_rejected_suggestion_does_not_come_back() {
    let mut moment = renaming();
    let refused = moment.first();
    moment.memory.feedback(&refused, Feedback::Rejected);
    let again = moment.ask().suggestions;
    assert!(again.iter().all(|found| found.kind != refused.kind), "{again:?}");
}

#[test]
fn a_rejected_suggestion_does_not_come_back_when_lines_have_moved() {
    let mut moment = renaming();
    let refused = moment.first();
    let Kind::Edit { edits: refused_edits, .. } = &refused.kind else { panic!("an edit") };
    let refused_text = refused_edits.as_slice()[0].text.clone();
    let place = moment
        .source
        .text()
        .line(moment.source.text().line_of(refused_edits.as_slice()[0].range.start))
        .into_owned();
    moment.memory.feedback(&refused, Feedback::Rejected);
    moment.apply(&Edits::one(0..0, "# a line on top\n"));
    for found in moment.ask().suggestions {
        if let Kind::Edit { edits, .. } = found.kind {
            let first = &edits.as_slice()[0];
            let line =
                moment.source.text().line(moment.source.text().line_of(first.range.start)).into_owned();
            assert!(line != place || first.text != refused_text, "{edits:?}");
        }
    }
}

/// Two lines are refused together; the user then goes to one of them.
#[test]
fn a_part_of_a_rejected_suggestion_does_not_come_back() {
    let text = "fn f() {\n    log(one);\n    rest();\n    log(two);\n    log(three);\n    rest();\n}\n";
    let mut moment = Moment::new("a.rs", text).edit("log(one)", 0, "trace(one)");
    let refused = moment.first();
    let Kind::Edit { edits, .. } = &refused.kind else { panic!("an edit") };
    assert_eq!(edits.len(), 2, "{edits:?}");
    moment.memory.feedback(&refused, Feedback::Rejected);
    for place in ["log(two)", "log(three)"] {
        moment.cursor = moment.source.content().find(place).expect("it is there");
        for text in moment.texts() {
            assert!(text.contains("log(two)") && text.contains("log(three)"), "{text}");
        }
    }
}

#[test]
fn an_ignored_suggestion_is_only_trusted_less() {
    let mut moment = renaming();
    let ignored = moment.first();
    moment.memory.feedback(&ignored, Feedback::Ignored);
    let again = moment.first();
    assert_eq!(again.kind, ignored.kind);
    assert!(again.confidence < ignored.confidence);
}

#[test]
fn a_replaced_or_cancelled_suggestion_teaches_nothing() {
    let mut moment = renaming();
    let shown = moment.first();
    for feedback in [Feedback::Replaced, Feedback::Cancelled] {
        moment.memory.feedback(&shown, feedback);
    }
    assert!((moment.first().confidence - shown.confidence).abs() < f32::EPSILON);
}

#[test]
fn blanks_alone_are_not_changed() {
    let moment = Moment::new("a.js", "call( a );\nx();\ncall( b );\ny();\ncall( c );\n")
        .edit("call( a )", 0, "call(a)")
        .edit("call( b )", 0, "call(b)");
    let solid = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    for text in moment.texts() {
        assert_ne!(solid(&text), solid(moment.source.content()), "{text}");
    }
}

/// A linter has said it all along; nobody went there or made it so.
#[test]
fn what_a_linter_has_long_said_is_not_removed_unasked() {
    let text = "import os\nimport sys\n\n\ndef f(alpha):\n    return sys.argv + alpha\n";
    let mut moment = Moment::new("a.py", text).edit("alpha", 0, "beta");
    moment.diagnostics.push(Diagnostic {
        uri: moment.source.uri().clone(),
        range: 7..9,
        severity: Severity::Warning,
        message: "`os` imported but unused".to_owned(),
    });
    let is_kept = |moment: &Moment| moment.texts().iter().all(|text| text.contains("import os"));
    assert!(is_kept(&moment));
    moment.trigger = Trigger::Manual;
    assert!(!is_kept(&moment), "who asks gets it");
    moment.trigger = Trigger::Automatic;
    moment.cursor = 2;
    assert!(!is_kept(&moment), "who goes there too");
}

#[test]
fn imports_are_not_tidied_unasked() {
    let text = "import os\nimport sys\n\nprint(sys.argv)\n\ndef f(alpha):\n    return alpha\n";
    let moment = Moment::new("a.py", text).edit("alpha", 0, "beta");
    for text in moment.texts() {
        assert!(text.starts_with("import os\nimport sys\n"), "{text}");
    }
}

#[test]
fn code_nobody_touched_is_not_deleted() {
    let text = "one_thing()\nkeep()\nother_thing()\nkeep()\none_thing()\n";
    let moment = Moment::new("a.py", text).edit("other_thing()", 0, "other_thing(1)");
    for after in moment.texts() {
        assert!(after.len() >= moment.source.content().len(), "{after}");
    }
}

#[test]
fn a_file_that_parses_still_does() {
    // The same tokens stand in a place where the replacement would be no expression.
    let text = "fn f() {\n    let x = alpha;\n    let alpha = 1;\n    call(alpha);\n}\n";
    let moment = Moment::new("a.rs", text).edit("alpha", 0, "(beta + 1)");
    for after in moment.texts() {
        assert!(!after.contains("let (beta + 1) ="), "{after}");
    }
}

#[test]
fn a_manual_question_may_be_answered_without_history() {
    let mut moment = Moment::new("a.rs", "fn main() {\n    let total = 1;\n    println!(\"{}\", totl);\n}\n");
    moment.trigger = Trigger::Manual;
    let at = moment.source.content().find("totl").expect("there");
    moment.diagnostics.push(Diagnostic {
        uri: moment.source.uri().clone(),
        range: at..at + 4,
        severity: Severity::Error,
        message: "cannot find value `totl` in this scope: help: a local variable with a similar name exists: `total`".into(),
    });
    assert!(moment.texts().iter().any(|text| text.contains("\"{}\", total")), "{:?}", moment.ask());
}

#[test]
fn kinds_are_offered_only_if_the_client_shows_them() {
    let moment = renaming();
    let changes = moment.changes();
    let outcome = suggest(&Scene {
        source: &moment.source,
        cursor: moment.cursor,
        selection: None,
        visible: Some(&(0..1)),
        others: &[],
        changes: &changes,
        diagnostics: &[],
        actions: &[],
        snippets: &[],
        index: &Index::default(),
        memory: &moment.memory,
        lessons: &Lessons::default(),
        offers: Offers::default(),
        eagerness: Eagerness::High,
        trigger: Trigger::Automatic,
        cancelled: &|| false,
    });
    assert!(!outcome.suggestions.is_empty());
    assert!(outcome.suggestions.iter().all(|found| matches!(found.kind, Kind::Edit { .. })), "{outcome:?}");
}

/// Pieces that code is made of, and some that it is not.
const PIECES: [&str; 40] = [
    "fn f(a: u8, b: &str) -> u8 {\n",
    "}\n",
    "    let total = a + 1;\n",
    "total",
    "a",
    "self.x",
    "(",
    ")",
    ", ",
    "\n",
    "    ",
    "é😀",
    "class A:\n",
    "    def go(self, a=1):\n",
    "async ",
    "await ",
    "import { a } from 'm';\n",
    "from a import (b,\n",
    "use a::{b, c};\n",
    "struct S { a: u8, b: u8 }\n",
    "S { a, b: 1 }",
    "enum E { A, B }\n",
    "match e {\n    E::A => 1,\n",
    "};\n",
    "func go(ctx int) {\n",
    "foo_bar",
    "FooBar",
    "\"text {a}\"",
    "// a note\n",
    "# a note\n",
    "x = call(a, b)\n",
    "call(a)\n",
    "\r\n",
    "\t",
    "[1, 2]",
    "a.b.c(d)",
    "=> ",
    "const a = (b) => b;\n",
    "import java.util.List;\n",
    "#include <a.h>\n",
];

proptest::proptest! {
    #[test]
    fn no_text_and_no_edit_stops_the_engine(
        text in proptest::collection::vec(0..PIECES.len(), 0..40),
        edits in proptest::collection::vec((0..2000_usize, 0..30_usize, 0..PIECES.len()), 1..6),
        name in proptest::sample::select(vec!["a.rs", "a.ts", "a.py", "a.go", "a.java", "a.cpp", "a.cs", "a.json", "a.md", "a.txt"]),
        note in proptest::sample::select(vec![
            "cannot find value `a` in this scope", "unused import: `b`", "missing fields `a`, `b` in initializer of `S`",
            "expected `;`", "Cannot find name 'total'. Did you mean 'a'?", "declared and not used: a", "\"a\" is not defined",
        ]),
    ) {
        let text: String = text.into_iter().map(|pick| PIECES[pick]).collect();
        let mut moment = Moment::new(name, &text);
        for (at, length, new) in edits {
            let text = moment.source.text();
            let start = text.floor(at.min(text.len()));
            let end = text.floor((start + length).min(text.len()));
            moment.apply(&Edits::one(start..end, PIECES[new]));
            moment.cursor = start + PIECES[new].len();
        }
        let (cursor, length) = (moment.cursor, moment.source.text().len());
        moment.diagnostics.push(Diagnostic {
            uri: moment.source.uri().clone(),
            range: moment.source.text().floor(cursor / 2)..moment.source.text().floor(cursor.min(length)),
            severity: Severity::Error,
            message: note.into(),
        });
        for found in moment.ask().suggestions {
            if let Kind::Edit { edits, cursor, .. } = found.kind {
                let after = edits.apply(moment.source.text());
                proptest::prop_assert!(after.is_boundary(cursor), "{edits:?} {cursor}");
            }
        }
    }
}
