//! Whether a request is a conversation that providers take.

use nudge_stage::{MessageRole, ProviderDialect, SeenRequest};

/// Users and answers take turns, no answer is empty, and every call has its result behind it and before anything else.
#[track_caller]
pub(super) fn check_history(seen: &SeenRequest) {
    let told = || format!("{:#?}", seen.messages());
    let said: Vec<_> = seen.messages().iter().filter(|message| message.role != MessageRole::System).collect();
    assert_eq!(said.first().map(|message| message.role), Some(MessageRole::User), "{}", told());
    assert_ne!(said.last().map(|message| message.role), Some(MessageRole::Assistant), "{}", told());
    let (mut before, mut open): (Option<MessageRole>, Vec<&str>) = (None, Vec::new());
    for message in said {
        let is_item = seen.dialect == ProviderDialect::Responses && message.role != MessageRole::User;
        let is_next = message.role == MessageRole::Tool || before != Some(message.role);
        assert!(is_next || is_item, "two of {:?}: {}", message.role, told());
        let is_empty =
            message.text.trim().is_empty() && message.calls.is_empty() && message.results.is_empty();
        assert!(!is_empty, "{}", told());
        for result in &message.results {
            let at = open.iter().position(|id| *id == result.id).unwrap_or_else(|| panic!("{}", told()));
            open.swap_remove(at);
        }
        let is_between =
            matches!(message.role, MessageRole::User) || (!is_item && message.role == MessageRole::Assistant);
        assert!(!is_between || open.is_empty(), "a call without its result: {}", told());
        open.extend(message.calls.iter().map(|call| call.id.as_str()));
        before = Some(message.role);
    }
    assert!(open.is_empty(), "a call without its result: {}", told());
}
