//! What a session shows, held back until the commit it depends on is on disk.

use std::{collections::VecDeque, sync::Arc};

use nudge_mailbox::ClientId;
use nudge_peer::{RawNotification, Responder};
use nudge_store::{Op, SessionChange, StoreError, Ticket};
use nudge_wire::{Error, RawJson};

use crate::{
    backend::{AtBreak, ClientRequest, UserMessage},
    client::Client,
    session::{actor::Ending, attach::Attaching},
    update::Update,
};

/// Commits that may be under way before the backend has to wait.
const MOST: usize = 256;

/// Something that is seen from outside.
pub(crate) enum Effect {
    /// An update for the clients, with its number if it is written down.
    Show { update: Update, seq: Option<u64>, but: Option<ClientId> },
    /// The answer to a request.
    Answer { client: Arc<Client>, responder: Responder, outcome: Result<RawJson, Error> },
    /// A turn begins.
    Prompt(Vec<UserMessage>),
    /// The turn is ended.
    Cancel,
    /// The backend goes on from a break-point, with these messages.
    GoOn(AtBreak, Vec<UserMessage>),
    /// These go to a backend that takes them while it works.
    Steer(Vec<UserMessage>),
    /// A permission request goes to every client.
    Ask(u64),
    /// A request of the agent goes to the client that prompted.
    AskClient(ClientRequest),
    /// A notification of the agent that is no update goes to every client.
    Pass(RawNotification),
    /// A client joins.
    Attach(Box<Attaching>),
    /// The session is left, and then those are told who wait for it.
    Leave(Ending),
}

/// What is written down and what is shown for it.
#[derive(Default)]
pub(crate) struct Step {
    pub(crate) ops: Vec<Op>,
    pub(crate) effects: Vec<Effect>,
    /// Whether the effects wait for the disk.
    pub(crate) is_durable: bool,
}

impl Step {
    pub(crate) fn answer(
        &mut self,
        client: &Arc<Client>,
        responder: Responder,
        outcome: Result<RawJson, Error>,
    ) {
        self.effects.push(Effect::Answer { client: Arc::clone(client), responder, outcome });
    }

    /// Changes the session's row, and with it the time of its last change.
    pub(crate) fn update_row(&mut self, change: SessionChange) {
        let change = SessionChange { updated_at: Some(crate::time::now()), ..change };
        self.ops.push(Op::UpdateSession(change));
    }

    pub(crate) fn show(&mut self, update: Update, but: Option<ClientId>) {
        self.effects.push(Effect::Show { update, seq: None, but });
    }
}

/// Commits under way and the effects that wait for them, oldest first.
#[derive(Default)]
pub(crate) struct Outbox {
    groups: VecDeque<Group>,
}

struct Group {
    ticket: Ticket,
    effects: Vec<Effect>,
    is_durable: bool,
}

impl Outbox {
    /// Notes a commit and what waits for it.
    pub(crate) fn wait(&mut self, ticket: Ticket, effects: Vec<Effect>, is_durable: bool) {
        self.groups.push_back(Group { ticket, effects, is_durable });
    }

    /// Where effects go that wait for no commit of their own: behind the last one that others wait for, if any.
    pub(crate) fn behind(&mut self) -> Option<&mut Vec<Effect>> {
        self.groups.iter_mut().rev().find(|group| group.is_durable).map(|group| &mut group.effects)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether so much is being written that no more should come before some of it is.
    pub(crate) fn is_full(&self) -> bool {
        self.groups.len() >= MOST
    }

    /// Waits for the oldest commit. Safe to drop and call again.
    pub(crate) async fn next(&mut self) -> Result<Vec<Effect>, (StoreError, Vec<Effect>)> {
        let Some(front) = self.groups.front_mut() else {
            return std::future::pending().await;
        };
        match (&mut front.ticket).await {
            Ok(()) => Ok(self.groups.pop_front().map(|group| group.effects).unwrap_or_default()),
            // What waits for a later commit is as much in doubt.
            Err(error) => Err((error, self.groups.drain(..).flat_map(|group| group.effects).collect())),
        }
    }
}
