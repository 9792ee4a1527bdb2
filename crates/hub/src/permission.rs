//! A question to the user that every client of a session is asked and one answers.

use nudge_mailbox::ClientId;
use nudge_peer::CancellationToken;
use nudge_wire::{RawJson, Version};

use crate::backend::{Answer, Question};

/// A permission request that is open.
pub(crate) struct Permission {
    pub(crate) id: u64,
    /// The version of the params and of the answer.
    pub(crate) version: Version,
    pub(crate) request: RawJson,
    answer: Option<Answer>,
    /// Who is being asked; the token withdraws the question.
    asked: Vec<(ClientId, CancellationToken)>,
}

impl Permission {
    pub(crate) fn new(id: u64, question: Question) -> Self {
        let Question { version, params: request, answer } = question;
        Self { id, version, request, answer: Some(answer), asked: Vec::new() }
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

    /// Passes the answer on; the other clients are told that it is not asked any more when this is dropped.
    pub(crate) fn answer(mut self, by: ClientId, outcome: RawJson) {
        self.asked.retain(|(client, _)| *client != by);
        if let Some(answer) = self.answer.take() {
            answer.send(outcome);
        }
    }
}

impl Drop for Permission {
    fn drop(&mut self) {
        if let Some(answer) = self.answer.take() {
            answer.cancel();
        }
        for (_, token) in &self.asked {
            token.cancel();
        }
    }
}
