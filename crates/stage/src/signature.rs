//! Whether a request is signed as Amazon wants it: version 4.

use std::fmt::Write;

use hyper::{HeaderMap, http::request::Parts};
use ring::{digest, hmac};

/// What is wrong with who says to be asking; nothing if it is right. Without a secret every signature is.
pub(crate) fn fault(secret: Option<&str>, head: &Parts, body: &[u8]) -> Option<&'static str> {
    let Some(authorization) = text(&head.headers, "authorization") else {
        return Some("Missing Authentication Token");
    };
    if authorization.starts_with("Bearer ") {
        return None;
    }
    let Some(signature) = RequestSignature::read(authorization) else {
        return Some("Authorization header is not one of AWS4-HMAC-SHA256");
    };
    let is_right = secret.is_none_or(|secret| signature.is_right(secret, head, body) == Some(true));
    (!is_right).then_some("The request signature we calculated does not match the signature you provided.")
}

/// `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`.
struct RequestSignature<'a> {
    /// Day, region, service and a last word.
    scope: &'a str,
    signed_headers: &'a str,
    signature: &'a str,
}

impl<'a> RequestSignature<'a> {
    fn read(authorization: &'a str) -> Option<Self> {
        let fields = authorization.strip_prefix("AWS4-HMAC-SHA256 ")?;
        let field = |name: &str| {
            let mut fields = fields.split(',').map(str::trim);
            fields.find_map(|field| field.strip_prefix(name)?.strip_prefix('='))
        };
        let (_, scope) = field("Credential")?.split_once('/')?;
        Some(Self { scope, signed_headers: field("SignedHeaders")?, signature: field("Signature")? })
    }

    /// Nothing if something is missing that it is made of.
    fn is_right(&self, secret: &str, head: &Parts, body: &[u8]) -> Option<bool> {
        let canonical = self.canonical(head, body)?;
        let time = text(&head.headers, "x-amz-date")?;
        let digest = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
        let signed = format!("AWS4-HMAC-SHA256\n{time}\n{}\n{digest}", self.scope);
        let mut key = format!("AWS4{secret}").into_bytes();
        for step in self.scope.split('/') {
            key = keyed(&key, step);
        }
        Some(hex(&keyed(&key, &signed)) == self.signature)
    }

    fn canonical(&self, head: &Parts, body: &[u8]) -> Option<String> {
        let mut lines = String::new();
        for name in self.signed_headers.split(';') {
            let _ = writeln!(lines, "{name}:{}", text(&head.headers, name)?.trim());
        }
        let mut query: Vec<&str> = head.uri.query().unwrap_or_default().split('&').collect();
        query.sort_unstable();
        let body = hex(digest::digest(&digest::SHA256, body).as_ref());
        let (method, path, query) = (&head.method, escaped(head.uri.path()), query.join("&"));
        Some(format!("{method}\n{path}\n{query}\n{lines}\n{}\n{body}", self.signed_headers))
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn keyed(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

/// A path of which what is escaped already is escaped once more.
fn escaped(path: &str) -> String {
    let letter = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    path.bytes().map(letter).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
