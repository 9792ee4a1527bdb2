//! Known secrets out of what is shown, kept or sent: their exact text, also as base64, in a URL, in JSON, and in JSON that is the
//! text of other JSON.
//!
//! [`mask`](crate::mask) finds what looks like a secret; this finds what is one.

use std::borrow::Cow;

use crate::mask::MASK;

/// What is shorter is no secret, and would be found in ordinary words.
const SHORTEST: usize = 8;

/// Members whose values say what something is, or name it: no place for a secret, and of no use without them.
const KEPT: &[&str] = &[
    "sessionUpdate",
    "type",
    "kind",
    "status",
    "state",
    "stopReason",
    "severity",
    "toolCallId",
    "messageId",
    "terminalId",
    "sessionId",
    "configId",
    "mode",
];

/// Finds known secrets.
#[derive(Clone, Default)]
pub struct SecretScrubber {
    /// Every form of every secret, the longest first.
    forms: Vec<String>,
}

impl std::fmt::Debug for SecretScrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretScrubber({} forms)", self.forms.len())
    }
}

impl SecretScrubber {
    /// Finds these.
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let mut forms = Vec::new();
        for secret in secrets {
            let secret = secret.as_ref();
            if is_telling(secret) {
                let (json, url) = (in_json(secret), in_url(secret));
                // Some write a slash with a backslash before it.
                let slashed = json.replace('/', "\\/");
                forms.extend([in_json(&json), in_json(&slashed), slashed, json, lower_escapes(&url), url]);
                forms.push(secret.to_owned());
                forms.extend(in_base64(secret));
            }
        }
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Self { forms }
    }

    /// The text without secrets.
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut scrubbed = Cow::Borrowed(text);
        for form in &self.forms {
            if memchr::memmem::find(scrubbed.as_bytes(), form.as_bytes()).is_some() {
                scrubbed = Cow::Owned(scrubbed.replace(form.as_str(), MASK));
            }
        }
        scrubbed
    }

    /// JSON without secrets in the texts of its values: names, and values that say what something is, stay as they are.
    pub fn scrub_json<'t>(&self, json: &'t str) -> Cow<'t, str> {
        let is_found = |form: &String| memchr::memmem::find(json.as_bytes(), form.as_bytes()).is_some();
        if !self.forms.iter().any(is_found) {
            return Cow::Borrowed(json);
        }
        let (mut scrubbed, mut rest, mut name) = (String::with_capacity(json.len()), json, "");
        while let Some(begin) = rest.find('"') {
            let (before, quoted) = rest.split_at(begin + 1);
            let end = string_end(quoted);
            let (text, after) = quoted.split_at(end);
            scrubbed.push_str(before);
            let is_name = after.get(1..).is_some_and(|after| after.trim_start().starts_with(':'));
            if is_name || KEPT.contains(&name) {
                scrubbed.push_str(text);
            } else {
                scrubbed.push_str(&self.scrub_string(text));
            }
            name = if is_name { text } else { "" };
            rest = after;
            if let Some(later) = rest.strip_prefix('"') {
                scrubbed.push('"');
                rest = later;
            }
        }
        scrubbed.push_str(rest);
        Cow::Owned(scrubbed)
    }

    /// What stands between the quotes of a JSON string, without secrets.
    fn scrub_string<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Cow::Owned(scrubbed) = self.scrub(text) else { return Cow::Borrowed(text) };
        let is_string = |text: &str| serde_json::from_str::<Cow<'_, str>>(&format!("\"{text}\"")).is_ok();
        if is_string(&scrubbed) {
            return Cow::Owned(scrubbed);
        }
        // A secret that ends within an escape has taken the rest of it along.
        let read: String = serde_json::from_str(&format!("\"{text}\"")).unwrap_or_default();
        Cow::Owned(in_json(&self.scrub(&read)))
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// How much of the end of `bytes` may be the beginning of a secret.
    fn begun(&self, bytes: &[u8]) -> usize {
        let longest = self.forms.first().map_or(0, String::len).saturating_sub(1).min(bytes.len());
        let is_begun = |count: &usize| {
            let end = &bytes[bytes.len() - count..];
            self.forms.iter().any(|form| form.len() > *count && form.as_bytes().starts_with(end))
        };
        (1..=longest).rev().find(is_begun).unwrap_or(0)
    }

    fn scrub_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.forms.iter().fold(bytes, |bytes, form| {
            let mut found = memchr::memmem::find_iter(&bytes, form.as_bytes()).peekable();
            if found.peek().is_none() {
                drop(found);
                return bytes;
            }
            let (mut scrubbed, mut from) = (Vec::with_capacity(bytes.len()), 0);
            for at in found {
                scrubbed.extend_from_slice(&bytes[from..at]);
                scrubbed.extend_from_slice(MASK.as_bytes());
                from = at + form.len();
            }
            scrubbed.extend_from_slice(&bytes[from..]);
            scrubbed
        })
    }
}

/// Takes secrets out of what comes in pieces, however it is cut. What may be the beginning of one is held back.
#[derive(Debug, Default)]
pub struct StreamScrubber {
    scrubber: SecretScrubber,
    held: Vec<u8>,
}

impl StreamScrubber {
    /// For one stream.
    pub fn new(scrubber: SecretScrubber) -> Self {
        Self { scrubber, held: Vec::new() }
    }

    /// Takes bytes in, and gives those that are known to be no part of a secret.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.scrubber.is_empty() {
            return bytes.to_vec();
        }
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let mut scrubbed = self.scrubber.scrub_bytes(all);
        self.held = scrubbed.split_off(scrubbed.len() - self.scrubber.begun(&scrubbed));
        scrubbed
    }

    /// The stream is over: what was held back.
    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

/// Whether a text can be told from ordinary words: many servers take any word for a key, such as `placeholder`.
fn is_telling(secret: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_' | b' ');
    secret.len() >= SHORTEST && !secret.bytes().all(is_word)
}

/// Where a JSON string ends that begins before this text.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    text.len()
}

/// As it stands within a JSON string.
fn in_json(secret: &str) -> String {
    let quoted = serde_json::to_string(secret).expect("text is JSON");
    quoted[1..quoted.len() - 1].to_owned()
}

/// As it stands in a URL or a form.
fn in_url(secret: &str) -> String {
    let mut text = String::new();
    for byte in secret.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte));
            }
            byte => {
                text.push('%');
                text.extend(format!("{byte:02X}").chars());
            }
        }
    }
    text
}

/// The same with small letters behind each `%`.
fn lower_escapes(url: &str) -> String {
    let mut parts = url.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| format!("{text}%{}{}", part[..2].to_lowercase(), &part[2..]))
}

/// The part of its base64 that does not depend on what stands before and after it, for each of the three places it can begin at.
fn in_base64(secret: &str) -> Vec<String> {
    const PLAIN: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut forms = Vec::new();
    for shift in 0..3 {
        let mut bytes = vec![0; shift];
        bytes.extend_from_slice(secret.as_bytes());
        let bits = |at: usize| (bytes[at / 8] >> (7 - at % 8)) & 1;
        let whole = bytes.len() * 8 / 6;
        let digits = (0..whole).map(|digit| (0..6).fold(0, |value, bit| value << 1 | bits(digit * 6 + bit)));
        let text: String = digits.map(|digit| char::from(PLAIN[usize::from(digit)])).collect();
        // The first digits also hold bits of what stands before.
        let own = text[(shift * 8).div_ceil(6)..].to_owned();
        forms.push(own.replace('+', "-").replace('/', "_"));
        forms.push(own);
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "sk-Test/123+\"quoted\"?key";

    #[test]
    fn a_secret_is_found_in_every_form() {
        let scrubber = SecretScrubber::new([SECRET]);
        let forms = [
            SECRET.to_owned(),
            in_json(SECRET),
            in_json(&in_json(SECRET)),
            in_json(SECRET).replace('/', "\\/"),
            in_url(SECRET),
            "sk-Test%2f123%2b%22quoted%22%3fkey".to_owned(),
            // `echo -n "$SECRET" | base64`, and behind one, two and three bytes.
            "c2stVGVzdC8xMjMrInF1b3RlZCI/a2V5".to_owned(),
            "YXNrLVRlc3QvMTIzKyJxdW90ZWQiP2tleQ==".to_owned(),
            "YWFzay1UZXN0LzEyMysicXVvdGVkIj9rZXk=".to_owned(),
            "c2stVGVzdC8xMjMrInF1b3RlZCI_a2V5".to_owned(),
        ];
        for form in forms {
            let text = format!("before {form} after");
            let told = scrubber.scrub(&text);
            assert!(told.contains(MASK), "{form}");
            assert!(told.starts_with("before ") && told.ends_with(" after"), "{told}");
            assert!(!told.contains("2stVGVzdC8x") && !told.contains("Test"), "{told}");
        }
        assert_eq!(scrubber.scrub("nothing here"), "nothing here");
    }

    #[test]
    fn json_stays_what_it_is() {
        let scrubber = SecretScrubber::new(["agent_message_chunk1", "sessionUpdate9", "Key-1234\\"]);
        let json = r#"{"sessionUpdate":"agent_message_chunk1","sessionUpdate9":{"text":"a agent_message_chunk1 \" b"},"n":[1,"sessionUpdate9","Key-1234\\x"]}"#;
        let told = scrubber.scrub_json(json);
        let told: serde_json::Value = serde_json::from_str(&told).expect("it is JSON");
        let expected = serde_json::json!({ "sessionUpdate": "agent_message_chunk1",
            "sessionUpdate9": { "text": "a *** \" b" }, "n": [1, "***", "***x"] });
        assert_eq!(told, expected);
    }

    #[test]
    fn words_are_no_secrets() {
        let scrubber = SecretScrubber::new(["placeholder", "no-key-needed", "sk-12345678"]);
        assert_eq!(scrubber.scrub("a placeholder, no-key-needed"), "a placeholder, no-key-needed");
        assert_eq!(scrubber.scrub("a sk-12345678"), "a ***");
    }

    #[test]
    fn a_stream_is_scrubbed_however_it_is_cut() {
        let text = format!("a {SECRET} b {SECRET}{SECRET} sk-Tes");
        let whole = SecretScrubber::new([SECRET]).scrub(&text).into_owned();
        for cut in 0..=text.len() {
            for second in [cut, (cut + 3).min(text.len()), text.len()] {
                let mut stream = StreamScrubber::new(SecretScrubber::new([SECRET]));
                let mut told = stream.push(&text.as_bytes()[..cut]);
                told.extend(stream.push(&text.as_bytes()[cut..second]));
                told.extend(stream.push(&text.as_bytes()[second..]));
                told.extend(stream.finish());
                assert_eq!(String::from_utf8(told).unwrap(), whole, "cut at {cut} and {second}");
            }
        }
    }

    #[test]
    fn nothing_is_held_back_without_secrets() {
        let mut stream = StreamScrubber::new(SecretScrubber::new(["short"]));
        assert_eq!(stream.push(b"all of it, short"), b"all of it, short");
    }
}
