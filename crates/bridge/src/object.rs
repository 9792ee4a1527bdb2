//! JSON objects taken apart one level deep: members that nobody touches keep the text they came in.

use std::borrow::Cow;

use nudge_wire::{RawJson, slice};
use serde::Serialize;

/// Where Nudge keeps what the other version has no place for: `_meta.nudge`.
const META: &str = "_meta";
const NUDGE: &str = "nudge";

/// The members of one object, in their order, each value as JSON text.
#[derive(Debug, Clone, Default)]
pub(crate) struct JsonObject<'a> {
    members: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    is_changed: bool,
}

impl<'a> JsonObject<'a> {
    /// The members of the object `text` is; `None` if it is none.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let members = slice::members(text)?;
        let members = members.into_iter().map(|(key, value)| (key, Cow::Borrowed(value))).collect();
        Some(Self { members, is_changed: false })
    }

    /// The JSON text of a member. Of duplicates the last one counts.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.members.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_ref())
    }

    /// The JSON text of a member that is there and not `null`.
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        self.get(key).filter(|value| *value != "null")
    }

    /// A member that is a string.
    pub(crate) fn string(&self, key: &str) -> Option<String> {
        string(self.get(key)?)
    }

    /// Whether the member is this string.
    pub(crate) fn is(&self, key: &str, value: &str) -> bool {
        self.get(key).and_then(slice::unquoted).is_some_and(|found| found == value)
    }

    /// Whether the member is there and `null`.
    pub(crate) fn is_null(&self, key: &str) -> bool {
        self.get(key) == Some("null")
    }

    /// Whether there is no member.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The names of the members.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(key, _)| key.as_ref())
    }

    /// Sets a member to JSON text.
    pub(crate) fn set(&mut self, key: &'static str, value: impl Into<Cow<'a, str>>) {
        let value = value.into();
        match self.members.iter_mut().rev().find(|(name, _)| name == key) {
            Some((_, old)) if *old == value => return,
            Some((_, old)) => *old = value,
            None => self.members.push((key.into(), value)),
        }
        self.is_changed = true;
    }

    /// Sets a member to a string.
    pub(crate) fn put(&mut self, key: &'static str, value: &str) {
        self.set(key, quote(value));
    }

    /// The same with a member set to JSON text.
    pub(crate) fn with(mut self, key: &'static str, value: impl Into<Cow<'a, str>>) -> Self {
        self.set(key, value);
        self
    }

    /// The same with a member set to a string.
    pub(crate) fn with_str(self, key: &'static str, value: &str) -> Self {
        self.with(key, quote(value))
    }

    /// The same with the members of another after its own, which win.
    pub(crate) fn followed_by(mut self, other: &JsonObject<'a>) -> Self {
        self.follow_with(other.clone());
        self
    }

    /// Adds the members of another that it has not itself.
    pub(crate) fn follow_with(&mut self, other: JsonObject<'a>) {
        let more: Vec<_> = other.members.into_iter().filter(|(key, _)| self.get(key).is_none()).collect();
        self.is_changed |= !more.is_empty();
        self.members.extend(more);
    }

    /// The same with texts of its own.
    pub(crate) fn to_owned(&self) -> JsonObject<'static> {
        let own = |text: &Cow<'_, str>| Cow::Owned(text.clone().into_owned());
        let members = self.members.iter().map(|(key, value)| (own(key), own(value))).collect();
        JsonObject { members, is_changed: self.is_changed }
    }

    /// Takes a member out.
    pub(crate) fn take(&mut self, key: &str) -> Option<Cow<'a, str>> {
        let at = self.members.iter().rposition(|(name, _)| name == key)?;
        let value = std::mem::take(&mut self.members[at].1);
        self.remove(&[key]);
        Some(value)
    }

    /// Takes these members out for good.
    pub(crate) fn remove(&mut self, keys: &[&str]) {
        let before = self.members.len();
        self.members.retain(|(name, _)| !keys.contains(&name.as_ref()));
        self.is_changed |= self.members.len() < before;
    }

    /// Gives a member another name, in its place. A member that has that name already stays and wins.
    pub(crate) fn rename(&mut self, from: &str, to: &'static str) {
        if self.get(to).is_some() {
            self.take(from);
        }
        for (name, _) in self.members.iter_mut().filter(|(name, _)| name == from) {
            *name = to.into();
            self.is_changed = true;
        }
    }

    /// Changes a member that is an object.
    pub(crate) fn edit(&mut self, key: &'static str, change: impl FnOnce(&mut JsonObject<'_>)) {
        let Some(text) = self.get(key).and_then(|text| {
            let mut inner = JsonObject::read(text)?;
            change(&mut inner);
            Some(inner.text())
        }) else {
            return;
        };
        self.set(key, text);
    }

    /// Changes each item of a member that is a list.
    pub(crate) fn edit_each(&mut self, key: &'static str, change: impl FnMut(&str) -> String) {
        let Some(text) = self.get(key).and_then(items).map(|all| list(all.into_iter().map(change))) else {
            return;
        };
        self.set(key, text);
    }

    /// Keeps JSON text in `_meta.nudge`.
    pub(crate) fn note(&mut self, key: &'static str, value: &str) {
        let mut meta = self.get(META).and_then(JsonObject::read).unwrap_or_default();
        let mut nudge = meta.get(NUDGE).and_then(JsonObject::read).unwrap_or_default();
        nudge.set(key, value);
        let nudge = nudge.text();
        meta.set(NUDGE, nudge);
        let meta = meta.text();
        self.set(META, meta);
    }

    /// What was kept in `_meta.nudge`; it is taken out, and so is what becomes empty by that.
    pub(crate) fn recall(&mut self, key: &str) -> Option<String> {
        let mut meta = JsonObject::read(self.get(META)?)?;
        let mut nudge = JsonObject::read(meta.get(NUDGE)?)?;
        let value = nudge.take(key)?.into_owned();
        if nudge.is_empty() {
            meta.take(NUDGE);
        } else {
            let nudge = nudge.text();
            meta.set(NUDGE, nudge);
        }
        if meta.is_empty() {
            self.take(META);
        } else {
            let meta = meta.text();
            self.set(META, meta);
        }
        Some(value)
    }

    /// A string that was kept in `_meta.nudge`.
    pub(crate) fn recall_string(&mut self, key: &str) -> Option<String> {
        string(&self.recall(key)?)
    }

    /// Puts a value that was kept in `_meta.nudge` back to where it belongs.
    pub(crate) fn restore(&mut self, key: &'static str) {
        if let Some(value) = self.recall(key) {
            self.set(key, value);
        }
    }

    /// The object as JSON text.
    pub(crate) fn text(&self) -> String {
        let len: usize = self.members.iter().map(|(key, value)| key.len() + value.len() + 4).sum();
        let mut text = String::with_capacity(len + 2);
        text.push('{');
        for (index, (key, value)) in self.members.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            push_quoted(&mut text, key);
            text.push(':');
            text.push_str(value);
        }
        text.push('}');
        text
    }

    /// The object as a message part.
    pub(crate) fn raw(&self) -> RawJson {
        raw(self.text())
    }

    /// The object as a message part: the one it was read from, if nothing was changed.
    pub(crate) fn raw_or(&self, original: &RawJson) -> RawJson {
        if self.is_changed { self.raw() } else { original.clone() }
    }
}

/// JSON text that was put together from checked parts.
pub(crate) fn raw(text: String) -> RawJson {
    RawJson::written(text)
}

/// The items of a list; `None` if `text` is none.
pub(crate) fn items(text: &str) -> Option<Vec<&str>> {
    slice::items(text)
}

/// The members of an object as slices of its text; none if `text` is no object.
pub(crate) fn members(text: &str) -> Vec<(Cow<'_, str>, &str)> {
    slice::members(text).unwrap_or_default()
}

/// A list of these items.
pub(crate) fn list(items: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let items: Vec<_> = items.into_iter().collect();
    let mut text = String::with_capacity(items.iter().map(|item| item.as_ref().len() + 1).sum::<usize>() + 2);
    text.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(item.as_ref());
    }
    text.push(']');
    text
}

/// The string `text` is the JSON of.
pub(crate) fn string(text: &str) -> Option<String> {
    slice::unquoted(text).map(Cow::into_owned)
}

/// A string as JSON text.
pub(crate) fn quote(value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 2);
    push_quoted(&mut text, value);
    text
}

/// Adds a string as JSON text. Names and ids seldom have anything to escape.
fn push_quoted(text: &mut String, value: &str) {
    if value.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        text.push_str(&json(value));
        return;
    }
    text.push('"');
    text.push_str(value);
    text.push('"');
}

/// Plain data as JSON text.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("strings, numbers and lists of them can be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untouched_members_keep_their_text() {
        let mut object = JsonObject::read(r#"{ "a": 1.50, "b\u0021":[ 1 ], "a": 1e400 }"#).unwrap();
        object.set("c", "null");
        assert_eq!(object.text(), r#"{"a":1.50,"b!":[ 1 ],"a":1e400,"c":null}"#);
        assert_eq!(object.take("a").as_deref(), Some("1e400"));
        assert_eq!(object.text(), r#"{"b!":[ 1 ],"c":null}"#);
    }

    #[test]
    fn a_note_is_recalled_and_leaves_no_trace() {
        for text in [r#"{"x":1}"#, r#"{"x":1,"_meta":{"own":2}}"#, r#"{"_meta":{"nudge":{"b":1}}}"#] {
            let mut object = JsonObject::read(text).unwrap();
            object.note("a", "[7]");
            assert_eq!(object.recall("a").as_deref(), Some("[7]"));
            assert_eq!(object.text(), text);
            assert_eq!(object.recall("a"), None);
        }
    }

    #[test]
    fn a_name_that_is_taken_wins() {
        let mut object = JsonObject::read(r#"{"id":1,"configId":2}"#).unwrap();
        object.rename("id", "configId");
        assert_eq!(object.text(), r#"{"configId":2}"#);
    }
}
