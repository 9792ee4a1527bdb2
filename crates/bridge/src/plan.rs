//! Plans: v1 has one without a name, v2 has several kinds of them, each with an id.

use nudge_wire::RawJson;

use crate::object::{JsonObject, items, list, quote, raw};

/// The plan a v1 client is shown: the one that changed last.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShownPlan(Option<String>);

impl ShownPlan {
    /// A `plan_update` for a client that knows only one plan; `None` for a kind of plan it cannot be shown.
    pub(crate) fn update(&mut self, mut object: JsonObject<'_>) -> Option<RawJson> {
        let plan = object.take("plan")?;
        let mut plan = JsonObject::read(&plan)?;
        let id = plan.string("planId")?;
        let entries = match plan.string("type")?.as_str() {
            "items" => list(items(plan.get("entries")?)?.into_iter().map(entry_to_v1)),
            "markdown" => markdown(&plan.string("content")?),
            "file" => list([entry(&format!("See {}", plan.string("uri")?), "in_progress")]),
            _ => return None,
        };
        if plan.is("type", "items") {
            plan.remove(&["planId", "entries", "type"]);
            object.note("planId", &quote(&id));
        }
        if !plan.is_empty() {
            object.note("plan", &plan.text());
        }
        object.put("sessionUpdate", "plan");
        object.set("entries", entries);
        self.0 = Some(id);
        Some(object.raw())
    }

    /// A `plan_removed` for such a client: nothing if another plan is shown.
    pub(crate) fn removed(&mut self, mut object: JsonObject<'_>) -> Option<RawJson> {
        let id = object.string("planId")?;
        self.0.take_if(|shown| *shown == id)?;
        object.take("planId");
        object.put("sessionUpdate", "plan");
        object.set("entries", "[]");
        object.note("planId", &quote(&id));
        object.note("removed", "true");
        Some(object.raw())
    }
}

/// A `plan_update` for a v1 client that knows them.
pub(crate) fn update_to_v1(mut object: JsonObject<'_>) -> RawJson {
    object.edit("plan", |plan| plan.edit_each("entries", entry_to_v1));
    object.raw()
}

/// A v1 `plan_update` for v2.
pub(crate) fn update_to_v2(mut object: JsonObject<'_>) -> RawJson {
    object.edit("plan", |plan| plan.edit_each("entries", entry_to_v2));
    object.raw()
}

/// A v1 `plan` for v2.
pub(crate) fn to_v2(mut object: JsonObject<'_>, default_id: &str) -> RawJson {
    let id = object.recall_string("planId");
    let kept = object.recall("plan");
    let removed = object.recall("removed").is_some();
    let entries = object.take("entries").unwrap_or_default();
    let id_text = id.as_deref().unwrap_or(default_id);
    if removed {
        object.put("sessionUpdate", "plan_removed");
        object.put("planId", id_text);
        return object.raw();
    }
    let mut plan = kept.as_deref().and_then(JsonObject::read).unwrap_or_default();
    if plan.get("type").is_none() {
        let entries = items(&entries).map(|entries| list(entries.into_iter().map(entry_to_v2)));
        let mut whole = JsonObject::default().with_str("type", "items").with_str("planId", id_text);
        whole.set("entries", entries.unwrap_or_else(|| "[]".to_owned()));
        if let Some(meta) = plan.take("_meta") {
            whole.set("_meta", meta);
        }
        plan = whole;
    }
    object.put("sessionUpdate", "plan_update");
    object.set("plan", plan.text());
    raw(object.text())
}

/// The closed words of v1 for those of v2.
fn entry_to_v1(text: &str) -> String {
    let Some(mut entry) = JsonObject::read(text) else { return text.to_owned() };
    if let Some(status) = entry.string("status") {
        let nearest = match status.as_str() {
            "pending" | "in_progress" | "completed" => None,
            "cancelled" => Some("completed"),
            _ => Some("pending"),
        };
        if let Some(nearest) = nearest {
            entry.put("status", nearest);
            entry.note("status", &quote(&status));
        }
    }
    if let Some(priority) = entry.string("priority")
        && !["high", "medium", "low"].contains(&priority.as_str())
    {
        entry.put("priority", "medium");
        entry.note("priority", &quote(&priority));
    }
    entry.text()
}

fn entry_to_v2(text: &str) -> String {
    let Some(mut entry) = JsonObject::read(text) else { return text.to_owned() };
    entry.restore("status");
    entry.restore("priority");
    entry.text()
}

fn entry(content: &str, status: &str) -> String {
    let entry = JsonObject::default().with_str("content", content).with_str("priority", "medium");
    entry.with_str("status", status).text()
}

/// The points of a plan in Markdown; the whole of it if it has none.
fn markdown(text: &str) -> String {
    let points: Vec<String> = text.lines().filter_map(point).collect();
    if points.is_empty() { list([entry(text, "in_progress")]) } else { list(points) }
}

/// The entry for a line that is a point of a list, ticked or not.
fn point(line: &str) -> Option<String> {
    let line = line.trim();
    let rest = match line.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => line
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .strip_prefix(['.', ')'])
            .filter(|rest| rest.len() + 1 < line.len())?,
    };
    let words = rest.strip_prefix(' ')?.trim_start();
    let (status, words) = match words.strip_prefix("[x]").or_else(|| words.strip_prefix("[X]")) {
        Some(done) => ("completed", done),
        None => ("pending", words.strip_prefix("[ ]").unwrap_or(words)),
    };
    Some(entry(words.trim(), status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_plan() {
        assert_eq!(
            markdown("# Plan\n- [x] a\n  * [ ] b\n1. c\nwords - d\n-e\n..f"),
            list([entry("a", "completed"), entry("b", "pending"), entry("c", "pending")])
        );
        assert_eq!(markdown("just do it"), list([entry("just do it", "in_progress")]));
    }
}
