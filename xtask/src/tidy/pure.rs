//! Pure rooms may not excuse themselves from the list of forbidden methods.

use super::{Problem, Tree, deps::PURE};

const LINT: &str = "clippy::disallowed_methods";

pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let sources = PURE.iter().flat_map(|room| tree.below(&format!("crates/{room}/src/")).collect::<Vec<_>>());
    sources.filter(|(_, text)| text.contains(LINT)).map(|(path, _)| excuse(path)).collect()
}

fn excuse(path: &str) -> Problem {
    let what = format!("a pure room mentions `{LINT}`");
    Problem::new(
        path,
        what,
        "take files, environment and time as arguments; see \"Pure rooms\" in ARCHITECTURE.md",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pure_room_that_allows_the_lint_is_a_problem() {
        let allow = "#![allow(clippy::disallowed_methods)]";
        let tree = Tree::from([
            ("crates/wire/src/lib.rs", allow),
            ("crates/wire/tests/it/main.rs", allow),
            ("crates/peer/src/lib.rs", allow),
            ("crates/text/src/lib.rs", "fn pure() {}"),
        ]);
        assert_eq!(check(&tree), [excuse("crates/wire/src/lib.rs")]);
    }
}
