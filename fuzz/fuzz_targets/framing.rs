//! Bytes cut into lines: the cut does not depend on how the bytes arrive, and is the one the documentation describes.
#![no_main]

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use nudge_wire::{
    MessageBody,
    frame::{FramePiece, LineFramer, SkimmedFrame},
    message::ParsedFrame,
};

fuzz_target!(|stream: &[u8]| {
    // The limit and the sizes of the chunks are taken from the end of the stream, so that any text is a seed.
    let knob = |at: usize| stream.iter().rev().nth(at).map_or(0, |byte| usize::from(*byte));
    for max in [knob(0), 8 * knob(1), stream.len()] {
        let pieces = cut(stream, max, |_| stream.len());
        assert_eq!(pieces.iter().map(describe).collect::<Vec<_>>(), reference(stream, max));
        check_dropped(stream, max, &pieces);
        assert_eq!(cut(stream, max, |turn| 1 + knob(turn % 8)), pieces);
        assert_eq!(cut(stream, max, |turn| 1 + turn % 3), pieces);
    }
});

/// The pieces of `stream`, arriving in chunks of these sizes.
fn cut(stream: &[u8], max: usize, size: impl Fn(usize) -> usize) -> Vec<FramePiece> {
    let mut framer = LineFramer::new(max);
    let mut buffer = BytesMut::new();
    let mut pieces = Vec::new();
    let mut rest = stream;
    for turn in 0.. {
        let (chunk, tail) = rest.split_at(size(turn).min(rest.len()));
        rest = tail;
        buffer.extend_from_slice(chunk);
        while let Some(piece) = framer.next(&mut buffer) {
            pieces.push(piece);
        }
        assert!(buffer.len() <= max, "{} bytes are kept, the limit is {max}", buffer.len());
        if rest.is_empty() {
            break;
        }
    }
    pieces.extend(framer.finish(&mut buffer));
    assert!(buffer.is_empty(), "nothing is left at the end");
    pieces
}

/// What a piece says, without what is told about a dropped line.
#[derive(Debug, PartialEq)]
enum Cut {
    Line(Vec<u8>),
    Dropped(usize),
}

fn describe(piece: &FramePiece) -> Cut {
    match piece {
        FramePiece::Line(line) => Cut::Line(line.to_vec()),
        FramePiece::TooLong(skimmed) => Cut::Dropped(skimmed.length),
    }
}

/// The same by the book: split, measure, trim.
fn reference(stream: &[u8], max: usize) -> Vec<Cut> {
    let cut = |line: &[u8]| {
        if line.len() > max {
            return Some(Cut::Dropped(line.len()));
        }
        let line = trimmed(line);
        (!line.trim_ascii().is_empty()).then(|| Cut::Line(line.to_vec()))
    };
    stream.split(|byte| *byte == b'\n').filter_map(cut).collect()
}

fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// What is said about a dropped line is what the parser would have said, had it been kept.
fn check_dropped(stream: &[u8], max: usize, pieces: &[FramePiece]) {
    let dropped = pieces.iter().filter_map(|piece| match piece {
        FramePiece::TooLong(skimmed) => Some(skimmed),
        FramePiece::Line(_) => None,
    });
    let lines = stream.split(|byte| *byte == b'\n').filter(|line| line.len() > max);
    for (line, skimmed) in lines.zip(dropped) {
        // The names of members are compared as they are written, and an id is kept up to a length.
        let is_plain = !line.contains(&b'\\') && line.len() <= 1024;
        if let ParsedFrame::Single(Ok(message)) = ParsedFrame::from_bytes(trimmed(line).to_vec().into())
            && is_plain
        {
            let (id, has_method, is_response) = match message.body {
                MessageBody::Request { id, .. } => (Some(id), true, false),
                MessageBody::Notification { .. } => (None, true, false),
                MessageBody::Response { id, .. } => (Some(id), false, true),
            };
            assert_eq!(*skimmed, SkimmedFrame { length: line.len(), id, is_response, has_method });
        }
    }
}
