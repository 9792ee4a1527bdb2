//! Signatures for Amazon, version 4. Pure: the time is an argument.

use std::{fmt::Write, time::SystemTime};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use ring::{digest, hmac};

use crate::SecretText;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
/// What does not stand for itself in a query, and in one step of a path.
pub(crate) const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// What does not stand for itself in a whole path.
const RESERVED_IN_PATH: &AsciiSet = &RESERVED.remove(b'/');

/// The keys of an account at Amazon, by which requests are signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsCredentials {
    /// Which key it is.
    pub key_id: String,
    /// The key itself, which is never sent.
    pub secret: SecretText,
    /// What comes with keys that are lent for a time.
    pub session_token: Option<SecretText>,
    /// Where the service is.
    pub region: String,
}

/// A request as it is signed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SignableRequest<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a Url,
    /// Headers that are signed beside those of the signature, with names in lower case.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    pub(crate) body: &'a [u8],
}

impl AwsCredentials {
    /// The headers that sign a request to a service.
    pub(crate) fn sign(
        &self,
        request: SignableRequest<'_>,
        service: &str,
        now: SystemTime,
    ) -> Vec<(&'static str, String)> {
        let time = basic_time(now);
        let mut added = vec![("x-amz-date", time.clone())];
        let token = self.session_token.as_ref().map(|token| token.reveal().to_owned());
        added.extend(token.map(|token| ("x-amz-security-token", token)));
        let (canonical, signed_headers) = canonical(request, &added);
        let day = time.split('T').next().unwrap_or_default();
        let scope = format!("{day}/{}/{service}/aws4_request", self.region);
        let text = format!("{ALGORITHM}\n{time}\n{scope}\n{}", digest_hex(canonical.as_bytes()));
        let signature = hex(keyed(self.signing_key(day, service), text.as_bytes()).as_ref());
        let Self { key_id, .. } = self;
        let authorization = format!(
            "{ALGORITHM} Credential={key_id}/{scope}, SignedHeaders={signed_headers}, Signature={signature}"
        );
        added.push(("authorization", authorization));
        added
    }

    fn signing_key(&self, day: &str, service: &str) -> hmac::Tag {
        let secret = format!("AWS4{}", self.secret.reveal());
        let day = keyed(secret.as_bytes(), day.as_bytes());
        let region = keyed(day, self.region.as_bytes());
        keyed(keyed(region, service.as_bytes()), b"aws4_request")
    }
}

/// The request as the service writes it down to check it, and the names of the headers that count.
fn canonical(request: SignableRequest<'_>, added: &[(&'static str, String)]) -> (String, String) {
    let SignableRequest { method, url, headers, body } = request;
    let host = host(url);
    let mut headers: Vec<(&str, &str)> = headers.to_vec();
    headers.push(("host", &host));
    headers.extend(added.iter().map(|(name, value)| (*name, value.as_str())));
    headers.sort_unstable();
    let mut lines = String::new();
    for (name, value) in &headers {
        let _ = writeln!(lines, "{name}:{}", value.trim());
    }
    let names = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
    // What is encoded in the address is encoded once more; so it is for every service but one.
    let path = utf8_percent_encode(url.path(), RESERVED_IN_PATH);
    let query = canonical_query(url);
    let canonical = format!("{method}\n{path}\n{query}\n{lines}\n{names}\n{}", digest_hex(body));
    (canonical, names)
}

fn canonical_query(url: &Url) -> String {
    let pairs = url.query_pairs().map(|(name, value)| {
        let [name, value] = [name, value].map(|text| utf8_percent_encode(&text, RESERVED).to_string());
        format!("{name}={value}")
    });
    let mut pairs: Vec<String> = pairs.collect();
    pairs.sort_unstable();
    pairs.join("&")
}

/// The host as it is sent: with a port if it is not the usual one.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// `20150830T123600Z`.
fn basic_time(now: SystemTime) -> String {
    let written = humantime::format_rfc3339_seconds(now).to_string();
    written.chars().filter(|letter| !matches!(letter, '-' | ':')).collect()
}

fn keyed(key: impl AsRef<[u8]>, text: &[u8]) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key.as_ref()), text)
}

fn digest_hex(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The time, keys, region and service of the examples that Amazon publishes.
    const TIME: Duration = Duration::from_mins(24_015_636);

    fn credentials(session_token: Option<&str>) -> AwsCredentials {
        AwsCredentials {
            key_id: "AKIDEXAMPLE".to_owned(),
            secret: SecretText::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: session_token.map(SecretText::new),
            region: "us-east-1".to_owned(),
        }
    }

    #[derive(Default)]
    struct Example {
        method: &'static str,
        url: &'static str,
        headers: &'static [(&'static str, &'static str)],
        body: &'static str,
        token: Option<&'static str>,
        service: &'static str,
    }

    fn check(example: &Example, signed: &str, signature: &str) {
        let url = Url::parse(example.url).unwrap();
        let Example { method, headers, body, service, .. } = *example;
        let request = SignableRequest { method, url: &url, headers, body: body.as_bytes() };
        let now = SystemTime::UNIX_EPOCH + TIME;
        let added = credentials(example.token).sign(request, service, now);
        assert_eq!(added[0], ("x-amz-date", "20150830T123600Z".to_owned()));
        let expected = format!(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/{service}/aws4_request, \
             SignedHeaders={signed}, Signature={signature}"
        );
        assert_eq!(added.last(), Some(&("authorization", expected)), "{}", example.url);
    }

    #[test]
    fn published_examples_are_signed_alike() {
        let get = Example {
            method: "GET",
            url: "https://example.amazonaws.com/",
            service: "service",
            ..Example::default()
        };
        let signed = "host;x-amz-date";
        check(&get, signed, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
        let sorted = Example { url: "https://example.amazonaws.com/?Param2=value2&Param1=value1", ..get };
        check(&sorted, signed, "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
        let post = Example { method: "POST", ..get };
        check(&post, signed, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
        let form = Example {
            headers: &[("content-type", "application/x-www-form-urlencoded")],
            body: "Param1=value1",
            ..post
        };
        let signed = "content-type;host;x-amz-date";
        check(&form, signed, "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a");
        let users = Example {
            url: "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
            headers: &[("content-type", "application/x-www-form-urlencoded; charset=utf-8")],
            service: "iam",
            ..get
        };
        check(&users, signed, "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
    }

    #[test]
    fn requests_to_bedrock_are_signed_as_by_amazons_own_library() {
        let plain = Example {
            method: "POST",
            url: "http://127.0.0.1:8089/model/us.anthropic.claude-haiku-4-5-v1%3A0/converse-stream",
            headers: &[("content-type", "application/json")],
            body: r#"{"messages":[]}"#,
            service: "bedrock",
            token: None,
        };
        let signed = "content-type;host;x-amz-date";
        check(&plain, signed, "0b210e91bce6b8e88a52b675cc8497c854107734ae9c2dfb84afe52e6e31296b");
        let lent = Example {
            url: "https://bedrock-runtime.us-east-1.amazonaws.com/model/a%3A0/converse-stream",
            token: Some("token"),
            ..plain
        };
        let signed = "content-type;host;x-amz-date;x-amz-security-token";
        check(&lent, signed, "72d6ab76bca13b3223c24a03f8983aa5cf07d9e028a9ff2c98eff23addd2a0d6");
    }

    #[test]
    fn the_key_for_a_day_is_the_published_one() {
        let key = credentials(None).signing_key("20150830", "iam");
        let expected = "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9";
        assert_eq!(hex(key.as_ref()), expected);
    }
}
