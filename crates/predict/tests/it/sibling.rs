//! A new member of one list comes into the next.

use nudge_predict::Predictor::Sibling;

use crate::fixture::{Fixture, check_silent};

#[test]
fn a_new_variant_gets_its_arm() {
    Fixture::new(
        Sibling,
        &[(
            "a.rs",
            "enum Colour {\n    Crimson,\n⟦→    Emerald,\n⟧}\n\nfn name(c: Colour) -> &'static str {\n    match c {\n        Colour::Crimson => \"crimson\",\n⟨→        Colour::Emerald => \"emerald\",\n⟩    }\n}\n",
        )],
    )
    .check(0.1);
}

#[test]
fn a_member_that_is_there_is_not_added_again() {
    check_silent(
        Sibling,
        &[(
            "a.rs",
            "enum Colour {\n    Crimson,\n⟦→    Emerald,\n⟧}\n\nfn name(c: Colour) -> &'static str {\n    match c {\n        Colour::Crimson => \"crimson\",\n        Colour::Emerald => \"emerald\",\n    }\n}\n",
        )],
        0.05,
    );
}
