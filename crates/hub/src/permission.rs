//! A question to the user that every client of a session is asked and one answers.

use nudge_mailbox::ClientId;
use nudge_peer::CancellationToken;
use nudge_wire::RawJson;
use tokio::sync::oneshot;

/// A permission request that is open.
pub(crate) struct Permission {
    pub(crate) id: u64,
    /// The params in version 2, without the session.
    pub(crate) request: RawJson,
    reply: oneshot::Sender<RawJson>,
    /// Who is being asked; the token withdraws the question.
    asked: Vec<(ClientId, CancellationToken)>,
}

impl Permission {
    pub(crate) fn new(id: u64, request: RawJson, reply: oneshot::Sender<RawJson>) -> Self {
        Self { id, request, reply, asked: Vec::new() }
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
        let (reply, _) = oneshot::channel();
        let _ = std::mem::replace(&mut self.reply, reply).send(outcome);
    }
}

impl Drop for Permission {
    fn drop(&mut self) {
        for (_, token) in &self.asked {
            token.cancel();
        }
    }
}
