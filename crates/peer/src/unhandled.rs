//! Messages nobody registered for, as they came, and how they are passed on to another connection.

use std::sync::Arc;

use bytestring::ByteString;
use nudge_wire::{Error, Id, Message, MessageBody, RawJson, Version, write};
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;

use crate::{
    CancellationToken, ConnectionClosed, Cx, RequestResponder, outbound::FrameKind, pending::PendingWaiter,
    shared::ConnectionShared,
};

/// A message without a handler of its own.
#[derive(Debug)]
pub enum UnhandledMessage {
    /// It must be answered.
    Request(RawRequest),
    /// It may be ignored.
    Notification(RawNotification),
}

/// A request as it came.
#[derive(Debug)]
pub struct RawRequest {
    message: Message,
    responder: RequestResponder,
}

/// A notification as it came.
#[derive(Debug, Clone)]
pub struct RawNotification {
    message: Message,
}

/// A request of another connection that was passed on and is not answered yet.
#[derive(Debug, Clone)]
pub struct ForwardedRequest {
    /// Its id on the connection it was passed on to.
    pub number: u64,
    /// The connection it came over.
    pub from: Cx,
    /// Its id there.
    pub id: Id,
}

/// A message on its way through something to another connection, and the room it takes up until that has it.
#[derive(Debug)]
pub struct PassedMessage {
    /// The version of the client it is from.
    pub from: Version,
    /// The message.
    pub message: UnhandledMessage,
    /// To be dropped when the other connection has taken it: whoever gives it bounds what waits.
    pub room: Option<OwnedSemaphorePermit>,
}

impl UnhandledMessage {
    pub(crate) fn new(message: Message, responder: Option<RequestResponder>) -> Self {
        match responder {
            Some(responder) => Self::Request(RawRequest { message, responder }),
            None => Self::Notification(RawNotification { message }),
        }
    }

    /// The method.
    pub fn method(&self) -> &ByteString {
        method(self.message())
    }

    /// The params.
    pub fn params(&self) -> Option<&RawJson> {
        self.message().params()
    }

    /// The length of the message in bytes.
    pub fn size(&self) -> usize {
        self.message().frame().len()
    }

    fn message(&self) -> &Message {
        match self {
            Self::Request(request) => &request.message,
            Self::Notification(notification) => &notification.message,
        }
    }

    /// Passes the message on to another connection, byte for byte but for the id. Waits for room there, not for the
    /// answer, which goes back by itself.
    pub async fn forward_to(self, target: &Cx) -> Result<(), ConnectionClosed> {
        match self {
            Self::Request(request) => request.forward_to(target).await,
            Self::Notification(notification) => notification.forward_to(target).await,
        }
    }

    /// The usual end: -32601 for a request, nothing for a notification.
    pub async fn refuse(self) -> Result<(), ConnectionClosed> {
        match self {
            Self::Request(request) => {
                let error = Error::method_not_found(request.method());
                request.respond::<()>(Err(error)).await
            }
            Self::Notification(_) => Ok(()),
        }
    }

    /// Sends another method and params in place of this message to `target`; the answer goes back by itself.
    pub async fn forward_as(
        self,
        target: &Cx,
        name: &str,
        params: Option<&RawJson>,
    ) -> Result<(), ConnectionClosed> {
        self.replaced_by(&target.shared, name, params).await
    }

    pub(crate) async fn replaced_by(
        self,
        target: &Arc<ConnectionShared>,
        name: &str,
        params: Option<&RawJson>,
    ) -> Result<(), ConnectionClosed> {
        match self {
            Self::Request(request) => {
                forward(request.responder, target, |id| write::raw_call(Some(id), name, params)).await
            }
            Self::Notification(_) => target.send_in_order(write::raw_call(None, name, params)).await,
        }
    }
}

impl RawRequest {
    /// The id that its answer names.
    pub fn id(&self) -> &Id {
        self.responder.id()
    }

    /// A token that is cancelled when the other side cancels the request. Who takes it decides how that ends.
    pub fn cancellation(&self) -> CancellationToken {
        self.responder.cancellation()
    }

    /// The method.
    pub fn method(&self) -> &ByteString {
        method(&self.message)
    }

    /// The params.
    pub fn params(&self) -> Option<&RawJson> {
        self.message.params()
    }

    /// The duty to answer, without the message.
    pub fn into_responder(self) -> RequestResponder {
        self.responder
    }

    /// Answers with a result or an error.
    pub async fn respond<T: Serialize>(self, outcome: Result<T, Error>) -> Result<(), ConnectionClosed> {
        self.responder.respond(outcome).await
    }

    /// Passes the request on; see [`UnhandledMessage::forward_to`]. A cancellation is passed on as well, and so is the answer
    /// to it.
    pub async fn forward_to(self, target: &Cx) -> Result<(), ConnectionClosed> {
        let Self { message, responder } = self;
        forward(responder, &target.shared, |id| message.frame_with_id(id)).await
    }
}

impl RawNotification {
    /// A message as it came from elsewhere; `None` if it is no notification.
    pub fn from_message(message: Message) -> Option<Self> {
        matches!(message.body, MessageBody::Notification { .. }).then_some(Self { message })
    }

    /// The message it came in.
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// The method.
    pub fn method(&self) -> &ByteString {
        method(&self.message)
    }

    /// The params.
    pub fn params(&self) -> Option<&RawJson> {
        self.message.params()
    }

    /// The length of the message in bytes.
    pub fn size(&self) -> usize {
        self.message.frame().len()
    }

    /// Passes the notification on; see [`UnhandledMessage::forward_to`].
    pub async fn forward_to(self, target: &Cx) -> Result<(), ConnectionClosed> {
        target.shared.send_in_order(self.message.frame().as_bytes().to_vec()).await
    }

    /// Passes the notification on as it came, from what holds up no queue.
    pub async fn send_to(&self, target: &Cx) -> Result<(), ConnectionClosed> {
        target.shared.send(self.message.frame().as_bytes().to_vec()).await
    }
}

/// Sends a request on and arranges for its answer to go back.
async fn forward(
    responder: RequestResponder,
    target: &Arc<ConnectionShared>,
    frame: impl FnOnce(&Id) -> Vec<u8>,
) -> Result<(), ConnectionClosed> {
    let id = target.pending.next_id();
    let frame = frame(&Id::from(id));
    // While it waits for room, the request is still here: a cancellation ends it here.
    let room = match target.room(FrameKind::Call, frame.len(), true).await {
        Ok(room) => room,
        Err(closed) => {
            responder.fail(&closed.clone().into());
            return Err(closed);
        }
    };
    if responder.is_done() {
        target.outbound.give_back(&room);
        return Ok(());
    }
    let call = responder.call();
    if call.is_initialize {
        target.version.asked(id);
    }
    target.pending.insert(id, PendingWaiter::Forwarded(responder));
    let sent = target.queue(frame, Some(room));
    call.forwarded(target, id);
    if let Err(closed) = &sent
        && let Some(PendingWaiter::Forwarded(responder)) = target.pending.remove(id)
    {
        responder.fail(&closed.clone().into());
    }
    sent
}

fn method(message: &Message) -> &ByteString {
    message.method().expect("a response is never unhandled")
}
