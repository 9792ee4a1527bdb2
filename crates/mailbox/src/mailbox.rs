//! The mailbox: accepts, keeps, gives out.

use std::{
    collections::{BTreeMap, VecDeque},
    mem,
};

use crate::{
    AcceptedMessage, ClientId, DeliveryMode, IdempotencyKey, InputDialect, MailboxChange, MailboxMessage,
    MailboxRefusal, MessageFate, MessageId, RevokedMessage, SavedMailbox,
};

/// The pending input of one session.
///
/// Every user message goes through it, a plain prompt too. It knows what waits and what became of every message; *when* a
/// message may be delivered is decided by who holds it, which knows the turn.
///
/// # Order of calls
///
/// 1. One input: [`accept`](Self::accept), [`revoke`](Self::revoke), [`replace`](Self::replace),
///    [`drop_prompts`](Self::drop_prompts) or [`forget`](Self::forget).
/// 2. Where something may be delivered now: [`take_for_turn`](Self::take_for_turn),
///    [`take_for_turn_of_others`](Self::take_for_turn_of_others) or [`take_steers`](Self::take_steers).
/// 3. [`take_changes`](Self::take_changes), and commit them in that order, with the transcript entries of what was
///    taken, in one transaction.
/// 4. Only then show the effects: answer the request, emit the messages, hand them to the agent.
///
/// Steps 2 and 3 may also alternate, and several inputs may share a commit. What must hold is that no effect is shown
/// before its change is committed. If a commit fails, the mailbox is ahead of what is written down: drop it and
/// [`restore`](Self::restore) another.
///
/// No order of calls panics.
///
/// # Delivery
///
/// A message is delivered by the call that takes it: before it revoke and replace succeed, from it on they are refused.
///
/// ```
/// use nudge_mailbox::{ClientId, DeliveryMode, InputDialect, Mailbox, MailboxMessage, MailboxRefusal};
///
/// let message = |id: &str, mode, dialect, content| MailboxMessage {
///     id: id.into(),
///     client: ClientId(1),
///     mode,
///     dialect,
///     content,
///     key: None,
/// };
/// let mut mailbox = Mailbox::new();
///
/// mailbox.accept(message("m1", DeliveryMode::Queue, InputDialect::PromptV1, "Fix the bug"), false)?;
/// assert_eq!(mailbox.take_for_turn().len(), 1);
///
/// mailbox.accept(message("m2", DeliveryMode::Steer, InputDialect::Inject, "and add a test"), true)?;
/// assert_eq!(mailbox.take_steers().len(), 1);
/// assert_eq!(mailbox.revoke("m2"), Err(MailboxRefusal::AlreadyDelivered));
/// # Ok::<(), nudge_mailbox::MailboxRefusal>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mailbox<C> {
    steers: VecDeque<MailboxMessage<C>>,
    queue: VecDeque<MailboxMessage<C>>,
    /// Every message ever accepted, for the session's life.
    fates: BTreeMap<MessageId, MessageFate>,
    keys: BTreeMap<IdempotencyKey, MessageId>,
    changes: Vec<MailboxChange<C>>,
}

impl<C> Default for Mailbox<C> {
    fn default() -> Self {
        Self {
            steers: VecDeque::new(),
            queue: VecDeque::new(),
            fates: BTreeMap::new(),
            keys: BTreeMap::new(),
            changes: Vec::new(),
        }
    }
}

impl<C: Clone> Mailbox<C> {
    /// An empty mailbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// The mailbox after a restart.
    ///
    /// What waited is kept, except prompts of v2, whose senders were never told that they are. What does not fit
    /// together is resolved in favour of not delivering a message twice.
    pub fn restore(saved: SavedMailbox<C>) -> Self {
        let mut mailbox = Self::new();
        mailbox.keys = saved.keys.into_iter().collect();
        mailbox.fates.extend(saved.revoked.into_iter().map(|id| (id, MessageFate::Revoked)));
        mailbox.fates.extend(saved.delivered.into_iter().map(|id| (id, MessageFate::Delivered)));
        for message in saved.pending {
            if !mailbox.fates.contains_key(&message.id) {
                mailbox.keep(message);
            }
        }
        mailbox.drop_waiting(InputDialect::ends_with_restart);
        mailbox
    }

    /// Takes a message in.
    ///
    /// The key of an earlier message returns that message's id and adds nothing, also if that one was delivered or taken
    /// back; so does an id that was used before. Only the key of a prompt that was dropped or taken back is free again.
    /// An inject that steers is refused where no turn runs.
    pub fn accept(
        &mut self,
        message: MailboxMessage<C>,
        a_turn_runs: bool,
    ) -> Result<AcceptedMessage, MailboxRefusal> {
        if let Some(id) = self.same(&message) {
            return Ok(AcceptedMessage { id, fresh: false });
        }
        if !a_turn_runs && message.mode == DeliveryMode::Steer && message.dialect == InputDialect::Inject {
            return Err(MailboxRefusal::NoRunningTurn);
        }
        let id = message.id.clone();
        self.changes.push(MailboxChange::Added(message.clone()));
        self.keep(message);
        Ok(AcceptedMessage { id, fresh: true })
    }

    /// Takes a message back. Succeeds again for one that was taken back before.
    pub fn revoke(&mut self, id: &str) -> Result<RevokedMessage<C>, MailboxRefusal> {
        match self.fate(id).ok_or(MailboxRefusal::UnknownMessage)? {
            MessageFate::Delivered => Err(MailboxRefusal::AlreadyDelivered),
            MessageFate::Revoked => Ok(RevokedMessage::Already),
            MessageFate::Pending => {
                let mut taken = self.drop_where(|message| &*message.id == id);
                Ok(taken.pop().map_or(RevokedMessage::Already, RevokedMessage::Now))
            }
        }
    }

    /// Forgets a message whose sender was told that it was not accepted, so that it can be sent again under the same key:
    /// one that waits is gone, of any other the key is free.
    pub fn forget(&mut self, id: &str) {
        let waited = !self.take_waiting(|message| &*message.id == id).is_empty();
        if waited {
            self.fates.remove(id);
        }
        let known = self.keys.len();
        self.keys.retain(|_, named| &**named != id);
        if waited || self.keys.len() < known {
            self.changes.push(MailboxChange::Forgotten { id: id.into() });
        }
    }

    /// Changes what a waiting message says; everything else about it stays, its place too.
    pub fn replace(&mut self, id: &str, content: C) -> Result<(), MailboxRefusal> {
        if self.fate(id) == Some(MessageFate::Delivered) {
            return Err(MailboxRefusal::AlreadyDelivered);
        }
        let mut waiting = self.steers.iter_mut().chain(&mut self.queue);
        let message = waiting.find(|message| &*message.id == id).ok_or(MailboxRefusal::UnknownMessage)?;
        message.content = content.clone();
        self.changes.push(MailboxChange::Replaced { id: message.id.clone(), content });
        Ok(())
    }

    /// Drops the prompts that wait, because their dialects say so when the user cancels a turn; gives them in the order in
    /// which they would have been delivered.
    pub fn drop_prompts(&mut self) -> Vec<MailboxMessage<C>> {
        self.drop_waiting(InputDialect::ends_with_cancel)
    }

    /// Delivers what starts a turn: all the steers that wait, or else the oldest queued message; nothing if nothing waits.
    pub fn take_for_turn(&mut self) -> Vec<MailboxMessage<C>> {
        if self.steers.is_empty() {
            let next = self.queue.pop_front().into_iter().collect();
            self.deliver(next)
        } else {
            self.take_steers()
        }
    }

    /// Delivers what starts a turn as if nothing of this client waited.
    pub fn take_for_turn_of_others(&mut self, client: ClientId) -> Vec<MailboxMessage<C>> {
        let (own, others): (Vec<_>, Vec<_>) =
            mem::take(&mut self.steers).into_iter().partition(|message| message.client == client);
        self.steers = own.into();
        if !others.is_empty() {
            return self.deliver(others);
        }
        let next = self.queue.iter().position(|message| message.client != client);
        let next = next.and_then(|at| self.queue.remove(at)).into_iter().collect();
        self.deliver(next)
    }

    /// Delivers all the steers that wait, in the order of acceptance.
    pub fn take_steers(&mut self) -> Vec<MailboxMessage<C>> {
        let messages = self.steers.drain(..).collect();
        self.deliver(messages)
    }

    /// Whether a steer waits.
    pub fn has_steers(&self) -> bool {
        !self.steers.is_empty()
    }

    /// What waits, in the order in which it will be delivered.
    pub fn pending(&self) -> impl Iterator<Item = &MailboxMessage<C>> {
        self.steers.iter().chain(&self.queue)
    }

    /// What became of a message; `None` for one that was never accepted.
    pub fn fate(&self, id: &str) -> Option<MessageFate> {
        self.fates.get(id).copied()
    }

    /// What is to be written down since the last call, in order.
    pub fn take_changes(&mut self) -> Vec<MailboxChange<C>> {
        mem::take(&mut self.changes)
    }

    /// The earlier message that this one is a repetition of.
    fn same(&self, message: &MailboxMessage<C>) -> Option<MessageId> {
        let by_key = message.key.as_ref().and_then(|key| self.keys.get(key));
        let by_id = || self.fates.get_key_value(&message.id).map(|(id, _)| id);
        by_key.or_else(by_id).cloned()
    }

    fn keep(&mut self, message: MailboxMessage<C>) {
        self.fates.insert(message.id.clone(), MessageFate::Pending);
        if let Some(key) = &message.key {
            self.keys.entry(key.clone()).or_insert_with(|| message.id.clone());
        }
        match message.mode {
            DeliveryMode::Steer => self.steers.push_back(message),
            DeliveryMode::Queue => self.queue.push_back(message),
        }
    }

    fn deliver(&mut self, messages: Vec<MailboxMessage<C>>) -> Vec<MailboxMessage<C>> {
        if messages.is_empty() {
            return messages;
        }
        let ids: Vec<_> = messages.iter().map(|message| message.id.clone()).collect();
        self.fates.extend(ids.iter().map(|id| (id.clone(), MessageFate::Delivered)));
        self.changes.push(MailboxChange::Delivered { ids });
        messages
    }

    fn drop_waiting(&mut self, ends: impl Fn(InputDialect) -> bool) -> Vec<MailboxMessage<C>> {
        self.drop_where(|message| ends(message.dialect))
    }

    fn drop_where(&mut self, is_dropped: impl Fn(&MailboxMessage<C>) -> bool) -> Vec<MailboxMessage<C>> {
        let dropped = self.take_waiting(is_dropped);
        for message in &dropped {
            if let Some(key) = message.key.as_ref().filter(|_| message.dialect.frees_key()) {
                self.keys.remove(key);
            }
            self.fates.insert(message.id.clone(), MessageFate::Revoked);
            self.changes.push(MailboxChange::Revoked { id: message.id.clone() });
        }
        dropped
    }

    fn take_waiting(&mut self, is_taken: impl Fn(&MailboxMessage<C>) -> bool) -> Vec<MailboxMessage<C>> {
        let mut taken = Vec::new();
        for waiting in [&mut self.steers, &mut self.queue] {
            let (out, stay): (Vec<_>, Vec<_>) = mem::take(waiting).into_iter().partition(&is_taken);
            *waiting = stay.into();
            taken.extend(out);
        }
        taken
    }
}
