//! Secrets out of what is written down: traces and captured agent output.
//!
//! Masked are string values whose key names a secret, every value of `headers` and `env` (ACP carries API keys and
//! tokens there), and tokens that can be told by their shape in any text.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// What stands in place of a secret.
pub const MASK: &str = "***";

/// Parts of a key that name a secret, compared without case, `-` and `_`.
const SECRET_KEYS: &[&str] = &[
    "apikey",
    "authorization",
    "cookie",
    "credential",
    "passphrase",
    "password",
    "privatekey",
    "secret",
    "token",
];

/// Members whose values are all secret: objects of name to value, or lists of `{name, value}`.
const SECRET_MAPS: &[&str] = &["env", "headers"];

/// Beginnings of tokens of well-known services.
const TOKEN_PREFIXES: &[&str] = &[
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AIza",
    "AKIA",
    "eyJ",
];

/// Words after which the next word is a secret.
const TOKEN_HERALDS: &[&str] = &["bearer", "basic"];

/// The shortest token that is recognised by its prefix.
const MIN_TOKEN: usize = 16;

/// A JSON text with its secrets masked; `None` if it is not JSON or is nested too deeply to look at.
pub fn json(text: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    mask_value(&mut value);
    serde_json::to_string(&value).ok()
}

/// A line of text with tokens of known shapes masked.
pub fn text(line: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut herald = false;
    let mut kept = 0;
    for (start, word) in words(line) {
        let is_secret = (herald && word.len() >= 8) || is_token(word);
        herald = TOKEN_HERALDS.iter().any(|name| word.eq_ignore_ascii_case(name));
        if is_secret {
            out.push_str(&line[kept..start]);
            out.push_str(MASK);
            kept = start + word.len();
        }
    }
    if kept == 0 {
        return Cow::Borrowed(line);
    }
    out.push_str(&line[kept..]);
    Cow::Owned(out)
}

fn mask_value(value: &mut Value) {
    match value {
        Value::String(string) => {
            if let Cow::Owned(masked) = text(string) {
                *string = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask_value),
        Value::Object(members) => mask_members(members),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn mask_members(members: &mut Map<String, Value>) {
    for (key, value) in members {
        let key = plain(key);
        if SECRET_MAPS.contains(&key.as_str()) {
            mask_all(value);
        } else if value.is_string() && SECRET_KEYS.iter().any(|name| key.contains(name)) {
            *value = MASK.into();
        } else {
            mask_value(value);
        }
    }
}

/// Masks every string but the names in a list of `{name, value}`.
fn mask_all(value: &mut Value) {
    match value {
        Value::String(string) => MASK.clone_into(string),
        Value::Array(items) => items.iter_mut().for_each(mask_all),
        Value::Object(members) => {
            let is_pair = members.contains_key("name") && members.contains_key("value");
            members
                .iter_mut()
                .filter(|(key, _)| !(is_pair && *key == "name"))
                .for_each(|(_, value)| mask_all(value));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn plain(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

fn is_token(word: &str) -> bool {
    word.len() >= MIN_TOKEN && TOKEN_PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}

/// Runs of the characters tokens are made of, with where they start.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/' | '~');
    line.split(move |c| !is_part(c))
        .filter(|word| !word.is_empty())
        .map(|word| (crate::raw::span_in(line, word).start, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_messages_are_masked() {
        let check = |input: &str, expected: &str| assert_eq!(json(input).as_deref(), Some(expected));
        check(r#"{"apiKey":"abc","b":1}"#, r#"{"apiKey":"***","b":1}"#);
        check(r#"{"X-API-KEY":"abc"}"#, r#"{"X-API-KEY":"***"}"#);
        check(r#"{"headers":{"a":"b"},"maxTokens":5}"#, r#"{"headers":{"a":"***"},"maxTokens":5}"#);
        check(
            r#"{"env":[{"name":"KEY","value":"v"}],"headers":[{"name":"A","value":"v"}]}"#,
            r#"{"env":[{"name":"KEY","value":"***"}],"headers":[{"name":"A","value":"***"}]}"#,
        );
        check(r#"{"m":[{"t":"use Bearer abcdefgh1234."}]}"#, r#"{"m":[{"t":"use Bearer ***"}]}"#);
        check(
            r#"{"sessionId":"s","text":"a token of thanks"}"#,
            r#"{"sessionId":"s","text":"a token of thanks"}"#,
        );
    }

    #[test]
    fn tokens_in_text_are_masked() {
        assert_eq!(text("key=sk-ant-0123456789abcdef, ok"), "key=***, ok");
        assert_eq!(text("Authorization: Bearer aaaaaaaaaa end"), "Authorization: Bearer *** end");
        assert_eq!(text("nothing to see: sk-short é"), "nothing to see: sk-short é");
    }

    #[test]
    fn what_is_not_json_is_not_passed_on() {
        assert_eq!(json("{"), None);
        assert_eq!(json(&"[".repeat(100_000)), None);
    }
}
