//! Mistakes that a message states or implies the end of are put right where the user is, and only as long as they are there.

use nudge_predict::{Eagerness, PredictorName, Severity};

use crate::fixture::{Fixture, Shown};

const RS: &str = "file:///src/a.rs";
const TS: &str = "file:///src/a.ts";
const PY: &str = "file:///a.py";
const GO: &str = "file:///a.go";
const CPP: &str = "file:///a.cpp";
const CS: &str = "file:///A.cs";
const JAVA: &str = "file:///A.java";

/// A document with what follows marked in it, and a diagnostic at a piece of it, of which the last one in the text counts.
type Case = (&'static str, &'static str, &'static str, &'static str);

fn fixture(&(uri, text, at, message): &Case) -> Fixture {
    let fixture = Fixture::new(PredictorName::Diagnostic, &[(uri, text)]);
    let start = fixture.content().rfind(at).expect("a diagnostic has a place");
    fixture.diagnosed_in(start..start + at.len(), Severity::Error, message)
}

/// What is marked is shown. Once it was taken, nothing is, though the diagnostic is still there.
fn check(cases: &[Case]) {
    for case in cases {
        match fixture(case).shown(Eagerness::Medium) {
            Shown::Expected => {}
            Shown::Other(text) => panic!("{}: {text}", case.3),
            Shown::Nothing => panic!("{}: nothing", case.3),
        }
        if let Shown::Other(text) = fixture(case).shown_again(Eagerness::High) {
            panic!("{}, although it was done: {text}", case.3);
        }
    }
}

fn silent(cases: &[Case]) {
    for case in cases {
        if let Shown::Other(text) = fixture(case).shown(Eagerness::Medium) {
            panic!("{}: {text}", case.3);
        }
    }
}

#[test]
fn a_name_that_was_put_right_is_right() {
    check(&[
        (
            TS,
            "const total = 1;\nconsole.log(⟨totl→total⟩);\n",
            "totl",
            "Cannot find name 'totl'. Did you mean 'total'?",
        ),
        (
            CPP,
            "#include <string>\nint main() {\n    std::⟨strng→string⟩ s;\n}\n",
            "strng",
            "no type named 'strng' in namespace 'std'; did you mean 'string'?",
        ),
        (
            RS,
            "fn main() {\n    ⟨prinln→println⟩!(\"x\");\n}\n",
            "prinln",
            "cannot find macro `prinln` in this scope\na macro with a similar name exists: `println`",
        ),
    ]);
}

#[test]
fn a_diagnostic_that_is_older_than_the_text_is_not_followed() {
    silent(&[
        // Put right by hand: the mark has the length of what was wrong.
        (
            TS,
            "function f(user: User) {\n  return user.name.length;\n}\n",
            "nam",
            "Property 'nme' does not exist on type 'User'. Did you mean 'name'?",
        ),
        // Another name came there, as long as the one that was wrong.
        (
            TS,
            "function f(user: User) {\n  return user.item;\n}\n",
            "item",
            "Property 'nmae' does not exist on type 'User'. Did you mean 'name'?",
        ),
        // Another name of the line is as it was.
        (
            TS,
            "const total = 1;\nshow({ totl: 1, other: total });\n",
            "total }",
            "Cannot find name 'totl'. Did you mean 'total'?",
        ),
        (GO, "package a\n\nfunc f() {\n\ty := 1\n}\n", "y", "declared and not used: x"),
        // A line above went, so that another one is marked.
        (RS, "fn f() {\n    g(1)\n}\n", "1", "expected `;`, found keyword `let`"),
        (
            TS,
            "import { a } from './a';\na();\n",
            "import { a } from './a';",
            "All imports in import declaration are unused.",
        ),
        (
            TS,
            "import { Name } from './a';\nlet n: Name;\n",
            "Name }",
            "'Kind' is a type and must be imported using a type-only import when 'verbatimModuleSyntax' is enabled.",
        ),
        (
            RS,
            "fn f() {\n    let list = 1;\n    let more = 2;\n    show(more);\n}\n",
            "show(more)",
            "cannot borrow `list` as mutable, as it is not declared as mutable",
        ),
        (PY, "def f(x):\n    return x\n", "def f(x)", "Expected \":\""),
        (PY, "print(f\"hello {name}\")\n", "f\"hello {name}\"", "f-string without any placeholders"),
        (TS, "let i = 0;\ni++;\n", "i", "Cannot assign to 'i' because it is a constant."),
        (
            RS,
            "fn f(name: &str) {\n    show(name.to_string());\n}\n",
            "name",
            "mismatched types\nexpected `String`, found `&str`",
        ),
        (
            RS,
            "fn f(name: &str) {\n    show(12);\n}\n",
            "12",
            "unused variable: `unused`\nhelp: if this is intentional, prefix it with an underscore: `_unused`",
        ),
    ]);
}

#[test]
fn variables_that_nothing_reads() {
    check(&[
        (
            RS,
            "fn f() {\n    let ⟨unused→_unused⟩ = 3;\n}\n",
            "unused",
            "unused variable: `unused`\nhelp: if this is intentional, prefix it with an underscore: `_unused`",
        ),
        (GO, "package a\n\nfunc f() {\n⟨\tx := 1\n→⟩\tg()\n}\n", "x", "declared and not used: x"),
        (GO, "package a\n\nfunc f() {\n\t⟨x :=→_ =⟩ g()\n}\n", "x", "declared and not used: x"),
        (GO, "package a\n\nfunc f() {\n\t⟨x→_⟩, y := g()\n\th(y)\n}\n", "x", "declared and not used: x"),
        (GO, "package a\n\nfunc f() {\n\t_, ⟨x :=→_ =⟩ g()\n}\n", "x", "declared and not used: x"),
    ]);
    silent(&[
        // It may be read in a moment.
        (RS, "fn f() {\n    ⟦→let unused = 3;⟧\n}\n", "unused", "unused variable: `unused`"),
        (GO, "package a\n\nfunc f() {\n\t⟦→x := 1⟧\n}\n", "x", "declared and not used: x"),
    ]);
}

#[test]
fn types_of_rust() {
    check(&[
        (
            RS,
            "fn f(name: &str) {\n    show(name⟨→.to_string()⟩);\n}\n",
            "name",
            "mismatched types\nexpected `String`, found `&str`",
        ),
        (
            RS,
            "fn f(name: String) {\n    show(⟨→&⟩name);\n}\n",
            "name",
            "mismatched types\nexpected `&str`, found `String`",
        ),
        (
            RS,
            "fn f() {\n    let mut list = vec![];\n    fill(⟨→&mut ⟩list);\n}\n",
            "list",
            "mismatched types\nexpected `&mut Vec<u8>`, found `Vec<_>`",
        ),
    ]);
    silent(&[
        (
            RS,
            "fn f() {\n    let n: u64 = total(1);\n}\n",
            "total(1)",
            "mismatched types\nexpected `u64`, found `u32`",
        ),
        (
            RS,
            "fn f(name: String) {\n    match name {\n        \"a\" => {}\n    }\n}\n",
            "\"a\"",
            "mismatched types\nexpected `String`, found `&str`",
        ),
    ]);
}

#[test]
fn constants_and_promises_of_typescript() {
    check(&[
        (TS, "⟨const→let⟩ i = 0;\ni++;\n", "i", "Cannot assign to 'i' because it is a constant."),
        (
            TS,
            "const n = 1;\nfunction f() {\n  ⟨const→let⟩ n = 0;\n  n = 2;\n}\n",
            "n",
            "Cannot assign to 'n' because it is a constant.",
        ),
        (
            TS,
            "async function g() {\n  const r = ⟨→await ⟩fetch('x');\n  return r.json();\n}\n",
            "json",
            "Property 'json' does not exist on type 'Promise<Response>'.\n  Did you forget to use 'await'?",
        ),
        (
            TS,
            "async function g() {\n  return ⟨fetch('x')→(await fetch('x'))⟩.json();\n}\n",
            "json",
            "Property 'json' does not exist on type 'Promise<Response>'.\n  Did you forget to use 'await'?",
        ),
        (
            TS,
            "async function g() {\n  show(⟨→await ⟩load());\n}\n",
            "load()",
            "Argument of type 'Promise<string>' is not assignable to parameter of type 'string'.\n  Did you forget to use 'await'?",
        ),
    ]);
    silent(&[
        // Two constants in one declaration.
        (TS, "const i = 0, j = 1;\ni++;\n", "i", "Cannot assign to 'i' because it is a constant."),
        (TS, "import { i } from './i';\ni++;\n", "i", "Cannot assign to 'i' because it is an import."),
        // Nothing can be waited for here.
        (
            TS,
            "function g() {\n  const r = fetch('x');\n  return r.json();\n}\n",
            "json",
            "Property 'json' does not exist on type 'Promise<Response>'.\n  Did you forget to use 'await'?",
        ),
    ]);
}

#[test]
fn slips_of_a_key() {
    check(&[
        (
            PY,
            "class A:\n    def __init__(self):\n        self.name = \"\"\n\n    def show(self):\n        return self.⟨nmae→name⟩\n",
            "nmae",
            "Cannot access attribute \"nmae\" for class \"A*\"\n  Attribute \"nmae\" is unknown",
        ),
        (PY, "total = 1\nprint(⟨totl→total⟩)\n", "totl", "\"totl\" is not defined"),
        (
            JAVA,
            "class A {\n    int total;\n    int f() { return ⟨totl→total⟩; }\n}\n",
            "totl",
            "totl cannot be resolved to a variable",
        ),
        (
            GO,
            "package a\n\nimport \"fmt\"\n\nfunc f() {\n\tfmt.⟨Printn→Println⟩(\"a\")\n}\n",
            "Printn",
            "undefined: fmt.Printn (but have Println)",
        ),
        (
            GO,
            "package a\n\ntype T struct{ Name string }\n\nfunc f(t T) string {\n\treturn t.⟨name→Name⟩\n}\n",
            "name",
            "t.name undefined (type T has no field or method name, but does have field Name)",
        ),
    ]);
    silent(&[
        // One of several is a name of its own.
        (PY, "items = []\nprint(item)\n", "item", "\"item\" is not defined"),
        (PY, "row1 = 1\nprint(row2)\n", "row2", "\"row2\" is not defined"),
        // What another function calls so is not seen here.
        (PY, "def f():\n    total = 1\n\n\ndef g():\n    print(totl)\n", "totl", "\"totl\" is not defined"),
        // A variable is no attribute.
        (PY, "name = 1\nprint(a.nmae)\n", "nmae", "Cannot access attribute \"nmae\" for class \"A\""),
    ]);
}

#[test]
fn signs() {
    check(&[
        (PY, "def f(x)⟨→:⟩\n    return x\n", "def f(x)", "Expected \":\""),
        (PY, "if x⟨→:⟩  # so\n    pass\n", "x  # so", "Expected \":\""),
        (CS, "class A\n{\n    void M()\n    {\n        int x = 1⟨→;⟩\n    }\n}\n", "1", "; expected"),
        (JAVA, "class A {\n    int f() {\n        return 1⟨→;⟩\n    }\n}\n", "1", "';' expected"),
        (PY, "print(⟨f→⟩\"hello\")\n", "f\"hello\"", "f-string without any placeholders"),
    ]);
    silent(&[
        // Which of the lines is meant is not known.
        (PY, "f(x\n", "f(x", "Expected \":\""),
        (RS, "struct A {\n    a u8,\n}\n", "u8", "expected `:`, found `u8`"),
    ]);
}
