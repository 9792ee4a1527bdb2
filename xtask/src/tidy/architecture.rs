//! ARCHITECTURE.md names the crates and files there are, and no others.

use super::{Problem, Tree, deps::Crate, tree};

const PAGE: &str = "ARCHITECTURE.md";
/// The section that lists the crates, each by its folder as inline code.
const SECTION: &str = "## The house";

pub(crate) fn check(tree: &Tree, crates: &[Crate]) -> Vec<Problem> {
    let Some(page) = tree.text(PAGE) else {
        return vec![Problem::new(PAGE, "the file is not there", "write it")];
    };
    let named = folders(page);
    let missing = crates.iter().filter(|one| !named.contains(&one.folder.as_str())).map(|one| {
        let what = format!("`{}` is not in the section \"{SECTION}\"", one.folder);
        Problem::new(PAGE, what, "add a line that says what it is for")
    });
    let is_crate = |folder: &str| crates.iter().any(|one| one.folder == folder);
    let stale =
        named.iter().filter(|folder| folder.starts_with("crates/") && !is_crate(folder)).map(|folder| {
            Problem::new(
                PAGE,
                format!("there is no crate `{folder}`"),
                "take the line out or correct the name",
            )
        });
    missing.chain(stale).chain(gone_files(tree, page)).collect()
}

/// Files that are named as inline code and are not there. A name without all of its folders is that of some file.
fn gone_files<'a>(tree: &'a Tree, page: &'a str) -> impl Iterator<Item = Problem> {
    let names = page.split('`').skip(1).step_by(2).filter(|code| tree::is(code, "rs") && !code.contains(' '));
    let is_there = |name: &str| {
        let is_it =
            |path: &str| path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        tree.texts().any(|(path, _)| is_it(path))
    };
    names.filter(move |name| !is_there(name)).map(|name| {
        Problem::new(PAGE, format!("there is no file `{name}`"), "correct the name or take it out")
    })
}

/// What the section has as inline code, without a trailing `/`.
fn folders(page: &str) -> Vec<&str> {
    let section = page.lines().skip_while(|line| line.trim_end() != SECTION).skip(1);
    let section = section.take_while(|line| !line.starts_with("## "));
    section
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .map(|code| code.trim_end_matches('/'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(page: &str) -> Vec<String> {
        let crates = ["crates/wire", "xtask"].map(|folder| Crate {
            name: String::new(),
            folder: folder.to_owned(),
            uses: Vec::new(),
        });
        check(&Tree::from([(PAGE, page)]), &crates).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn every_crate_is_named() {
        assert!(
            problems("# A\n## The house\n- `crates/wire/`: words\n- `xtask`, `spec/`\n## Next").is_empty()
        );
        assert_eq!(
            problems("`xtask`\n## The house\n- `crates/wire`\n## Next\n`xtask`"),
            ["`xtask` is not in the section \"## The house\""]
        );
    }

    #[test]
    fn nothing_else_is_named() {
        assert_eq!(
            problems("## The house\n`crates/wire` `xtask` `crates/gone`"),
            ["there is no crate `crates/gone`"]
        );
    }

    #[test]
    fn files_that_are_named_are_there() {
        let page =
            "## The house\n## Next\n`crates/wire/src/id.rs` `id.rs` `src/id.rs` `d.rs` `wire/id.rs` `a b.rs`";
        let tree = Tree::from([(PAGE, page), ("crates/wire/src/id.rs", "")]);
        let problems = check(&tree, &[]);
        let what: Vec<_> = problems.into_iter().map(|problem| problem.what).collect();
        assert_eq!(what, ["there is no file `d.rs`", "there is no file `wire/id.rs`"]);
    }

    #[test]
    fn the_page_must_be_there() {
        assert_eq!(check(&Tree::default(), &[]).len(), 1);
    }
}
