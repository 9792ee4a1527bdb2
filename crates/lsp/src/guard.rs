//! What comes from the editor, cut into messages and looked at before the library sees it: nothing longer than a bound is
//! held, and in the place of what is not a message goes one that says so.

use nudge_wire::ErrorCode;
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
};

use crate::skim::{LspSkim, LspSkimmer};

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

/// Passes messages on until the input ends. In the place of what is too long or cannot be read goes a message that says
/// so, see `UNREAD`: whoever asked is answered, and a document whose change is lost is known to be out of step. Answers
/// to requests with ids that the library cannot write go `back` to the editor.
pub async fn pass(
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    mut back: impl AsyncWrite + Unpin,
    longest: usize,
) -> Result<(), NotLsp> {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    let mut body = Vec::new();
    while let Some(length) = header(&mut input).await? {
        body.clear();
        let passed = if length > longest as u64 {
            tracing::warn!(length, longest, "a message of the editor is too long and was dropped");
            let Some(skimmed) = skip(&mut input, length).await else { return Ok(()) };
            stand_in(&skimmed, true, TOO_LONG)
        } else if length == 0 {
            continue;
        } else {
            // Grows as bytes arrive: a length is easily claimed.
            match (&mut input).take(length).read_to_end(&mut body).await {
                Ok(read) if read as u64 == length => {}
                _ => return Ok(()),
            }
            readable(&mut body)
        };
        let (on, answer) = match &passed {
            Some(Instead::Message(message)) => (Some(message), None),
            Some(Instead::Answer(answer)) => (None, Some(answer)),
            None => (None, None),
        };
        for message in [Some(&body), on].into_iter().flatten().filter(|message| !message.is_empty()) {
            if write(&mut output, message).await.is_err() {
                // Nobody is there to take it.
                return Ok(());
            }
        }
        if let Some(answer) = answer
            && write(&mut back, answer).await.is_err()
        {
            return Ok(());
        }
        body.shrink_to(64 * 1024);
    }
    Ok(())
}

/// Writes a message as LSP does.
async fn write(output: &mut (impl AsyncWrite + Unpin), message: &[u8]) -> std::io::Result<()> {
    output.write_all(format!("Content-Length: {}\r\n\r\n", message.len()).as_bytes()).await?;
    output.write_all(message).await
}

/// What comes after a message or in its place.
#[derive(Debug, PartialEq, Eq)]
enum Instead {
    /// A message for the library.
    Message(Vec<u8>),
    /// An answer for the editor, under an id that the library cannot read.
    Answer(Vec<u8>),
}

/// The method of what stands for a message that could not be read: a request, to be answered with an error, or a
/// notification that says which document is out of step, or that all may be.
pub(crate) const UNREAD: &str = "nudge/unread";
/// The method of a notification that follows a message in which halves of surrogate pairs were replaced.
pub(crate) const MENDED: &str = "nudge/mended";

const TOO_LONG: &str = "the message is too long; see --max-message";
const NOT_JSON_RPC: &str = "expected a JSON-RPC message of LSP, and got something that cannot be read as one";

/// Leaves a message if it can be read, and nothing if not; gives what goes after it or in its place.
fn readable(body: &mut Vec<u8>) -> Option<Instead> {
    if is_message(body) {
        return None;
    }
    let skimmed = LspSkimmer::of(body);
    if replace_lone_surrogates(body) && is_message(body) {
        tracing::warn!("the editor sent half a surrogate pair; U+FFFD stands in its place");
        let mended = || Instead::Message(notification(MENDED, skimmed.uri.as_deref(), ""));
        return about_document(&skimmed).then(mended);
    }
    tracing::warn!(length = body.len(), "the editor sent something that is not a JSON-RPC message");
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok() && body.starts_with(b"{");
    body.clear();
    stand_in(&skimmed, !is_json, NOT_JSON_RPC)
}

/// What goes in the place of a message that could not be read; `None` if nobody misses it. `may_be_more` says that its
/// members may be others than those found.
fn stand_in(skimmed: &LspSkim, may_be_more: bool, why: &str) -> Option<Instead> {
    let fits = |id: &String| serde_json::from_str::<Id>(id).is_ok();
    // An id of `null` is that of a notification.
    let id = skimmed.id.as_ref().filter(|id| *id != "null");
    let message = match (&skimmed.method, id) {
        (None, Some(id)) if skimmed.has_outcome && fits(id) => Some(message(id, "error", &failure(why))),
        (None, Some(_)) if skimmed.has_outcome => None,
        (_, Some(id)) if !fits(id) => return Some(Instead::Answer(answer(id, why))),
        (_, Some(id)) => Some(message(id, "method", &format!(r#""{UNREAD}","params":{}"#, failure(why)))),
        (Some(_), None) if !about_document(skimmed) => None,
        (None, None) if !may_be_more => None,
        _ => Some(notification(UNREAD, skimmed.uri.as_deref(), why)),
    };
    message.map(Instead::Message)
}

/// An error under an id as it came, or under none if it is nothing that an id can be.
fn answer(id: &str, why: &str) -> Vec<u8> {
    let is_number = serde_json::from_str::<&RawValue>(id).is_ok()
        && id.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    message(if is_number { id } else { "null" }, "error", &failure(why))
}

/// Whether a message changes the text of a document.
fn about_document(skimmed: &LspSkim) -> bool {
    skimmed.method.as_deref().is_some_and(changes_text)
}

/// Whether a notification of this method changes what the text of a document is.
pub(crate) fn changes_text(method: &str) -> bool {
    matches!(method, "textDocument/didOpen" | "textDocument/didChange" | "textDocument/didClose")
}

fn message(id: &str, member: &str, value: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"{member}":{value}}}"#).into_bytes()
}

fn failure(why: &str) -> String {
    json!({ "code": ErrorCode::INVALID_REQUEST.0, "message": why }).to_string()
}

fn notification(method: &str, uri: Option<&str>, why: &str) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "method": method, "params": { "uri": uri, "why": why } })
        .to_string()
        .into_bytes()
}

/// Puts U+FFFD in the place of each half of a surrogate pair that stands alone, which JavaScript writes and no UTF-8 can
/// hold. Both take one unit of UTF-16. Whether there were any.
fn replace_lone_surrogates(body: &mut [u8]) -> bool {
    let mut has_replaced = false;
    let mut at = 0;
    while let Some(escape) = body[at..].iter().position(|byte| *byte == b'\\') {
        at += escape;
        match (surrogate(&body[at..]), body.get(at + 6..).and_then(surrogate)) {
            (Some(Half::First), Some(Half::Second)) => at += 12,
            (Some(_), _) => {
                body[at + 2..at + 6].copy_from_slice(b"fffd");
                has_replaced = true;
                at += 6;
            }
            (None, _) => at = (at + 2).min(body.len()),
        }
    }
    has_replaced
}

enum Half {
    First,
    Second,
}

/// Which half of a surrogate pair an escape stands for, if it does.
fn surrogate(escape: &[u8]) -> Option<Half> {
    let digits = str::from_utf8(escape.strip_prefix(br"\u")?.get(..4)?).ok()?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::First),
        0xdc00..=0xdfff => Some(Half::Second),
        _ => None,
    }
}

/// The length of the message that follows; `None` at the end of the input.
pub(crate) async fn header(input: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<u64>, NotLsp> {
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

/// Passes over a message without holding it; `None` if the input ends before it does.
async fn skip(input: &mut (impl AsyncBufRead + Unpin), length: u64) -> Option<LspSkim> {
    let mut skim = LspSkimmer::default();
    let mut left = length;
    while left > 0 {
        let read = input.fill_buf().await.ok().filter(|read| !read.is_empty())?;
        let part = read.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        skim.feed(&read[..part]);
        input.consume(part);
        left -= part as u64;
    }
    Some(skim.done())
}

/// An id that the library can read.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Number(#[allow(dead_code, reason = "only looked at")] i32),
    Text(#[allow(dead_code, reason = "only looked at")] String),
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

    fn passed_on(input: &[u8]) -> (Result<(), NotLsp>, Vec<u8>) {
        let (ended, output, _) = passed_and_answered(input);
        (ended, output)
    }

    fn passed_and_answered(input: &[u8]) -> (Result<(), NotLsp>, Vec<u8>, String) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (mut output, mut back) = (Vec::new(), Vec::new());
        let ended = runtime.block_on(pass(input, &mut output, &mut back, LONGEST));
        (ended, output, String::from_utf8(back).expect("answers are UTF-8"))
    }

    fn frame(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    const GOOD: &str = r#"{"jsonrpc":"2.0","method":"a"}"#;

    /// What goes on in the place of a body, without what comes after it.
    fn instead(body: &str) -> String {
        let (ended, output) = passed_on([frame(body), frame(GOOD)].concat().as_bytes());
        assert_eq!(ended, Ok(()));
        let output = String::from_utf8(output).expect("messages are UTF-8");
        let before = output.strip_suffix(&frame(GOOD)).expect("what comes after it passes").to_owned();
        before.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
    }

    #[test]
    fn what_nobody_misses_is_left_out() {
        let long = format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, "a".repeat(LONGEST));
        for bad in ["", "{}", r#"{"jsonrpc":"1.0","method":"a"}"#, &long] {
            assert_eq!(instead(bad), "", "{bad}");
        }
    }

    #[test]
    fn what_may_be_a_change_is_said_to_be_missing() {
        for bad in ["[]", "nothing", "\u{feff}{}", r#"{"jsonrpc":"#] {
            let expected = json!({ "uri": null, "why": NOT_JSON_RPC });
            let said: serde_json::Value = serde_json::from_str(&instead(bad)).expect(bad);
            assert_eq!((&said["method"], &said["params"]), (&json!(UNREAD), &expected), "{bad}");
        }
        let params = format!(r#"{{"text":"{}","textDocument":{{"uri":"a:b"}}}}"#, "x".repeat(LONGEST));
        let said = instead(&format!(r#"{{"method":"textDocument/didChange","params":{params}}}"#));
        let said: serde_json::Value = serde_json::from_str(&said).expect("it stands for it");
        assert_eq!(said["params"], json!({ "uri": "a:b", "why": TOO_LONG }));
    }

    #[test]
    fn whoever_asks_or_waits_is_answered() {
        let asked = instead(r#"{"id":"x","method":"a"}"#);
        assert!(asked.starts_with(r#"{"jsonrpc":"2.0","id":"x","method":"nudge/unread""#), "{asked}");
        let answered = instead(r#"{"id":7,"result":1e999}"#);
        assert!(answered.starts_with(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600"#), "{answered}");
    }

    #[test]
    fn an_id_that_the_library_cannot_read_is_answered_as_it_came() {
        let long = format!(r#""{}""#, "x".repeat(2 * LONGEST + 16 * 1024));
        for (id, answered) in [
            ("99999999999", "99999999999"),
            ("-778.5e3", "-778.5e3"),
            ("true", "null"),
            ("[1]", "null"),
            (r#"{"id":1}"#, "null"),
            (&*long, "null"),
        ] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"a"}}"#);
            let (ended, output, back) = passed_and_answered(frame(&body).as_bytes());
            assert_eq!((ended, output), (Ok(()), Vec::new()), "{body}");
            let expected = format!(r#"{{"jsonrpc":"2.0","id":{answered},"error":{{"code":-32600"#);
            assert!(
                back.split_once("\r\n\r\n").is_some_and(|(_, body)| body.starts_with(&expected)),
                "{back}"
            );
        }
        let (_, output, back) =
            passed_and_answered(frame(r#"{"jsonrpc":"2.0","id":1.5,"result":1}"#).as_bytes());
        assert_eq!((output, back), (Vec::new(), String::new()), "nobody waits for an answer to an answer");
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced_and_a_whole_one_is_not() {
        let check = |text: &str, expected: &str| {
            let mut body = text.as_bytes().to_vec();
            assert_eq!(replace_lone_surrogates(&mut body), text != expected, "{text}");
            assert_eq!(str::from_utf8(&body), Ok(expected));
        };
        check(r"\ud83d\ude00 \u00e9 \\ud83d \n", r"\ud83d\ude00 \u00e9 \\ud83d \n");
        check(r"a\uD83Db", r"a\ufffdb");
        check(r"\ude00\ud83d", r"\ufffd\ufffd");
        check(r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00");
        check(r"\\\ud83d\", r"\\\ufffd\");
        check(r"\ud83", r"\ud83");
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
            assert_eq!(passed_on(input.as_bytes()), (Err(why), Vec::new()));
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
            let (_, output) = passed_on(&pieces.concat());
            let mut rest = &output[..];
            while !rest.is_empty() {
                let text = std::str::from_utf8(rest).expect("messages are UTF-8");
                let (head, _) = text.split_once("\r\n\r\n").expect("a header has an end");
                let length: usize = head.strip_prefix("Content-Length: ").expect("a header").parse().expect("a length");
                let body = &rest[head.len() + 4..head.len() + 4 + length];
                let is_stand_in = str::from_utf8(body).is_ok_and(|body| body.contains(TOO_LONG) || body.contains(NOT_JSON_RPC));
                prop_assert!(length <= LONGEST || is_stand_in);
                prop_assert!(is_message(body));
                rest = &rest[head.len() + 4 + length..];
            }
        }
    }
}
