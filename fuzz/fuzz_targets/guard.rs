//! Bytes of an editor cut into the messages of LSP: the cut does not depend on how the bytes arrive and is the one the
//! documentation describes, and nothing that is too long is held or passed on; only messages are.
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
use tokio::io::{AsyncRead, ReadBuf};

/// What is read at one time where nothing long is expected.
const READ_AHEAD: usize = 64 * 1024;

/// How it ended, and what was passed on.
type Passed = (Result<(), NotLsp>, Vec<u8>);

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
    let mut output = Vec::new();
    let input = Chunks { rest: stream, turn: 0, most: longest.max(READ_AHEAD), size };
    let ended = {
        let mut passing = pin!(guard::pass(input, &mut output, longest));
        loop {
            // The input is ready whenever it is asked again.
            if let Poll::Ready(ended) = passing.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                break ended;
            }
        }
    };
    (ended, output)
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

/// The same by the book: headers line by line, then as many bytes as they say.
fn reference(stream: &[u8], longest: usize) -> Passed {
    let mut rest = stream;
    let mut output = Vec::new();
    loop {
        let length = match header(&mut rest) {
            Ok(Some(length)) => length,
            Ok(None) => return (Ok(()), output),
            Err(why) => return (Err(why), output),
        };
        let Some((body, after)) = usize::try_from(length).ok().and_then(|at| rest.split_at_checked(at))
        else {
            return (Ok(()), output);
        };
        rest = after;
        for message in guard::passed(body, longest) {
            check_message(&message);
            output.extend(frame(&message));
        }
    }
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
    let message: serde_json::Value = serde_json::from_slice(body).expect("a message is JSON");
    assert_eq!(message["jsonrpc"], "2.0");
    let id = &message["id"];
    assert!(id.is_null() || id.is_string() || id.as_i64().is_some_and(|id| i32::try_from(id).is_ok()));
    assert!(message["method"].is_string() || !id.is_null());
}
