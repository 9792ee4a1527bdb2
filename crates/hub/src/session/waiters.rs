//! Who waits for the answer to a request that the core knows by number.

use std::sync::Arc;

use nudge_mailbox::ClientId;
use nudge_peer::{DropGuard, RequestResponder};
use nudge_wire::{Error, Id, RawJson};
use tokio::sync::oneshot;

use crate::{
    client::{ClientMessage, ConnectedClient},
    joined_sessions::ClosingSession,
    session::{AttachOutcome, JoinRequest},
    shape,
};

/// Who waits for an answer.
pub(crate) enum AnswerWaiter {
    /// A client that asked something of the session.
    Client {
        client: Arc<ConnectedClient>,
        responder: RequestResponder,
        /// Ends the task that waits for the request to be cancelled.
        _watch: Option<DropGuard>,
    },
    /// A client that wants to join.
    Join(Box<JoiningClient>),
    /// A client that wants to close the session.
    Close(ClosingSession, RequestResponder),
    /// Somebody who wants to delete it.
    Delete(oneshot::Sender<Result<(), Error>>),
    /// Somebody who wants it to come into use anew; not told if it stays.
    Leave(oneshot::Sender<()>),
}

/// A wish to join that waits for its place.
#[derive(Debug)]
pub(crate) struct JoiningClient {
    pub(crate) attach: JoinRequest,
    pub(crate) reply: oneshot::Sender<AttachOutcome>,
}

impl JoiningClient {
    /// It does not join, and is told why.
    pub(crate) fn refuse(self, error: &Error) {
        let JoinRequest { view, responder, .. } = self.attach;
        view.client.push(ClientMessage::Answer(responder, Err(error.clone())));
    }
}

impl AnswerWaiter {
    pub(crate) fn answer(self, outcome: Result<RawJson, Error>) {
        match (self, outcome) {
            (Self::Client { client, responder, .. }, outcome) => {
                client.push(ClientMessage::Answer(responder, outcome));
            }
            (Self::Join(joining), Err(error)) => joining.refuse(&error),
            (Self::Close(closing, responder), Ok(_)) => {
                closing.client().push(ClientMessage::Answer(responder, Ok(shape::empty())));
            }
            (Self::Close(closing, responder), Err(error)) => closing.refuse(responder, &error),
            // Whoever waits may be gone.
            (Self::Delete(done), outcome) => drop(done.send(outcome.map(drop))),
            (Self::Leave(done), Ok(_)) => drop(done.send(())),
            // Who joins is answered otherwise, and whoever waits for it to be left learns by silence that it stays.
            (Self::Join(_), Ok(_)) | (Self::Leave(_), Err(_)) => {}
        }
    }

    /// The id of the request that it answers, if that is one that a client has made of the session.
    pub(crate) fn request_id(&self) -> Option<&Id> {
        match self {
            Self::Client { responder, .. } => Some(responder.id()),
            _ => None,
        }
    }

    /// The client that wants to join, if it is that.
    pub(crate) fn joining(&self) -> Option<&Arc<ConnectedClient>> {
        match self {
            Self::Join(joining) => Some(&joining.attach.view.client),
            _ => None,
        }
    }

    /// Whether it is the wish of this client to join.
    pub(crate) fn is_join_of(&self, client: ClientId) -> bool {
        self.joining().is_some_and(|joining| joining.id == client)
    }
}
