//! A question to the user that every client of a session is asked and one answers.

use nudge_backend::{Question, QuestionId};
use nudge_mailbox::ClientId;
use nudge_peer::CancellationToken;
use nudge_wire::{RawJson, Version};

/// A permission request that is open.
pub(crate) struct Permission {
    pub(crate) id: u64,
    /// What the agent knows it by.
    pub(crate) question: QuestionId,
    /// The version of the params and of the answer.
    pub(crate) version: Version,
    pub(crate) request: RawJson,
    /// Who is being asked; the token withdraws the question.
    asked: Vec<(ClientId, CancellationToken)>,
}

impl Permission {
    pub(crate) fn new(id: u64, question: Question) -> Self {
        let Question { id: question, version, params: request, .. } = question;
        Self { id, question, version, request, asked: Vec::new() }
    }

    /// Notes that a client is asked.
    pub(crate) fn asked(&mut self, client: ClientId) -> CancellationToken {
        let token = CancellationToken::new();
        self.asked.push((client, token.clone()));
        token
    }

    /// Whether a client is being asked.
    pub(crate) fn is_asked(&self, client: ClientId) -> bool {
        self.asked.iter().any(|(asked, _)| *asked == client)
    }

    /// A client has no answer; whether it was the last that was asked.
    pub(crate) fn failed(&mut self, client: ClientId) -> bool {
        self.asked.retain(|(asked, _)| *asked != client);
        self.asked.is_empty()
    }

    /// A client has left, or joins anew.
    pub(crate) fn withdraw_from(&mut self, client: ClientId) {
        for (_, token) in self.asked.extract_if(.., |(asked, _)| *asked == client) {
            token.cancel();
        }
    }

    /// A client has answered; the others are told that it is not asked any more when this is dropped.
    pub(crate) fn answered(&mut self, by: ClientId) {
        self.asked.retain(|(client, _)| *client != by);
    }
}

impl Drop for Permission {
    fn drop(&mut self) {
        for (_, token) in &self.asked {
            token.cancel();
        }
    }
}
