//! What comes from the editor, cut into messages and looked at before the library sees it: nothing longer than a bound is
//! held, and what is not a message is left out.

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
};

/// The longest header line taken.
pub const LINE: u64 = 4096;
/// The most header lines taken of one message.
pub const LINES: usize = 32;

/// Why what came cannot be cut into messages. Where the next begins is not known then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotLsp {
    /// A header that is no header.
    #[error(
        "expected a header of LSP, `Content-Length: N`, and got something else; is this program started as a language server?"
    )]
    Header,
    /// A header line without an end.
    #[error("a header line of the editor is longer than {LINE} bytes")]
    LongHeader,
    /// More headers than any editor sends.
    #[error("a message of the editor has more than {LINES} headers")]
    ManyHeaders,
    /// No length.
    #[error("a message of the editor has no `Content-Length`, or one that is not a number")]
    NoLength,
}

/// Passes messages on until the input ends. What is too long or no message is dropped.
pub async fn pass(
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    longest: usize,
) -> Result<(), NotLsp> {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    let mut body = Vec::new();
    while let Some(length) = header(&mut input).await? {
        if length > longest as u64 {
            tracing::warn!(length, longest, "a message of the editor is too long and was dropped");
            if skip(&mut input, length).await.is_none() {
                return Ok(());
            }
            continue;
        }
        body.clear();
        // Grows as bytes arrive: a length is easily claimed.
        match (&mut input).take(length).read_to_end(&mut body).await {
            Ok(read) if read as u64 == length => {}
            _ => return Ok(()),
        }
        if !is_message(&body) {
            tracing::warn!(
                length,
                "the editor sent something that is not a JSON-RPC message; it was dropped"
            );
            continue;
        }
        let head = format!("Content-Length: {length}\r\n\r\n");
        if output.write_all(head.as_bytes()).await.is_err() || output.write_all(&body).await.is_err() {
            // Nobody is there to take it.
            return Ok(());
        }
        body.shrink_to(64 * 1024);
    }
    Ok(())
}

/// The length of the message that follows; `None` at the end of the input.
async fn header(input: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<u64>, NotLsp> {
    let mut length = None;
    let mut line = Vec::new();
    for seen in 0..LINES {
        line.clear();
        let read = (&mut *input).take(LINE).read_until(b'\n', &mut line).await;
        if !matches!(read, Ok(1..)) {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') {
            return if line.len() as u64 == LINE { Err(NotLsp::LongHeader) } else { Ok(None) };
        }
        let text = str::from_utf8(&line).map_err(|_| NotLsp::Header)?.trim();
        if text.is_empty() {
            // A blank line before a message does no harm.
            match (length, seen) {
                (None, 0) => continue,
                (None, _) => return Err(NotLsp::NoLength),
                (found, _) => return Ok(found),
            }
        }
        let (name, value) = text.split_once(':').ok_or(NotLsp::Header)?;
        if name.trim().eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse().map_err(|_| NotLsp::NoLength)?);
        }
    }
    Err(NotLsp::ManyHeaders)
}

async fn skip(input: &mut (impl AsyncRead + Unpin), length: u64) -> Option<()> {
    let skipped = tokio::io::copy(&mut input.take(length), &mut tokio::io::sink()).await;
    (skipped.ok()? == length).then_some(())
}

/// Whether a body is a message that the library can read. What nests too deeply for that is refused by the same reader.
pub fn is_message(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        jsonrpc: &'a str,
        #[serde(borrow)]
        id: Option<&'a RawValue>,
        method: Option<String>,
        #[serde(borrow)]
        error: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Id {
        Number(#[allow(dead_code, reason = "only looked at")] i32),
        Text(#[allow(dead_code, reason = "only looked at")] String),
    }
    #[derive(Deserialize)]
    struct Failure {
        #[allow(dead_code, reason = "only looked at")]
        code: i32,
        #[allow(dead_code, reason = "only looked at")]
        message: String,
    }
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(body) else { return false };
    if envelope.jsonrpc != "2.0" || serde_json::from_slice::<serde_json::Value>(body).is_err() {
        return false;
    }
    let fits = |id: &RawValue| serde_json::from_str::<Id>(id.get()).is_ok();
    let is_failure = |error: &RawValue| serde_json::from_str::<Failure>(error.get()).is_ok();
    match (envelope.method, envelope.id) {
        (Some(_), id) => id.is_none_or(fits),
        (None, Some(id)) => fits(id) && envelope.error.is_none_or(is_failure),
        (None, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LONGEST: usize = 64;

    fn passed(input: &[u8]) -> (Result<(), NotLsp>, Vec<u8>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let mut output = Vec::new();
        let ended = runtime.block_on(pass(input, &mut output, LONGEST));
        (ended, output)
    }

    fn frame(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    const GOOD: &str = r#"{"jsonrpc":"2.0","method":"a"}"#;

    #[test]
    fn what_is_a_message_passes_and_what_is_not_does_not() {
        let long = format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, "a".repeat(LONGEST));
        for bad in ["", "{}", "nothing", "\u{feff}{}", &long] {
            let input = [frame(bad), frame(GOOD)].concat();
            assert_eq!(passed(input.as_bytes()), (Ok(()), frame(GOOD).into_bytes()), "{bad}");
        }
    }

    #[test]
    fn what_cannot_be_cut_into_messages_is_said() {
        let cases = [
            ("hello\n".to_owned(), NotLsp::Header),
            ("\u{fffd}".repeat(5000), NotLsp::LongHeader),
            ("A: b\r\n".repeat(LINES + 1), NotLsp::ManyHeaders),
            ("A: b\r\n\r\n".to_owned(), NotLsp::NoLength),
            ("Content-Length: x\r\n\r\n".to_owned(), NotLsp::NoLength),
        ];
        for (input, why) in cases {
            assert_eq!(passed(input.as_bytes()), (Err(why), Vec::new()));
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_only_whole_messages_pass(
            pieces in prop::collection::vec(
                prop_oneof![
                    Just(frame(GOOD).into_bytes()),
                    Just(frame(r#"{"jsonrpc":"2.0","id":1,"result":null}"#).into_bytes()),
                    Just(b"Content-Length: ".to_vec()),
                    Just(b"\r\n\r\n".to_vec()),
                    "[0-9]{1,3}\r\n\r\n[{}\":,a-z0-9]{0,80}".prop_map(String::into_bytes),
                    prop::collection::vec(any::<u8>(), 0..40),
                ],
                0..12,
            )
        ) {
            let (_, output) = passed(&pieces.concat());
            let mut rest = &output[..];
            while !rest.is_empty() {
                let text = std::str::from_utf8(rest).expect("messages are UTF-8");
                let (head, _) = text.split_once("\r\n\r\n").expect("a header has an end");
                let length: usize = head.strip_prefix("Content-Length: ").expect("a header").parse().expect("a length");
                prop_assert!(length <= LONGEST);
                let body = &rest[head.len() + 4..head.len() + 4 + length];
                prop_assert!(is_message(body));
                rest = &rest[head.len() + 4 + length..];
            }
        }
    }
}
