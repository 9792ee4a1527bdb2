//! A form that an agent asks for, shown in a terminal and filled in with `name=value`.

use serde_json::{Map, Value, json};

use crate::terminal_text;

/// What is asked, and the fields there are.
pub fn shown(request: &Value) -> String {
    let message = terminal_text::lines(request["message"].as_str().unwrap_or_default());
    let url = request["url"].as_str().map(|url| format!("\n  visit {}", terminal_text::one_line(url)));
    let fields = fields(request);
    let fields = if fields.is_empty() { fields } else { format!("\n{fields}") };
    format!("{message}{}{fields}", url.unwrap_or_default())
}

/// The fields, one a line.
pub fn fields(request: &Value) -> String {
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

/// Why a form cannot be filled in like this, and how it can.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FormError(String);

/// The content of the answer, as the form wants it.
pub fn filled(request: &Value, fields: &[&str]) -> Result<Value, FormError> {
    let mut content = Map::new();
    for field in fields {
        let Some((name, text)) = field.split_once('=') else {
            return Err(FormError("expected fields as NAME=VALUE".to_owned()));
        };
        let value = field_value(request, name, text)?;
        content.insert(name.to_owned(), value);
    }
    let missing = properties(request).into_iter().flatten().map(|(name, _)| name);
    let missing: Vec<&str> = missing
        .filter(|name| is_required(request, name) && !content.contains_key(*name))
        .map(String::as_str)
        .collect();
    if !missing.is_empty() {
        let fields = self::fields(request);
        return Err(FormError(format!("needed are also {}; the form has\n{fields}", missing.join(", "))));
    }
    Ok(Value::Object(content))
}

/// What a text is as the value of a field.
pub fn field_value(request: &Value, name: &str, text: &str) -> Result<Value, FormError> {
    let Some(form) = properties(request).and_then(|properties| properties.get(name)) else {
        return Err(FormError(format!("the form has no field `{name}`; it has\n{}", fields(request))));
    };
    value(form, text).map_err(|why| FormError(format!("the field `{name}` cannot be filled in: {why}")))
}

/// The names of the fields, in order.
pub fn field_names(request: &Value) -> Vec<String> {
    properties(request).into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

/// What is asked by one field, in a line or more: what it is called and about, and what it can be.
pub(crate) fn field_question(request: &Value, name: &str) -> Vec<String> {
    let field = &request["requestedSchema"]["properties"][name];
    let title = field["title"].as_str().unwrap_or(name);
    let needed = if is_required(request, name) { "" } else { " (may be left empty)" };
    let mut lines = vec![format!("{}{needed}", terminal_text::row(title))];
    lines.extend(field["description"].as_str().map(terminal_text::one_line));
    if field["type"] == "boolean" {
        lines.push("yes or no".to_owned());
    }
    if field["type"] == "array" {
        lines.push("one or several, with commas between them".to_owned());
    }
    let choices = choices(field).unwrap_or_default();
    let titles = titles(field);
    for (at, choice) in choices.iter().enumerate() {
        let title = titles.get(at).filter(|title| *title != choice);
        let title = title.map(|title| format!("  {}", terminal_text::row(title))).unwrap_or_default();
        lines.push(format!("{}. {}{title}", at + 1, terminal_text::row(choice)));
    }
    lines
}

/// The text that stands for what a user typed: a choice may be named by its number.
pub(crate) fn meant_choice(request: &Value, name: &str, typed: &str) -> String {
    let field = &request["requestedSchema"]["properties"][name];
    let Some(choices) = choices(field) else { return typed.to_owned() };
    let one = |word: &str| {
        let at = word.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let named =
            at.and_then(|at| choices.get(at)).filter(|_| !choices.iter().any(|choice| choice == word));
        named.cloned().unwrap_or_else(|| word.to_owned())
    };
    if field["type"] == "array" {
        return typed.split(',').map(one).collect::<Vec<_>>().join(",");
    }
    one(typed)
}

/// What a user would type for a value.
pub(crate) fn typed(value: &Value) -> String {
    match value {
        Value::String(text) => terminal_text::one_line(text),
        Value::Bool(is_so) => (if *is_so { "yes" } else { "no" }).to_owned(),
        Value::Array(items) => items.iter().map(typed).collect::<Vec<_>>().join(","),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// What a field holds if nothing is said.
pub(crate) fn field_default(request: &Value, name: &str) -> String {
    typed(&request["requestedSchema"]["properties"][name]["default"])
}

/// Whether a value keeps what a field says of its length and size, as far as that is plain.
pub(crate) fn check_text(request: &Value, name: &str, value: &Value) -> Result<(), String> {
    let field = &request["requestedSchema"]["properties"][name];
    let limit = |name: &str| field[name].as_f64();
    let (size, unit) = match value {
        #[allow(clippy::cast_precision_loss, reason = "no text is that long")]
        Value::String(text) => (text.chars().count() as f64, "Length"),
        #[allow(clippy::cast_precision_loss, reason = "no list is that long")]
        Value::Array(items) => (items.len() as f64, "Items"),
        Value::Number(number) => (number.as_f64().unwrap_or_default(), "imum"),
        _ => return Ok(()),
    };
    let what = match unit {
        "Length" => "letters",
        "Items" => "of them",
        _ => "",
    };
    match (limit(&format!("min{unit}")), limit(&format!("max{unit}"))) {
        (Some(least), _) if size < least => {
            Err(format!("expected at least {least} {what}").trim_end().to_owned())
        }
        (_, Some(most)) if size > most => {
            Err(format!("expected at most {most} {what}").trim_end().to_owned())
        }
        _ => Ok(()),
    }
}

/// Whether a field must be filled in.
pub(crate) fn is_needed(request: &Value, name: &str) -> bool {
    is_required(request, name)
}

fn value(field: &Value, text: &str) -> Result<Value, String> {
    let value = match field["type"].as_str() {
        Some("boolean") => match text {
            "true" | "yes" | "y" => json!(true),
            "false" | "no" | "n" => json!(false),
            _ => return Err("expected yes or no".to_owned()),
        },
        Some("integer") => json!(text.parse::<i64>().map_err(|_| "expected a whole number")?),
        Some("number") => {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            json!(number.ok_or("expected a number")?)
        }
        Some("array") => text.split(',').filter(|item| !item.is_empty()).collect(),
        _ => json!(text),
    };
    if let Some(choices) = choices(field) {
        let chosen = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
        if chosen.iter().any(|chosen| !choices.iter().any(|choice| chosen == choice)) {
            return Err(format!("expected one of {}", choices.join(", ")));
        }
    }
    Ok(value)
}

/// What the values that a field can have are called.
fn titles(field: &Value) -> Vec<String> {
    let of = |field: &Value| {
        let list = ["oneOf", "anyOf"].into_iter().find_map(|name| field[name].as_array())?;
        Some(list.iter().map(|choice| choice["title"].as_str().unwrap_or_default().to_owned()).collect())
    };
    of(field).or_else(|| of(&field["items"])).unwrap_or_default()
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
