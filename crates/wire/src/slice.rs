//! Objects and lists cut into their parts, where the text is known to be JSON.
//!
//! What came in was checked as a whole when it came in. To look into it again only the places where one part ends and the
//! next begins have to be found, which is several times faster than to check it again. Text that is no JSON gives nothing
//! or parts that are none; it never panics.

use std::borrow::Cow;

/// The members of the object that `text` is, each value as the text it is; `None` if it is none.
pub fn members(text: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    let mut members = Vec::new();
    each_member(text, |name, value| members.push((name, value)))?;
    Some(members)
}

/// The value of one member of the object that `text` is. Of duplicates the last one counts.
pub fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut found = None;
    each_member(text, |member, value| {
        if member == name {
            found = Some(value);
        }
    })?;
    found
}

/// Gives each member of the object that `text` is to `take`, in order; `None` if it is none.
pub fn each_member<'a>(text: &'a str, mut take: impl FnMut(Cow<'a, str>, &'a str)) -> Option<()> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.each_member(|cursor, name| {
        take(name, cursor.value()?);
        Some(())
    })?;
    cursor.is_over().then_some(())
}

/// A member of an object, or of an object in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberSlice<'a> {
    /// Of the object itself.
    Outer(Cow<'a, str>),
    /// Of the object that a member of it is.
    Inner(Cow<'a, str>),
}

/// As [`each_member`], and before the member called `inner`, if that is an object, its own members: one pass over the text
/// finds both.
pub fn each_member_with<'a>(
    text: &'a str,
    inner: &str,
    mut take: impl FnMut(MemberSlice<'a>, &'a str),
) -> Option<()> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.each_member(|cursor, name| {
        let start = cursor.at;
        if name == inner && cursor.peek() == Some(b'{') {
            cursor.each_member(|cursor, name| {
                take(MemberSlice::Inner(name), cursor.value()?);
                Some(())
            })?;
        } else {
            cursor.value()?;
        }
        take(MemberSlice::Outer(name), text.get(start..cursor.at)?);
        Some(())
    })?;
    cursor.is_over().then_some(())
}

/// The items of the list that `text` is, each as the text it is; `None` if it is none.
pub fn items(text: &str) -> Option<Vec<&str>> {
    let mut cursor = Cursor { text, at: 0 };
    let mut items = Vec::new();
    cursor.enter(b'[')?;
    while !cursor.leaves(b']', items.is_empty())? {
        items.push(cursor.value()?);
    }
    cursor.is_over().then_some(items)
}

/// The string that `text` is the JSON of; `None` if it is none.
pub fn unquoted(text: &str) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(inner.into());
    }
    serde_json::from_str(text).ok().map(Cow::Owned)
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Past `byte`, and to what follows.
    fn enter(&mut self, byte: u8) -> Option<()> {
        self.skip_space();
        (self.peek()? == byte).then(|| self.at += 1)?;
        self.skip_space();
        Some(())
    }

    /// Past `end` if that is next, which is the end; else past the comma, unless this is the first part.
    fn leaves(&mut self, end: u8, is_first: bool) -> Option<bool> {
        self.skip_space();
        if self.peek()? == end {
            self.at += 1;
            return Some(true);
        }
        if !is_first {
            self.enter(b',')?;
        }
        Some(false)
    }

    fn is_over(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len()
    }

    /// Goes through an object; `take` goes past the value of each member.
    fn each_member(&mut self, mut take: impl FnMut(&mut Self, Cow<'a, str>) -> Option<()>) -> Option<()> {
        let mut is_first = true;
        self.enter(b'{')?;
        while !self.leaves(b'}', is_first)? {
            is_first = false;
            let name = unquoted(self.string()?)?;
            self.enter(b':')?;
            take(self, name)?;
        }
        Some(())
    }

    /// A string with its quotes.
    fn string(&mut self) -> Option<&'a str> {
        let start = self.at;
        (self.peek()? == b'"').then(|| self.skip_string())??;
        self.text.get(start..self.at)
    }

    fn skip_string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            let found = memchr::memchr2(b'"', b'\\', rest)?;
            if rest[found] == b'"' {
                self.at += found + 1;
                return Some(());
            }
            self.at += found + 2;
        }
    }

    /// Any value.
    fn value(&mut self) -> Option<&'a str> {
        let start = self.at;
        match self.peek()? {
            b'"' => self.skip_string()?,
            b'{' | b'[' => self.skip_nested()?,
            _ => self.skip_word(),
        }
        self.text.get(start..self.at).filter(|value| !value.is_empty())
    }

    fn skip_nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.skip_string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// A number, `true`, `false` or `null`.
    fn skip_word(&mut self) {
        while let Some(byte) = self.peek()
            && !matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\t' | b'\r')
        {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, value::RawValue};

    use super::*;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[\\PC\"\\\\\n{}\\[\\],:]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec(("[\\PC\"\\\\{,]{0,6}", inner), 0..5)
                    .prop_map(|members| Value::from(members.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    proptest! {
        #[test]
        fn parts_are_those_a_parser_finds(value in value(), is_pretty: bool) {
            let text = if is_pretty { format!(" {value:#}\n") } else { value.to_string() };
            let found = members(&text).map(|members| {
                members.into_iter().map(|(key, part)| (key.into_owned(), serde_json::from_str(part).unwrap())).collect()
            });
            prop_assert_eq!(found, value.as_object().cloned());
            for (key, part) in value.as_object().into_iter().flatten() {
                prop_assert_eq!(member(&text, key).map(|part| serde_json::from_str(part).unwrap()), Some(part.clone()));
            }
            for (key, part) in value.as_object().into_iter().flatten() {
                let mut found = Vec::new();
                let is_object = each_member_with(&text, key, |member, value| found.push((member, value))).is_some();
                prop_assert!(is_object);
                let mut expected = Vec::new();
                for (name, value) in members(&text).unwrap_or_default() {
                    if name == *key && part.is_object() {
                        let inner = members(value).unwrap_or_default();
                        expected.extend(inner.into_iter().map(|(name, value)| (MemberSlice::Inner(name), value)));
                    }
                    expected.push((MemberSlice::Outer(name), value));
                }
                prop_assert_eq!(found, expected);
            }
            let found = items(&text);
            let expected: Option<Vec<&RawValue>> = serde_json::from_str(&text).ok();
            prop_assert_eq!(found, expected.map(|items| items.into_iter().map(RawValue::get).collect()));
            let found = unquoted(text.trim());
            prop_assert_eq!(found.as_deref(), value.as_str());
        }

        #[test]
        fn no_text_makes_it_panic(text in "[\\PC\"\\\\{}\\[\\],: é]{0,24}") {
            members(&text);
            member(&text, "a");
            each_member_with(&text, "a", |_, _| {});
            items(&text);
            unquoted(&text);
        }
    }
}
