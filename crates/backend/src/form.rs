//! Answers to forms, held against the schema that was asked for: a client may have checked them, or not.

use nudge_wire::RawJson;
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

/// The largest program that a pattern may become; a pattern past it is not looked at.
const MOST_OF_A_PATTERN: usize = 64 * 1024;
/// The longest text that a pattern is tried on.
const LONGEST_TEXT: usize = 64 * 1024;

/// What is wrong with an answer. Values are not quoted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormMismatch {
    /// Something that has to be there is not.
    #[error("`{0}` has to be filled in")]
    Missing(String),
    /// Something that was not asked for.
    #[error("there is a field that was not asked for")]
    Unknown,
    /// A value is not of its type.
    #[error("`{0}` has to be {1}")]
    WrongType(String, &'static str),
    /// A value is not among those that can be chosen.
    #[error("`{0}` has to be one of the choices")]
    NoChoice(String),
    /// A value is too short, too long, too small, too large or of another form.
    #[error("`{0}` {1}")]
    OutOfBounds(String, &'static str),
}

/// Why something is no answer to `elicitation/create`. Values are not quoted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElicitationMismatch {
    /// What the user did is not said, or not in a word that is known: not to be taken for a yes or a no.
    #[error("The answer to `elicitation/create` has to have the `action` `accept`, `decline` or `cancel`")]
    UnknownAction,
    /// What was filled in is no object.
    #[error("The answer to `elicitation/create` has to have what was filled in as an object in `content`")]
    NoObject,
    /// What was filled in is not what was asked for.
    #[error("The answer to `elicitation/create` does not fit: {0}")]
    Content(#[from] FormMismatch),
}

/// What the user did with a form or a page.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationAnswer {
    /// Filled in with this; empty for a page.
    Accepted(Map<String, Value>),
    /// Not wanted.
    Declined,
    /// Closed without an answer.
    Cancelled,
}

impl ElicitationAnswer {
    /// Reads the result of `elicitation/create`; both versions write it alike.
    pub fn read(answer: &RawJson) -> Result<Self, ElicitationMismatch> {
        let action = answer.get(&["action"]).and_then(|action| action.to::<String>().ok());
        let done = match action.as_deref() {
            Some("accept") => Self::Accepted,
            Some("decline") => |_| Self::Declined,
            Some("cancel") => |_| Self::Cancelled,
            _ => return Err(ElicitationMismatch::UnknownAction),
        };
        Ok(done(match answer.get(&["content"]).filter(|content| content.as_str() != "null") {
            Some(content) => content.to().map_err(|_| ElicitationMismatch::NoObject)?,
            None => Map::new(),
        }))
    }
}

/// Checks an answer to `elicitation/create` with these params.
pub fn check_elicitation_answer(params: &RawJson, answer: &RawJson) -> Result<(), ElicitationMismatch> {
    let ElicitationAnswer::Accepted(content) = ElicitationAnswer::read(answer)? else { return Ok(()) };
    let schema = params.get(&["requestedSchema"]).and_then(|schema| schema.to::<Value>().ok());
    match schema {
        // One that says in another way what it wants is left to who wrote it.
        Some(schema) if schema["properties"].is_object() => Ok(check_form(&schema, &content)?),
        _ => Ok(()),
    }
}

/// Checks what was filled in.
pub fn check_form(schema: &Value, content: &Map<String, Value>) -> Result<(), FormMismatch> {
    let nothing = Map::new();
    let fields = schema["properties"].as_object().unwrap_or(&nothing);
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !content.contains_key(name) {
            return Err(FormMismatch::Missing(name.to_owned()));
        }
    }
    for (name, value) in content {
        match fields.get(name) {
            Some(field) => check_field(name, field, value)?,
            None if allows_more(schema) => {}
            None => return Err(FormMismatch::Unknown),
        }
    }
    Ok(())
}

/// Whether a schema says that there may be fields which it does not name.
fn allows_more(schema: &Value) -> bool {
    let is_open = |rule: &Value| rule.is_object() || rule == &Value::Bool(true);
    is_open(&schema["additionalProperties"]) || is_open(&schema["patternProperties"])
}

fn check_field(name: &str, field: &Value, value: &Value) -> Result<(), FormMismatch> {
    let wrong = |expected| FormMismatch::WrongType(name.to_owned(), expected);
    let Some(expected) = field["type"].as_str() else {
        // Of no type that is known; choices are of texts.
        return value.as_str().map_or(Ok(()), |text| check_text(name, field, text));
    };
    match expected {
        "string" => check_text(name, field, value.as_str().ok_or_else(|| wrong("a text"))?),
        "boolean" => value.as_bool().map(drop).ok_or_else(|| wrong("true or false")),
        "integer" => {
            let is_whole =
                value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|value| value.fract() == 0.0);
            let number = value.as_f64().filter(|_| is_whole).ok_or_else(|| wrong("a whole number"))?;
            check_number(name, field, number)
        }
        "number" => check_number(name, field, value.as_f64().ok_or_else(|| wrong("a number"))?),
        "array" => check_choices(name, field, value.as_array().ok_or_else(|| wrong("a list"))?),
        _ => Ok(()),
    }
}

fn check_text(name: &str, field: &Value, text: &str) -> Result<(), FormMismatch> {
    let out = |what| Err(FormMismatch::OutOfBounds(name.to_owned(), what));
    let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    if field["minLength"].as_u64().is_some_and(|least| length < least) {
        return out("is too short");
    }
    if field["maxLength"].as_u64().is_some_and(|most| length > most) {
        return out("is too long");
    }
    if choices(field).is_some_and(|choices| !choices.contains(&text)) {
        return Err(FormMismatch::NoChoice(name.to_owned()));
    }
    if let Some(pattern) = field["pattern"].as_str().and_then(bounded) {
        if text.len() > LONGEST_TEXT {
            return out("is too long");
        }
        if !pattern.is_match(text) {
            return out("does not have the form that was asked for");
        }
    }
    Ok(())
}

/// A pattern, if it can be had at a reasonable cost. One that cannot decides nothing: it may be written in a way that is not
/// understood here.
fn bounded(pattern: &str) -> Option<Regex> {
    let mut builder = RegexBuilder::new(pattern);
    builder.size_limit(MOST_OF_A_PATTERN).dfa_size_limit(MOST_OF_A_PATTERN).nest_limit(50).build().ok()
}

fn check_number(name: &str, field: &Value, number: f64) -> Result<(), FormMismatch> {
    let out = |what| Err(FormMismatch::OutOfBounds(name.to_owned(), what));
    if field["minimum"].as_f64().is_some_and(|least| number < least) {
        return out("is too small");
    }
    if field["maximum"].as_f64().is_some_and(|most| number > most) {
        return out("is too large");
    }
    Ok(())
}

fn check_choices(name: &str, field: &Value, chosen: &[Value]) -> Result<(), FormMismatch> {
    let out = |what| Err(FormMismatch::OutOfBounds(name.to_owned(), what));
    let count = u64::try_from(chosen.len()).unwrap_or(u64::MAX);
    if field["minItems"].as_u64().is_some_and(|least| count < least) {
        return out("has too few choices");
    }
    if field["maxItems"].as_u64().is_some_and(|most| count > most) {
        return out("has too many choices");
    }
    if field["items"]["type"].as_str().is_some_and(|expected| expected != "string") {
        return Ok(());
    }
    let choices = choices(&field["items"]);
    let is_one = |value: &Value| {
        value.as_str().is_some_and(|text| choices.as_ref().is_none_or(|choices| choices.contains(&text)))
    };
    if chosen.iter().all(is_one) { Ok(()) } else { Err(FormMismatch::NoChoice(name.to_owned())) }
}

/// What can be chosen: `enum`, or `const` of `oneOf` and `anyOf`.
fn choices(field: &Value) -> Option<Vec<&str>> {
    if let Some(values) = field["enum"].as_array() {
        return Some(values.iter().filter_map(Value::as_str).collect());
    }
    let titled = field["oneOf"].as_array().or(field["anyOf"].as_array())?;
    Some(titled.iter().filter_map(|option| option["const"].as_str()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(field: &Value, value: Value, expected: Option<&str>) {
        let schema = json!({ "type": "object", "properties": { "x": field }, "required": ["x"] });
        let content = Map::from_iter([("x".to_owned(), value)]);
        let found = check_form(&schema, &content).err().map(|wrong| wrong.to_string());
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn what_was_filled_in_is_what_was_asked_for() {
        let name = json!({ "type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$" });
        check(&name, json!("abc"), None);
        check(&name, json!("a"), Some("`x` is too short"));
        check(&name, json!("abcde"), Some("`x` is too long"));
        check(&name, json!("ABC"), Some("`x` does not have the form that was asked for"));
        check(&name, json!(7), Some("`x` has to be a text"));
        let count = json!({ "type": "integer", "minimum": 1, "maximum": 9 });
        check(&count, json!(3), None);
        check(&count, json!(3.0), None);
        check(&count, json!(3.5), Some("`x` has to be a whole number"));
        check(&count, json!(0), Some("`x` is too small"));
        check(&json!({ "type": "number", "maximum": 9.5 }), json!(10), Some("`x` is too large"));
        check(&json!({ "type": "boolean" }), json!("yes"), Some("`x` has to be true or false"));
    }

    #[test]
    fn choices_are_those_that_were_offered() {
        for field in [
            json!({ "type": "string", "enum": ["a", "b"] }),
            json!({ "type": "string", "oneOf": [{ "const": "a", "title": "A" }, { "const": "b", "title": "B" }] }),
        ] {
            check(&field, json!("b"), None);
            check(&field, json!("c"), Some("`x` has to be one of the choices"));
        }
        let several = json!({ "type": "array", "minItems": 1, "maxItems": 2,
            "items": { "anyOf": [{ "const": "a", "title": "A" }, { "const": "b", "title": "B" }] } });
        check(&several, json!(["a", "b"]), None);
        check(&several, json!([]), Some("`x` has too few choices"));
        check(&several, json!(["a", "b", "a"]), Some("`x` has too many choices"));
        check(&several, json!(["z"]), Some("`x` has to be one of the choices"));
        check(&several, json!([{ "a": 1 }]), Some("`x` has to be one of the choices"));
    }

    #[test]
    fn fields_are_there_if_required_and_no_others_are() {
        let schema = json!({ "properties": { "x": { "type": "string" } }, "required": ["x"] });
        let none = check_form(&schema, &Map::new());
        assert_eq!(none, Err(FormMismatch::Missing("x".into())));
        let more = json!({ "x": "a", "key": "secret" });
        assert_eq!(check_form(&schema, more.as_object().unwrap()), Err(FormMismatch::Unknown));
    }

    #[test]
    fn an_answer_is_one_of_three() {
        let raw = |value: &Value| RawJson::of(value).expect("plain data");
        let schema =
            json!({ "type": "object", "properties": { "x": { "type": "string" } }, "required": ["x"] });
        let form = json!({ "mode": "form", "requestedSchema": schema });
        let page = json!({ "mode": "url", "url": "http://127.0.0.1/" });
        let foreign = json!({ "mode": "form", "requestedSchema": { "$ref": "elsewhere" } });
        let check = |params: &Value, answer: Value, expected: Result<(), ElicitationMismatch>| {
            assert_eq!(check_elicitation_answer(&raw(params), &raw(&answer)), expected, "{answer}");
        };
        for params in [&form, &page, &foreign] {
            check(params, json!({ "action": "decline" }), Ok(()));
            check(params, json!({ "action": "cancel", "content": null }), Ok(()));
            for odd in [json!("maybe"), json!("Accept"), json!(7), Value::Null] {
                check(params, json!({ "action": odd }), Err(ElicitationMismatch::UnknownAction));
            }
            check(params, json!({ "content": { "x": "a" } }), Err(ElicitationMismatch::UnknownAction));
            check(params, json!("accept"), Err(ElicitationMismatch::UnknownAction));
            check(
                params,
                json!({ "action": "accept", "content": ["a"] }),
                Err(ElicitationMismatch::NoObject),
            );
        }
        check(&form, json!({ "action": "accept", "content": { "x": "a" } }), Ok(()));
        let missing = ElicitationMismatch::Content(FormMismatch::Missing("x".to_owned()));
        check(&form, json!({ "action": "accept" }), Err(missing));
        let wrong = ElicitationMismatch::Content(FormMismatch::WrongType("x".to_owned(), "a text"));
        check(&form, json!({ "action": "accept", "content": { "x": 7 } }), Err(wrong));
        check(&page, json!({ "action": "accept" }), Ok(()));
        check(&foreign, json!({ "action": "accept", "content": { "deep": { "x": 7 } } }), Ok(()));
    }

    #[test]
    fn what_is_asked_in_a_way_that_is_not_known_is_not_judged() {
        check(&json!({ "type": ["string", "null"] }), Value::Null, None);
        check(&json!({ "type": "object" }), json!({ "a": 1 }), None);
        check(&json!({ "enum": ["a"] }), json!("a"), None);
        check(&json!({ "enum": ["a"] }), json!("b"), Some("`x` has to be one of the choices"));
        check(&json!({ "type": "array", "items": { "type": "integer" } }), json!([1]), None);
    }

    #[test]
    fn a_pattern_cannot_cost_much() {
        for pattern in ["(a{1000}){1000}", "((((((((((a*)*)*)*)*)*)*)*)*)*)*$", "(?=x)"] {
            let field = json!({ "type": "string", "pattern": pattern });
            let schema = json!({ "properties": { "x": field } });
            let content = json!({ "x": "a".repeat(60_000) });
            // What cannot be understood decides nothing; what can takes time in proportion to the text.
            let _ = check_form(&schema, content.as_object().unwrap());
            assert!(bounded(pattern).is_none_or(|_| !pattern.contains("1000")));
        }
    }
}
