//! Secrets out of what is written down: traces and captured agent output.
//!
//! Masked are strings under a key that names a secret, every value of `headers` and `env` (ACP carries API keys and
//! tokens there), the argument after an option that names a secret, the user's part of a URL, what follows the name of a
//! secret and `=` or `:` in any text, and tokens that can be told by their shape. What looks like ordinary text is kept:
//! a mask by rules cannot know every secret.

use std::borrow::Cow;

use serde_json::value::RawValue;

/// What stands in place of a secret.
pub const MASK: &str = "***";

/// Parts of a name that make it that of a secret, compared without case, `-` and `_`.
const SECRET_NAMES: &[&str] = &[
    "apikey",
    "accesskey",
    "authorization",
    "cookie",
    "credential",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "token",
];

/// Whole names of secrets that are too short to be looked for inside others.
const SHORT_NAMES: &[&str] = &["auth", "key", "pass", "pwd", "sig"];

/// Endings of names whose values are all secret: objects of name to value, or lists of `{name, value}`.
const SECRET_MAPS: &[&str] = &["env", "envvariables", "environment", "headers"];

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
    "gsk_",
    "hf_",
    "xai-",
    "xoxb-",
    "xoxp-",
    "ya29.",
    "AIza",
    "AKIA",
    "eyJ",
];

/// Words after which the next word is a secret.
const TOKEN_HERALDS: &[&str] = &["bearer", "basic"];

/// The shortest token that is recognised by its prefix, and the shortest value that is masked after a name.
const MIN_TOKEN: usize = 16;
const MIN_VALUE: usize = 4;

/// A JSON text with its secrets masked and not a byte changed elsewhere; `None` if it is not JSON.
pub fn json(text: &str) -> Option<String> {
    serde_json::from_str::<&RawValue>(text).ok()?;
    let mut masker = Masker { rest: text, out: String::with_capacity(text.len()), levels: Vec::new() };
    masker.run();
    Some(masker.out)
}

/// A line of text with what looks like a secret masked.
pub fn text(line: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut kept = 0;
    let mut herald = Herald::Nothing;
    for (start, word) in words(line) {
        let after = &line[start + word.len()..];
        let is_secret = match herald {
            Herald::Scheme => word.len() >= 8,
            Herald::Name => {
                word.len() >= MIN_VALUE && !is_scheme(word) && !word.eq_ignore_ascii_case("token")
            }
            Herald::Nothing => false,
        };
        if is_secret || is_token(word) || is_user_of_url(line, start, after) {
            out.push_str(&line[kept..start]);
            out.push_str(MASK);
            kept = start + word.len();
        }
        herald = herald.next(word, after);
    }
    if kept == 0 {
        return Cow::Borrowed(line);
    }
    out.push_str(&line[kept..]);
    Cow::Owned(out)
}

/// What the words before say about the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Herald {
    Nothing,
    /// The name of a secret, followed by `=` or `:`.
    Name,
    /// The name of a way to authenticate.
    Scheme,
}

impl Herald {
    fn next(self, word: &str, after: &str) -> Self {
        if is_scheme(word) || (self == Self::Name && word.eq_ignore_ascii_case("token")) {
            return Self::Scheme;
        }
        let after = after.trim_start_matches(['"', '\'', '\\', ' ']);
        if is_secret_name(word) && after.starts_with(['=', ':']) && !after.starts_with("://") {
            return Self::Name;
        }
        Self::Nothing
    }
}

fn is_scheme(word: &str) -> bool {
    TOKEN_HERALDS.iter().any(|name| word.eq_ignore_ascii_case(name))
}

fn is_secret_name(name: &str) -> bool {
    let plain = plain(name);
    SHORT_NAMES.contains(&plain.as_str()) || SECRET_NAMES.iter().any(|secret| plain.contains(secret))
}

fn is_token(word: &str) -> bool {
    word.len() >= MIN_TOKEN && TOKEN_PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}

/// Whether the word stands between `://` and `@` of a URL.
fn is_user_of_url(line: &str, start: usize, after: &str) -> bool {
    let host = after.find(['/', ' ', '"', '\'', '?', '#']).unwrap_or(after.len());
    let Some(at) = after[..host].rfind('@') else { return false };
    let before = &line[..start];
    let scheme = before.rfind("://");
    scheme.is_some_and(|scheme| !before[scheme + 3..].contains(['/', ' ', '@'])) && at < host
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// Runs of the characters tokens are made of, with where they start.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '~');
    line.split(move |c| !is_part(c))
        .filter(|word| !word.is_empty())
        .map(|word| (crate::raw::span_in(line, word).start, word))
}

/// Copies JSON that is known to be valid, but for the strings that are secrets.
struct Masker<'a> {
    rest: &'a str,
    out: String,
    levels: Vec<Level>,
}

/// An open object or array.
#[allow(clippy::struct_excessive_bools, reason = "a scanner's state is made of small facts")]
struct Level {
    is_object: bool,
    /// Whether a key is next.
    at_key: bool,
    /// Whether all strings in it are secret.
    masked: bool,
    /// Whether the value of the last key, or the next element of the array, is secret.
    value_masked: bool,
    /// Whether the last key was the `name` in a list of `{name, value}`.
    is_name: bool,
}

impl Masker<'_> {
    fn run(&mut self) {
        while let Some(byte) = self.rest.bytes().next() {
            match byte {
                b'"' => self.string(),
                b'{' | b'[' => {
                    let masked = self.is_masked();
                    let is_object = byte == b'{';
                    let level =
                        Level { is_object, at_key: is_object, masked, value_masked: false, is_name: false };
                    self.levels.push(level);
                    self.copy(1);
                }
                b'}' | b']' => {
                    self.levels.pop();
                    self.copy(1);
                }
                b',' => {
                    if let Some(level) = self.levels.last_mut() {
                        level.at_key = level.is_object;
                    }
                    self.copy(1);
                }
                _ => {
                    let plain = self.rest.find(['"', '{', '}', '[', ']', ',']).unwrap_or(self.rest.len());
                    self.copy(plain.max(1));
                }
            }
        }
    }

    fn is_masked(&self) -> bool {
        self.levels.last().is_some_and(|level| level.masked || level.value_masked)
    }

    fn copy(&mut self, count: usize) {
        let (now, later) = self.rest.split_at(count);
        self.out.push_str(now);
        self.rest = later;
    }

    fn string(&mut self) {
        let len = string_len(self.rest);
        let inner = &self.rest[1..len - 1];
        let nested = self.levels.len() > 1;
        match self.levels.last_mut() {
            Some(level) if level.at_key => {
                level.at_key = false;
                let key: Cow<'_, str> = if inner.contains('\\') {
                    serde_json::from_str::<String>(&self.rest[..len]).unwrap_or_default().into()
                } else {
                    inner.into()
                };
                let plain = plain(&key);
                let is_map = SECRET_MAPS.iter().any(|name| plain.ends_with(name));
                level.value_masked = is_map || is_secret_name(&key);
                level.is_name = nested && plain == "name";
                self.copy(len);
                return;
            }
            Some(level) if (level.masked && !level.is_name) || level.value_masked => {
                level.value_masked = level.is_object && level.value_masked;
                self.replace(len, MASK);
                return;
            }
            // `["--api-key", "…"]`
            Some(level) if !level.is_object => {
                level.value_masked = inner.starts_with('-') && is_secret_option(inner);
            }
            _ => {}
        }
        if !inner.contains('\\') {
            match text(inner) {
                Cow::Borrowed(_) => self.copy(len),
                Cow::Owned(masked) => self.replace(len, &masked),
            }
            return;
        }
        // Half an escape is no word: look at what the string says, and write it anew if it has to change.
        let said: Option<String> = serde_json::from_str(&self.rest[..len]).ok();
        match said.as_deref().map(text) {
            Some(Cow::Borrowed(_)) => self.copy(len),
            Some(Cow::Owned(masked)) => {
                let quoted = serde_json::Value::from(masked).to_string();
                self.out.push_str(&quoted);
                self.rest = &self.rest[len..];
            }
            // Not text at all, such as half a surrogate pair.
            None => self.replace(len, MASK),
        }
    }

    fn replace(&mut self, len: usize, by: &str) {
        self.out.push('"');
        self.out.push_str(by);
        self.out.push('"');
        self.rest = &self.rest[len..];
    }
}

/// Whether an option such as `--api-key` announces a secret as the next argument.
fn is_secret_option(option: &str) -> bool {
    let name = option.trim_start_matches('-');
    !name.contains('=') && (is_secret_name(name) || plain(name).ends_with("key"))
}

/// The length of the string a valid JSON text begins with, quotes included.
fn string_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_messages_are_masked() {
        let check = |input: &str, expected: &str| assert_eq!(json(input).as_deref(), Some(expected));
        check(r#"{"apiKey":"abc","b":1}"#, r#"{"apiKey":"***","b":1}"#);
        check(
            r#"{"X-API-KEY":"abc","httpHeaders":{"a":"b"}}"#,
            r#"{"X-API-KEY":"***","httpHeaders":{"a":"***"}}"#,
        );
        check(r#"{"headers":{"a":"b"},"maxTokens":5}"#, r#"{"headers":{"a":"***"},"maxTokens":5}"#);
        check(
            r#"{"env":[{"name":"KEY","value":"v"}],"headers":[{"value":"v","name":"A"}],"x":"y"}"#,
            r#"{"env":[{"name":"KEY","value":"***"}],"headers":[{"value":"***","name":"A"}],"x":"y"}"#,
        );
        check(r#"{"apiKeys":["a",{"b":["c"]}],"d":"e"}"#, r#"{"apiKeys":["***",{"b":["***"]}],"d":"e"}"#);
        check(
            r#"{"args":["--api-key","a","--verbose","b"]}"#,
            r#"{"args":["--api-key","***","--verbose","b"]}"#,
        );
        check(r#"{"args":["--token=abcdef"]}"#, r#"{"args":["--token=***"]}"#);
        check(r#"{"m":[{"t":"use Bearer abcdefgh1234."}]}"#, r#"{"m":[{"t":"use Bearer ***"}]}"#);
        check(r#"{"t":"{\"password\": \"hunter22\"}"}"#, r#"{"t":"{\"password\": \"***\"}"}"#);
        check(r#"{"t":"Bearer\nabcdefghij"}"#, r#"{"t":"Bearer\n***"}"#);
        check(r#"{"t":"token=\u0041sssss"}"#, r#"{"t":"token=***"}"#);
        check(r#"{"api\u004bey":"abc"}"#, r#"{"api\u004bey":"***"}"#);
        check(r#"{"t":"\ud800 x"}"#, r#"{"t":"***"}"#);
    }

    #[test]
    fn the_rest_of_a_message_is_kept_to_the_byte() {
        for text in [
            r#" { "b" : 1.50, "a":18446744073709551616, "a": 1e400,"é":"\u0041\"\\" , "n":[ null,true ] } "#,
            r#"{"sessionId":"s","text":"a token of thanks, and keys: none","usage":{"totalTokens":12}}"#,
            "[]",
            "\"\"",
        ] {
            assert_eq!(json(text).as_deref(), Some(text));
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(json(&deep), Some(deep));
    }

    #[test]
    fn secrets_in_text_are_masked() {
        assert_eq!(text("key=sk-ant-0123456789abcdef, ok"), "key=***, ok");
        assert_eq!(text("Authorization: Bearer aaaaaaaaaa end"), "Authorization: Bearer *** end");
        assert_eq!(text("Authorization: token abcdefgh"), "Authorization: token ***");
        assert_eq!(text("OPENAI_API_KEY=abcdef x-api-key: abcdef"), "OPENAI_API_KEY=*** x-api-key: ***");
        assert_eq!(text("https://me:hunter22@host/x?key=abcdef&b=1"), "https://***:***@host/x?key=***&b=1");
        assert_eq!(text("/path/sk-ant-0123456789abcdef/x"), "/path/***/x");
        assert_eq!(
            text("at me@host: fine; nothing to see: sk-short é"),
            "at me@host: fine; nothing to see: sk-short é"
        );
    }

    #[test]
    fn what_is_not_json_is_not_passed_on() {
        assert_eq!(json("{"), None);
        assert_eq!(json("sk-0123456789abcdef"), None);
    }
}
