//! One half of a move is followed by the other, where the user has gone to.

use nudge_predict::PredictorName::Move;

use crate::fixture::Fixture;

const CAME: &str = "fn first() {\n    one();\n}\n\n⟦→fn moved(count: usize) {\n    do_it(count);\n    log(count);\n}\n\n⟧fn second() {\n    two();\n}\n\n⟨fn moved(count: usize) {\n    do_it(count);\n    log(count);\n}\n\n→⟩fn third() {\n    three();\n}\n";

#[test]
fn what_was_put_elsewhere_goes_from_where_it_was() {
    Fixture::new(Move, &[("a.rs", CAME)]).gone_behind("a.rs", "two();\n}\n\n").check(0.3);
}

#[test]
fn what_was_put_elsewhere_stays_as_long_as_nobody_goes_there() {
    let found = Fixture::new(Move, &[("a.rs", CAME)]).suggestions();
    assert!(found.is_empty(), "{found:?}");
    let found = Fixture::new(Move, &[("a.rs", CAME)]).gone_behind("a.rs", "three();").suggestions();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn what_came_in_another_file_goes_from_this_one() {
    let files = [
        ("lib.ts", "⟦→export function area(width: number, height: number) {\n  return width * height\n}\n⟧"),
        (
            "main.ts",
            "⟨export function area(width: number, height: number) {\n  return width * height\n}\n→⟩run()\n",
        ),
    ];
    Fixture::new(Move, &files).gone_behind("main.ts", "").check(0.3);
}

/// What was put elsewhere is no longer there: here is all that is left of it.
#[test]
fn the_only_copy_stays() {
    let text = "fn first() {\n    one();\n}\n\n⟦→fn moved(count: usize) {\n    do_it(count);\n}\n\n⟧fn second() {\n    two();\n}\n\nfn moved(count: usize) {\n    do_it(count);\n}\n";
    let fixture = Fixture::new(Move, &[("a.rs", text)]);
    let found = fixture.then_without("fn moved(count: usize) {\n    do_it(count);\n}\n\n");
    let found = found.gone_behind("a.rs", "two();\n}\n\n").suggestions();
    assert!(found.is_empty(), "{found:?}");
}

/// What was copied is to stay: nobody cut it.
#[test]
fn copies_stay() {
    let silent = [
        // Right beside where it was copied from.
        ("a.rs", "    register(first_handler);\n⟦→    register(first_handler);\n⟧}\n", "    "),
        ("a.rs", "fn one() {\n    do_something();\n}\n⟦→fn one() {\n    do_something();\n}\n⟧", ""),
        // Statements that are meant twice.
        (
            "a.py",
            "def a(x):\n    if x:\n        return None\n\ndef b(x):\n    ⟦→return None⟧\n",
            "if x:\n        ",
        ),
        (
            "a.py",
            "def a(items):\n    result = []\n    for item in items:\n        result.append(item)\n\ndef b(items):\n⟦→    result = []\n    for item in items:\n        result.append(item)\n⟧",
            "def a(items):\n    ",
        ),
        ("a.rs", "#[derive(Debug, Clone)]\nstruct A;\n\n⟦→#[derive(Debug, Clone)]\nstruct B;\n⟧", ""),
        ("a.py", "A = {\n    'timeout': 30,\n}\nB = {\n    'timeout': ⟦10→30⟧,\n}\n", "A = {\n    "),
    ];
    for (file, text, place) in silent {
        let found = Fixture::new(Move, &[(file, text)]).gone_behind(file, place).suggestions();
        assert!(found.is_empty(), "{text}: {found:?}");
    }
}
