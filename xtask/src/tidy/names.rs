//! One name, one thing: a type that leaves its file has a name that no other room has.

use std::collections::{BTreeMap, BTreeSet};

use super::{Problem, Tree, tree};

/// Rooms that are no part of the program: tests, and what measures.
const OUTSIDE: &[&str] = &["bench", "editors", "interop", "peers", "testkit"];

/// Names that several rooms have, and why.
const SHARED: &[(&str, &str)] = &[];

/// What the rule goes by: the names of types that leave their files, and the rooms that have them.
type Names<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    check_names(&names(tree), SHARED)
}

fn check_names(names: &Names<'_>, shared: &[(&str, &str)]) -> Vec<Problem> {
    let is_listed = |name: &str| shared.iter().any(|(listed, _)| *listed == name);
    let in_several = names.iter().filter(|(_, rooms)| rooms.len() > 1);
    let unlisted = in_several.filter(|(name, _)| !is_listed(name)).map(|(name, rooms)| {
        let rooms: Vec<_> = rooms.iter().copied().collect();
        let what = format!("`{name}` is a type in several rooms: {}", rooms.join(", "));
        Problem::new(
            "crates",
            what,
            "name each for what it is, or list it with a reason in xtask/src/tidy/names.rs",
        )
    });
    let stale = shared.iter().filter(|(name, _)| names.get(name).is_none_or(|rooms| rooms.len() < 2));
    let stale = stale.map(|(name, _)| {
        let what = format!("`{name}` is listed as a name of several rooms and is none");
        Problem::new("xtask/src/tidy/names.rs", what, "take it out of the list")
    });
    unlisted.chain(stale).collect()
}

fn names(tree: &Tree) -> Names<'_> {
    let mut names = Names::new();
    for (path, text) in tree.below("crates/").filter(|(path, _)| tree::is(path, "rs")) {
        let mut parts = path.split('/').skip(1);
        let (Some(room), Some("src")) = (parts.next(), parts.next()) else { continue };
        if OUTSIDE.contains(&room) || path.contains("/tests") {
            continue;
        }
        let code = text.split("\nmod tests {").next().unwrap_or(text);
        for name in code.lines().filter_map(declared) {
            names.entry(name).or_default().insert(room);
        }
    }
    names
}

/// The name of the type that a line declares, if it can be seen outside its file.
fn declared(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')')?.1,
        None => rest,
    };
    let mut words = rest.strip_prefix(' ')?.split(' ').skip_while(|word| *word == "unsafe");
    if !matches!(words.next()?, "struct" | "enum" | "trait" | "type" | "union") {
        return None;
    }
    let name = words.next()?;
    let end = name.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(name.len());
    Some(&name[..end]).filter(|name| name.starts_with(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_declares() {
        for (line, name) in [
            ("pub struct Hub {", Some("Hub")),
            ("    pub(crate) enum Stage {", Some("Stage")),
            ("pub(in crate::session) trait Give<T>: Send {", Some("Give")),
            ("pub type Source = Arc<dyn S>;", Some("Source")),
            ("pub struct Limits;", Some("Limits")),
            ("struct Hidden {", None),
            ("pub fn Struct() {}", None),
            ("pub(crate) const A: u8 = 1;", None),
            ("// pub struct Hub", None),
        ] {
            assert_eq!(declared(line), name, "{line}");
        }
    }

    fn problems(shared: &[(&str, &str)]) -> Vec<String> {
        let tree = Tree::from([
            (
                "crates/hub/src/a.rs",
                "pub struct Both;\npub(crate) struct One;\nmod tests {\npub struct Late;\n}",
            ),
            ("crates/store/src/b.rs", "pub enum Both {}\npub struct Late;\nstruct One;"),
            ("crates/bench/src/c.rs", "pub struct One;"),
            ("crates/store/tests/it/d.rs", "pub struct One;"),
        ]);
        check_names(&names(&tree), shared).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn a_name_in_two_rooms_needs_a_reason() {
        assert_eq!(problems(&[]), ["`Both` is a type in several rooms: hub, store"]);
        assert!(problems(&[("Both", "they are the same")]).is_empty());
    }

    #[test]
    fn a_reason_that_nobody_needs_goes() {
        let listed = [("Both", "they are the same"), ("Gone", "it was here")];
        assert_eq!(problems(&listed), ["`Gone` is listed as a name of several rooms and is none"]);
    }
}
