//! Whoever begins at README.md comes to everything in docs/.

use std::collections::BTreeSet;

use super::{Problem, Tree, page, tree::is};

const START: &str = "README.md";
const FOLDER: &str = "docs/";

pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let reached = reached(tree);
    let orphans = tree.paths().filter(|path| path.starts_with(FOLDER) && !reached.contains(*path));
    orphans
        .map(|path| {
            let what = format!("no page that {START} leads to has a link to it");
            Problem::new(path, what, format!("link to it, from {FOLDER}README.md for one, or take it out"))
        })
        .collect()
}

/// The files that links lead to from the first page on. A link to a folder leads to its README.
fn reached(tree: &Tree) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut next = vec![START.to_owned()];
    while let Some(path) = next.pop() {
        let text = tree.text(&path).filter(|_| is(&path, "md")).unwrap_or_default();
        if !reached.insert(path.clone()) {
            continue;
        }
        let links = page::links(text).into_iter().filter(|link| !page::is_outside(link));
        for target in links.filter_map(|link| page::resolve(&path, &link)) {
            next.push(format!("{target}/README.md"));
            next.push(target);
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems<const N: usize>(files: [(&str, &str); N]) -> Vec<String> {
        check(&Tree::from(files)).into_iter().map(|problem| problem.place).collect()
    }

    #[test]
    fn pages_are_reached_over_others_and_over_folders() {
        let files = [
            ("README.md", "[all](docs/) ![seen](docs/images/a.svg)"),
            ("docs/README.md", "[one](one.md#there) [away](https://example.org/docs/)"),
            ("docs/one.md", "[two](/docs/two.md) [up](../editors/README.md)"),
            ("docs/two.md", "[one](one.md)"),
            ("docs/images/a.svg", "[no](two.md)"),
            ("editors/other.md", ""),
        ];
        assert!(problems(files).is_empty());
    }

    #[test]
    fn what_nobody_leads_to_is_a_problem() {
        let files = [
            ("README.md", "[one](docs/one.md)"),
            ("docs/one.md", "`[two](two.md)`"),
            ("docs/two.md", "[three](three.md) [two](two.md)"),
            ("docs/three.md", "[two](two.md)"),
            ("docs/images/a.svg", ""),
        ];
        assert_eq!(problems(files), ["docs/images/a.svg", "docs/three.md", "docs/two.md"]);
    }
}
