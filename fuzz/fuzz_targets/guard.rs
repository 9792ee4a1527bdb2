//! Bytes of an editor cut into the messages of LSP: the cut does not depend on how the bytes arrive and is the one the
//! documentation describes, nothing that is too long is held or passed on, only messages are, whoever asks is answered,
//! and nothing is invented.
#![no_main]

use std::{
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use libfuzzer_sys::fuzz_target;
use nudge_lsp::{
    NotLsp,
    guard::{self, LINE, LINES},
};
use serde_json::Value;
use tokio::io::{AsyncRead, ReadBuf};

/// What is read at one time where nothing long is expected.
const READ_AHEAD: usize = 64 * 1024;

/// How it ended, what was passed on, and what was answered.
type Passed = (Result<(), NotLsp>, Vec<u8>, Vec<u8>);

fuzz_target!(|stream: &[u8]| {
    // The limit and the sizes of the chunks are taken from the end of the stream, so that any text is a seed.
    let knobs: Vec<usize> = stream.iter().rev().take(8).map(|byte| usize::from(*byte)).collect();
    let knob = |at: usize| knobs.get(at).copied().unwrap_or(0);
    let lines = stream.split(|byte| *byte == b'\n').map(|line| frame(line));
    for stream in [stream, &lines.collect::<Vec<_>>().concat()] {
        for longest in [8 * knob(0), stream.len()] {
            let expected = reference(stream, longest);
            assert_eq!(pass(stream, longest, &|_| stream.len()), expected);
            assert_eq!(pass(stream, longest, &|turn| 1 + knob(turn % 8)), expected);
        }
    }
});

fn frame(body: &[u8]) -> Vec<u8> {
    [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

/// What the guard passes on of `stream`, arriving in chunks of these sizes.
fn pass(stream: &[u8], longest: usize, size: &dyn Fn(usize) -> usize) -> Passed {
    let (mut output, mut back) = (Vec::new(), Vec::new());
    let input = Chunks { rest: stream, turn: 0, most: longest.max(READ_AHEAD), size };
    let ended = {
        let mut passing = pin!(guard::pass(input, &mut output, &mut back, longest));
        loop {
            // The input is ready whenever it is asked again.
            if let Poll::Ready(ended) = passing.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                break ended;
            }
        }
    };
    (ended, output, back)
}

/// An input that comes in pieces, and not always at once.
struct Chunks<'a> {
    rest: &'a [u8],
    turn: usize,
    /// The most that may be asked for at one time.
    most: usize,
    size: &'a dyn Fn(usize) -> usize,
}

impl AsyncRead for Chunks<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        assert!(buffer.remaining() <= self.most, "room for {} bytes, not {}", self.most, buffer.remaining());
        self.turn += 1;
        if self.turn % 5 == 0 {
            return Poll::Pending;
        }
        let size = (self.size)(self.turn).min(buffer.remaining()).min(self.rest.len());
        let (chunk, rest) = self.rest.split_at(size);
        buffer.put_slice(chunk);
        self.rest = rest;
        Poll::Ready(Ok(()))
    }
}

/// The same by the book: headers line by line, then as many bytes as they say, and each message as if it came alone.
fn reference(stream: &[u8], longest: usize) -> Passed {
    let mut rest = stream;
    let (mut output, mut back) = (Vec::new(), Vec::new());
    loop {
        let length = match header(&mut rest) {
            Ok(Some(length)) => length,
            Ok(None) => return (Ok(()), output, back),
            Err(why) => return (Err(why), output, back),
        };
        let Some((body, after)) = usize::try_from(length).ok().and_then(|at| rest.split_at_checked(at))
        else {
            return (Ok(()), output, back);
        };
        rest = after;
        let alone = frame(body);
        let (ended, passed, answered) = pass(&alone, longest, &|_| alone.len());
        assert_eq!(ended, Ok(()));
        check(body, longest, &bodies(&passed), &bodies(&answered));
        output.extend(passed);
        back.extend(answered);
    }
}

/// The bodies of messages that were written.
fn bodies(mut rest: &[u8]) -> Vec<&[u8]> {
    let mut bodies = Vec::new();
    while let Ok(Some(length)) = header(&mut rest) {
        let (body, after) = rest.split_at(usize::try_from(length).expect("a length"));
        bodies.push(body);
        rest = after;
    }
    assert!(rest.is_empty(), "whole messages");
    bodies
}

/// Of one message: what was passed on and answered follows from it.
fn check(body: &[u8], longest: usize, passed: &[&[u8]], answered: &[&[u8]]) {
    for message in passed {
        check_message(message);
        let is_mended = message.len() == body.len() && body.windows(2).any(|pair| pair == br"\u");
        let is_itself = body.len() <= longest && (*message == body || is_mended);
        assert!(is_itself || stands_for(body, message), "it was passed on or stands for what came");
    }
    for answer in answered {
        let answer: Value = serde_json::from_slice(answer).expect("an answer is JSON");
        assert!(answer["error"]["code"].is_i64() && (answer["id"].is_null() || answer["id"].is_number()));
    }
    match request(body) {
        Some(id) if is_usable(&id) => {
            let asks = |message: &&&[u8]| {
                let message: Value = serde_json::from_slice(message).expect("a message is JSON");
                message["id"] == id && message["method"].is_string()
            };
            assert_eq!((passed.iter().filter(asks).count(), answered.len()), (1, 0));
        }
        Some(_) => assert_eq!((passed.len(), answered.len()), (0, 1)),
        None => assert!(passed.len() + answered.len() <= 2),
    }
    assert!(!body.is_empty() || (passed.is_empty() && answered.is_empty()), "nothing comes of nothing");
}

/// The id of a request about which there are no two opinions: nothing is escaped, written twice or long.
fn request(body: &[u8]) -> Option<Value> {
    let count = |name: &[u8]| body.windows(name.len()).filter(|part| *part == name).count();
    if body.contains(&b'\\') || body.len() > 4096 || count(b"\"id\"") != 1 || count(b"\"method\"") != 1 {
        return None;
    }
    let message: Value = serde_json::from_slice(body).ok()?;
    let id = message.get("id").filter(|id| !id.is_null())?;
    message.get("method")?.is_string().then(|| id.clone())
}

fn is_usable(id: &Value) -> bool {
    id.is_string() || id.as_i64().is_some_and(|id| i32::try_from(id).is_ok())
}

/// Whether a message says that another could not be read, or not as it came.
fn stands_for(body: &[u8], message: &[u8]) -> bool {
    let message: Value = serde_json::from_slice(message).expect("a message is JSON");
    let is_own = message["method"].as_str().is_some_and(|method| method.starts_with("nudge/"));
    let id = message["id"].to_string();
    let has_id = |id: &str| body.windows(id.len()).any(|part| part == id.as_bytes());
    let is_from_it = message["id"].is_null() || body.contains(&b'\\') || has_id(&id);
    is_from_it && (is_own || message["error"].is_object())
}

fn header(rest: &mut &[u8]) -> Result<Option<u64>, NotLsp> {
    let mut headers: Vec<(String, String)> = Vec::new();
    for number in 0..LINES {
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            return if rest.len() as u64 >= LINE { Err(NotLsp::LongHeader) } else { Ok(None) };
        };
        if end as u64 >= LINE {
            return Err(NotLsp::LongHeader);
        }
        let line = str::from_utf8(&rest[..end]).map_err(|_| NotLsp::Header)?.trim();
        *rest = &rest[end + 1..];
        match line.split_once(':') {
            Some((name, value)) => headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned())),
            None if !line.is_empty() => return Err(NotLsp::Header),
            None if number == 0 => {}
            None => break,
        }
        if let Some((name, value)) = headers.last()
            && name == "content-length"
            && value.parse::<u64>().is_err()
        {
            return Err(NotLsp::NoLength);
        }
        if number + 1 == LINES {
            return Err(NotLsp::ManyHeaders);
        }
    }
    let length = headers.iter().rev().find(|(name, _)| name == "content-length");
    length.and_then(|(_, value)| value.parse().ok()).map(Some).ok_or(NotLsp::NoLength)
}

/// What is passed on is a request, a notification or a response.
fn check_message(body: &[u8]) {
    let message: Value = serde_json::from_slice(body).expect("a message is JSON");
    assert_eq!(message["jsonrpc"], "2.0");
    let id = &message["id"];
    assert!(id.is_null() || is_usable(id));
    assert!(message["method"].is_string() || !id.is_null());
}
