//! Request ids, kept exactly as they came.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

use bytestring::ByteString;
use serde::{Deserialize, Deserializer};

use crate::RawJson;

/// The longest id taken, in bytes of JSON. Ids are kept for as long as their request is open.
pub const MAX_ID: usize = 1024;

/// The id of a request: any JSON number, string or `null`, written back as it was read.
///
/// Two ids are equal if their JSON texts are, except that string escapes do not count: `"\u0061"` is `"a"`.
/// `1`, `1.0` and `"1"` are three ids.
#[derive(Clone)]
pub struct Id(Repr);

#[derive(Clone)]
enum Repr {
    /// A plain non-negative integer, which nearly all ids are.
    Int(u64),
    /// The JSON text of anything else.
    Text(ByteString),
}

impl Id {
    /// The id that answers a message whose own id could not be read.
    pub fn null() -> Self {
        Self(Repr::Text(ByteString::from_static("null")))
    }

    /// Reads an id from JSON text; `None` for booleans, objects and arrays.
    pub fn from_json(json: &RawJson) -> Option<Self> {
        let text = json.as_str();
        match text.as_bytes().first()? {
            b'0'..=b'9' => {
                Some(Self(plain_integer(text).map_or_else(|| Repr::Text(shared(json)), Repr::Int)))
            }
            b'-' | b'"' | b'n' => Some(Self(Repr::Text(shared(json)))),
            _ => None,
        }
    }

    /// The integer, if the id is a plain one.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Int(number) => Some(*number),
            Repr::Text(_) => None,
        }
    }

    /// The id's JSON text.
    pub fn to_json(&self) -> RawJson {
        match &self.0 {
            Repr::Int(number) => RawJson::written(itoa::Buffer::new().format(*number).to_owned()),
            Repr::Text(text) => RawJson::written(text.clone()),
        }
    }

    /// Appends the id's JSON text.
    pub fn write(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Repr::Int(number) => out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
            Repr::Text(text) => out.extend_from_slice(text.as_bytes()),
        }
    }

    /// The decoded string of a string id that has escapes.
    fn unescaped(&self) -> Option<String> {
        match &self.0 {
            Repr::Text(text) if text.contains('\\') => serde_json::from_str(text).ok(),
            _ => None,
        }
    }

    fn same_text_or_int(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Int(a), Repr::Int(b)) => a == b,
            (Repr::Text(a), Repr::Text(b)) => a == b,
            _ => false,
        }
    }
}

/// The text of an id, on its own so that a short id does not keep a large frame alive.
fn shared(json: &RawJson) -> ByteString {
    ByteString::from(json.as_str().to_owned())
}

/// The value of `0` or digits without a leading zero that fit 64 bits; other spellings must stay text.
fn plain_integer(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self(Repr::Int(number))
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        if self.same_text_or_int(other) {
            return true;
        }
        let plain = |id: &Self| match &id.0 {
            Repr::Text(text) if text.starts_with('"') => serde_json::from_str::<String>(text).ok(),
            _ => None,
        };
        (self.unescaped().is_some() || other.unescaped().is_some())
            && plain(self).is_some()
            && plain(self) == plain(other)
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Repr::Int(number) => number.hash(state),
            Repr::Text(text) => match self.unescaped() {
                Some(plain) => serde_json::to_string(&plain).unwrap_or_default().hash(state),
                None => <str as Hash>::hash(text, state),
            },
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Int(number) => number.fmt(f),
            Repr::Text(text) => text.fmt(f),
        }
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        Self::from_json(&raw)
            .ok_or_else(|| serde::de::Error::custom("not an id, expected a number, a string or null"))
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    fn id(text: &str) -> Id {
        Id::from_json(&RawJson::parse(text.to_owned()).unwrap()).unwrap()
    }

    #[test]
    fn every_id_comes_back_as_it_was() {
        for text in [
            "0",
            "7",
            "-1",
            "1.5",
            "1.0",
            "1e3",
            "9007199254740993",
            "18446744073709551615",
            "18446744073709551616",
            "\"1\"",
            "\"a\\u0062\\n\"",
            "\"\"",
            "null",
            "-0",
        ] {
            let mut out = Vec::new();
            id(text).write(&mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn equality_and_hash_look_through_escapes_only() {
        let hasher = std::hash::RandomState::new();
        let same = [("\"a\"", "\"\\u0061\""), ("\"\\u0062\"", "\"\\u0062\""), ("1", "1")];
        for (a, b) in same {
            assert_eq!(id(a), id(b));
            assert_eq!(hasher.hash_one(id(a)), hasher.hash_one(id(b)), "{a} {b}");
        }
        for (a, b) in [("1", "1.0"), ("1", "\"1\""), ("null", "\"null\""), ("\"a\"", "\"b\"")] {
            assert_ne!(id(a), id(b));
        }
    }

    #[test]
    fn other_values_are_no_ids() {
        for text in ["true", "{}", "[1]"] {
            assert!(Id::from_json(&RawJson::parse(text.to_owned()).unwrap()).is_none());
        }
    }
}
