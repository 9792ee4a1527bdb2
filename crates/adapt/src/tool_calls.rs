//! What an update of an agent tells about its turn.

use std::{collections::BTreeSet, sync::Arc};

use nudge_backend::BackendEvent;
use nudge_bridge::{CallProgress, IndexedUpdate, UpdateKind, UpdateSpeaker};
use nudge_wire::RawJson;

/// Whether the model has said something in it, or asked for a tool. Some agents send empty chunks in between.
pub(crate) fn is_word(update: &IndexedUpdate) -> bool {
    match update.kind.speaker() {
        UpdateSpeaker::Agent | UpdateSpeaker::Thought => {
            let text = update.raw.get(&["content", "text"]);
            text.is_none_or(|text| text.as_str() != "\"\"")
        }
        _ => update.kind == UpdateKind::ToolCall,
    }
}

/// How many tool calls that outlived their turn are remembered.
const MOST_OLD: usize = 1024;

/// The tool calls of a turn that have not ended.
#[derive(Debug, Default)]
pub(crate) struct OpenToolCalls {
    open: BTreeSet<Arc<str>>,
    /// Those that outlived their turn. Some agents tell of them in the middle of a later one, which does not wait for them.
    old: BTreeSet<Arc<str>>,
}

/// A tool call that began or ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ToolCallChange {
    Started(Arc<str>),
    Finished(Arc<str>),
}

impl ToolCallChange {
    pub(crate) fn into_event(self) -> BackendEvent {
        match self {
            Self::Started(id) => BackendEvent::ToolStarted(id),
            Self::Finished(id) => BackendEvent::ToolFinished(id),
        }
    }
}

impl OpenToolCalls {
    /// What an update changes.
    pub(crate) fn take(&mut self, update: &IndexedUpdate) -> Option<ToolCallChange> {
        self.change(update.tool_call_id.as_ref()?, update.call_progress?)
    }

    /// What permission is asked for is about to run, whether or not the agent has told of it.
    pub(crate) fn asked_for(&mut self, params: &RawJson) -> Option<ToolCallChange> {
        let path = [&["toolCall", "toolCallId"][..], &["subject", "toolCall", "toolCallId"][..]];
        let id = path.into_iter().find_map(|path| params.get(path)?.to::<String>().ok())?;
        self.change(&id.into(), CallProgress::Open)
    }

    fn change(&mut self, id: &Arc<str>, progress: CallProgress) -> Option<ToolCallChange> {
        match progress {
            CallProgress::Open if self.old.contains(id) => None,
            CallProgress::Open => {
                self.open.insert(Arc::clone(id)).then(|| ToolCallChange::Started(Arc::clone(id)))
            }
            CallProgress::Over => self.open.remove(id).then(|| ToolCallChange::Finished(Arc::clone(id))),
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
        let mut tools = OpenToolCalls::default();
        let a: Arc<str> = "a".into();
        assert_eq!(tools.change(&a, CallProgress::Open), Some(ToolCallChange::Started(Arc::clone(&a))));
        assert_eq!(tools.change(&a, CallProgress::Open), None);
        assert_eq!(tools.change(&a, CallProgress::Over), Some(ToolCallChange::Finished(Arc::clone(&a))));
        assert_eq!(tools.change(&a, CallProgress::Over), None);
        assert!(tools.end().is_empty());
    }

    #[test]
    fn a_call_that_outlives_its_turn_does_not_count_in_the_next() {
        let mut tools = OpenToolCalls::default();
        let a: Arc<str> = "a".into();
        tools.change(&a, CallProgress::Open);
        assert_eq!(tools.end(), [Arc::clone(&a)]);
        assert_eq!(tools.change(&a, CallProgress::Open), None);
        assert_eq!(tools.change(&a, CallProgress::Over), None);
    }

    #[test]
    fn a_call_begins_when_permission_is_asked_for_it() {
        let mut tools = OpenToolCalls::default();
        let params = |value| RawJson::of(&value).unwrap();
        let v1 = params(serde_json::json!({ "toolCall": { "toolCallId": "a" } }));
        let v2 = params(
            serde_json::json!({ "subject": { "type": "tool_call", "toolCall": { "toolCallId": "b" } } }),
        );
        assert_eq!(tools.asked_for(&v1), Some(ToolCallChange::Started("a".into())));
        assert_eq!(tools.asked_for(&v1), None);
        assert_eq!(tools.asked_for(&v2), Some(ToolCallChange::Started("b".into())));
        assert_eq!(tools.asked_for(&params(serde_json::json!({}))), None);
    }
}
