//! What must never be suggested, one test each.

use nudge_predict::{
    Eagerness, LessonCache, OfferedKinds, Scene, SceneDiagnostic, Severity, SuggestTrigger, SuggestionKind,
    suggest,
};
use nudge_syntax::WorkspaceIndex;
use nudge_text::Edits;

use crate::moment::{LOOP, Moment, renaming};

#[test]
fn nothing_without_history_diagnostic_or_manual_trigger() {
    let mut moment = Moment::new("a.py", LOOP);
    let outcome = moment.ask();
    assert!(outcome.suggestions.is_empty());
    assert_eq!(outcome.why_nothing, "nothing was changed yet");
    // There is something to say once there is something to go by.
    moment = moment.edit("total", 0, "amount");
    assert!(!moment.ask().suggestions.is_empty());
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

/// A compiler proposes the name that the user has just replaced, or another.
#[test]
fn what_was_just_typed_is_not_undone_for_a_diagnostic() {
    let text = "fn f() {\n    let total = 1;\n    show(total);\n    log(totals);\n}\n";
    let message = "cannot find value `totals` in this scope: help: a local variable with a similar name exists: `total`";
    let fixed = |moment: Moment| moment.diagnosed("totals", message).outcomes();
    let elsewhere = Moment::new("a.rs", text).edit("show", 0, "print");
    assert!(fixed(elsewhere).iter().any(|text| text.contains("log(total)")), "elsewhere it is welcome");
    for before in ["total", "other"] {
        let text = text.replace("totals", before);
        let typed = Moment::new("a.rs", &text).edit(&format!("log({before})"), 0, "log(totals)");
        for text in fixed(typed) {
            assert!(text.contains("log(totals)"), "{text}");
        }
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

/// A linter misses the import that the user has just taken away.
#[test]
fn a_deleted_import_does_not_come_back_for_a_diagnostic() {
    let text = "import json\nimport os\n\nprint(os.name, json.dumps(1))\n";
    let missed = |moment: Moment| moment.diagnosed("json.dumps", "\"json\" is not defined").outcomes();
    let elsewhere = Moment::new("a.py", &text.replace("import json\n", "")).edit("print", 0, "show");
    assert!(missed(elsewhere).iter().any(|text| text.contains("import json\n")), "it is welcome elsewhere");
    let replaced = Moment::new("a.py", text).edit("import json\n", 0, "");
    for text in missed(replaced) {
        assert!(!text.contains("import json\n"), "{text}");
    }
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
    moment.diagnostics.push(SceneDiagnostic {
        uri: moment.source.uri().clone(),
        range: 7..9,
        severity: Severity::Warning,
        message: "`os` imported but unused".to_owned(),
    });
    let is_kept = |moment: &Moment| moment.texts().iter().all(|text| text.contains("import os"));
    assert!(is_kept(&moment));
    moment.trigger = SuggestTrigger::Manual;
    assert!(!is_kept(&moment), "who asks gets it");
    moment.trigger = SuggestTrigger::Automatic;
    moment.cursor = 2;
    assert!(!is_kept(&moment), "who goes there too");
}

#[test]
fn imports_are_not_tidied_unasked() {
    let text = "import os\nimport sys\n\nprint(sys.argv)\n\ndef f(alpha):\n    return alpha\n";
    let moment = Moment::new("a.py", text).edit("alpha", 0, "beta");
    let texts = moment.texts();
    assert!(!texts.is_empty());
    for text in texts {
        assert!(text.starts_with("import os\nimport sys\n"), "{text}");
    }
    // Whoever takes the last use away has made the import go.
    let moment = Moment::new("a.py", text).edit("print(sys.argv)\n", 0, "");
    assert!(moment.texts().iter().any(|text| !text.contains("import sys")), "{:?}", moment.texts());
}

#[test]
fn code_nobody_touched_is_not_deleted() {
    let text = "one_thing()\nkeep()\nother_thing()\nkeep()\none_thing()\n";
    let moment = Moment::new("a.py", text).edit("other_thing()", 0, "other_thing(1)");
    for after in moment.texts() {
        assert!(after.len() >= moment.source.content().len(), "{after}");
    }
}

/// One part of the change takes something away, but the user wrote more than was taken.
#[test]
fn what_was_put_elsewhere_is_not_just_deleted() {
    let text = "go(first, extra);\ncome(first);\nrest();\ngo(second, extra);\nrest();\ngo(third, extra);\n";
    let moment = Moment::new("a.js", text).edit(
        "go(first, extra);\ncome(first);",
        0,
        "go(first);\ncome(first, extra, more);",
    );
    for after in moment.outcomes() {
        assert!(after.len() >= moment.source.content().len(), "{after}");
    }
}

#[test]
fn a_file_that_parses_still_does() {
    // The same tokens stand in a place where the replacement would be no expression.
    let text = "fn f() {\n    let x = alpha;\n    let alpha = 1;\n    call(alpha);\n}\n";
    let moment = Moment::new("a.rs", text).edit("alpha", 0, "(beta + 1)");
    for after in moment.outcomes() {
        assert!(!after.contains("let (beta + 1) ="), "{after}");
    }
}

/// Code in which a line is taken away twice, and stands a third time where nothing else does.
const LAST_STATEMENTS: [(&str, &str, &str); 10] = [
    (
        "a.py",
        "    flush()\n",
        "def a():\n    one()\n    flush()\n\n\ndef b():\n    flush()\n    two()\n\n\ndef c():\n    flush()\n\n\ndef d():\n    try:\n        flush()\n    finally:\n        two()\n",
    ),
    (
        "b.py",
        "    flush()\n",
        "def a():\n    one()\n    flush()\n\n\ndef b():\n    flush()\n    two()\n\n\nif c:\n    # now\n    flush()\nelse:\n    flush()\n",
    ),
    (
        "a.rs",
        "    flush();\n",
        "fn a() {\n    one();\n    flush();\n}\n\nfn b() {\n    flush();\n    two();\n}\n\nfn c() {\n    flush();\n}\n\nfn d() {\n    if e {\n        flush();\n    }\n}\n",
    ),
    (
        "a.js",
        "    flush();\n",
        "function a() {\n    one();\n    flush();\n}\n\nfunction b() {\n    flush();\n    two();\n}\n\nfunction c() {\n    try {\n        flush();\n    } catch (e) {\n        flush();\n    }\n}\n",
    ),
    (
        "a.ts",
        "    flush();\n",
        "function a() {\n    one();\n    flush();\n}\n\nfunction b() {\n    flush();\n    two();\n}\n\nconst c = () => {\n    flush();\n};\n",
    ),
    (
        "a.go",
        "\tflush()\n",
        "package p\n\nfunc a() {\n\tone()\n\tflush()\n}\n\nfunc b() {\n\tflush()\n\ttwo()\n}\n\nfunc c() {\n\tflush()\n}\n",
    ),
    (
        "a.java",
        "        flush();\n",
        "class A {\n    void a() {\n        one();\n        flush();\n    }\n\n    void b() {\n        flush();\n        two();\n    }\n\n    A() {\n        flush();\n    }\n\n    void d() {\n        try {\n            flush();\n        } finally {\n            two();\n        }\n    }\n}\n",
    ),
    (
        "a.c",
        "    flush();\n",
        "void a() {\n    one();\n    flush();\n}\n\nvoid b() {\n    flush();\n    two();\n}\n\nvoid c() {\n    flush();\n}\n",
    ),
    (
        "a.cpp",
        "    flush();\n",
        "void a() {\n    one();\n    flush();\n}\n\nvoid b() {\n    flush();\n    two();\n}\n\nvoid c() {\n    try {\n        flush();\n    } catch (...) {\n        two();\n    }\n}\n",
    ),
    (
        "a.cs",
        "        flush();\n",
        "class A {\n    void a() {\n        one();\n        flush();\n    }\n\n    void b() {\n        flush();\n        two();\n    }\n\n    void c() {\n        flush();\n    }\n}\n",
    ),
];

#[test]
fn no_block_is_left_without_a_statement() {
    for (name, line, text) in LAST_STATEMENTS {
        // In the first and second function there is more than that.
        let mut moment = Moment::new(name, text).edit(line, 0, "").edit(line, 0, "");
        let line = line.trim_start();
        let left = moment.source.content().to_owned();
        assert!(left.contains(line), "{name}");
        for (at, _) in left.match_indices(line) {
            moment.cursor = at;
            for after in moment.outcomes() {
                assert_eq!(after.matches(line).count(), left.matches(line).count(), "{name}:\n{after}");
            }
        }
    }
}

/// Code in which a line is taken away, and stands again where another would take its place.
const ONLY_STATEMENTS: [(&str, &str, &str); 16] = [
    ("a.js", "  log(1);\n", "function f(a) {\n  log(1);\n  go();\n  if (a)\n    log(1);\n  save(a);\n}\n"),
    (
        "b.js",
        "  log(1);\n",
        "function f(a) {\n  log(1);\n  go();\n  if (a)\n    go();\n  else\n    log(1);\n  // all\n  save(a);\n}\n",
    ),
    (
        "c.js",
        "  log(1);\n",
        "function f(a) {\n  log(1);\n  go();\n  if (a) {\n    for (;;)\n      log(1);\n    save(a);\n  }\n}\n",
    ),
    (
        "d.js",
        "  log(1);\n",
        "function f(a) {\n  log(1);\n  go();\n  switch (a) {\n  case 1:\n    log(1);\n  case 2:\n    go();\n  default:\n    log(1);\n  }\n}\n",
    ),
    (
        "a.ts",
        "  log(1);\n",
        "function f(a: any) {\n  log(1);\n  go();\n  for (const b of a)\n    log(1);\n  save(a);\n}\n",
    ),
    (
        "b.ts",
        "  id: number;\n",
        "interface A {\n  id: number;\n  name: string;\n}\n\ninterface B {\n  id: number;\n}\n",
    ),
    ("a.c", "  log(1);\n", "void f(int a) {\n  log(1);\n  go();\n  if (a)\n    log(1);\n  destroy(a);\n}\n"),
    (
        "b.c",
        "  log(1);\n",
        "void f(int a) {\n  log(1);\n  go();\n  while (a)\n    log(1);\n  if (a)\n    go();\n  else\n    log(1);\n  destroy(a);\n}\n",
    ),
    (
        "c.c",
        "  log(1);\n",
        "void f(int a) {\n  log(1);\n  go();\n  switch (a) {\n  case 1:\n    log(1);\n  case 2:\n    go();\n  }\n}\n",
    ),
    (
        "a.cpp",
        "  log(1);\n",
        "void f(V a) {\n  log(1);\n  go();\n  for (auto b : a)\n    log(1);\n  destroy(a);\n}\n",
    ),
    (
        "a.java",
        "    log(1);\n",
        "class A {\n  void f(int a) {\n    log(1);\n    go();\n    if (a > 1)\n      log(1);\n    destroy(a);\n    if (a > 2)\n      go();\n    else\n      log(1);\n    destroy(a);\n    for (int b : c)\n      log(1);\n    destroy(a);\n  }\n}\n",
    ),
    (
        "b.java",
        "    log(1);\n",
        "class A {\n  void f(int a) {\n    log(1);\n    go();\n    switch (a) {\n    case 1:\n      log(1);\n    case 2:\n      go();\n    }\n  }\n}\n",
    ),
    (
        "a.cs",
        "    Log(1);\n",
        "class A {\n  void F(int a) {\n    Log(1);\n    Go();\n    if (a > 1)\n      Log(1);\n    Destroy(a);\n    foreach (var b in c)\n      Log(1);\n    Destroy(a);\n  }\n}\n",
    ),
    (
        "a.go",
        "\tlog(1)\n",
        "package p\n\nfunc f(a int) {\n\tlog(1)\n\tgo1()\n\tswitch a {\n\tcase 1:\n\t\tlog(1)\n\tcase 2:\n\t\tgo1()\n\tdefault:\n\t\tlog(1)\n\t}\n}\n",
    ),
    ("a.rs", "    id: u8,\n", "struct A {\n    id: u8,\n    name: u8,\n}\n\nstruct B {\n    id: u8,\n}\n"),
    ("a.yaml", "  - log\n", "a:\n  - log\n  - go\nb:\n  - log\nc: 1\n"),
];

#[test]
fn no_statement_takes_the_place_of_another() {
    for (name, line, text) in ONLY_STATEMENTS {
        let mut moment = Moment::new(name, text).edit(line, 0, "");
        let line = line.trim_start();
        let left = moment.source.content().to_owned();
        assert!(left.contains(line), "{name}");
        for (at, _) in left.match_indices(line) {
            moment.cursor = at;
            for after in moment.outcomes() {
                assert_eq!(after.matches(line).count(), left.matches(line).count(), "{name}:\n{after}");
            }
        }
    }
}

/// What has others beside it may go, be there braces or not.
#[test]
fn a_statement_among_others_is_taken_away_again() {
    let cases = [
        (
            "a.js",
            "  log(1);\n",
            "function f(a) {\n  log(1);\n  go();\n  if (a) {\n    log(1);\n    go();\n  }\n  save(a);\n}\n",
        ),
        (
            "b.js",
            "  log(1);\n",
            "function f(a) {\n  log(1);\n  go();\n  if (a)\n    go();\n  log(1);\n  save(a);\n}\n",
        ),
        (
            "c.js",
            "    log(1);\n",
            "function f(a) {\n  switch (a) {\n  case 1:\n    log(1);\n    break;\n  case 2:\n    log(1);\n    break;\n  }\n}\n",
        ),
        (
            "a.c",
            "  log(1);\n",
            "void f(int a) {\n  log(1);\n  go();\n  while (a)\n    go();\n  log(1);\n  save(a);\n}\n",
        ),
        ("a.yaml", "  - log\n", "a:\n  - log\n  - go\nb:\n  - log\n  - go\nc: 1\n"),
    ];
    for (name, line, text) in cases {
        let moment = Moment::new(name, text).edit(line, 0, "");
        let line = line.trim_start();
        let outcomes = moment.outcomes();
        assert!(outcomes.iter().any(|after| !after.contains(line)), "{name}: {outcomes:?}");
    }
}

/// What is put in the place of a name where it is used is not put where the name is declared.
#[test]
fn no_value_is_declared() {
    let cases = [
        (
            "a.py",
            "timeout",
            "None",
            "go(timeout)\nrun(timeout)\n\n\ndef g(timeout):\n    pass\n\n\ndef h(a, timeout):\n    pass\n",
        ),
        ("b.py", "timeout", "True", "go(timeout)\nrun(timeout)\nfor timeout in a:\n    pass\ntimeout = 3\n"),
        (
            "a.rs",
            "timeout",
            "None",
            "fn f() {\n    go(timeout);\n    run(timeout);\n}\n\nfn g(timeout: Option<u8>) {}\n",
        ),
        (
            "b.rs",
            "timeout",
            "5",
            "fn f() {\n    go(timeout);\n    run(timeout);\n}\n\nfn g(timeout: u8) {}\n",
        ),
        (
            "a.js",
            "timeout",
            "null",
            "go(timeout);\nrun(timeout);\nfunction g(timeout) {}\nconst h = (timeout) => 1;\n",
        ),
        ("a.ts", "timeout", "undefined", "go(timeout);\nrun(timeout);\nfunction g(timeout: number) {}\n"),
        (
            "a.go",
            "timeout",
            "nil",
            "package p\n\nfunc f() {\n\tgo1(timeout)\n\trun(timeout)\n}\n\nfunc g(timeout int) {\n\trun(2)\n}\n",
        ),
        (
            "a.c",
            "timeout",
            "NULL",
            "void f() {\n    go(timeout);\n    run(timeout);\n}\n\nvoid g(int timeout) {\n    go(1);\n}\n",
        ),
    ];
    for (name, old, new, text) in cases {
        let mut moment = Moment::new(name, text).edit(old, 0, new).edit(old, 0, new);
        let left = moment.source.content().to_owned();
        for (at, _) in left.match_indices(old) {
            moment.cursor = at;
            for after in moment.outcomes() {
                assert_eq!(after.matches(old).count(), left.matches(old).count(), "{name}:\n{after}");
            }
        }
    }
}

/// What was opened by one change and closed by another is not opened again by itself.
#[test]
fn a_bracket_is_not_left_open() {
    let text = "if (a)\n    go(1);\nrest();\nif (b)\n    go(2);\nrest();\nif (c)\n    go(3);\nrest();\n";
    let mut moment =
        Moment::new("a.js", text).edit("go(1);\n", 0, "go(1);\n}\n").edit("if (a)", 0, "if (a) {");
    for place in ["if (a)", "if (b)", "if (c)"] {
        moment.cursor = moment.source.content().find(place).expect("it is there");
        for text in moment.outcomes() {
            assert_eq!(text.matches('{').count(), text.matches('}').count(), "{text}");
        }
    }
}

#[test]
fn a_manual_question_may_be_answered_without_history() {
    let mut moment = Moment::new("a.rs", "fn main() {\n    let total = 1;\n    println!(\"{}\", totl);\n}\n");
    moment.trigger = SuggestTrigger::Manual;
    let at = moment.source.content().find("totl").expect("there");
    moment.diagnostics.push(SceneDiagnostic {
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
        index: &WorkspaceIndex::default(),
        memory: &moment.memory,
        lessons: &LessonCache::default(),
        offers: OfferedKinds::default(),
        eagerness: Eagerness::High,
        trigger: SuggestTrigger::Automatic,
        cancelled: &|| false,
    });
    assert!(!outcome.suggestions.is_empty());
    assert!(
        outcome.suggestions.iter().all(|found| matches!(found.kind, SuggestionKind::Edit { .. })),
        "{outcome:?}"
    );
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
        moment.diagnostics.push(SceneDiagnostic {
            uri: moment.source.uri().clone(),
            range: moment.source.text().floor(cursor / 2)..moment.source.text().floor(cursor.min(length)),
            severity: Severity::Error,
            message: note.into(),
        });
        for found in moment.ask().suggestions {
            if let SuggestionKind::Edit { edits, cursor, .. } = found.kind {
                let after = edits.apply(moment.source.text());
                proptest::prop_assert!(after.is_boundary(cursor), "{edits:?} {cursor}");
            }
        }
    }
}
