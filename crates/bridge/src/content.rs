//! Content: blocks of messages, items of tool calls, places in files.

use std::borrow::Cow;

use crate::{
    diff,
    object::{JsonObject, json},
};

/// The types of block v1 knows; it has no others.
const BLOCKS: [&str; 5] = ["text", "image", "audio", "resource_link", "resource"];

/// A content block for v1. One of a type v1 does not know becomes words and is kept in `_meta`.
pub(crate) fn block_to_v1(block: &str) -> Cow<'_, str> {
    let kind = JsonObject::read(block).and_then(|object| object.string("type"));
    match kind {
        Some(kind) if !BLOCKS.contains(&kind.as_str()) => {
            let mut words = text_block(&format!("[content of type {kind}]"));
            words.note("content", block);
            words.text().into()
        }
        _ => block.into(),
    }
}

/// A content block for v2.
pub(crate) fn block_to_v2(block: &str) -> Cow<'_, str> {
    let original = JsonObject::read(block).and_then(|mut object| object.recall("content"));
    original.map_or(block.into(), Cow::Owned)
}

/// An item of a tool call's content, which is this object, for v1: none, one or several. References to terminals are left to
/// [`SessionTerminals::item`](crate::terminal::SessionTerminals::item), because what they show changes.
pub(crate) fn item_to_v1(item: &str, mut object: JsonObject<'_>) -> Vec<String> {
    match object.string("type").as_deref() {
        Some("content") => match object.get("content").map(block_to_v1) {
            Some(Cow::Owned(block)) => {
                object.set("content", block);
                vec![object.text()]
            }
            _ => vec![item.to_owned()],
        },
        Some("diff") => diff::to_v1(item),
        Some(kind) if kind != "terminal" => {
            let mut words = text_item(&format!("[content of type {kind}]"));
            words.note("item", item);
            vec![words.text()]
        }
        _ => vec![item.to_owned()],
    }
}

/// An item of a tool call's content for v2; `None` for what only v1 is shown.
pub(crate) fn item_to_v2(item: &str, cwd: Option<&str>) -> Option<String> {
    let Some(mut object) = JsonObject::read(item) else { return Some(item.to_owned()) };
    match object.string("type").as_deref() {
        Some("diff") => return Some(diff::to_v2(object, cwd)),
        Some("content") => {}
        _ => return Some(item.to_owned()),
    }
    if object.recall("prompt").is_some() {
        return None;
    }
    if let Some(change) = object.recall("change") {
        return Some(diff::change_to_v2(&change));
    }
    if let Some(original) = object.recall("item").or_else(|| object.recall("terminal")) {
        return Some(original);
    }
    if let Some(block) = object.get("content").map(|block| block_to_v2(block).into_owned()) {
        object.set("content", block);
    }
    Some(object.text())
}

/// A place in a file for v2, which has no line 0 and no relative paths.
pub(crate) fn location_to_v2(location: &str, cwd: Option<&str>) -> String {
    let Some(mut object) = JsonObject::read(location) else { return location.to_owned() };
    if let Some(path) = object.string("path") {
        object.put("path", &diff::absolute(&path, cwd));
    }
    if object.get("line") == Some("0") {
        object.take("line");
        object.note("line", "0");
    }
    object.text()
}

/// A place in a file for v1.
pub(crate) fn location_to_v1(location: &str) -> String {
    let Some(mut object) = JsonObject::read(location) else { return location.to_owned() };
    object.restore("line");
    object.text()
}

/// A text block.
pub(crate) fn text_block(words: &str) -> JsonObject<'static> {
    JsonObject::default().with_str("type", "text").with_str("text", words)
}

/// Text as an item of a tool call's content.
pub(crate) fn text_item(words: &str) -> JsonObject<'static> {
    JsonObject::default().with_str("type", "content").with("content", text_block(words).text())
}

/// The item that says how many before it were left out.
pub(crate) fn omitted_item(count: usize) -> String {
    let mut item = text_item(&format!("[{count} earlier items left out]"));
    item.note("omitted", &json(&count));
    item.text()
}

/// The item that asks the user, in a permission request.
pub(crate) fn prompt_item(title: Option<&str>, description: Option<&str>) -> Option<String> {
    let words: Vec<&str> = [title, description].into_iter().flatten().collect();
    if words.is_empty() {
        return None;
    }
    let mut item = text_item(&words.join("\n\n"));
    item.note("prompt", "true");
    Some(item.text())
}
