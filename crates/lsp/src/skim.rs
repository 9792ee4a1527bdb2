//! What a message is about that is not read as a whole: looked for byte by byte, in little memory and in whatever order
//! its members come.

/// The longest value that is kept.
const LONGEST: usize = 8 * 1024;

/// What could be told of a message.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct LspSkim {
    /// Its `id`, as it is written; empty if it is too long for that, a list or an object.
    pub(crate) id: Option<String>,
    pub(crate) method: Option<String>,
    /// The document that its params name.
    pub(crate) uri: Option<String>,
    /// Whether it has a `result` or an `error`.
    pub(crate) has_outcome: bool,
}

/// Looks for the members of a message in bytes as they come. What is not JSON is looked at up to where it is.
#[derive(Debug, Default)]
pub(crate) struct LspSkimmer {
    found: LspSkim,
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    /// Whether the next string is a key.
    is_key_next: bool,
    /// Of the outermost containers: whether it is an object, and the key that came last.
    outer: [(bool, Key); 3],
    capture: Capture,
    kept: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Key {
    #[default]
    Other,
    Id,
    Method,
    Outcome,
    Params,
    TextDocument,
    Uri,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Capture {
    #[default]
    Nothing,
    Key,
    Value,
}

impl LspSkimmer {
    /// What a whole message is about.
    pub(crate) fn of(message: &[u8]) -> LspSkim {
        let mut skim = Self::default();
        skim.feed(message);
        skim.done()
    }

    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        while let Some((byte, rest)) = bytes.split_first() {
            if self.is_in_string && !self.is_escaped && self.capture == Capture::Nothing {
                let ends = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\'));
                let Some(end) = ends else { return };
                if end > 0 {
                    bytes = &bytes[end..];
                    continue;
                }
            }
            if self.is_in_string {
                self.step_in_string(*byte);
            } else {
                self.step(*byte);
            }
            bytes = rest;
        }
    }

    pub(crate) fn done(self) -> LspSkim {
        self.found
    }

    fn step(&mut self, byte: u8) {
        match byte {
            b'"' => self.begin_string(),
            b'{' | b'[' => {
                self.end_value();
                self.depth += 1;
                if let Some(outer) = self.outer.get_mut(self.depth - 1) {
                    *outer = (byte == b'{', Key::Other);
                }
                self.is_key_next = byte == b'{';
            }
            b'}' | b']' => {
                self.end_value();
                self.depth = self.depth.saturating_sub(1);
                self.is_key_next = false;
            }
            b',' => {
                self.end_value();
                self.is_key_next = self.here().is_some_and(|(is_object, _)| is_object);
            }
            b':' => {
                self.is_key_next = false;
                if self.is_wanted() {
                    self.kept.clear();
                    self.capture = Capture::Value;
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            byte => self.keep(byte),
        }
    }

    fn begin_string(&mut self) {
        self.is_in_string = true;
        if self.is_key_next && self.here().is_some() {
            self.is_key_next = false;
            self.kept.clear();
            self.capture = Capture::Key;
        } else {
            self.keep(b'"');
        }
    }

    fn step_in_string(&mut self, byte: u8) {
        let ends = byte == b'"' && !self.is_escaped;
        self.is_escaped = byte == b'\\' && !self.is_escaped;
        self.is_in_string = !ends;
        if !ends {
            return self.keep(byte);
        }
        match self.capture {
            Capture::Nothing => {}
            Capture::Key => self.end_key(),
            Capture::Value => {
                self.keep(b'"');
                self.end_value();
            }
        }
    }

    fn end_key(&mut self) {
        self.capture = Capture::Nothing;
        let key = match (self.depth, &*self.kept) {
            (1, b"id") => Key::Id,
            (1, b"method") => Key::Method,
            (1, b"result" | b"error") => Key::Outcome,
            (1, b"params") => Key::Params,
            (2, b"textDocument") => Key::TextDocument,
            (3, b"uri") => Key::Uri,
            _ => Key::Other,
        };
        self.found.has_outcome |= key == Key::Outcome;
        if let Some(outer) = self.outer.get_mut(self.depth - 1) {
            outer.1 = key;
        }
    }

    fn end_value(&mut self) {
        if std::mem::take(&mut self.capture) != Capture::Value {
            return;
        }
        let kept = std::mem::take(&mut self.kept);
        // What is cut off says nothing but that it was there.
        let raw = String::from_utf8(kept).ok().filter(|raw| raw.len() < LONGEST).unwrap_or_default();
        let text = || serde_json::from_str(&raw).ok();
        match self.here() {
            Some((_, Key::Id)) => self.found.id = self.found.id.take().or_else(|| Some(raw.clone())),
            Some((_, Key::Method)) => self.found.method = self.found.method.take().or_else(text),
            _ => self.found.uri = self.found.uri.take().or_else(text),
        }
    }

    /// The container that is being looked at, if it is one in which something is looked for.
    fn here(&self) -> Option<(bool, Key)> {
        let keys = self.outer.map(|(_, key)| key);
        let is_on_the_way = match self.depth {
            1 => true,
            2 => keys[0] == Key::Params,
            3 => keys[..2] == [Key::Params, Key::TextDocument],
            _ => false,
        };
        is_on_the_way.then(|| self.outer[self.depth - 1]).filter(|(is_object, _)| *is_object)
    }

    fn is_wanted(&self) -> bool {
        matches!(self.here(), Some((_, Key::Id | Key::Method | Key::Uri)))
    }

    fn keep(&mut self, byte: u8) {
        if self.capture != Capture::Nothing && self.kept.len() < LONGEST {
            self.kept.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(id: Option<&str>, method: Option<&str>, uri: Option<&str>) -> LspSkim {
        let [id, method, uri] = [id, method, uri].map(|text| text.map(str::to_owned));
        LspSkim { id, method, uri, has_outcome: false }
    }

    #[test]
    fn members_are_found_wherever_they_stand() {
        let check = |message: &str, expected: LspSkim| {
            assert_eq!(LspSkimmer::of(message.as_bytes()), expected, "{message}");
        };
        check(
            r#"{"method":"m","params":{"textDocument":{"uri":"file:///a","version":2},"contentChanges":[{"text":"\ud83d"}]}}"#,
            found(None, Some("m"), Some("file:///a")),
        );
        check(
            r#"{"params": {"contentChanges": [{"textDocument": {"uri": "no"}, "text": "{\"uri\":1}"}], "textDocument": {"uri": "a\u0062"}}, "id" : -7 , "method": "m"}"#,
            found(Some("-7"), Some("m"), Some("ab")),
        );
        check(r#"{"id":"x\"y","method":"m""#, found(Some(r#""x\"y""#), Some("m"), None));
        check(r#"{"id":{"id":3},"method":"m","uri":"no"}"#, found(Some(""), Some("m"), None));
        check(r#"[{"id":1,"method":"m"}]"#, found(None, None, None));
        check(r#"{"method":"\ud800","id":1,"id":2}"#, found(Some("1"), None, None));
        let outcome = LspSkim { has_outcome: true, ..found(Some("1"), None, None) };
        check(r#"{"id":1,"result":{"method":"no"}}"#, outcome);
        let long = format!(r#"{{"method":"{}","id":1}}"#, "m".repeat(2 * LONGEST));
        check(&long, found(Some("1"), None, None));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_bytes_come(
            bytes in prop::collection::vec(prop::sample::select(br#"{}[]":,\ 1aidurpmsth"#.to_vec()), 0..200),
            cut in 0usize..200,
        ) {
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            let mut skim = LspSkimmer::default();
            skim.feed(first);
            skim.feed(second);
            prop_assert_eq!(skim.done(), LspSkimmer::of(&bytes));
        }
    }
}
