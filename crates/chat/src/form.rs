//! A form that an agent asks for, shown in a terminal and filled in with `name=value`.

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value, json};

use crate::terminal_text;

/// The largest program that a pattern may become; a pattern past it is not looked at.
const MOST_OF_A_PATTERN: usize = 64 * 1024;

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
        let choices = Some(choices(field)).filter(|choices| !choices.is_empty());
        let choices = choices.map(|choices| terminal_text::row(&listed(&choices)));
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

impl FormError {
    fn of_field(called: &str, why: &str) -> Self {
        Self(format!("the field `{}` cannot be filled in: {why}", terminal_text::row(called)))
    }
}

/// The content of the answer, as the form wants it.
pub fn filled(request: &Value, fields: &[&str]) -> Result<Value, FormError> {
    let mut content = Map::new();
    for field in fields {
        let Some((name, text)) = field.split_once('=') else {
            return Err(FormError("expected fields as NAME=VALUE".to_owned()));
        };
        let value = value(known(request, name)?, text).map_err(|why| FormError::of_field(name, &why))?;
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

/// What a text is as the value of a field, which is named as it is shown where it is filled in.
pub fn field_value(request: &Value, name: &str, text: &str) -> Result<Value, FormError> {
    let field = known(request, name)?;
    value(field, text).map_err(|why| FormError::of_field(title(field, name), &why))
}

/// The names of the fields, in order.
pub fn field_names(request: &Value) -> Vec<String> {
    properties(request).into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

/// What is asked by one field, in a line or more: what it is called and about.
pub(crate) fn field_question(request: &Value, name: &str) -> Vec<String> {
    let field = field(request, name);
    let needed = if is_required(request, name) { "" } else { " (may be left empty)" };
    let mut lines = vec![format!("{}{needed}", terminal_text::row(title(field, name)))];
    lines.extend(field["description"].as_str().map(terminal_text::one_line));
    let pattern = field["pattern"].as_str().map(terminal_text::row);
    lines.extend(pattern.map(|pattern| format!("it has to match {pattern}")));
    match field["type"].as_str() {
        Some("boolean") => lines.push("yes or no".to_owned()),
        Some("array") => lines.push("one or several, with commas between them".to_owned()),
        _ => {}
    }
    lines
}

/// What can be chosen for a field, a choice a line, with the number that names it.
pub(crate) fn field_choices(request: &Value, name: &str) -> Vec<String> {
    let line = |(at, choice): (usize, &Choice<'_>)| {
        let title = choice.title.map(|title| format!("  {}", terminal_text::row(title)));
        format!("{}. {}{}", at + 1, terminal_text::row(choice.value), title.unwrap_or_default())
    };
    choices(field(request, name)).iter().enumerate().map(line).collect()
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
pub(crate) fn field_default<'a>(request: &'a Value, name: &str) -> &'a Value {
    &field(request, name)["default"]
}

/// Whether a field can have a value as it is. What a user would type for it may say less: a text is shown on one line.
pub(crate) fn can_hold(request: &Value, name: &str, value: &Value) -> bool {
    let field = field(request, name);
    let choices = choices(field);
    let is_choice = |value: &Value| choices.is_empty() || choices.iter().any(|choice| value == choice.value);
    match field["type"].as_str() {
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("array") => value.as_array().is_some_and(|items| items.iter().all(is_choice)),
        _ => value.is_string() && is_choice(value),
    }
}

/// Whether a value keeps what a field says of its length and size, as far as that is plain.
pub(crate) fn check_text(request: &Value, name: &str, value: &Value) -> Result<(), String> {
    let field = field(request, name);
    if let Some(text) = value.as_str()
        && let Some(pattern) = field["pattern"].as_str()
        && bounded(pattern).is_some_and(|bounded| !bounded.is_match(text))
    {
        return Err(format!("expected what matches {pattern}"));
    }
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

/// A pattern, if it can be had at a reasonable cost; one that cannot decides nothing.
fn bounded(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern)
        .size_limit(MOST_OF_A_PATTERN)
        .dfa_size_limit(MOST_OF_A_PATTERN)
        .nest_limit(50)
        .build()
        .ok()
}

/// Whether a field must be filled in.
pub(crate) fn is_needed(request: &Value, name: &str) -> bool {
    is_required(request, name)
}

fn value(field: &Value, text: &str) -> Result<Value, String> {
    Ok(match field["type"].as_str() {
        Some("boolean") => match &*text.trim().to_lowercase() {
            "true" | "yes" | "y" => json!(true),
            "false" | "no" | "n" => json!(false),
            _ => return Err("expected yes or no".to_owned()),
        },
        Some("integer") => json!(text.parse::<i64>().map_err(|_| "expected a whole number")?),
        Some("number") => {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            json!(number.ok_or("expected a number")?)
        }
        Some("array") => json!(several(&choices(field), text)?),
        _ => match &*choices(field) {
            [] => json!(text),
            choices => json!(meant(choices, text).ok_or_else(|| no_choice(choices))?),
        },
    })
}

/// The values that a text lists.
fn several<'a>(choices: &[Choice<'a>], text: &'a str) -> Result<Vec<&'a str>, String> {
    let words = words(text);
    if choices.is_empty() {
        return Ok(words);
    }
    // A choice may have commas of its own.
    let longest = choices.iter().map(Choice::words).max().unwrap_or(1);
    let (mut chosen, mut rest) = (Vec::new(), &words[..]);
    while !rest.is_empty() {
        let mut counts = (1..=longest.min(rest.len())).rev();
        let found = counts.find_map(|count| Some((count, meant(choices, &rest[..count].join(", "))?)));
        let (count, value) = found.ok_or_else(|| no_choice(choices))?;
        chosen.push(value);
        rest = &rest[count..];
    }
    Ok(chosen)
}

fn no_choice(choices: &[Choice<'_>]) -> String {
    format!("expected one of {}", listed(choices))
}

/// The values of choices, told apart also where they have commas.
fn listed(choices: &[Choice<'_>]) -> String {
    let values: Vec<_> = choices.iter().map(|choice| choice.value).collect();
    values.join(if values.iter().any(|value| value.contains(',')) { "; " } else { ", " })
}

/// A value that a field can have, and what it is called if that is something else.
struct Choice<'a> {
    value: &'a str,
    title: Option<&'a str>,
}

impl<'a> Choice<'a> {
    fn of(option: &'a Value) -> Option<Self> {
        let value = option.as_str().or_else(|| option["const"].as_str())?;
        let title = option["title"].as_str().filter(|title| !title.is_empty() && *title != value);
        Some(Self { value, title })
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        std::iter::once(self.value).chain(self.title)
    }

    /// How far this choice of that number is from what was typed: not at all, by its number or what it is called, or by that in
    /// other letters.
    fn distance(&self, number: usize, typed: &str) -> Option<u8> {
        if self.value == typed {
            return Some(0);
        }
        let typed = evenly_spaced(typed);
        let names: Vec<_> = self.names().map(evenly_spaced).collect();
        if typed.parse() == Ok(number) || names.contains(&typed) {
            return Some(1);
        }
        let typed = typed.to_lowercase();
        names.iter().any(|name| name.to_lowercase() == typed).then_some(2)
    }

    /// How many words with commas between them name it at most.
    fn words(&self) -> usize {
        self.names().map(|name| words(name).len()).max().unwrap_or(1)
    }
}

/// The value that a word means: it may be the number of a choice, or what it is called, if that can only be one.
fn meant<'a>(choices: &[Choice<'a>], word: &str) -> Option<&'a str> {
    let distances = choices.iter().enumerate().map(|(at, choice)| choice.distance(at + 1, word));
    let distances: Vec<_> = distances.collect();
    let nearest = distances.iter().flatten().min()?;
    let nearest = choices.iter().zip(&distances).filter(|(_, distance)| distance.as_ref() == Some(nearest));
    let mut values = nearest.map(|(choice, _)| choice.value);
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// A text with one blank behind each comma.
fn evenly_spaced(text: &str) -> String {
    words(text).join(", ")
}

/// What stands between commas.
fn words(text: &str) -> Vec<&str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect()
}

/// The values that a field can have; none if they are not told.
fn choices<'a>(field: &'a Value) -> Vec<Choice<'a>> {
    let of =
        |field: &'a Value| ["enum", "oneOf", "anyOf"].into_iter().find_map(|name| field[name].as_array());
    let options = of(field).or_else(|| of(&field["items"]));
    options.into_iter().flatten().filter_map(Choice::of).collect()
}

/// What a field is called where it is filled in.
fn title<'a>(field: &'a Value, name: &'a str) -> &'a str {
    field["title"].as_str().filter(|title| !title.trim().is_empty()).unwrap_or(name)
}

fn field<'a>(request: &'a Value, name: &str) -> &'a Value {
    &request["requestedSchema"]["properties"][name]
}

/// A field that the form has.
fn known<'a>(request: &'a Value, name: &str) -> Result<&'a Value, FormError> {
    let field = properties(request).and_then(|properties| properties.get(name));
    field.ok_or_else(|| FormError(format!("the form has no field `{name}`; it has\n{}", fields(request))))
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
    fn a_choice_is_meant_by_its_value_its_number_or_its_name() {
        let several =
            |choices: Value| json!({ "type": "array", "items": { "type": "string", "enum": choices } });
        let flags = several(json!(["a", "b", "red, white"]));
        let bird = json!({ "oneOf": [{ "const": "wren", "title": "Winter Wren" }, { "const": "rook", "title": "Crow" },
            { "const": "crow", "title": "Black Bird" }, { "const": "tit", "title": "Small, Blue" }] });
        let cased = json!({ "enum": ["Red", "red", "2"] });
        let birds = json!({ "type": "array", "items": { "anyOf": bird["oneOf"] } });
        let plain = json!({ "type": "array", "items": { "type": "string" } });
        let sure = json!({ "type": "boolean" });
        for (field, typed, expected) in [
            (&flags, "3", json!(["red, white"])),
            (&flags, "1,3", json!(["a", "red, white"])),
            (&flags, "a, b", json!(["a", "b"])),
            (&flags, " B ,, Red,White, a,", json!(["b", "red, white", "a"])),
            (&flags, "red", Value::Null),
            (&flags, "a, 4", Value::Null),
            (&flags, "0", Value::Null),
            (&bird, "WREN", json!("wren")),
            (&bird, "winter wren", json!("wren")),
            (&bird, "2", json!("rook")),
            (&bird, "crow", json!("crow")),
            (&bird, "small, blue", json!("tit")),
            (&bird, "Crow", json!("rook")),
            // It may be either.
            (&bird, "CROW", Value::Null),
            (&cased, "red", json!("red")),
            (&cased, "Red", json!("Red")),
            (&cased, "RED", Value::Null),
            (&cased, "2", json!("2")),
            (&cased, "1", json!("Red")),
            (&birds, "Small, Blue, 1", json!(["tit", "wren"])),
            (&plain, "a , b c,", json!(["a", "b c"])),
            (&sure, "YES", json!(true)),
            (&sure, "True", json!(true)),
            (&sure, "N", json!(false)),
            (&sure, "maybe", Value::Null),
        ] {
            assert_eq!(value(field, typed).unwrap_or_default(), expected, "{typed} for {field}");
        }
        assert_eq!(value(&flags, "c").unwrap_err(), "expected one of a; b; red, white");
    }

    #[test]
    fn a_problem_names_the_field_as_it_is_shown() {
        let field = json!({ "type": "integer", "title": "Your age" });
        let request =
            json!({ "requestedSchema": { "properties": { "q1": field, "q2": { "type": "number" } } } });
        let why = |name| field_value(&request, name, "old").unwrap_err().to_string();
        assert_eq!(why("q1"), "the field `Your age` cannot be filled in: expected a whole number");
        assert_eq!(why("q2"), "the field `q2` cannot be filled in: expected a number");
        let of_command = filled(&request, &["q1=old"]).unwrap_err().to_string();
        assert!(of_command.contains("the field `q1`"), "{of_command}");
    }

    #[test]
    fn what_a_text_has_to_match_is_told() {
        let field = json!({ "type": "string", "title": "Name", "pattern": "^[a-z]+$" });
        let request = json!({ "requestedSchema": { "properties": { "name": field } } });
        assert_eq!(
            field_question(&request, "name"),
            ["Name (may be left empty)", "it has to match ^[a-z]+$"]
        );
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
