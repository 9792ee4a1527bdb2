//! JSON that is looked at without being written anew.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// JSON that only survives if nobody reads and writes it again.
pub(super) const ODD: &str =
    r#"{"big":98765432109876543210987,"exact":2.50,"e":7E3,"not":null,"é":"\u00e9\/"}"#;

type Members<'a> = BTreeMap<String, &'a RawValue>;

/// The text of a member of an object.
pub(super) fn member(object: &str, name: &str) -> Option<String> {
    let members: Members<'_> = serde_json::from_str(object).ok()?;
    members.get(name).map(|value| value.get().to_owned())
}

/// Fails unless all that `inner` says is said by `outer` in the same words. Objects of `outer` may have more members.
pub(super) fn check_within(outer: &str, inner: &str) {
    let Ok(members) = serde_json::from_str::<Members<'_>>(inner) else {
        return assert_eq!(outer, inner);
    };
    for (name, value) in members {
        let there = member(outer, &name).unwrap_or_else(|| panic!("no {name} in {outer}"));
        check_within(&there, value.get());
    }
}
