//! The reader's side: what is taken at once, and what waits in the queue.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use nudge_wire::{
    Error, Id, Message, MessageBody, RawJson,
    frame::{FramePiece, SkimmedFrame},
    id::MAX_ID,
    message::{InvalidMessage, ParsedFrame},
};
use serde::Deserialize;

use crate::{
    CallError, RequestResponder,
    call::{CallState, ResponseBatch},
    pending::{CallAnswer, PendingWaiter},
    shared::ConnectionShared,
};

/// What a queued message costs beyond its bytes.
const OVERHEAD: usize = 256;

/// Something to be handled in order.
pub(crate) enum InboundItem {
    /// A request or notification.
    Message { message: Message, call: Option<Arc<CallState>> },
    /// The answer to a request that was passed on here, to be passed back in its turn.
    Passed { message: Message, responder: RequestResponder },
    /// The answer to a message that could not be taken, sent in its turn.
    Refusal { id: Id, error: Error, batch: Option<Arc<ResponseBatch>> },
}

impl InboundItem {
    /// What the item counts for in the queue.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Message { message, .. } | Self::Passed { message, .. } => message.frame().len() + OVERHEAD,
            Self::Refusal { .. } => 2 * OVERHEAD + MAX_ID,
        }
    }
}

/// Reads what was received, and decides what becomes of it.
pub(crate) struct InboundReader {
    queue: VecDeque<InboundItem>,
    /// What the queue holds in bytes.
    bytes: usize,
    /// How many items have ever been queued.
    received: u64,
    /// How many frames have ever been received.
    frames: u64,
    shared: Arc<ConnectionShared>,
}

impl InboundReader {
    pub(crate) fn new(shared: Arc<ConnectionShared>) -> Self {
        Self { queue: VecDeque::new(), bytes: 0, received: 0, frames: 0, shared }
    }

    /// What the queue holds in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many frames have ever been received.
    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    /// Whether nothing waits to be handled.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The next item, still in the queue.
    pub(crate) fn peek(&self) -> Option<&InboundItem> {
        self.queue.front()
    }

    /// The next item.
    pub(crate) fn pop(&mut self) -> Option<InboundItem> {
        let item = self.queue.pop_front()?;
        self.bytes -= item.bytes();
        Some(item)
    }

    /// Forgets what waits to be handled.
    pub(crate) fn clear(&mut self) {
        self.queue.clear();
        self.bytes = 0;
    }

    /// Gives back memory that is not in use.
    pub(crate) fn shrink(&mut self) {
        self.queue.shrink_to_fit();
    }

    /// Takes a frame that was received, or word of one that was dropped.
    pub(crate) fn take(&mut self, piece: FramePiece) {
        self.frames += 1;
        match piece {
            FramePiece::Line(line) => {
                if let Some(tap) = &self.shared.tap {
                    tap.received(&self.shared.name, &line);
                }
                self.line(line);
            }
            FramePiece::TooLong(skimmed) => {
                if let Some(tap) = &self.shared.tap {
                    tap.dropped(&self.shared.name, skimmed.length);
                }
                self.too_long(&skimmed);
            }
        }
    }

    fn line(&mut self, line: Bytes) {
        match ParsedFrame::from_bytes(line) {
            ParsedFrame::Single(taken) => self.taken(taken, None),
            ParsedFrame::Batch(entries) => {
                let answers = entries.iter().filter(|entry| wants_answer(entry)).count();
                let batch = (answers > 0).then(|| ResponseBatch::new(answers));
                for entry in entries {
                    self.taken(entry, batch.as_ref());
                }
            }
        }
    }

    fn taken(&mut self, taken: Result<Message, InvalidMessage>, batch: Option<&Arc<ResponseBatch>>) {
        match taken {
            Ok(message) => self.message(message, batch),
            Err(InvalidMessage { is_response: true, id, error }) => self.broken_response(id.as_ref(), &error),
            Err(InvalidMessage { id, error, .. }) => {
                self.refuse(id.unwrap_or_else(Id::null), error, batch.cloned());
            }
        }
    }

    fn message(&mut self, message: Message, batch: Option<&Arc<ResponseBatch>>) {
        match &message.body {
            MessageBody::Response { .. } => self.response(message),
            MessageBody::Notification { method, params } if method == "$/cancel_request" => {
                cancel(&self.shared, params.as_ref());
            }
            MessageBody::Notification { .. } => self.push(InboundItem::Message { message, call: None }),
            MessageBody::Request { id, method, .. } => {
                let limit = self.shared.limits.max_open;
                match self.shared.calls.begin(id, method, batch.cloned(), limit) {
                    Ok(call) => self.push(InboundItem::Message { message, call: Some(call) }),
                    Err(error) => self.refuse(id.clone(), error, batch.cloned()),
                }
            }
        }
    }

    fn push(&mut self, item: InboundItem) {
        self.received += 1;
        self.bytes += item.bytes();
        self.queue.push_back(item);
    }

    fn response(&mut self, message: Message) {
        let MessageBody::Response { id, outcome } = &message.body else { return };
        if let (Some(id), Ok(result)) = (id.as_u64(), outcome) {
            self.shared.version.answered(id, result);
        }
        match id.as_u64().and_then(|id| self.shared.pending.remove(id)) {
            Some(PendingWaiter::Forwarded(responder)) => {
                self.push(InboundItem::Passed { message, responder });
            }
            Some(PendingWaiter::Caller(caller)) => {
                let outcome = match outcome {
                    Ok(result) => Ok(result.clone()),
                    Err(error) => Err(CallError::Rpc(error.to().unwrap_or_else(|_| unreadable("an error")))),
                };
                // The caller may just have gone.
                drop(caller.send(CallAnswer { outcome, after: self.received }));
            }
            // Cancelled requests end here too, so this is no cause for alarm.
            None => {
                tracing::debug!(connection = self.shared.name, "a response to no open request was dropped");
            }
        }
    }

    fn refuse(&mut self, id: Id, error: Error, batch: Option<Arc<ResponseBatch>>) {
        tracing::debug!(connection = self.shared.name, %error, "a message was refused");
        self.push(InboundItem::Refusal { id, error, batch });
    }

    /// Whoever waits for a response that cannot be read must not wait for ever.
    fn broken_response(&mut self, id: Option<&Id>, error: &Error) {
        tracing::debug!(connection = self.shared.name, %error, "a response cannot be read");
        if let Some(who) = id.and_then(Id::as_u64).and_then(|id| self.shared.pending.remove(id)) {
            fail(who, CallError::Rpc(unreadable("a response")));
        }
    }

    fn too_long(&mut self, line: &SkimmedFrame) {
        let limit = self.shared.limits.max_message;
        let length = line.length;
        tracing::debug!(connection = self.shared.name, length, limit, "a message over the limit was dropped");
        if line.is_response {
            if let Some(who) =
                line.id.as_ref().and_then(Id::as_u64).and_then(|id| self.shared.pending.remove(id))
            {
                fail(who, CallError::TooLong { length, limit });
            }
        } else if line.id.is_some() || !line.has_method {
            let what = format!("Invalid request: the message of {length} bytes is over the limit of {limit}");
            self.refuse(line.id.clone().unwrap_or_else(Id::null), Error::invalid_request(what), None);
        }
    }
}

/// Whether an entry of a batch adds to the batch's answer.
fn wants_answer(entry: &Result<Message, InvalidMessage>) -> bool {
    match entry {
        Ok(message) => matches!(message.body, MessageBody::Request { .. }),
        Err(invalid) => !invalid.is_response,
    }
}

fn unreadable(what: &str) -> Error {
    Error::internal(format!("The other side answered with {what} that cannot be read"))
}

fn fail(who: PendingWaiter, error: CallError) {
    match who {
        PendingWaiter::Caller(caller) => drop(caller.send(CallAnswer::failed(error))),
        PendingWaiter::Forwarded(responder) => responder.fail(&error.into()),
    }
}

fn cancel(shared: &Arc<ConnectionShared>, params: Option<&RawJson>) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancel {
        request_id: Id,
    }
    // An id that is not open is answered already; the notification came too late.
    if let Some(Ok(Cancel { request_id })) = params.map(RawJson::to)
        && let Some(call) = shared.calls.get(&request_id)
    {
        shared.cancel(&call);
    }
}
