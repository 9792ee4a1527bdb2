//! A mailbox, the turn and what the user is asked, as one value: what a session makes of them and nothing more.

use std::{collections::BTreeSet, sync::Arc};

use nudge_backend::SteerMethod;
use nudge_mailbox::{
    AcceptedMessage, ClientId, Mailbox, MailboxChange, MailboxMessage, MailboxRefusal, MessageFate,
    MessageId, RevokedMessage, SavedMailbox,
};
use nudge_session::{DeliveredMessages, InputDelivery, RunningTurn, TurnEvent};

/// What an agent does, and what the user is asked for it.
///
/// On an idle session only [`Event::TurnStarted`] means something; the others are late news and change nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Event {
    TurnStarted,
    StreamStarted,
    StreamFinished,
    ToolStarted(Arc<str>),
    ToolFinished(Arc<str>),
    PermissionOpened(Arc<str>),
    PermissionClosed(Arc<str>),
    Paused,
    Resumed,
    BreakPoint,
    WentOn,
    Idle,
}

/// What a cancel comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cancelled<C> {
    /// Prompts that waited.
    pub(super) dropped: Vec<MailboxMessage<C>>,
    /// How many messages follow the turn.
    pub(super) following: usize,
}

/// A mailbox in its session. The agent knows of a turn as soon as [`poll`](Self::poll) starts it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct TurnedMailbox<C> {
    input: InputDelivery<C>,
    turn: Option<RunningTurn>,
    open_permissions: BTreeSet<Arc<str>>,
}

impl<C: Clone> TurnedMailbox<C> {
    pub(super) fn new(steer_method: SteerMethod) -> Self {
        Self::of(InputDelivery::new(steer_method))
    }

    pub(super) fn restore(steer_method: SteerMethod, saved: SavedMailbox<C>) -> Self {
        let mailbox = Mailbox::restore(saved);
        Self::of(InputDelivery { mailbox, is_held: true, ..InputDelivery::new(steer_method) })
    }

    fn of(input: InputDelivery<C>) -> Self {
        Self { input, turn: None, open_permissions: BTreeSet::new() }
    }

    pub(super) fn accept(&mut self, message: MailboxMessage<C>) -> Result<AcceptedMessage, MailboxRefusal> {
        self.input.mailbox.accept(message, self.turn.is_some())
    }

    pub(super) fn revoke(&mut self, id: &str) -> Result<RevokedMessage<C>, MailboxRefusal> {
        self.input.mailbox.revoke(id)
    }

    pub(super) fn replace(&mut self, id: &str, content: C) -> Result<(), MailboxRefusal> {
        self.input.mailbox.replace(id, content)
    }

    pub(super) fn handle(&mut self, event: Event) {
        if event == Event::TurnStarted {
            self.turn.get_or_insert_with(started);
        }
        let Some(turn) = &mut self.turn else { return };
        match event {
            Event::TurnStarted => turn.handle(TurnEvent::Started),
            Event::StreamStarted => turn.handle(TurnEvent::StreamStarted),
            Event::StreamFinished => turn.handle(TurnEvent::StreamFinished),
            Event::ToolStarted(id) => turn.handle(TurnEvent::ToolStarted(id)),
            Event::ToolFinished(id) => turn.handle(TurnEvent::ToolFinished(id)),
            Event::Paused => turn.handle(TurnEvent::Paused),
            Event::Resumed => turn.handle(TurnEvent::Resumed),
            Event::BreakPoint => turn.handle(TurnEvent::BreakPoint),
            Event::WentOn => turn.handle(TurnEvent::WentOn),
            Event::PermissionOpened(id) => drop(self.open_permissions.insert(id)),
            Event::PermissionClosed(id) => drop(self.open_permissions.remove(&id)),
            Event::Idle => {
                self.turn = None;
                self.open_permissions.clear();
            }
        }
    }

    pub(super) fn cancel(&mut self) -> Cancelled<C> {
        let Some(turn) = &mut self.turn else {
            return Cancelled { dropped: Vec::new(), following: 0 };
        };
        turn.cancel();
        let dropped = self.input.mailbox.drop_prompts();
        Cancelled { dropped, following: self.pending().count() }
    }

    pub(super) fn hold(&mut self) {
        self.input.is_held = true;
    }

    pub(super) fn resume(&mut self) {
        self.input.is_held = false;
    }

    pub(super) fn set_steer_method(&mut self, steer_method: SteerMethod) {
        self.input.steer_method = steer_method;
    }

    pub(super) fn poll(&mut self) -> Option<DeliveredMessages<C>> {
        let is_asked = self.is_asked();
        let delivery = self.input.poll(self.turn.as_mut(), is_asked);
        if let Some(DeliveredMessages::Turn(_)) = delivery {
            self.turn = Some(started());
        }
        delivery
    }

    /// Whether a stream that runs should be cut off, by an agent that is steered so.
    pub(super) fn wants_break(&self) -> bool {
        let input = InputDelivery { steer_method: SteerMethod::Interrupt, ..self.input.clone() };
        input.wants_interrupt(self.turn.as_ref(), self.is_asked())
    }

    pub(super) fn pending(&self) -> impl Iterator<Item = &MailboxMessage<C>> {
        self.input.mailbox.pending()
    }

    pub(super) fn fate(&self, id: &MessageId) -> Option<MessageFate> {
        self.input.mailbox.fate(id)
    }

    pub(super) fn take_changes(&mut self) -> Vec<MailboxChange<C>> {
        self.input.mailbox.take_changes()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.turn.is_none()
    }

    pub(super) fn is_running(&self) -> bool {
        self.turn.is_some()
    }

    pub(super) fn is_cancelling(&self) -> bool {
        self.turn.as_ref().is_some_and(RunningTurn::is_cancelled)
    }

    pub(super) fn is_held(&self) -> bool {
        self.input.is_held
    }

    fn is_asked(&self) -> bool {
        !self.open_permissions.is_empty()
    }
}

/// All turns are alike here, so that worlds which differ in their number alone count as one.
fn started() -> RunningTurn {
    let mut turn = RunningTurn::starting(0, ClientId(0));
    turn.prompted();
    turn
}
