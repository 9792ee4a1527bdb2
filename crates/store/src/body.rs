//! How entries are written as bytes: each says how long it is, so that many can be read as one value.
//!
//! A database hands over few large values much faster than many small ones. Nothing is looked up by what is in here;
//! what is will get a column of its own.

use bytes::{Buf as _, BufMut as _, Bytes};

use crate::{FrameDialect, TranscriptEntry};

/// The first byte of an entry, for formats to come.
const FORMAT: u8 = 1;

const IS_V2: u8 = 1;
const HAS_MESSAGE: u8 = 2;
const HAS_TOOL_CALL: u8 = 4;
const HAS_ORIGIN: u8 = 8;

/// The bytes do not hold entries.
#[derive(Debug, thiserror::Error)]
#[error("expected an entry of a transcript, found other bytes; the file is damaged or of a newer version")]
pub(crate) struct NotAnEntry;

/// An entry as bytes.
pub(crate) fn pack(entry: &TranscriptEntry) -> Vec<u8> {
    let texts = [Some(&entry.kind), entry.message_id.as_ref(), entry.tool_call_id.as_ref()];
    let length = texts.iter().flatten().map(|text| text.len() + 4).sum::<usize>();
    let mut body = Vec::with_capacity(30 + length + entry.frame.len());
    body.put_u8(FORMAT);
    body.put_u8(flags(entry));
    body.put_u64(entry.seq);
    body.put_u64(entry.at);
    if let Some(origin) = entry.origin {
        body.put_u64(origin);
    }
    for text in texts.into_iter().flatten() {
        put(&mut body, text.as_bytes());
    }
    put(&mut body, &entry.frame);
    body
}

/// The entries that were packed one behind the other. Their frames share the memory of `bodies`.
pub(crate) fn unpack(mut bodies: Bytes) -> Result<Vec<TranscriptEntry>, NotAnEntry> {
    let mut entries = Vec::new();
    while bodies.has_remaining() {
        entries.push(next(&mut bodies).ok_or(NotAnEntry)?);
    }
    Ok(entries)
}

fn flags(entry: &TranscriptEntry) -> u8 {
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    flag(entry.dialect == FrameDialect::V2, IS_V2)
        | flag(entry.message_id.is_some(), HAS_MESSAGE)
        | flag(entry.tool_call_id.is_some(), HAS_TOOL_CALL)
        | flag(entry.origin.is_some(), HAS_ORIGIN)
}

fn put(body: &mut Vec<u8>, bytes: &[u8]) {
    body.put_u32(u32::try_from(bytes.len()).expect("the queue takes no batch of this size"));
    body.put_slice(bytes);
}

fn next(bodies: &mut Bytes) -> Option<TranscriptEntry> {
    if bodies.try_get_u8().ok()? != FORMAT {
        return None;
    }
    let flags = bodies.try_get_u8().ok()?;
    let has = |flag: u8| flags & flag != 0;
    Some(TranscriptEntry {
        seq: bodies.try_get_u64().ok()?,
        at: bodies.try_get_u64().ok()?,
        dialect: if has(IS_V2) { FrameDialect::V2 } else { FrameDialect::V1 },
        origin: if has(HAS_ORIGIN) { Some(bodies.try_get_u64().ok()?) } else { None },
        kind: text(bodies)?,
        message_id: if has(HAS_MESSAGE) { Some(text(bodies)?) } else { None },
        tool_call_id: if has(HAS_TOOL_CALL) { Some(text(bodies)?) } else { None },
        frame: take(bodies)?,
    })
}

fn text(bodies: &mut Bytes) -> Option<String> {
    String::from_utf8(take(bodies)?.into()).ok()
}

fn take(bodies: &mut Bytes) -> Option<Bytes> {
    let length = bodies.try_get_u32().ok()? as usize;
    (length <= bodies.len()).then(|| bodies.split_to(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<TranscriptEntry> {
        let plain = TranscriptEntry {
            seq: 0,
            at: 0,
            dialect: FrameDialect::V1,
            kind: String::new(),
            message_id: None,
            tool_call_id: None,
            origin: None,
            frame: Bytes::new(),
        };
        let full = TranscriptEntry {
            seq: u64::MAX,
            at: 7,
            dialect: FrameDialect::V2,
            kind: "käse".into(),
            message_id: Some(String::new()),
            tool_call_id: Some("t".into()),
            origin: Some(u64::MAX),
            frame: vec![0, 255, 1].into(),
        };
        let message = TranscriptEntry { message_id: Some("m".into()), ..plain.clone() };
        let tool = TranscriptEntry { tool_call_id: Some("t".into()), ..plain.clone() };
        vec![plain, full, message, tool]
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let bodies: Vec<u8> = entries().iter().flat_map(pack).collect();
        assert_eq!(unpack(bodies.into()).expect("entries"), entries());
    }

    #[test]
    fn what_is_cut_is_not_an_entry() {
        let body = pack(&entries()[1]);
        for end in 1..body.len() {
            assert!(unpack(Bytes::copy_from_slice(&body[..end])).is_err(), "cut at {end}");
        }
    }
}
