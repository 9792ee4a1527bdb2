//! What a Markdown page links to, and what can be linked to in it.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// Where the links and images of a page go, also those that are written in HTML.
pub(crate) fn links(text: &str) -> Vec<String> {
    let targets = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            vec![dest_url.into_string()]
        }
        Event::Html(html) | Event::InlineHtml(html) => attributes(&html, &["href", "src", "srcset"]),
        _ => Vec::new(),
    };
    Parser::new(text).flat_map(targets).collect()
}

/// Whether a link leaves the repository.
pub(crate) fn is_outside(link: &str) -> bool {
    link.contains("://") || link.starts_with("mailto:")
}

/// The path below the root that a link on `page` means, without its anchor; `None` if it leaves the repository.
pub(crate) fn resolve(page: &str, link: &str) -> Option<String> {
    let target = link.split_once('#').map_or(link, |(target, _)| target);
    if target.is_empty() {
        return Some(page.to_owned());
    }
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

/// The anchors of a page, as web front ends of git make them: its headings, and the names given in HTML.
pub(crate) fn anchors(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut times = BTreeMap::<String, usize>::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                found.extend(heading.take().map(|text| numbered(anchor(&text), &mut times)));
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            Event::Html(html) | Event::InlineHtml(html) => found.extend(attributes(&html, &["id", "name"])),
            _ => {}
        }
    }
    found
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The second heading of the same words is `words-1`.
fn numbered(anchor: String, times: &mut BTreeMap<String, usize>) -> String {
    let before = times.entry(anchor.clone()).or_default();
    *before += 1;
    if *before == 1 { anchor } else { format!("{anchor}-{}", *before - 1) }
}

/// The values of these attributes in a piece of HTML, which are in double quotes.
fn attributes(html: &str, names: &[&str]) -> Vec<String> {
    if html.trim_start().starts_with("<!--") {
        return Vec::new();
    }
    let value = |name: &&str| {
        let begin = format!("{name}=\"");
        let after = html.split([' ', '\n', '\t']).filter_map(move |word| word.strip_prefix(begin.as_str()));
        after.filter_map(|rest| rest.split_once('"')).map(|(value, _)| value.to_owned()).collect::<Vec<_>>()
    };
    names.iter().flat_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_in_markdown_and_in_html() {
        let text = "[a](b.md#c) ![d](e.png) [f][g] `[no](no)` <a href=\"h.md\">h</a>\n\n\
                    <img width=\"1\" src=\"i.svg\">\n\n<!-- <img src=\"no.svg\"> -->\n\n```\n[no](no)\n```\n\n[g]: j\n";
        assert_eq!(links(text), ["b.md#c", "e.png", "j", "h.md", "i.svg"]);
    }

    #[test]
    fn anchors_are_headings_and_names() {
        let text = "# One `two`: three\n\nwords\n\n## Why?\n\n## Why?\n\nUnder_scored-ness\n---\n\n<a id=\"here\"></a>\n";
        assert_eq!(anchors(text), ["one-two-three", "why", "why-1", "under_scored-ness", "here"]);
    }

    #[test]
    fn links_are_followed_from_their_page() {
        let check = |link: &str, path: Option<&str>| {
            assert_eq!(resolve("docs/page.md", link).as_deref(), path, "{link}");
        };
        check("other.md#x", Some("docs/other.md"));
        check("./a/../b.md", Some("docs/b.md"));
        check("../README.md", Some("README.md"));
        check("/spec/", Some("spec"));
        check("#x", Some("docs/page.md"));
        check("..", Some(""));
        check("../../x", None);
    }
}
