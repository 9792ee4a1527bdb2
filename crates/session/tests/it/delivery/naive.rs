//! A mailbox that is nothing but a log: every question is answered by reading the whole log again.

use nudge_backend::SteerMethod;
use nudge_mailbox::{DeliveryMode, InputDialect, MailboxMessage, MailboxRefusal, MessageFate};
use nudge_session::{DeliveredMessages, SteerOpening};

use super::turned_mailbox::Event;

type Id = std::sync::Arc<str>;

#[derive(Debug, Clone)]
enum Entry {
    Accepted(MailboxMessage<u8>),
    Replaced(Id, u8),
    Revoked(Id),
    TurnOf(Vec<Id>),
    SteeredBy(Vec<Id>),
    Did(Event),
    /// Only those that met a running turn.
    Cancelled,
    Held,
    Resumed,
    Restarted,
}

/// The reference.
#[derive(Debug)]
pub(crate) struct Naive {
    steer_method: SteerMethod,
    log: Vec<Entry>,
    committed: usize,
}

impl Naive {
    pub(crate) fn new(steer_method: SteerMethod) -> Self {
        Self { steer_method, log: Vec::new(), committed: 0 }
    }

    pub(crate) fn commit(&mut self) {
        self.committed = self.log.len();
    }

    pub(crate) fn crash(&mut self) {
        self.log.truncate(self.committed);
        self.log.push(Entry::Restarted);
    }

    /// The id, and whether it is new.
    pub(crate) fn accept(&mut self, message: MailboxMessage<u8>) -> Result<(Id, bool), MailboxRefusal> {
        let is_free = |old: &MailboxMessage<u8>| {
            let is_prompt = matches!(old.dialect, InputDialect::PromptV1 | InputDialect::PromptV2);
            is_prompt && self.fate(&old.id) == Some(MessageFate::Revoked)
        };
        let repeats =
            |old: &&MailboxMessage<u8>| old.key.is_some() && old.key == message.key && !is_free(old);
        let earlier =
            self.accepted().find(repeats).or_else(|| self.accepted().find(|old| old.id == message.id));
        if let Some(earlier) = earlier {
            return Ok((earlier.id.clone(), false));
        }
        if message.dialect == InputDialect::Inject
            && message.mode == DeliveryMode::Steer
            && !self.is_running()
        {
            return Err(MailboxRefusal::NoRunningTurn);
        }
        let id = message.id.clone();
        self.log.push(Entry::Accepted(message));
        Ok((id, true))
    }

    /// Whether it was revoked just now.
    pub(crate) fn revoke(&mut self, id: &Id) -> Result<bool, MailboxRefusal> {
        match self.fate(id) {
            None => Err(MailboxRefusal::UnknownMessage),
            Some(MessageFate::Delivered) => Err(MailboxRefusal::AlreadyDelivered),
            Some(MessageFate::Revoked) => Ok(false),
            Some(MessageFate::Pending) => {
                self.log.push(Entry::Revoked(id.clone()));
                Ok(true)
            }
        }
    }

    pub(crate) fn replace(&mut self, id: &Id, content: u8) -> Result<(), MailboxRefusal> {
        match self.fate(id) {
            None | Some(MessageFate::Revoked) => Err(MailboxRefusal::UnknownMessage),
            Some(MessageFate::Delivered) => Err(MailboxRefusal::AlreadyDelivered),
            Some(MessageFate::Pending) => {
                self.log.push(Entry::Replaced(id.clone(), content));
                Ok(())
            }
        }
    }

    pub(crate) fn handle(&mut self, event: Event) {
        if self.is_running() || event == Event::TurnStarted {
            self.log.push(Entry::Did(event));
        }
    }

    /// The ids of what was dropped, and how many follow.
    pub(crate) fn cancel(&mut self) -> (Vec<Id>, usize) {
        if !self.is_running() {
            return (Vec::new(), 0);
        }
        let before: Vec<_> = self.pending().into_iter().map(|message| message.id).collect();
        self.log.push(Entry::Cancelled);
        let dropped = before.into_iter().filter(|id| self.fate(id) == Some(MessageFate::Revoked)).collect();
        (dropped, self.pending().len())
    }

    pub(crate) fn hold(&mut self) {
        self.log.push(Entry::Held);
    }

    pub(crate) fn resume(&mut self) {
        self.log.push(Entry::Resumed);
    }

    pub(crate) fn poll(&mut self) -> Option<DeliveredMessages<u8>> {
        if self.is_held() {
            return None;
        }
        let (steers, queued): (Vec<_>, Vec<_>) =
            self.pending().into_iter().partition(|message| message.mode == DeliveryMode::Steer);
        let ids =
            |messages: &[MailboxMessage<u8>]| messages.iter().map(|message| message.id.clone()).collect();
        if !self.is_running() {
            let messages = if steers.is_empty() { queued.into_iter().take(1).collect() } else { steers };
            if messages.is_empty() {
                return None;
            }
            self.log.push(Entry::TurnOf(ids(&messages)));
            return Some(DeliveredMessages::Turn(messages));
        }
        let is_streaming = self.is_streaming() && self.steer_method == SteerMethod::Take;
        let is_open = self.is_at_break() || is_streaming;
        if steers.is_empty() || !is_open || self.must_wait() {
            return None;
        }
        self.log.push(Entry::SteeredBy(ids(&steers)));
        let opening = if is_streaming { SteerOpening::MidStream } else { SteerOpening::BreakPoint };
        Some(DeliveredMessages::Steer(opening, steers))
    }

    /// Steers before queued messages, each in the order of the log.
    pub(crate) fn pending(&self) -> Vec<MailboxMessage<u8>> {
        let waiting = |mode| {
            let accepted = self.accepted().filter(move |message| message.mode == mode);
            accepted.filter(|message| self.fate(&message.id) == Some(MessageFate::Pending)).cloned()
        };
        let mut pending: Vec<_> = waiting(DeliveryMode::Steer).chain(waiting(DeliveryMode::Queue)).collect();
        for message in &mut pending {
            for entry in &self.log {
                match entry {
                    Entry::Replaced(id, content) if *id == message.id => message.content = *content,
                    _ => {}
                }
            }
        }
        pending
    }

    /// The first thing that ended the wait decides.
    pub(crate) fn fate(&self, id: &Id) -> Option<MessageFate> {
        let place =
            self.log.iter().position(|entry| matches!(entry, Entry::Accepted(new) if new.id == *id))?;
        let dialect = self.accepted().find(|message| message.id == *id)?.dialect;
        let is_prompt = matches!(dialect, InputDialect::PromptV1 | InputDialect::PromptV2);
        let ended = self.log[place..].iter().find_map(|entry| match entry {
            Entry::TurnOf(ids) | Entry::SteeredBy(ids) if ids.contains(id) => Some(MessageFate::Delivered),
            Entry::Revoked(revoked) if revoked == id => Some(MessageFate::Revoked),
            Entry::Cancelled if is_prompt => Some(MessageFate::Revoked),
            Entry::Restarted if dialect == InputDialect::PromptV2 => Some(MessageFate::Revoked),
            _ => None,
        });
        Some(ended.unwrap_or(MessageFate::Pending))
    }

    pub(crate) fn is_running(&self) -> bool {
        let last = self.log.iter().rev().find_map(|entry| match entry {
            Entry::TurnOf(_) | Entry::Did(Event::TurnStarted) => Some(true),
            Entry::Did(Event::Idle) | Entry::Restarted => Some(false),
            _ => None,
        });
        last.unwrap_or(false)
    }

    pub(crate) fn is_cancelling(&self) -> bool {
        self.is_running() && self.this_turn().iter().any(|entry| matches!(entry, Entry::Cancelled))
    }

    pub(crate) fn is_held(&self) -> bool {
        let last = self.log.iter().rev().find_map(|entry| match entry {
            Entry::Held | Entry::Restarted => Some(true),
            Entry::Resumed => Some(false),
            _ => None,
        });
        last.unwrap_or(false)
    }

    pub(crate) fn wants_break(&self) -> bool {
        let has_steer = self.pending().iter().any(|message| message.mode == DeliveryMode::Steer);
        has_steer && !self.is_held() && self.is_running() && self.is_streaming() && !self.must_wait()
    }

    fn accepted(&self) -> impl Iterator<Item = &MailboxMessage<u8>> {
        self.log.iter().filter_map(|entry| match entry {
            Entry::Accepted(message) => Some(message),
            _ => None,
        })
    }

    /// What happened since the session was last idle.
    fn this_turn(&self) -> &[Entry] {
        let is_end = |entry: &Entry| matches!(entry, Entry::Did(Event::Idle) | Entry::Restarted);
        let start = self.log.iter().rposition(is_end).map_or(0, |place| place + 1);
        &self.log[start..]
    }

    fn is_streaming(&self) -> bool {
        let last = self.this_turn().iter().rev().find_map(|entry| match entry {
            Entry::Did(Event::StreamStarted) => Some(true),
            Entry::Did(Event::StreamFinished | Event::BreakPoint | Event::TurnStarted)
            | Entry::SteeredBy(_)
            | Entry::TurnOf(_) => Some(false),
            _ => None,
        });
        last.unwrap_or(false)
    }

    fn is_at_break(&self) -> bool {
        let last = self.this_turn().iter().rev().find_map(|entry| match entry {
            Entry::Did(Event::BreakPoint) => Some(true),
            Entry::Did(Event::StreamStarted | Event::ToolStarted(_) | Event::WentOn | Event::TurnStarted)
            | Entry::SteeredBy(_)
            | Entry::TurnOf(_) => Some(false),
            _ => None,
        });
        last.unwrap_or(false)
    }

    /// Whether something keeps steers out, wherever the turn stands.
    fn must_wait(&self) -> bool {
        let events = self.this_turn().iter().filter_map(|entry| match entry {
            Entry::Did(event) => Some(event),
            _ => None,
        });
        let did: Vec<_> = events.collect();
        let followed_by = |place: usize, end: Event| did[place..].contains(&&end);
        let is_unfinished = did.iter().enumerate().any(|(place, event)| match event {
            Event::ToolStarted(id) => !followed_by(place, Event::ToolFinished(id.clone())),
            Event::PermissionOpened(id) => !followed_by(place, Event::PermissionClosed(id.clone())),
            Event::Paused => !followed_by(place, Event::Resumed),
            _ => false,
        });
        is_unfinished || self.is_cancelling()
    }
}
