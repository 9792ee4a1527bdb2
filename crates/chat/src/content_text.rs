//! The text of content blocks.

use std::fmt::Write as _;

use serde_json::Value;

/// The text of content blocks; others are named, but for a file that the text before it names. It is not yet safe for a
/// terminal.
pub fn content_text(blocks: &Value) -> String {
    let blocks = blocks.as_array().map_or(std::slice::from_ref(blocks), Vec::as_slice);
    let mut text = String::new();
    for block in blocks {
        match (block["type"].as_str(), block["text"].as_str()) {
            (_, Some(more)) => text.push_str(more),
            (Some(kind), None) if !is_named(&text, block) => {
                // The blank is there however they come, together or one by one: what was shown of a message is counted.
                let _ = write!(text, " [{kind} {}]", block["uri"].as_str().unwrap_or_default());
            }
            _ => {}
        }
    }
    text
}

/// Whether a text names a linked file with an `@`.
fn is_named(text: &str, link: &Value) -> bool {
    let Some(name) = link["name"].as_str().filter(|name| link["type"] == "resource_link" && !name.is_empty())
    else {
        return false;
    };
    let name = format!("@{name}");
    text.match_indices(&name).any(|(at, _)| !text[at + name.len()..].starts_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_no_text_is_named_once() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        let link = json!({ "type": "resource_link", "uri": "file:///a/README.md", "name": "README.md" });
        for (blocks, expected) in [
            (json!([text("one"), text(" two")]), "one two"),
            (json!([text("see @README.md"), link]), "see @README.md"),
            (json!([text("(@README.md, first)"), link]), "(@README.md, first)"),
            (json!([text("see @README.mdx"), link]), "see @README.mdx [resource_link file:///a/README.md]"),
            (json!([text("see this"), link]), "see this [resource_link file:///a/README.md]"),
            (json!([text("look"), { "type": "image", "data": "" }]), "look [image ]"),
            (text("alone"), "alone"),
            (json!({}), ""),
        ] {
            assert_eq!(content_text(&blocks), expected, "{blocks}");
        }
    }
}
