//! When what the user says is delivered: the mailbox, held against the turn.

use nudge_backend::{PromptParams, SteerMethod};
use nudge_mailbox::{ClientId, Mailbox, MailboxMessage};
use nudge_wire::RawJson;

use crate::{RunningTurn, SteerOpening};

/// What a message says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct InputContent {
    /// An array of content blocks.
    pub content: RawJson,
    /// The params of the `session/prompt` it came in, while they say the same.
    pub params: Option<PromptParams>,
}

/// Messages that become part of the conversation now.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DeliveredMessages<C> {
    /// They start a turn: one queued message, or all the steers that were left over.
    Turn(Vec<MailboxMessage<C>>),
    /// They go into the running turn: all the steers that waited, in the order of acceptance.
    Steer(SteerOpening, Vec<MailboxMessage<C>>),
}

/// The pending input of a session, and whether it may be given out.
///
/// On an idle session all waiting steers start a turn together; if there are none, the oldest queued message starts one. In a
/// running turn waiting steers go in together, where the turn has a [`SteerOpening`]: never while a tool call runs, the user is
/// asked, the provider pauses or the turn is being cancelled. While it is held, nothing is given out, and where a turn has ended
/// because nobody is signed in, no other begins by itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct InputDelivery<C> {
    /// What waits.
    pub mailbox: Mailbox<C>,
    /// How a steer gets into an answer that is being streamed.
    pub steer_method: SteerMethod,
    /// Nothing is given out: the session was closed or has just been taken up, and keeps what waits.
    pub is_held: bool,
    /// Nothing of this client begins a turn before something more is said: its last one has ended because it is not signed in.
    pub signed_out: Option<ClientId>,
}

impl<C: Clone> InputDelivery<C> {
    /// An empty one of an idle session.
    pub fn new(steer_method: SteerMethod) -> Self {
        Self { mailbox: Mailbox::new(), steer_method, is_held: false, signed_out: None }
    }

    /// What is to be delivered now. What starts a turn has to be followed by a turn: to be called until it returns `None`.
    pub fn poll(&mut self, turn: Option<&mut RunningTurn>, is_asked: bool) -> Option<DeliveredMessages<C>> {
        if self.is_held {
            return None;
        }
        let Some(turn) = turn else {
            let messages = match self.signed_out {
                Some(client) => self.mailbox.take_for_turn_of_others(client),
                None => self.mailbox.take_for_turn(),
            };
            return (!messages.is_empty()).then_some(DeliveredMessages::Turn(messages));
        };
        if !self.mailbox.has_steers() {
            return None;
        }
        let opening = turn.opening(self.steer_method, is_asked)?;
        turn.steered();
        Some(DeliveredMessages::Steer(opening, self.mailbox.take_steers()))
    }

    /// Whether a stream that runs should be cut off, so that a steer that waits can go in.
    pub fn wants_interrupt(&self, turn: Option<&RunningTurn>, is_asked: bool) -> bool {
        let may_be = turn.is_some_and(|turn| turn.may_be_interrupted(is_asked));
        may_be && self.steer_method == SteerMethod::Interrupt && !self.is_held && self.mailbox.has_steers()
    }
}
