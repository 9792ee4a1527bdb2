//! Results and errors as each version writes them, and the checks on what users say.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

use nudge_bridge::IndexedUpdate;
use nudge_mailbox::DeliveryMode;
use nudge_session::own_updates;
use nudge_wire::{
    Error, RawJson, Version, acp,
    error::expectation,
    inject::{self, ErrorReason},
};
use serde::Serialize;
use serde_json::json;

/// JSON of plain data.
pub(crate) fn raw<T: Serialize + ?Sized>(value: &T) -> RawJson {
    RawJson::of(value).expect("plain data with string keys is JSON")
}

pub(crate) fn empty() -> RawJson {
    raw(&json!({}))
}

/// The same params with this session named in them.
pub(crate) fn for_session(params: &RawJson, session: &str) -> RawJson {
    let session = raw(session);
    if params.get(&["sessionId"]).is_some_and(|named| named == session) {
        return params.clone();
    }
    params.with(&["sessionId"], &session).unwrap_or_else(|_| params.clone())
}

/// The same params without this member; what the others say stays as it came.
pub(crate) fn without(params: &RawJson, name: &str) -> RawJson {
    let Ok(mut members) = params.to::<BTreeMap<String, RawJson>>() else { return params.clone() };
    if members.remove(name).is_none() {
        return params.clone();
    }
    let members: Vec<_> = members.iter().map(|(name, value)| (&**name, value)).collect();
    RawJson::object(&members)
}

/// Whether a message says something, in content that was offered; gives it as one array.
pub(crate) fn check_content(
    version: Version,
    content: &[RawJson],
    takes: impl Fn(&str) -> bool,
) -> Result<RawJson, Error> {
    if content.is_empty() {
        return Err(ErrorReason::EmptyContent.error(None));
    }
    for block in content {
        let kind = block.get(&["type"]).and_then(|kind| kind.to::<String>().ok());
        match kind.as_deref() {
            Some(kind) if takes(kind) => {}
            Some(_) => return Err(ErrorReason::ContentNotSupported.error(None)),
            None => return Err(Error::invalid_params("Invalid params: a content block has a `type`")),
        }
        let is_known =
            matches!(kind.as_deref(), Some("text" | "image" | "audio" | "resource_link" | "resource"));
        let read = match version {
            _ if !is_known => None,
            Version::V1 => block.to::<acp::v1::ContentBlock>().err(),
            Version::V2 => block.to::<acp::v2::ContentBlock>().err(),
        };
        if let Some(error) = read {
            let what = expectation(&error);
            return Err(Error::invalid_params(format!("Invalid params: a content block: {what}")));
        }
    }
    Ok(raw(&content))
}

/// When a message is delivered.
pub(crate) fn mode(mode: &inject::InjectMode) -> Result<DeliveryMode, Error> {
    match mode {
        inject::InjectMode::Queue => Ok(DeliveryMode::Queue),
        inject::InjectMode::Steer => Ok(DeliveryMode::Steer),
        inject::InjectMode::Other(_) => Err(ErrorReason::ModeNotSupported.error(None)),
    }
}

/// What the clients of a session are told when it is left.
pub(crate) fn left() -> IndexedUpdate {
    let title = "The session is not in use any more; load it to go on";
    own_updates::notice("info", title, &json!({ "nudge": { "left": true } }))
}

/// What two cores of sessions must not have in common.
pub(crate) fn seed() -> u64 {
    getrandom::u64().expect("the system has random numbers")
}

/// A name nobody has used.
pub(crate) fn mint(prefix: &str) -> Arc<str> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    let mut id = format!("{prefix}_");
    for byte in bytes {
        let _ = write!(id, "{byte:02x}");
    }
    id.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn takes(kind: &str) -> bool {
        matches!(kind, "text" | "resource")
    }

    #[test]
    fn content_says_something_that_was_offered() {
        let check = |block: Value, reason: Option<&str>| {
            let error = check_content(Version::V1, &[raw(&block)], takes).err();
            assert_eq!(error.and_then(|error| error.get_reason()).as_deref(), reason, "{block}");
        };
        check(json!({ "type": "text", "text": "a" }), None);
        check(json!({ "type": "image", "data": "" }), Some("content_not_supported"));
        assert_eq!(
            check_content(Version::V2, &[], takes).unwrap_err().get_reason().as_deref(),
            Some("empty_content")
        );
        for block in [json!({}), json!({ "type": "text" }), json!({ "type": "text", "text": 7 })] {
            assert!(check_content(Version::V1, &[raw(&block)], takes).is_err(), "{block}");
            assert!(check_content(Version::V2, &[raw(&block)], takes).is_err(), "{block}");
        }
    }

    #[test]
    fn minted_names_differ() {
        assert_ne!(mint("msg"), mint("msg"));
        assert!(mint("msg").starts_with("msg_"));
    }
}
