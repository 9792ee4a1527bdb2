//! The members of a tool call, beside what becomes of its content in the course of it.

use crate::{
    content::{item_to_v2, location_to_v1, location_to_v2},
    object::{JsonObject, items, json, list, quote},
};

/// What can be cleared in v2.
const FIELDS: [&str; 8] =
    ["title", "name", "kind", "status", "content", "locations", "rawInput", "rawOutput"];

/// A v1 `tool_call` or `tool_call_update`, or the tool call of a permission request, as a v2 patch.
pub(crate) fn to_v2(object: &mut JsonObject<'_>, cwd: Option<&str>) {
    for field in FIELDS {
        if object.is_null(field) {
            object.take(field);
        }
    }
    if object.recall("untitled").is_some() {
        object.take("title");
    }
    if object.recall("contentAsBefore").is_some() {
        object.take("content");
    }
    object.restore("status");
    if let Some(items) = object.get("content").and_then(items) {
        let items = list(items.into_iter().filter_map(|item| item_to_v2(item, cwd)));
        object.set("content", items);
    }
    object.edit_each("locations", |location| location_to_v2(location, cwd));
    let cleared: Vec<String> =
        object.recall("cleared").and_then(|names| serde_json::from_str(&names).ok()).unwrap_or_default();
    for field in FIELDS {
        if cleared.iter().any(|name| name == field) {
            object.set(field, "null");
        }
    }
}

/// v1 takes `null` for "as it was", so what v2 clears gets the value of a tool call of which nothing is known.
fn clear(object: &mut JsonObject<'_>, first: bool) {
    let cleared: Vec<&str> = FIELDS.into_iter().filter(|field| object.is_null(field)).collect();
    if cleared.is_empty() {
        return;
    }
    for field in FIELDS {
        if !cleared.contains(&field) {
            continue;
        }
        let value = match field {
            "title" => quote(&default_title(object)),
            "kind" => quote("other"),
            "status" => quote("pending"),
            "content" | "locations" => "[]".to_owned(),
            _ => {
                object.take(field);
                continue;
            }
        };
        if first && field != "title" {
            object.take(field);
        } else {
            object.set(field, value);
        }
    }
    object.note("cleared", &json(&cleared));
}

/// The members of a patch beside its content, for v1.
pub(crate) fn members_to_v1(object: &mut JsonObject<'_>, first: bool) {
    object.edit_each("locations", location_to_v1);
    clear(object, first);
    status_to_v1(object);
}

/// The four states of v1 are all it has.
fn status_to_v1(object: &mut JsonObject<'_>) {
    let Some(status) = object.string("status") else { return };
    let nearest = match status.as_str() {
        "pending" | "in_progress" | "completed" | "failed" => return,
        "cancelled" => "failed",
        _ => "in_progress",
    };
    object.put("status", nearest);
    object.note("status", &quote(&status));
}

/// The title of a tool call that has none.
pub(crate) fn default_title(object: &JsonObject<'_>) -> String {
    let name = object.string("name").or_else(|| object.string("kind").filter(|kind| kind != "other"));
    name.unwrap_or_else(|| "Tool call".to_owned())
}
