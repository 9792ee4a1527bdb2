//! The protocol versions Nudge speaks and how one is agreed on.

use serde_json::Value;

/// A version of the Agent Client Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// The stable version.
    V1,
    /// The draft.
    V2,
}

impl Version {
    /// The newest version Nudge speaks; the answer to a client that asks for one it does not know.
    pub const LATEST: Self = Self::V2;

    /// The version to answer an `initialize` with that asked for `requested`: the same if it is known, the latest
    /// otherwise, also when `requested` is missing or is not a number (`"2025-11-25"` has been seen).
    pub fn negotiate(requested: Option<&Value>) -> Self {
        match requested.and_then(Value::as_u64) {
            Some(1) => Self::V1,
            _ => Self::LATEST,
        }
    }

    /// The number on the wire.
    pub const fn number(self) -> u16 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn known_versions_are_kept_and_others_get_the_latest() {
        let cases = [
            (Some(json!(1)), Version::V1),
            (Some(json!(2)), Version::V2),
            (Some(json!(3)), Version::V2),
            (Some(json!(0)), Version::V2),
            (Some(json!(-1)), Version::V2),
            (Some(json!(1.5)), Version::V2),
            (Some(json!("2025-11-25")), Version::V2),
            (Some(json!(null)), Version::V2),
            (None, Version::V2),
        ];
        for (requested, expected) in cases {
            assert_eq!(Version::negotiate(requested.as_ref()), expected, "{requested:?}");
        }
    }
}
