//! JSON that is carried as text: checked once, then sliced, spliced and forwarded without building a tree.

use std::{borrow::Cow, fmt, ops::Range};

use bytestring::ByteString;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::slice;

/// One JSON value as the text it came in. Cloning shares the text.
///
/// The text is valid JSON by construction, or by the word of whoever wrote it down. It is a slice of the message it came in and keeps that alive.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RawJson(ByteString);

impl RawJson {
    /// Checks `text` and takes it over, without white space around it.
    pub fn parse(text: impl Into<ByteString>) -> Result<Self, serde_json::Error> {
        let text = text.into();
        serde_json::from_str::<&RawValue>(&text)?;
        Ok(Self(text.slice_ref(text.trim())))
    }

    /// The JSON text of `value`.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(|text| Self(text.into()))
    }

    /// Takes text that a parser in this crate has just checked.
    pub(crate) fn checked(text: ByteString) -> Self {
        Self(text)
    }

    /// Takes text that was a `RawJson` before it was written down, or is put together from such, without checking it again.
    pub fn written(text: impl Into<ByteString>) -> Self {
        Self(text.into())
    }

    /// An object of these members, in this order. What is put together from checked text needs no check.
    pub fn object(members: &[(&str, &RawJson)]) -> Self {
        let size: usize = members.iter().map(|(key, value)| key.len() + value.as_str().len() + 4).sum();
        let mut text = String::with_capacity(size + 2);
        for (key, value) in members {
            text.push(if text.is_empty() { '{' } else { ',' });
            text.push_str(&serde_json::to_string(key).expect("a string is JSON"));
            text.push(':');
            text.push_str(value.as_str());
        }
        text.push_str(if text.is_empty() { "{}" } else { "}" });
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as shared bytes.
    pub fn as_bytes(&self) -> &bytes::Bytes {
        self.0.as_bytes()
    }

    /// Reads the text as a `T`.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// The value at `path`, if every step is a member of an object. Of duplicate members the last one counts.
    pub fn get(&self, path: &[&str]) -> Option<RawJson> {
        let span = find(&self.0, path)?;
        Some(Self(self.0.slice_ref(&self.0[span])))
    }

    /// The value that `part` is the text of, which was found in this text, for instance by [`slice`](mod@crate::slice). Shares the text.
    pub fn part(&self, part: &str) -> RawJson {
        Self(self.0.slice_ref(part))
    }

    /// The same text with `value` at `path` and not a byte changed elsewhere. Objects on the way that are missing
    /// or `null` are made; new members go last.
    ///
    /// Fails if a step on the way is neither an object, `null`, nor absent.
    pub fn with(&self, path: &[&str], value: &RawJson) -> Result<RawJson, NotAnObject> {
        set(&self.0, path, value.as_str()).map(|text| Self(text.into()))
    }
}

/// A value on the way to the place that was to be set is not an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an object on the way to `{path}`")]
pub struct NotAnObject {
    path: String,
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(String::from(Box::<str>::from(raw)).into()))
    }
}

/// An object key: borrowed unless it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct ObjectKey<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// Where `part`, a slice of `whole`, lies in it.
pub(crate) fn span_in(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - whole.as_ptr() as usize;
    start..start + part.len()
}

fn find(text: &str, path: &[&str]) -> Option<Range<usize>> {
    let mut here = text;
    for step in path {
        here = slice::member(here, step)?;
    }
    Some(span_in(text, here.trim()))
}

fn set(text: &str, path: &[&str], value: &str) -> Result<String, NotAnObject> {
    let Some((step, rest)) = path.split_first() else {
        return Ok(value.to_owned());
    };
    let text = if text.trim() == "null" { "{}" } else { text };
    let not_an_object = || NotAnObject { path: path.join(".") };
    let members = slice::members(text).ok_or_else(not_an_object)?;
    if let Some((_, old)) = members.iter().rev().find(|(key, _)| key == step) {
        let span = span_in(text, old);
        let new = set(old, rest, value)?;
        return Ok([&text[..span.start], &new, &text[span.end..]].concat());
    }
    let end = text.rfind('}').ok_or_else(not_an_object)?;
    let new = set("{}", rest, value)?;
    let comma = if members.is_empty() { "" } else { "," };
    let key = serde_json::to_string(step).map_err(|_| not_an_object())?;
    Ok([&text[..end], comma, &key, ":", &new, &text[end..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        RawJson::parse(text.to_owned()).expect("test JSON is valid")
    }

    #[test]
    fn get_follows_a_path() {
        let doc = raw(r#"{"a": {"b\u0021": [1, 2]}, "a": {"b!": 3.10}}"#);
        assert_eq!(doc.get(&["a", "b!"]).unwrap().as_str(), "3.10");
        assert!(doc.get(&["a", "c"]).is_none());
        assert!(doc.get(&["a", "b!", "c"]).is_none());
        assert_eq!(doc.get(&[]).unwrap(), doc);
    }

    #[test]
    fn an_object_is_made_of_its_members() {
        let made = RawJson::object(&[("a\"", &raw("1.50")), ("b", &raw("[ ]"))]);
        assert_eq!(made, raw(r#"{"a\"":1.50,"b":[ ]}"#));
        assert_eq!(RawJson::object(&[]).as_str(), "{}");
    }

    #[test]
    fn with_changes_only_the_place_named() {
        let check = |text: &str, path: &[&str], expected: &str| {
            assert_eq!(raw(text).with(path, &raw("7")).unwrap().as_str(), expected);
        };
        check(r#"{"a": 1.00, "z":2}"#, &["a"], r#"{"a": 7, "z":2}"#);
        check(r#"{ "b":1e400 }"#, &["c"], r#"{ "b":1e400 ,"c":7}"#);
        check("{}", &["a", "b"], r#"{"a":{"b":7}}"#);
        check(r#"{"a":null}"#, &["a", "b"], r#"{"a":{"b":7}}"#);
        check(r#"{"a":1,"a":2}"#, &["a"], r#"{"a":1,"a":7}"#);
        check("1", &[], "7");
    }

    #[test]
    fn with_does_not_overwrite_what_is_not_an_object() {
        assert!(raw(r#"{"a":[1]}"#).with(&["a", "b"], &raw("7")).is_err());
    }

    #[test]
    fn serialises_as_the_text_it_is() {
        #[derive(Serialize, Deserialize)]
        struct Holder {
            x: RawJson,
        }
        let text = r#"{"x":{"b":1.50,"a":18446744073709551616}}"#;
        let holder: Holder = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&holder).unwrap(), text);
    }
}
