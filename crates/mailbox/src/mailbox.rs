//! The mailbox: accepts, keeps, gives out.

use std::{
    collections::{BTreeMap, VecDeque},
    mem,
};

use crate::{
    Accepted, Cancelled, Change, Delivery, Dialect, Event, Fate, InStream, Key, Message, MessageId, Mode,
    Refusal, Revoked, Saved,
    turn::{Opening, Turn},
};

/// The pending input of one session.
///
/// Every user message goes through it, a plain prompt too: on an idle session that is a queued message which the next
/// poll gives back.
///
/// # Order of calls
///
/// 1. One input: [`accept`](Self::accept), [`revoke`](Self::revoke), [`replace`](Self::replace),
///    [`handle`](Self::handle), [`cancel`](Self::cancel), [`hold`](Self::hold) or [`resume`](Self::resume).
/// 2. [`poll`](Self::poll) until it returns `None`.
/// 3. [`take_changes`](Self::take_changes), and commit them in that order, with the transcript entries of what was
///    polled, in one transaction.
/// 4. Only then show the effects: answer the request, emit the polled messages, hand them to the backend. At a
///    break-point, tell the backend to go on and [`handle`](Self::handle) [`Event::WentOn`].
///
/// Steps 2 and 3 may also alternate, and several inputs may share a commit. What must hold is that no effect is shown
/// before its change is committed. If a commit fails, the mailbox is ahead of what is written down: drop it and
/// [`restore`](Self::restore) another.
///
/// No order of calls panics.
///
/// # Delivery
///
/// A message is delivered by the poll that gives it out: before it revoke and replace succeed, from it on they are
/// refused. On an idle session all waiting steers start a turn together; if there are none, the oldest queued message
/// starts one. In a running turn waiting steers go in together, at a break-point or, with [`InStream::Interrupt`], in
/// mid-stream; never while a tool call runs, a permission request is open, the provider pauses or the turn is being
/// cancelled. A mailbox that is held gives nothing out.
///
/// ```
/// use nudge_mailbox::{ClientId, Delivery, Dialect, Event, InStream, Mailbox, Message, Mode};
///
/// let message = |id: &str, mode, dialect, content| Message {
///     id: id.into(),
///     client: ClientId(1),
///     mode,
///     dialect,
///     content,
///     key: None,
/// };
/// let mut mailbox = Mailbox::new(InStream::Finish);
///
/// mailbox.accept(message("m1", Mode::Queue, Dialect::PromptV1, "Fix the bug"))?;
/// assert!(matches!(mailbox.poll(), Some(Delivery::Turn(_))));
///
/// mailbox.accept(message("m2", Mode::Steer, Dialect::Inject, "and add a test"))?;
/// assert_eq!(mailbox.poll(), None);
/// mailbox.handle(Event::BreakPoint);
/// assert!(matches!(mailbox.poll(), Some(Delivery::Steer { interrupt: false, .. })));
/// # Ok::<(), nudge_mailbox::Refusal>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mailbox<C> {
    in_stream: InStream,
    /// `None` is idle.
    turn: Option<Turn>,
    is_held: bool,
    steers: VecDeque<Message<C>>,
    queue: VecDeque<Message<C>>,
    /// Every message ever accepted, for the session's life.
    fates: BTreeMap<MessageId, Fate>,
    keys: BTreeMap<Key, MessageId>,
    changes: Vec<Change<C>>,
}

impl<C: Clone> Mailbox<C> {
    /// An empty mailbox of an idle session.
    pub fn new(in_stream: InStream) -> Self {
        Self {
            in_stream,
            turn: None,
            is_held: false,
            steers: VecDeque::new(),
            queue: VecDeque::new(),
            fates: BTreeMap::new(),
            keys: BTreeMap::new(),
            changes: Vec::new(),
        }
    }

    /// The mailbox after a restart: idle, and held until [`resume`](Self::resume).
    ///
    /// What waited is kept, except prompts of v2, whose senders were never told that they are. What does not fit
    /// together is resolved in favour of not delivering a message twice.
    pub fn restore(in_stream: InStream, saved: Saved<C>) -> Self {
        let mut mailbox = Self::new(in_stream);
        mailbox.is_held = true;
        mailbox.keys = saved.keys.into_iter().collect();
        mailbox.fates.extend(saved.revoked.into_iter().map(|id| (id, Fate::Revoked)));
        mailbox.fates.extend(saved.delivered.into_iter().map(|id| (id, Fate::Delivered)));
        for message in saved.pending {
            if !mailbox.fates.contains_key(&message.id) {
                mailbox.keep(message);
            }
        }
        mailbox.drop_waiting(Dialect::ends_with_restart);
        mailbox
    }

    /// Takes a message in.
    ///
    /// The key of an earlier message returns that message's id and adds nothing, also if that one was delivered or taken
    /// back; so does an id that was used before. Only the key of a prompt that was dropped or taken back is free again.
    pub fn accept(&mut self, message: Message<C>) -> Result<Accepted, Refusal> {
        if let Some(id) = self.same(&message) {
            return Ok(Accepted { id, fresh: false });
        }
        if self.is_idle() && message.mode == Mode::Steer && message.dialect == Dialect::Inject {
            return Err(Refusal::NoRunningTurn);
        }
        let id = message.id.clone();
        self.changes.push(Change::Added(message.clone()));
        self.keep(message);
        Ok(Accepted { id, fresh: true })
    }

    /// Takes a message back. Succeeds again for one that was taken back before.
    pub fn revoke(&mut self, id: &str) -> Result<Revoked<C>, Refusal> {
        match self.fate(id).ok_or(Refusal::UnknownMessage)? {
            Fate::Delivered => Err(Refusal::AlreadyDelivered),
            Fate::Revoked => Ok(Revoked::Already),
            Fate::Pending => {
                let mut taken = self.drop_where(|message| &*message.id == id);
                Ok(taken.pop().map_or(Revoked::Already, Revoked::Now))
            }
        }
    }

    /// Changes what a waiting message says; everything else about it stays, its place too.
    pub fn replace(&mut self, id: &str, content: C) -> Result<(), Refusal> {
        if self.fate(id) == Some(Fate::Delivered) {
            return Err(Refusal::AlreadyDelivered);
        }
        let mut waiting = self.steers.iter_mut().chain(&mut self.queue);
        let message = waiting.find(|message| &*message.id == id).ok_or(Refusal::UnknownMessage)?;
        message.content = content.clone();
        self.changes.push(Change::Replaced { id: message.id.clone(), content });
        Ok(())
    }

    /// Takes in what the backend is doing.
    pub fn handle(&mut self, event: Event) {
        if event == Event::TurnStarted {
            self.turn.get_or_insert_with(Turn::new);
        }
        self.turn = self.turn.take().and_then(|turn| turn.after(event));
    }

    /// The user cancels the running turn: no steer goes into it any more. Does nothing on an idle session.
    ///
    /// Waiting prompts are dropped, because their dialects say so. All else waits for the turn's end.
    pub fn cancel(&mut self) -> Cancelled<C> {
        let Some(turn) = &mut self.turn else {
            return Cancelled { dropped: Vec::new(), following: 0 };
        };
        turn.cancel();
        let dropped = self.drop_waiting(Dialect::ends_with_cancel);
        Cancelled { dropped, following: self.pending().count() }
    }

    /// Gives nothing out until [`resume`](Self::resume): the session is closed and keeps what waits.
    pub fn hold(&mut self) {
        self.is_held = true;
    }

    /// Gives out again.
    pub fn resume(&mut self) {
        self.is_held = false;
    }

    /// Sets what a steer does to a stream, for a backend that turns out to do it in another way.
    pub fn set_in_stream(&mut self, in_stream: InStream) {
        self.in_stream = in_stream;
    }

    /// What is to be delivered now. Call it after every input until it returns `None`.
    pub fn poll(&mut self) -> Option<Delivery<C>> {
        if self.is_held {
            return None;
        }
        let Some(turn) = &mut self.turn else {
            return self.start_turn();
        };
        let Opening { interrupt } = turn.opening(self.in_stream).filter(|_| !self.steers.is_empty())?;
        turn.steered();
        let messages = self.steers.drain(..).collect();
        Some(Delivery::Steer { messages: self.deliver(messages), interrupt })
    }

    /// Whether a stream that runs should be brought to a break-point, for a driver that delivers at break-points only:
    /// a steer waits that [`InStream::Interrupt`] would deliver now.
    pub fn wants_break(&self) -> bool {
        let opening = self.turn.as_ref().and_then(|turn| turn.opening(InStream::Interrupt));
        !self.is_held && !self.steers.is_empty() && opening.is_some_and(|opening| opening.interrupt)
    }

    /// What waits, in the order in which it will be delivered.
    pub fn pending(&self) -> impl Iterator<Item = &Message<C>> {
        self.steers.iter().chain(&self.queue)
    }

    /// What became of a message; `None` for one that was never accepted.
    pub fn fate(&self, id: &str) -> Option<Fate> {
        self.fates.get(id).copied()
    }

    /// What is to be written down since the last call, in order.
    pub fn take_changes(&mut self) -> Vec<Change<C>> {
        mem::take(&mut self.changes)
    }

    /// Whether no turn runs.
    pub fn is_idle(&self) -> bool {
        self.turn.is_none()
    }

    /// Whether a turn runs.
    pub fn is_running(&self) -> bool {
        self.turn.is_some()
    }

    /// Whether a turn runs that the user has cancelled.
    pub fn is_cancelling(&self) -> bool {
        self.turn.as_ref().is_some_and(Turn::is_cancelling)
    }

    /// Whether nothing is given out until [`resume`](Self::resume).
    pub fn is_held(&self) -> bool {
        self.is_held
    }

    /// The earlier message that this one is a repetition of.
    fn same(&self, message: &Message<C>) -> Option<MessageId> {
        let by_key = message.key.as_ref().and_then(|key| self.keys.get(key));
        let by_id = || self.fates.get_key_value(&message.id).map(|(id, _)| id);
        by_key.or_else(by_id).cloned()
    }

    fn keep(&mut self, message: Message<C>) {
        self.fates.insert(message.id.clone(), Fate::Pending);
        if let Some(key) = &message.key {
            self.keys.entry(key.clone()).or_insert_with(|| message.id.clone());
        }
        match message.mode {
            Mode::Steer => self.steers.push_back(message),
            Mode::Queue => self.queue.push_back(message),
        }
    }

    fn start_turn(&mut self) -> Option<Delivery<C>> {
        let mut messages: Vec<_> = self.steers.drain(..).collect();
        if messages.is_empty() {
            messages.extend(self.queue.pop_front());
        }
        if messages.is_empty() {
            return None;
        }
        self.turn = Some(Turn::new());
        Some(Delivery::Turn(self.deliver(messages)))
    }

    fn deliver(&mut self, messages: Vec<Message<C>>) -> Vec<Message<C>> {
        let ids: Vec<_> = messages.iter().map(|message| message.id.clone()).collect();
        self.fates.extend(ids.iter().map(|id| (id.clone(), Fate::Delivered)));
        self.changes.push(Change::Delivered { ids });
        messages
    }

    fn drop_waiting(&mut self, ends: impl Fn(Dialect) -> bool) -> Vec<Message<C>> {
        self.drop_where(|message| ends(message.dialect))
    }

    fn drop_where(&mut self, is_dropped: impl Fn(&Message<C>) -> bool) -> Vec<Message<C>> {
        let mut dropped = Vec::new();
        for waiting in [&mut self.steers, &mut self.queue] {
            let (out, stay): (Vec<_>, Vec<_>) = mem::take(waiting).into_iter().partition(&is_dropped);
            *waiting = stay.into();
            dropped.extend(out);
        }
        for message in &dropped {
            if let Some(key) = message.key.as_ref().filter(|_| message.dialect.frees_key()) {
                self.keys.remove(key);
            }
            self.fates.insert(message.id.clone(), Fate::Revoked);
            self.changes.push(Change::Revoked { id: message.id.clone() });
        }
        dropped
    }
}
