//! How a body in Amazon's binary event stream is cut into messages.
//!
//! A message is its length, the length of its headers, a checksum of both, the headers, a payload, and a checksum of all.

use super::{StreamFault, framing::MOST_BYTES};

/// Both lengths and their checksum.
const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;

/// A message of an event stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventStreamMessage<'b> {
    headers: &'b [u8],
    pub(crate) payload: &'b [u8],
}

impl<'b> EventStreamMessage<'b> {
    /// The text of a header; none if it is not there or no text.
    pub(crate) fn header(&self, name: &str) -> Option<&'b str> {
        let mut rest = self.headers;
        while let Some((header, later)) = next_header(rest) {
            if header.name == name.as_bytes() {
                return header.text.and_then(|text| std::str::from_utf8(text).ok());
            }
            rest = later;
        }
        None
    }
}

struct EventStreamHeader<'b> {
    name: &'b [u8],
    /// Its value, if that is text.
    text: Option<&'b [u8]>,
}

/// The first header and what follows it; none where there is no whole one.
fn next_header(bytes: &[u8]) -> Option<(EventStreamHeader<'_>, &[u8])> {
    const TEXT: u8 = 7;
    let (length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*length))?;
    let (kind, rest) = rest.split_first()?;
    let (size, rest) = match *kind {
        0 | 1 => (0, rest),
        2 => (1, rest),
        3 => (2, rest),
        4 => (4, rest),
        5 | 8 => (8, rest),
        6 | TEXT => {
            let (size, rest) = rest.split_first_chunk()?;
            (usize::from(u16::from_be_bytes(*size)), rest)
        }
        9 => (16, rest),
        _ => return None,
    };
    let (value, rest) = rest.split_at_checked(size)?;
    Some((EventStreamHeader { name, text: (*kind == TEXT).then_some(value) }, rest))
}

/// Cuts a body into the messages of an event stream.
#[derive(Debug, Default)]
pub(crate) struct EventStreamFraming {
    rest: Vec<u8>,
}

impl EventStreamFraming {
    /// Takes bytes in and gives each whole message to `take`.
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        mut take: impl FnMut(EventStreamMessage<'_>) -> Result<(), StreamFault>,
    ) -> Result<(), StreamFault> {
        self.rest.extend_from_slice(bytes);
        let mut start = 0;
        while let Some((message, length)) = first_message(&self.rest[start..])? {
            take(message)?;
            start += length;
        }
        self.rest.drain(..start);
        Ok(())
    }
}

/// The first message and its length; none if it is not whole yet.
fn first_message(bytes: &[u8]) -> Result<Option<(EventStreamMessage<'_>, usize)>, StreamFault> {
    const DAMAGED: StreamFault = StreamFault::Malformed("messages with a right checksum");
    let Some((prelude, _)) = bytes.split_first_chunk::<PRELUDE>() else { return Ok(None) };
    if crc32fast::hash(&prelude[..8]) != number(&prelude[8..]) {
        return Err(DAMAGED);
    }
    let (length, headers) = (size(&prelude[..4]), size(&prelude[4..8]));
    let is_possible = length >= PRELUDE + CHECKSUM && headers <= length - PRELUDE - CHECKSUM;
    if !is_possible || length > MOST_BYTES {
        return Err(StreamFault::Malformed("messages of a reasonable length"));
    }
    let Some(message) = bytes.get(..length) else { return Ok(None) };
    let (content, checksum) = message.split_at(length - CHECKSUM);
    if crc32fast::hash(content) != number(checksum) {
        return Err(DAMAGED);
    }
    let (headers, payload) = content[PRELUDE..].split_at(headers);
    Ok(Some((EventStreamMessage { headers, payload }, length)))
}

/// A number of four bytes, the largest first.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn size(bytes: &[u8]) -> usize {
    usize::try_from(number(bytes)).unwrap_or(usize::MAX)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A message with headers that are text.
    pub(crate) fn encoded(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
        let mut written = Vec::new();
        for (name, value) in headers {
            written.push(u8::try_from(name.len()).unwrap());
            written.extend_from_slice(name.as_bytes());
            written.push(7);
            written.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
            written.extend_from_slice(value.as_bytes());
        }
        framed(&written, payload)
    }

    fn framed(headers: &[u8], payload: &[u8]) -> Vec<u8> {
        let length = PRELUDE + headers.len() + payload.len() + CHECKSUM;
        let mut message = u32::try_from(length).unwrap().to_be_bytes().to_vec();
        message.extend_from_slice(&u32::try_from(headers.len()).unwrap().to_be_bytes());
        message.extend_from_slice(&crc32fast::hash(&message).to_be_bytes());
        message.extend_from_slice(headers);
        message.extend_from_slice(payload);
        message.extend_from_slice(&crc32fast::hash(&message).to_be_bytes());
        message
    }

    fn messages(pieces: &[&[u8]]) -> Result<Vec<String>, StreamFault> {
        let mut framing = EventStreamFraming::default();
        let mut told = Vec::new();
        for piece in pieces {
            framing.read(piece, |message| {
                let kind = message.header(":event-type").unwrap_or("none");
                told.push(format!("{kind} {}", String::from_utf8_lossy(message.payload)));
                Ok(())
            })?;
        }
        Ok(told)
    }

    #[test]
    fn messages_are_the_same_however_the_body_is_cut() {
        let mut body = encoded(&[(":message-type", "event"), (":event-type", "a")], b"{}");
        body.extend(framed(&[], b""));
        // A number, a truth, an instant and bytes stand before the text.
        let mixed =
            b"\x01n\x04\0\0\0\x07\x01t\x00\x01i\x080123456\x37\x01b\x06\0\x02xy\x0b:event-type\x07\0\x01c";
        body.extend(framed(mixed, b"12"));
        let whole = messages(&[&body]).unwrap();
        assert_eq!(whole, ["a {}", "none ", "c 12"]);
        for cut in 0..body.len() {
            assert_eq!(messages(&[&body[..cut], &body[cut..]]).unwrap(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn every_wrong_byte_is_noticed() {
        let body = encoded(&[(":event-type", "a")], b"{\"x\":1}");
        for at in 0..body.len() {
            let mut wrong = body.clone();
            wrong[at] ^= 0x20;
            assert!(messages(&[&wrong]).is_err(), "byte {at}");
        }
    }

    #[test]
    fn what_is_too_long_or_impossible_is_given_up() {
        for (length, headers) in [(u32::MAX, 0), (32 * 1024 * 1024, 0), (15, 0), (100, 90)] {
            let mut prelude = [length.to_be_bytes(), u32::to_be_bytes(headers)].concat();
            prelude.extend_from_slice(&crc32fast::hash(&prelude).to_be_bytes());
            assert!(messages(&[&prelude]).is_err(), "{length} {headers}");
        }
    }
}
