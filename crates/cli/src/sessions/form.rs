//! A form that an agent asks for, shown in a terminal and filled in with `name=value`.

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use crate::terminal_text;

/// What is asked, and the fields there are.
pub(super) fn shown(request: &Value) -> String {
    let message = terminal_text::lines(request["message"].as_str().unwrap_or_default());
    let url = request["url"].as_str().map(|url| format!("\n  visit {}", terminal_text::one_line(url)));
    let fields = fields(request);
    let fields = if fields.is_empty() { fields } else { format!("\n{fields}") };
    format!("{message}{}{fields}", url.unwrap_or_default())
}

/// The fields, one a line.
pub(super) fn fields(request: &Value) -> String {
    let lines = properties(request).into_iter().flatten().map(|(name, field)| {
        let text = |member: &str| field[member].as_str().map(terminal_text::row);
        let mut line = format!("  {}=  {}", terminal_text::row(name), text("type").unwrap_or_default());
        let choices = choices(field).map(|choices| terminal_text::row(&choices.join(", ")));
        let about = text("description").or_else(|| text("title")).map(|about| format!("  {about}"));
        let needed = is_required(request, name).then(|| "  (needed)".to_owned());
        let parts = [choices.map(|choices| format!(" of {choices}")), needed, about];
        line.extend(parts.into_iter().flatten());
        line
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The content of the answer, as the form wants it.
pub(super) fn filled(request: &Value, fields: &[&str]) -> Result<Value> {
    let mut content = Map::new();
    for field in fields {
        let (name, text) = field.split_once('=').context("expected fields as NAME=VALUE")?;
        let Some(form) = properties(request).and_then(|properties| properties.get(name)) else {
            bail!("the form has no field `{name}`; it has\n{}", self::fields(request));
        };
        let value = value(form, text).with_context(|| format!("the field `{name}` cannot be filled in"))?;
        content.insert(name.to_owned(), value);
    }
    let missing = properties(request).into_iter().flatten().map(|(name, _)| name);
    let missing: Vec<&str> = missing
        .filter(|name| is_required(request, name) && !content.contains_key(*name))
        .map(String::as_str)
        .collect();
    if !missing.is_empty() {
        bail!("needed are also {}; the form has\n{}", missing.join(", "), self::fields(request));
    }
    Ok(Value::Object(content))
}

fn value(field: &Value, text: &str) -> Result<Value> {
    let value = match field["type"].as_str() {
        Some("boolean") => match text {
            "true" | "yes" => json!(true),
            "false" | "no" => json!(false),
            _ => bail!("expected true or false"),
        },
        Some("integer") => json!(text.parse::<i64>().ok().context("expected a whole number")?),
        Some("number") => {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            json!(number.context("expected a number")?)
        }
        Some("array") => text.split(',').filter(|item| !item.is_empty()).collect(),
        _ => json!(text),
    };
    if let Some(choices) = choices(field) {
        let chosen = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
        if chosen.iter().any(|chosen| !choices.iter().any(|choice| chosen == choice)) {
            bail!("expected one of {}", choices.join(", "));
        }
    }
    Ok(value)
}

/// The values that a field can have, if they are told.
fn choices(field: &Value) -> Option<Vec<String>> {
    let list = |values: &Value, member: Option<&str>| -> Option<Vec<String>> {
        let values = values.as_array()?.iter();
        let text = |value: &Value| member.map_or(value, |member| &value[member]).as_str().map(str::to_owned);
        Some(values.filter_map(text).collect())
    };
    let of = |field: &Value| {
        list(&field["enum"], None)
            .or_else(|| list(&field["oneOf"], Some("const")))
            .or_else(|| list(&field["anyOf"], Some("const")))
    };
    of(field).or_else(|| of(&field["items"]))
}

fn properties(request: &Value) -> Option<&Map<String, Value>> {
    request["requestedSchema"]["properties"].as_object()
}

fn is_required(request: &Value, name: &str) -> bool {
    let required = request["requestedSchema"]["required"].as_array();
    required.is_some_and(|required| required.iter().any(|needed| needed == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Value {
        json!({
            "message": "Who?\u{1b}[2J",
            "requestedSchema": { "type": "object", "required": ["name"], "properties": {
                "name": { "type": "string", "description": "yours" },
                "age": { "type": "integer" },
                "height": { "type": "number" },
                "is_in": { "type": "boolean" },
                "bird": { "type": "string", "oneOf": [{ "const": "wren", "title": "Wren" }, { "const": "rook", "title": "Rook" }] },
                "tags": { "type": "array", "items": { "type": "string", "enum": ["a", "b"] } },
            } },
        })
    }

    #[test]
    fn a_form_is_filled_in_as_it_wants() {
        let fields = ["name=ada=b", "age=36", "height=1.7", "is_in=yes", "bird=wren", "tags=a,b"];
        let expected = json!({ "name": "ada=b", "age": 36, "height": 1.7, "is_in": true, "bird": "wren", "tags": ["a", "b"] });
        assert_eq!(filled(&form(), &fields).unwrap(), expected);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |fields: &[&str]| format!("{:#}", filled(&form(), fields).unwrap_err());
        assert!(refused(&["name=a", "age=old"]).contains("a whole number"));
        assert!(refused(&["name=a", "bird=cat"]).contains("wren, rook"));
        assert!(refused(&["name=a", "tags=a,c"]).contains("a, b"));
        assert!(refused(&["nome=a"]).contains("no field"));
        assert!(refused(&["age=1"]).contains("needed are also name"));
    }

    #[test]
    fn it_is_shown_with_its_fields() {
        let shown = shown(&form());
        assert!(shown.starts_with("Who?\u{fffd}\n"), "{shown}");
        assert!(shown.contains("name=  string  (needed)  yours"), "{shown}");
        assert!(shown.contains("bird=  string of wren, rook"), "{shown}");
        assert!(shown.contains("tags=  array of a, b"), "{shown}");
    }
}
