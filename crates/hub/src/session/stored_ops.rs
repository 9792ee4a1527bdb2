//! What the core wants written down, as the store takes it, and what is stored, as the core takes it.

use std::sync::Arc;

use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_mailbox::{DeliveryMode, InputDialect, MailboxChange, MailboxMessage, MessageId, SavedMailbox};
use nudge_session::{FORMER_CLIENT, InputChange, InputContent, RowChange, StoreOperation};
use nudge_store::{InputState, SessionChange, StoreOp, StoredInput, TranscriptEntry};
use nudge_wire::{RawJson, Version};

use crate::{history, shape};

/// Adds what an operation comes to, decided at this time.
pub(crate) fn push_ops(ops: &mut Vec<StoreOp>, operation: StoreOperation, at: u64) {
    match operation {
        StoreOperation::Append { seq, update } => ops.push(StoreOp::Append(entry(seq, &update, at))),
        StoreOperation::Input(change) => push_input_ops(ops, change),
        StoreOperation::UpdateSession(change) => ops.push(StoreOp::UpdateSession(row_change(change, at))),
        StoreOperation::DeleteSession => ops.push(StoreOp::DeleteSession),
    }
}

/// All that operations come to.
pub(crate) fn ops(operations: Vec<StoreOperation>, at: u64) -> Vec<StoreOp> {
    let mut ops = Vec::with_capacity(operations.len());
    for operation in operations {
        push_ops(&mut ops, operation, at);
    }
    ops
}

/// An entry of the transcript that came at this time.
pub(crate) fn entry(seq: u64, update: &IndexedUpdate, at: u64) -> TranscriptEntry {
    TranscriptEntry {
        seq,
        at,
        dialect: match update.version {
            Version::V1 => nudge_store::FrameDialect::V1,
            Version::V2 => nudge_store::FrameDialect::V2,
        },
        kind: update.kind.name().into(),
        message_id: update.message_id.as_deref().map(Into::into),
        tool_call_id: update.tool_call_id.as_deref().map(Into::into),
        origin: None,
        frame: update.raw.as_bytes().clone(),
    }
}

/// The update of an entry; `None` if it is not text.
pub(crate) fn stored_update(entry: &TranscriptEntry) -> Option<IndexedUpdate> {
    let message_id = entry.message_id.as_deref().map(Into::into);
    let kind = UpdateKind::of(&entry.kind);
    let update = IndexedUpdate::from_store(history::version(entry), kind, message_id, history::json(entry)?);
    Some(match &entry.tool_call_id {
        Some(id) => update.of_tool_call(&**id),
        None => update,
    })
}

fn row_change(change: RowChange, at: u64) -> SessionChange {
    let RowChange { title, config, closed, agent_session_id } = change;
    SessionChange {
        title: title.map(Some),
        updated_at: Some(at),
        config: config.map(|config| config.as_str().to_owned()),
        closed,
        agent_session_id: agent_session_id.map(Some),
    }
}

fn push_input_ops(ops: &mut Vec<StoreOp>, InputChange { change, seq }: InputChange) {
    match change {
        MailboxChange::Added(message) => ops.push(StoreOp::AddInput(input(&message, seq))),
        MailboxChange::Replaced { id, content } => {
            let content = content.content.as_str().to_owned();
            ops.push(StoreOp::ReplaceInput { id, content });
        }
        MailboxChange::Revoked { id } => ops.push(set_input(id, InputState::Revoked)),
        MailboxChange::Forgotten { id } => ops.push(StoreOp::ForgetInput { id }),
        MailboxChange::Delivered { ids } => {
            ops.extend(ids.into_iter().map(|id| set_input(id, InputState::Delivered)));
        }
    }
}

fn set_input(id: MessageId, state: InputState) -> StoreOp {
    StoreOp::SetInput { id, state }
}

fn input(message: &MailboxMessage<InputContent>, seq: u64) -> StoredInput {
    StoredInput {
        id: message.id.clone(),
        seq,
        client: message.client.0,
        mode: MODES[usize::from(message.mode == DeliveryMode::Steer)].to_owned(),
        dialect: dialect_name(message.dialect).to_owned(),
        key: message.key.as_deref().map(str::to_owned),
        state: InputState::Pending,
        content: Some(message.content.content.as_str().to_owned()),
    }
}

const MODES: [&str; 2] = ["queue", "steer"];

/// What is stored of the pending input, and the number of the next. Who sent it is gone; ids of connections begin anew with
/// each process.
pub(crate) fn saved(inputs: Vec<StoredInput>) -> (SavedMailbox<InputContent>, u64) {
    let next = inputs.iter().map(|input| input.seq + 1).max().unwrap_or(0);
    let mut saved = SavedMailbox::default();
    for input in inputs {
        // A prompt that was dropped may be sent again.
        let is_dropped = input.state == InputState::Revoked && input.dialect.starts_with("prompt");
        if let Some(key) = input.key.as_ref().filter(|_| !is_dropped) {
            saved.keys.push((Arc::from(&**key), Arc::clone(&input.id)));
        }
        match input.state {
            InputState::Delivered => saved.delivered.push(input.id),
            InputState::Revoked => saved.revoked.push(input.id),
            InputState::Pending => saved.pending.push(message(input)),
        }
    }
    (saved, next)
}

fn message(input: StoredInput) -> MailboxMessage<InputContent> {
    let content = input.content.and_then(|content| RawJson::parse(content).ok());
    let content = content.unwrap_or_else(|| shape::raw(&serde_json::json!([])));
    MailboxMessage {
        client: FORMER_CLIENT,
        id: input.id,
        mode: if input.mode == MODES[1] { DeliveryMode::Steer } else { DeliveryMode::Queue },
        dialect: dialect(&input.dialect),
        content: InputContent { content, params: None },
        key: input.key.map(|key| Arc::from(&*key)),
    }
}

fn dialect_name(dialect: InputDialect) -> &'static str {
    match dialect {
        InputDialect::Inject => "inject",
        InputDialect::Steering => "steering",
        InputDialect::PromptV1 => "prompt_v1",
        InputDialect::PromptV2 => "prompt_v2",
    }
}

fn dialect(name: &str) -> InputDialect {
    match name {
        "steering" => InputDialect::Steering,
        "prompt_v1" => InputDialect::PromptV1,
        "prompt_v2" => InputDialect::PromptV2,
        _ => InputDialect::Inject,
    }
}
