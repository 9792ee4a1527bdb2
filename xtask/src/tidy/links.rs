//! Links between the pages of this repository lead somewhere.

use super::{Problem, Tree, page, tree::is};

pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let pages = tree.texts().filter(|(path, _)| is(path, "md"));
    pages
        .flat_map(|(path, text)| page::links(text).into_iter().filter_map(|link| broken(tree, path, &link)))
        .collect()
}

/// The problem with a link of the page at `page`, if it has one.
fn broken(tree: &Tree, page: &str, link: &str) -> Option<Problem> {
    if page::is_outside(link) {
        return None;
    }
    let Some(path) = page::resolve(page, link).filter(|path| tree.exists(path)) else {
        return Some(Problem::new(page, format!("the link `{link}` leads nowhere"), "correct the path"));
    };
    let anchor = link.split_once('#').map_or("", |(_, anchor)| anchor);
    let has_anchor = match tree.text(&path) {
        Some(text) if is(&path, "md") && !anchor.is_empty() => {
            page::anchors(text).iter().any(|one| one == anchor)
        }
        _ => true,
    };
    let remedy = format!("name a heading of {path}");
    (!has_anchor).then(|| Problem::new(page, format!("the link `{link}` names no heading there"), remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let tree = Tree::from([
            ("docs/page.md", text),
            ("docs/other.md", "# One `two`: three\n\ntext\n\n## Again\n\n## Again\n"),
            ("src/lib.rs", ""),
        ]);
        check(&tree).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn links_that_lead_somewhere() {
        let text = "# Here\n[a](other.md) [b](../src/lib.rs) [c](../src/) [d](/src/lib.rs) [e](#here) \
                    [f](other.md#one-two-three) [g](https://example.org/x) ![h][ref] `[i](no.md)` \
                    [j](other.md#again-1) [k](../src/lib.rs#L3)\n\n```\n[l](no.md)\n```\n\n\
                    | a | b |\n| --- | --- |\n| [m](other.md) | <a href=\"other.md#again\">n</a> |\n\n[ref]: ./other.md\n";
        assert_eq!(problems(text), Vec::<String>::new());
    }

    #[test]
    fn links_that_do_not() {
        assert_eq!(problems("[a](no.md)"), ["the link `no.md` leads nowhere"]);
        assert_eq!(problems("[a](../../etc/passwd)"), ["the link `../../etc/passwd` leads nowhere"]);
        assert_eq!(problems("[a][b]\n\n[b]: /docs/lib.rs"), ["the link `/docs/lib.rs` leads nowhere"]);
        assert_eq!(problems("[a](#there)"), ["the link `#there` names no heading there"]);
        assert_eq!(problems("[a](other.md#two)"), ["the link `other.md#two` names no heading there"]);
        assert_eq!(problems("[a](other.md#again-2)"), ["the link `other.md#again-2` names no heading there"]);
        assert_eq!(problems("| a |\n| --- |\n| [b](no.md) |"), ["the link `no.md` leads nowhere"]);
        assert_eq!(problems("<img src=\"no.svg\">"), ["the link `no.svg` leads nowhere"]);
    }

    #[test]
    fn every_page_of_the_repository_is_looked_at() {
        let pages =
            ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "docs/a.md", "spec/a.md", "editors/a/b.md"];
        for page in pages {
            let found = check(&Tree::from([(page, "[a](no.md)")]));
            assert_eq!(found.len(), 1, "{page}");
        }
    }
}
