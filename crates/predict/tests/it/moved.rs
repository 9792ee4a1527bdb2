//! One half of a move is followed by the other, where the user has gone to.

use nudge_predict::Predictor::Move;

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

/// What was pasted right below the line it was copied from is not taken away with that.
#[test]
fn what_came_does_not_go_with_it() {
    let text =
        "⟨    register(first_handler);\n→⟩⟦→    register(first_handler);\n    register(first_handler);\n⟧}\n";
    Fixture::new(Move, &[("a.rs", text)]).gone_behind("a.rs", "    ").check(0.3);
}
