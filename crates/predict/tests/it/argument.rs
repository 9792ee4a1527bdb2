//! A new parameter is given an argument by its calls.

use nudge_predict::PredictorName;

use crate::fixture::{Fixture, check_silent};

/// Everything that is marked follows at the bar of medium eagerness.
fn medium(files: &[(&str, &str)]) {
    Fixture::new(PredictorName::Signature, files).check(0.55);
}

fn silent(files: &[(&str, &str)]) {
    check_silent(PredictorName::Signature, files, 0.3);
}

#[test]
fn an_added_parameter_is_given_its_variable_in_every_language() {
    let cases = [
        (
            "a.rs",
            "fn area(w: u32⟦→, h: u32⟧) -> u32 {
    w
}

fn all(w: u32, h: u32) -> u32 {
    area(w⟨→, h⟩)
}

fn none(w: u32) -> u32 {
    area(w)
}
",
        ),
        (
            "a.ts",
            "function area(w: number⟦→, h: number⟧) {
    return w;
}

function all(w: number) {
    const h = 2;
    return area(w⟨→, h⟩);
}
",
        ),
        (
            "a.py",
            "def area(w⟦→, h⟧):
    return w


def total(w):
    h = 2
    return area(w⟨→, h⟩)
",
        ),
        (
            "a.go",
            "package a

func area(w int⟦→, h int⟧) int {
	return w
}

func all(w, h int) int {
	return area(w⟨→, h⟩)
}
",
        ),
        (
            "A.java",
            "class A {
    int area(int w⟦→, int h⟧) {
        return w;
    }

    int all(int w, int h) {
        return area(w⟨→, h⟩);
    }
}
",
        ),
        (
            "A.cs",
            "class A {
    int Area(int w⟦→, int h⟧) {
        return w;
    }

    int All(int w, int h) {
        return Area(w⟨→, h⟩);
    }
}
",
        ),
        (
            "a.c",
            "static int area(int w⟦→, int h⟧)
{
    return w;
}

int all(int w)
{
    int h = 2;
    return area(w⟨→, h⟩);
}
",
        ),
        (
            "a.cpp",
            "int area(int w⟦→, int h⟧) {
    return w;
}

int all(int w, int h) {
    return area(w⟨→, h⟩);
}
",
        ),
    ];
    for (name, text) in cases {
        medium(&[(&format!("file:///{name}"), text)]);
    }
}

#[test]
fn a_parameter_with_a_default_changes_no_call() {
    let cases = [
        (
            "a.ts",
            "function area(w: number⟦→, h = 1⟧) {\n    return w;\n}\n\nfunction all(w: number, h: number) {\n    return area(w);\n}\n",
        ),
        (
            "A.cs",
            "class A {\n    int Area(int w⟦→, int h = 1⟧) {\n        return w;\n    }\n\n    int All(int w, int h) {\n        return Area(w);\n    }\n}\n",
        ),
        (
            "a.cpp",
            "int area(int w⟦→, int h = 1⟧) {\n    return w;\n}\n\nint all(int w, int h) {\n    return area(w);\n}\n",
        ),
    ];
    for (name, text) in cases {
        silent(&[(&format!("file:///{name}"), text)]);
    }
}

#[test]
fn a_call_fitted_by_hand_shows_the_others() {
    medium(&[(
        "file:///a.rs",
        "fn area(w: u32⟦→, h: u32⟧) -> u32 {
    w
}

fn main() {
    let a = area(3⟦→, 1⟧);
    show(a);

    let b = area(side(4, 5)⟨→, 1⟩);
    show(b);
}
",
    )]);
    medium(&[(
        "file:///a.py",
        "def area(w⟦→, h⟧):
    return w


print(area(3⟦→, None⟧))
x = 1

print(area(4⟨→, None⟩))
",
    )]);
    // Where two were fitted in different ways, nobody knows.
    silent(&[(
        "file:///a.py",
        "def area(w⟦→, h⟧):
    return w


print(area(3⟦→, None⟧))
x = 1
y = area(4⟦→, 2⟧)

print(area(5))
",
    )]);
}

#[test]
fn calls_that_another_overload_takes_stay() {
    silent(&[(
        "file:///Reader.java",
        "class Reader {
    String next(⟦→boolean skips⟧) {
        return \"\";
    }

⟦→    String next() {
        return next(false);
    }

⟧    void skip() {
        next();
    }
}
",
    )]);
}
