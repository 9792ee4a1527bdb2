//! What an update of an agent tells about its turn.

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use nudge_peer::RawNotification;
use nudge_wire::RawJson;
use serde::Deserialize;

/// A `session/update`, with the little of it that is looked at.
#[derive(Debug, Clone)]
pub struct Said {
    /// As it came.
    pub note: RawNotification,
    /// The `update` object.
    pub update: RawJson,
    /// Its `sessionUpdate`.
    pub kind: Arc<str>,
    /// Its `messageId`.
    pub message_id: Option<Arc<str>>,
    /// Its `toolCallId`.
    pub tool_call_id: Option<Arc<str>>,
    pub(crate) status: Option<Status>,
}

/// How far a tool call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// It waits to run, or runs.
    Open,
    Over,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Looked<'a> {
    #[serde(borrow)]
    session_update: Cow<'a, str>,
    #[serde(borrow, default)]
    message_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_call_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    status: Option<&'a serde_json::value::RawValue>,
}

impl Said {
    /// `None` if it is not an update as either version writes it.
    pub(crate) fn read(note: RawNotification) -> Option<Self> {
        let params = note.params()?;
        let update = params.get(&["update"])?;
        let looked: Looked<'_> = serde_json::from_str(update.as_str()).ok()?;
        let is_call = matches!(&*looked.session_update, "tool_call" | "tool_call_update");
        let status = looked.status.filter(|_| is_call).map(|status| match status.get() {
            "\"pending\"" | "\"in_progress\"" => Status::Open,
            _ => Status::Over,
        });
        // Version 1 leaves the status out of a call that is pending.
        let status = status.or((looked.session_update == "tool_call").then_some(Status::Open));
        let kind = kind(&looked.session_update);
        let message_id = looked.message_id.map(|id| Arc::from(&*id));
        let tool_call_id = looked.tool_call_id.map(|id| Arc::from(&*id));
        Some(Self { note, update, kind, message_id, tool_call_id, status })
    }

    /// Whether it repeats what the user said.
    pub(crate) fn is_user_message(&self) -> bool {
        matches!(&*self.kind, "user_message" | "user_message_chunk")
    }

    /// Whether the model has said something in it, or asked for a tool. Some agents send empty chunks in between.
    pub(crate) fn is_word(&self) -> bool {
        match &*self.kind {
            "agent_message_chunk" | "agent_thought_chunk" | "agent_message" | "agent_thought" => {
                let text = self.update.get(&["content", "text"]);
                text.is_none_or(|text| text.as_str() != "\"\"")
            }
            "tool_call" => true,
            _ => false,
        }
    }

    /// Whether it belongs to a conversation, rather than tell how things stand now.
    pub(crate) fn is_history(&self) -> bool {
        !matches!(
            &*self.kind,
            "available_commands_update"
                | "current_mode_update"
                | "config_option_update"
                | "session_info_update"
                | "usage_update"
                | "state_update"
                | "notice"
        )
    }
}

/// The usual kinds are not allocated for each update.
fn kind(name: &str) -> Arc<str> {
    thread_local! {
        static KNOWN: [Arc<str>; 4] = ["agent_message_chunk", "agent_thought_chunk", "tool_call_update", "tool_call"].map(Arc::from);
    }
    KNOWN.with(|known| known.iter().find(|known| &***known == name).cloned()).unwrap_or_else(|| name.into())
}

/// How many tool calls that outlived their turn are remembered.
const MOST_OLD: usize = 1024;

/// The tool calls of a turn that have not ended.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    open: BTreeSet<Arc<str>>,
    /// Those that outlived their turn. Some agents tell of them in the middle of a later one, which does not wait for them.
    old: BTreeSet<Arc<str>>,
}

/// A tool call that began or ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Started(Arc<str>),
    Finished(Arc<str>),
}

impl Tools {
    /// What an update changes.
    pub(crate) fn take(&mut self, said: &Said) -> Option<Change> {
        self.change(said.tool_call_id.as_ref()?, said.status?)
    }

    /// What permission is asked for is about to run, whether or not the agent has told of it.
    pub(crate) fn asked_for(&mut self, params: &RawJson) -> Option<Change> {
        let path = [&["toolCall", "toolCallId"][..], &["subject", "toolCall", "toolCallId"][..]];
        let id = path.into_iter().find_map(|path| params.get(path)?.to::<String>().ok())?;
        self.change(&id.into(), Status::Open)
    }

    fn change(&mut self, id: &Arc<str>, status: Status) -> Option<Change> {
        match status {
            Status::Open if self.old.contains(id) => None,
            Status::Open => self.open.insert(Arc::clone(id)).then(|| Change::Started(Arc::clone(id))),
            Status::Over => self.open.remove(id).then(|| Change::Finished(Arc::clone(id))),
        }
    }

    /// Those that never ended, which the end of a turn ends.
    pub(crate) fn end(&mut self) -> Vec<Arc<str>> {
        let open: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        if self.old.len() < MOST_OLD {
            self.old.extend(open.iter().cloned());
        }
        open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_runs_from_its_first_word_to_its_last() {
        let mut tools = Tools::default();
        let a: Arc<str> = "a".into();
        assert_eq!(tools.change(&a, Status::Open), Some(Change::Started(Arc::clone(&a))));
        assert_eq!(tools.change(&a, Status::Open), None);
        assert_eq!(tools.change(&a, Status::Over), Some(Change::Finished(Arc::clone(&a))));
        assert_eq!(tools.change(&a, Status::Over), None);
        assert!(tools.end().is_empty());
    }

    #[test]
    fn a_call_that_outlives_its_turn_does_not_count_in_the_next() {
        let mut tools = Tools::default();
        let a: Arc<str> = "a".into();
        tools.change(&a, Status::Open);
        assert_eq!(tools.end(), [Arc::clone(&a)]);
        assert_eq!(tools.change(&a, Status::Open), None);
        assert_eq!(tools.change(&a, Status::Over), None);
    }

    #[test]
    fn a_call_begins_when_permission_is_asked_for_it() {
        let mut tools = Tools::default();
        let params = |value| RawJson::of(&value).unwrap();
        let v1 = params(serde_json::json!({ "toolCall": { "toolCallId": "a" } }));
        let v2 = params(
            serde_json::json!({ "subject": { "type": "tool_call", "toolCall": { "toolCallId": "b" } } }),
        );
        assert_eq!(tools.asked_for(&v1), Some(Change::Started("a".into())));
        assert_eq!(tools.asked_for(&v1), None);
        assert_eq!(tools.asked_for(&v2), Some(Change::Started("b".into())));
        assert_eq!(tools.asked_for(&params(serde_json::json!({}))), None);
    }
}
