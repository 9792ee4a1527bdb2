//! Which version of the protocol a connection speaks: the one that the answer to `initialize` says, whoever gave it.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use nudge_wire::{Message, MessageBody, RawJson, Version, message::ParsedFrame};

/// Whether the answer to this request says the version.
pub(crate) fn is_initialize(method: &str) -> bool {
    matches!(method, "initialize" | "proxy/initialize")
}

/// The version that the params or the result of `initialize` say, whether it is known or not.
pub(crate) fn said_version(said: &RawJson) -> Option<u64> {
    said.get(&["protocolVersion"])?.to().ok()
}

/// The version of one connection.
#[derive(Default)]
pub(crate) struct AgreedVersion {
    /// Its number; 0 while there is none.
    number: AtomicU8,
    /// One more than the id under which this side has sent `initialize`.
    asked: AtomicU64,
}

impl AgreedVersion {
    /// The version, once `initialize` is answered.
    pub(crate) fn get(&self) -> Option<Version> {
        match self.number.load(Ordering::Acquire) {
            1 => Some(Version::V1),
            2 => Some(Version::V2),
            _ => None,
        }
    }

    /// This side sends `initialize` under `id`.
    pub(crate) fn asked(&self, id: u64) {
        self.asked.store(id + 1, Ordering::Release);
    }

    /// A result has come from the other side.
    pub(crate) fn answered(&self, id: u64, result: &RawJson) {
        if self.asked.load(Ordering::Acquire) == id + 1 {
            self.set(result);
        }
    }

    /// This side answers `initialize` with this frame.
    pub(crate) fn answer(&self, frame: &[u8]) {
        if let ParsedFrame::Single(Ok(Message {
            body: MessageBody::Response { outcome: Ok(result), .. },
            ..
        })) = ParsedFrame::from_bytes(frame.to_vec().into())
        {
            self.set(&result);
        }
    }

    fn set(&self, result: &RawJson) {
        if let Some(number @ 1..=2) = said_version(result) {
            self.number.store(number.to_le_bytes()[0], Ordering::Release);
        }
    }
}
