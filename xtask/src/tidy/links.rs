//! Links between the pages of this repository lead somewhere.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::{Problem, Tree, tree::is};

pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let pages = tree.texts().filter(|(path, _)| is(path, "md"));
    pages
        .flat_map(|(path, text)| links(text).into_iter().filter_map(|link| broken(tree, path, &link)))
        .collect()
}

/// The problem with a link of the page at `page`, if it has one.
fn broken(tree: &Tree, page: &str, link: &str) -> Option<Problem> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
    let path = if target.is_empty() { Some(page.to_owned()) } else { resolve(page, target) };
    let Some(path) = path.filter(|path| tree.exists(path)) else {
        return Some(Problem::new(page, format!("the link `{link}` leads nowhere"), "correct the path"));
    };
    let has_anchor = match tree.text(&path) {
        Some(text) if is(&path, "md") && !anchor.is_empty() => anchors(text).iter().any(|one| one == anchor),
        _ => true,
    };
    let remedy = format!("name a heading of {path}");
    (!has_anchor).then(|| Problem::new(page, format!("the link `{link}` names no heading there"), remedy))
}

/// The path below the root that `target` means on `page`; `None` if it leaves the repository.
fn resolve(page: &str, target: &str) -> Option<String> {
    let (mut parts, target): (Vec<&str>, _) = match target.strip_prefix('/') {
        Some(from_root) => (Vec::new(), from_root),
        None => (page.split('/').collect(), target),
    };
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Where the links and images of a page go.
fn links(text: &str) -> Vec<String> {
    let target = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.into_string())
        }
        _ => None,
    };
    Parser::new(text).filter_map(target).collect()
}

/// The anchors of a page's headings, as web front ends of git make them.
fn anchors(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => found.extend(heading.take().map(|text| anchor(&text))),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            _ => {}
        }
    }
    found
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let tree = Tree::from([
            ("docs/page.md", text),
            ("docs/other.md", "# One `two`: three\n\ntext\n"),
            ("src/lib.rs", ""),
        ]);
        check(&tree).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn links_that_lead_somewhere() {
        let text = "# Here\n[a](other.md) [b](../src/lib.rs) [c](../src/) [d](/src/lib.rs) [e](#here) \
                    [f](other.md#one-two-three) [g](https://example.org/x) ![h][ref] `[i](no.md)`\n\n\
                    ```\n[j](no.md)\n```\n\n[ref]: ./other.md\n";
        assert_eq!(problems(text), Vec::<String>::new());
    }

    #[test]
    fn links_that_do_not() {
        assert_eq!(problems("[a](no.md)"), ["the link `no.md` leads nowhere"]);
        assert_eq!(problems("[a](../../etc/passwd)"), ["the link `../../etc/passwd` leads nowhere"]);
        assert_eq!(problems("[a][b]\n\n[b]: /docs/lib.rs"), ["the link `/docs/lib.rs` leads nowhere"]);
        assert_eq!(problems("[a](#there)"), ["the link `#there` names no heading there"]);
        assert_eq!(problems("[a](other.md#two)"), ["the link `other.md#two` names no heading there"]);
    }
}
