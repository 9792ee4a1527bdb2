//! What compilers and linters ask for is offered, in the words of each tool.

use nudge_predict::{Eagerness, PredictorName, Severity};

use crate::fixture::{Fixture, Shown};

/// A document with what follows marked in it, and a diagnostic at a place of it.
struct Case {
    uri: &'static str,
    text: &'static str,
    at: &'static str,
    message: &'static str,
}

fn check(cases: &[Case]) {
    for case in cases {
        Fixture::new(PredictorName::Diagnostic, &[(case.uri, case.text)])
            .diagnosed(case.at, case.message)
            .check(0.3);
    }
}

const RS: &str = "file:///src/a.rs";
const TS: &str = "file:///src/a.ts";
const PY: &str = "file:///a.py";
const GO: &str = "file:///a.go";
const CPP: &str = "file:///a.cpp";

#[test]
fn rustc_names() {
    check(&[
        Case {
            uri: RS,
            text: "fn f(count: u32) -> u32 {\n    ⟨cuont→count⟩ + 1\n}\n",
            at: "cuont",
            message: "cannot find value `cuont` in this scope\nhelp: a local variable with a similar name exists: `count`",
        },
        Case {
            uri: RS,
            text: "fn f(mut list: Vec<u32>) {\n    list.⟨pus→push⟩(1);\n}\n",
            at: "pus",
            message: "no method named `pus` found for struct `Vec<u32>` in the current scope\nthere is a method `push` with a similar name",
        },
        Case {
            uri: RS,
            text: "fn total(amounts: &[u32]) -> u32 {\n    ⟨amuonts→amounts⟩.iter().sum()\n}\n",
            at: "amuonts",
            message: "cannot find value `amuonts` in this scope",
        },
    ]);
}

#[test]
fn rustc_variables() {
    check(&[
        Case {
            uri: RS,
            text: "fn f() {\n    let ⟨x→_x⟩ = start();\n}\n",
            at: "x",
            message: "unused variable: `x`\n`#[warn(unused_variables)]` on by default",
        },
        Case {
            uri: RS,
            text: "fn f() {\n    let ⟨→mut ⟩names = Vec::new();\n    names.push(1);\n}\n",
            at: "names.push(1)",
            message: "cannot borrow `names` as mutable, as it is not declared as mutable\ncannot borrow as mutable",
        },
        Case {
            uri: RS,
            text: "fn f() {\n    let ⟨mut →⟩names = list();\n    show(names);\n}\n",
            at: "mut names",
            message: "variable does not need to be mutable",
        },
        Case {
            uri: RS,
            text: "fn f() {\n    let a = 1⟨→;⟩\n    let b = 2;\n}\n",
            at: "\n    let b",
            message: "expected `;`, found keyword `let`",
        },
    ]);
}

#[test]
fn rustc_imports() {
    check(&[
        Case {
            uri: RS,
            text: "use std::fmt;⟨→\nuse std::sync::Arc;⟩\n\nfn f(a: Arc<u32>) {}\n",
            at: "Arc",
            message: "cannot find type `Arc` in this scope\nhelp: consider importing this struct: `use std::sync::Arc;`",
        },
        Case {
            uri: RS,
            text: "⟨use std::fmt;\n→⟩use std::sync::Arc;\n\nfn f(a: Arc<u32>) {}\n",
            at: "std::fmt",
            message: "unused import: `std::fmt`",
        },
        Case {
            uri: RS,
            text: "use std::sync::⟨{Arc, Mutex}→Arc⟩;\n\nfn f(a: Arc<u32>) {}\n",
            at: "Mutex",
            message: "unused import: `Mutex`",
        },
    ]);
}

#[test]
fn rustc_fields_and_arms() {
    check(&[
        Case {
            uri: RS,
            text: "fn make(id: u32, name: String) -> User {\n    User {\n        id⟨→,\n        name⟩,\n    }\n}\n",
            at: "User {\n        id",
            message: "missing field `name` in initializer of `User`",
        },
        Case {
            uri: RS,
            text: concat!(
                "fn cost(kind: Kind) -> u32 {\n    match kind {\n        Kind::A => 1,\n        Kind::B => 2,⟨→\n",
                "        Kind::C => todo",
                "!(),⟩\n    }\n}\n"
            ),
            at: "kind {",
            message: "non-exhaustive patterns: `Kind::C` not covered",
        },
    ]);
}

#[test]
fn tsc() {
    check(&[
        Case {
            uri: TS,
            text: "const total = 1;\nshow(⟨totl→total⟩);\n",
            at: "totl",
            message: "Cannot find name 'totl'. Did you mean 'total'?",
        },
        Case {
            uri: TS,
            text: "user.⟨nmae→name⟩ = 'x';\n",
            at: "nmae",
            message: "Property 'nmae' does not exist on type 'User'. Did you mean 'name'?",
        },
        Case {
            uri: TS,
            text: "import { a⟨, b→⟩ } from './m';\n\na();\n",
            at: "b",
            message: "'b' is declared but its value is never read.",
        },
    ]);
}

#[test]
fn tsc_imports_what_other_files_import() {
    let files = [
        (TS, "import { log } from './log';⟨→\nimport { parse } from './parse';⟩\n\nlog(parse('x'));\n"),
        ("file:///src/b.ts", "import { parse } from './parse';\nparse('y');\n"),
    ];
    Fixture::new(PredictorName::Diagnostic, &files)
        .diagnosed("parse", "Cannot find name 'parse'.")
        .check(0.3);
}

#[test]
fn pyright_and_ruff() {
    check(&[
        Case {
            uri: PY,
            text: "def f(values):\n    return ⟨vlaues→values⟩[0]\n",
            at: "vlaues",
            message: "\"vlaues\" is not defined",
        },
        Case {
            uri: PY,
            text: "⟨import os\n→⟩import sys\n\nsys.exit()\n",
            at: "os",
            message: "`os` imported but unused",
        },
        Case {
            uri: PY,
            text: "from typing import ⟨Any, →⟩Optional\n\nx: Optional[int] = 1\n",
            at: "Any",
            message: "F401 `typing.Any` imported but unused",
        },
        Case {
            uri: PY,
            text: "if x ⟨==→is⟩ None:\n    pass\n",
            at: "x == None",
            message: "E711 Comparison to `None` should be `cond is None`",
        },
    ]);
}

#[test]
fn gopls() {
    check(&[
        Case {
            uri: GO,
            text: "package a\n\nimport (\n⟨\t\"fmt\"\n→⟩\t\"os\"\n)\n\nvar x = os.Args\n",
            at: "\"fmt\"",
            message: "\"fmt\" imported and not used",
        },
        Case {
            uri: GO,
            text: "package a\n\nfunc f() {\n\t⟨x :=→_ =⟩ g()\n}\n",
            at: "x",
            message: "declared and not used: x",
        },
        Case {
            uri: GO,
            text: "package a\n\nfunc f(buffer []byte) int {\n\treturn len(⟨bufer→buffer⟩)\n}\n",
            at: "bufer",
            message: "undefined: bufer",
        },
    ]);
}

#[test]
fn clang_and_gcc() {
    check(&[
        Case {
            uri: CPP,
            text: "int f(int width) {\n    return ⟨widht→width⟩;\n}\n",
            at: "widht",
            message: "use of undeclared identifier 'widht'; did you mean 'width'?",
        },
        Case {
            uri: CPP,
            text: "int f(Box box) {\n    return box.⟨hieght→height⟩;\n}\n",
            at: "hieght",
            message: "no member named 'hieght' in 'Box'; did you mean 'height'?",
        },
        Case {
            uri: CPP,
            text: "int f(int width) {\n    return ⟨widht→width⟩;\n}\n",
            at: "widht",
            message: "‘widht’ was not declared in this scope; did you mean ‘width’?",
        },
        Case {
            uri: CPP,
            text: "int f() {\n    int a = 1⟨→;⟩\n    return a;\n}\n",
            at: "\n    return",
            message: "expected ';' at end of declaration",
        },
    ]);
}

#[test]
fn what_is_not_understood_is_left_alone() {
    let text = "fn f() {\n    g();\n}\n";
    let fixture = Fixture::new(PredictorName::Diagnostic, &[(RS, text)]).diagnosed("g()", "mismatched types");
    assert!(fixture.suggestions().is_empty());
    let stale = Fixture::new(PredictorName::Diagnostic, &[(RS, text)]).diagnosed(
        "g()",
        "cannot find value `h` in this scope\na local variable with a similar name exists: `i`",
    );
    assert!(stale.suggestions().is_empty());
}

/// The diagnostic stays until the tool has looked again.
#[test]
fn what_was_done_is_not_done_again() {
    let text = "fn f(code: u8) {\n    panic!(\"{}\", code);\n}\n";
    let at = text.find("\"{}").expect("it is there");
    let message = "you might be missing a string literal to format with: `\"{}\", `";
    let fixture = Fixture::new(PredictorName::Diagnostic, &[(RS, text)]);
    let shown = fixture.diagnosed_in(at..at, Severity::Hint, message).shown(Eagerness::High);
    assert!(matches!(shown, Shown::Nothing));
    let text = "int f(void) {\n    return g();\n}\n";
    let fixture = Fixture::new(PredictorName::Diagnostic, &[("file:///a.c", text)]);
    let message = "function declaration isn’t a prototype [-Wstrict-prototypes]";
    let shown = fixture.diagnosed("f(", message).shown(Eagerness::High);
    assert!(matches!(shown, Shown::Nothing));
}

#[test]
fn an_argument_goes_behind_the_last_one() {
    check(&[Case {
        uri: "file:///a.go",
        text: "package a\n\nfunc area(w int, h int⟦→, depth int⟧) int {\n\treturn w\n}\n\nfunc f(depth int) int {\n\treturn area(\n\t\t1,\n\t\t2⟨→, depth⟩,\n\t)\n}\n",
        at: "area(\n",
        message: "not enough arguments in call to area\n\thave (number, number)\n\twant (int, int, int)",
    }]);
}

/// Not as sure as it has to be at medium.
#[test]
fn what_is_in_doubt_is_not_shown() {
    let cases = [
        // What was just imported may be used in a moment.
        Case {
            uri: PY,
            text: "⟦→import json\n⟧import sys\n\nsys.exit()\n",
            at: "json",
            message: "`json` imported but unused",
        },
        // So may be what was just declared.
        Case {
            uri: CPP,
            text: "int f() {\n    int a = 0⟦→, b = 1⟧;\n    return a;\n}\n",
            at: "b",
            message: "unused variable 'b' [-Wunused-variable]",
        },
        // A call may do something.
        Case {
            uri: CPP,
            text: "int f() {\n    int a = g();\n    return 0;\n}\n",
            at: "a",
            message: "unused variable 'a' [-Wunused-variable]",
        },
        // Which of the arguments is too many is not known.
        Case { uri: TS, text: "move(1, 2, 3);\n", at: "3", message: "Expected 2 arguments, but got 3." },
        // What is put first is not to be passed last.
        Case {
            uri: GO,
            text: "package a\n\nfunc area(⟦→depth int, ⟧w int) int {\n\treturn w\n}\n\nfunc f(depth int) int {\n\treturn area(1)\n}\n",
            at: "area(1",
            message: "not enough arguments in call to area",
        },
        // To compute the value does something.
        Case {
            uri: CPP,
            text: "int f(int n) {\n    int old = n++;\n    return n;\n}\n",
            at: "old",
            message: "unused variable 'old' [-Wunused-variable]",
        },
        // The name that is meant is longer than what is said of it.
        Case {
            uri: RS,
            text: "fn f() -> u8 {\n    uninitialized()\n}\n",
            at: "uninitialized",
            message: "use of deprecated function `uninitialized`: use `mem::MaybeUninit` instead",
        },
        // What is proposed stands for a part of what is marked, and it is not said for which.
        Case {
            uri: RS,
            text: "fn f() -> Error {\n    Error::new(Kind::Other, 1)\n}\n",
            at: "Error::new(Kind::Other, 1)",
            message: "this can be `Error::other(_)`\nuse `Error::other`: `other`",
        },
        Case {
            uri: RS,
            text: "fn f(a: u32) {\n    g(a);\n}\n",
            at: "a)",
            message: "mismatched types\nconsider borrowing here: `&`",
        },
    ];
    for case in cases {
        let fixture = Fixture::new(PredictorName::Diagnostic, &[(case.uri, case.text)]);
        let shown = fixture.diagnosed(case.at, case.message).shown(Eagerness::Medium);
        assert!(matches!(shown, Shown::Nothing), "{}", case.message);
    }
}

#[test]
fn brackets_are_taken_away() {
    check(&[
        Case {
            uri: RS,
            text: "fn f(a: bool) {\n    if⟨(a) → a ⟩{}\n}\n",
            at: "(a)",
            message: "unnecessary parentheses around `if` condition\nremove these parentheses",
        },
        Case {
            uri: "file:///a.py",
            text: "print⟨((1))→(1)⟩\n",
            at: "((1))",
            message: "Avoid extraneous parentheses",
        },
    ]);
}
