//! What a browser asks of the page, read with suspicion: other pages and other hosts of the same name must not reach it.

use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::{HeaderMap, Method, Request, body::Incoming, header};
use nudge_model::{ModelProvider, SecretText};

/// The longest form that is read.
const MOST_OF_A_FORM: usize = 16 * 1024;

/// How long a form may take to come.
const FORM_TIME: Duration = Duration::from_secs(10);

/// What is asked.
pub(super) enum PageRequest {
    Show,
    Submit(SetupFields),
    /// With this status, for this reason.
    Refused(u16, &'static str),
}

/// What was typed.
pub(super) struct SetupFields {
    pub(super) provider: &'static ModelProvider,
    pub(super) address: Option<String>,
    pub(super) key: Option<SecretText>,
}

impl PageRequest {
    pub(super) async fn read(request: Request<Incoming>, path: &str, host: &str) -> Self {
        let (head, body) = request.into_parts();
        // By another name an address of this computer could be another page's.
        if text(&head.headers, header::HOST.as_str()) != Some(host) {
            return Self::Refused(421, "This page has another address.");
        }
        if head.uri.path() != path || head.uri.query().is_some() {
            return Self::Refused(404, "There is no such page, or it is over.");
        }
        match head.method {
            Method::GET => Self::Show,
            Method::POST if !is_from_itself(&head.headers, host) => {
                Self::Refused(403, "This was not sent from this page.")
            }
            Method::POST => {
                let form = Limited::new(body, MOST_OF_A_FORM).collect();
                match tokio::time::timeout(FORM_TIME, form).await {
                    Ok(Ok(body)) => SetupFields::read(&body.to_bytes())
                        .map_or(Self::Refused(400, "The form cannot be read."), Self::Submit),
                    Ok(Err(_)) => Self::Refused(413, "The form is too long."),
                    Err(_) => Self::Refused(408, "The form did not come in time."),
                }
            }
            _ => Self::Refused(405, "This page is shown and sent, and nothing else."),
        }
    }
}

/// Whether a form was sent from the page itself, as browsers say.
fn is_from_itself(headers: &HeaderMap, host: &str) -> bool {
    let is_own = text(headers, "origin").and_then(|origin| origin.strip_prefix("http://")) == Some(host);
    is_own && text(headers, "sec-fetch-site").is_none_or(|site| site == "same-origin")
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

impl SetupFields {
    /// The fields of a form as browsers send them.
    fn read(body: &[u8]) -> Option<Self> {
        let fields = std::str::from_utf8(body).ok()?.split('&').filter_map(|field| field.split_once('='));
        let fields: Vec<(String, String)> =
            fields.map(|(name, value)| Some((decoded(name)?, decoded(value)?))).collect::<Option<_>>()?;
        let field = |wanted: &str| {
            let found = fields.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.trim());
            found.filter(|value| !value.is_empty())
        };
        Some(Self {
            provider: ModelProvider::named(field("provider")?)?,
            address: field("address").map(str::to_owned),
            key: field("key").map(SecretText::new),
        })
    }
}

/// Text as forms write it: `+` for a space, `%` and two digits for a byte.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let value = digit(rest.next())? * 16 + digit(rest.next())?;
                u8::try_from(value).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_as_browsers_write_it() {
        let fields =
            SetupFields::read(b"provider=custom&address=http%3A%2F%2F127.0.0.1%3A8080%2Fv1&key=+a%2Bb%26c+")
                .unwrap();
        assert_eq!(fields.provider.id, "custom");
        assert_eq!(fields.address.as_deref(), Some("http://127.0.0.1:8080/v1"));
        assert_eq!(fields.key.unwrap().reveal(), "a+b&c");
        let fields = SetupFields::read(b"provider=ollama&address=&key=").unwrap();
        assert!(fields.address.is_none() && fields.key.is_none());
    }

    #[test]
    fn what_is_no_form_is_refused() {
        for body in
            [&b""[..], b"provider=nobody", b"provider=%zz", b"provider=custom&key=%", b"\xff=\xff", b"key=a"]
        {
            assert!(SetupFields::read(body).is_none());
        }
    }
}
