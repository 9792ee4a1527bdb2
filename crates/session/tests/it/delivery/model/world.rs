//! The world around a mailbox: what is durable, what the driver is at, what clients were told, what the backend does.

use nudge_backend::SteerMethod;
use nudge_mailbox::{
    ClientId, DeliveryMode, InputDialect, MailboxChange, MailboxMessage, MailboxRefusal, MessageId,
    SavedMailbox,
};
use nudge_session::DeliveredMessages;

use crate::delivery::turned_mailbox::{Event, TurnedMailbox};

use super::{Play, audit, audit::Wrong};

/// Which message, by its place in the play, and how often it was replaced.
pub(super) type Content = (u8, u8);

/// One message of a play.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) client: u64,
    /// A prompt of version 2 has it only in a running turn.
    pub(super) mode: DeliveryMode,
    pub(super) dialect: InputDialect,
    /// Whether it has a key, and may be sent twice.
    pub(super) is_keyed: bool,
}

/// What can happen next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Send(u8),
    Revoke(u8),
    Replace(u8),
    Cancel,
    Hold,
    Resume,
    Did(Did),
    Poll,
    Commit,
    Show,
    Crash,
}

impl Action {
    /// Whether a client awaits an answer.
    pub(super) fn is_request(self) -> bool {
        matches!(self, Self::Send(_) | Self::Revoke(_) | Self::Replace(_))
    }
}

/// What a backend does, with one tool and one permission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Did {
    Start,
    Stream,
    StreamEnd,
    Tool,
    ToolEnd,
    Ask,
    AskEnd,
    Pause,
    Unpause,
    Break,
    GoOn,
    Idle,
}

/// An answer to a client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Answer {
    Accepted(u8, MessageId),
    Revoked(u8),
    Replaced(u8, u8),
    Refused(u8, MailboxRefusal),
}

/// What a client asked for and was told about one message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Told {
    pub(super) sent: u8,
    pub(super) asked_to_revoke: bool,
    pub(super) asked_to_replace: u8,
    /// Whether a cancel or a restart may have dropped it, because its dialect says so.
    pub(super) may_be_dropped: bool,
    pub(super) id: Option<MessageId>,
    pub(super) is_revoked: bool,
    pub(super) replaced: u8,
}

/// The turn as the backend knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and all combinations occur")]
pub(super) struct Turn {
    pub(super) is_streaming: bool,
    pub(super) is_at_break: bool,
    pub(super) is_in_tool: bool,
    pub(super) is_asking: bool,
    pub(super) is_paused: bool,
    pub(super) is_cancelled: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) steer_method: SteerMethod,
    pub(super) mailbox: TurnedMailbox<Content>,

    // What survives a crash.
    pub(super) saved: SavedMailbox<Content>,
    pub(super) transcript: Vec<Content>,
    /// The order of acceptance.
    pub(super) accepted: Vec<u8>,

    // What the driver has yet to do. Changes to commit are in the mailbox, and here that there are any.
    must_poll: bool,
    must_commit: bool,
    polled: Vec<Content>,
    answers: Vec<Answer>,

    pub(super) told: [Told; 3],
    pub(super) turn: Option<Turn>,
    pub(super) is_held: bool,
    pub(super) wrong: Option<Wrong>,
}

impl World {
    pub(super) fn new(steer_method: SteerMethod) -> Self {
        Self {
            steer_method,
            mailbox: TurnedMailbox::new(steer_method),
            saved: SavedMailbox::default(),
            transcript: Vec::new(),
            accepted: Vec::new(),
            must_poll: false,
            must_commit: false,
            polled: Vec::new(),
            answers: Vec::new(),
            told: Default::default(),
            turn: None,
            is_held: false,
            wrong: None,
        }
    }

    /// Whether all that was asked for is done.
    pub(super) fn is_settled(&self) -> bool {
        !self.must_poll && !self.must_commit && self.answers.is_empty()
    }

    pub(super) fn actions(&self, play: &Play, actions: &mut Vec<Action>) {
        actions.push(Action::Crash);
        if self.must_poll {
            actions.push(Action::Poll);
        }
        if self.must_commit {
            actions.push(Action::Commit);
        } else if !self.answers.is_empty() {
            actions.push(Action::Show);
        }
        if !self.is_settled() && self.answers.len() >= play.batch {
            return;
        }
        for (part, (place, told)) in play.parts.iter().zip((0..).zip(&self.told)) {
            if told.sent == 0 || (part.is_keyed && told.sent == 1) {
                actions.push(Action::Send(place));
            }
            if told.id.is_some() {
                actions.push(Action::Revoke(place));
            }
            if place == 0 && told.id.is_some() && told.asked_to_replace < play.replaces {
                actions.push(Action::Replace(place));
            }
        }
        actions.push(if self.is_held { Action::Resume } else { Action::Hold });
        self.turn_actions(play, actions);
    }

    fn turn_actions(&self, play: &Play, actions: &mut Vec<Action>) {
        let Some(turn) = &self.turn else {
            return actions.push(Action::Did(Did::Start));
        };
        if !turn.is_cancelled {
            actions.push(Action::Cancel);
        }
        let pairs = [
            (turn.is_streaming, Did::Stream, Did::StreamEnd),
            (turn.is_in_tool, Did::Tool, Did::ToolEnd),
            (turn.is_asking, Did::Ask, Did::AskEnd),
            (turn.is_paused, Did::Pause, Did::Unpause),
            (turn.is_at_break, Did::Break, Did::GoOn),
        ];
        let pairs = pairs.into_iter().filter(|(_, start, _)| play.does.contains(start));
        actions.extend(pairs.map(|(is_on, start, end)| Action::Did(if is_on { end } else { start })));
        actions.push(Action::Did(Did::Idle));
    }

    pub(super) fn take(&mut self, play: &Play, action: Action) {
        match action {
            Action::Send(place) => self.send(place, play.parts[usize::from(place)]),
            Action::Revoke(place) => self.revoke(place),
            Action::Replace(place) => self.replace(place),
            Action::Cancel => self.cancel(play),
            Action::Hold => self.mailbox.hold(),
            Action::Resume => self.mailbox.resume(),
            Action::Did(did) => self.did(did),
            Action::Poll => self.poll(),
            Action::Commit => self.commit(),
            Action::Show => self.show(),
            Action::Crash => self.crash(play),
        }
        self.is_held = match action {
            Action::Hold | Action::Crash => true,
            Action::Resume => false,
            _ => self.is_held,
        };
        let mut probe = self.mailbox.clone();
        self.must_commit = !probe.take_changes().is_empty();
        self.must_poll = probe.poll().is_some();
        if action.is_request() && !self.must_commit && self.answers.len() == 1 {
            // Nothing was changed, so a crash before the answer is a crash before the question.
            self.show();
        }
    }

    /// Forgets what can make no difference any more, so that worlds which differ in it alone count as one.
    pub(super) fn forget(&mut self) {
        // Sets, and an order that was looked at when it came about.
        self.saved.delivered.sort();
        self.saved.revoked.sort();
        self.saved.keys.sort();
        self.transcript.sort_unstable();
        self.accepted.retain(|place| self.transcript.iter().all(|(delivered, _)| delivered != place));
        for (place, told) in (0..).zip(&mut self.told) {
            let Some(content) = self.transcript.iter_mut().find(|(delivered, _)| *delivered == place) else {
                continue;
            };
            content.1 = 0;
            *told = Told { sent: told.sent, id: told.id.take(), ..Told::default() };
        }
    }

    fn send(&mut self, place: u8, part: Part) {
        let told = &mut self.told[usize::from(place)];
        let mode = match (part.dialect, &self.turn) {
            (InputDialect::PromptV2, None) => DeliveryMode::Queue,
            _ => part.mode,
        };
        let message = MailboxMessage {
            id: format!("{place}.{}", told.sent).into(),
            client: ClientId(part.client),
            mode,
            dialect: part.dialect,
            content: (place, 0),
            key: part.is_keyed.then(|| format!("key of {place}").into()),
        };
        told.sent += 1;
        self.answers.push(match self.mailbox.accept(message) {
            Ok(accepted) => Answer::Accepted(place, accepted.id),
            Err(refusal) => Answer::Refused(place, refusal),
        });
    }

    fn revoke(&mut self, place: u8) {
        let told = &mut self.told[usize::from(place)];
        let Some(id) = &told.id else { return };
        told.asked_to_revoke = true;
        self.answers.push(match self.mailbox.revoke(id) {
            Ok(_) => Answer::Revoked(place),
            Err(refusal) => Answer::Refused(place, refusal),
        });
    }

    fn replace(&mut self, place: u8) {
        let told = &mut self.told[usize::from(place)];
        let Some(id) = &told.id else { return };
        told.asked_to_replace += 1;
        let version = told.asked_to_replace;
        self.answers.push(match self.mailbox.replace(id, (place, version)) {
            Ok(()) => Answer::Replaced(place, version),
            Err(refusal) => Answer::Refused(place, refusal),
        });
    }

    fn cancel(&mut self, play: &Play) {
        self.mailbox.cancel();
        self.turn.iter_mut().for_each(|turn| turn.is_cancelled = true);
        for (told, part) in self.told.iter_mut().zip(&play.parts) {
            told.may_be_dropped |=
                matches!(part.dialect, InputDialect::PromptV1 | InputDialect::PromptV2) && told.sent > 0;
        }
    }

    fn did(&mut self, did: Did) {
        self.mailbox.handle(event(did));
        let mut turn = self.turn.take().unwrap_or_default();
        match did {
            Did::Start => {}
            Did::Stream => (turn.is_streaming, turn.is_at_break) = (true, false),
            Did::StreamEnd => turn.is_streaming = false,
            Did::Tool => (turn.is_in_tool, turn.is_at_break) = (true, false),
            Did::ToolEnd => turn.is_in_tool = false,
            Did::Ask => turn.is_asking = true,
            Did::AskEnd => turn.is_asking = false,
            Did::Pause => turn.is_paused = true,
            Did::Unpause => turn.is_paused = false,
            Did::Break => (turn.is_streaming, turn.is_at_break) = (false, true),
            Did::GoOn => turn.is_at_break = false,
            Did::Idle => return,
        }
        self.turn = Some(turn);
    }

    fn poll(&mut self) {
        while let Some(delivery) = self.mailbox.poll() {
            self.wrong = self.wrong.or_else(|| audit::judge(self, &delivery));
            let (DeliveredMessages::Turn(messages) | DeliveredMessages::Steer(_, messages)) = delivery;
            self.polled.extend(messages.into_iter().map(|message| message.content));
            let turn = self.turn.get_or_insert_default();
            (turn.is_streaming, turn.is_at_break) = (false, false);
        }
    }

    /// One transaction: the mailbox's rows and the transcript.
    fn commit(&mut self) {
        for change in self.mailbox.take_changes() {
            if let MailboxChange::Added(message) = &change {
                self.accepted.push(message.content.0);
            }
            self.saved.apply(change);
        }
        self.transcript.append(&mut self.polled);
    }

    fn show(&mut self) {
        for answer in std::mem::take(&mut self.answers) {
            self.wrong = self.wrong.or_else(|| self.is_false(&answer).then_some(Wrong::FalseRefusal));
            match answer {
                Answer::Accepted(place, id) => {
                    let known = self.told[usize::from(place)].id.get_or_insert_with(|| id.clone());
                    self.wrong = self.wrong.or((*known != id).then_some(Wrong::OtherId));
                }
                Answer::Revoked(place) => self.told[usize::from(place)].is_revoked = true,
                Answer::Replaced(place, version) => self.told[usize::from(place)].replaced = version,
                // The user writes it again.
                Answer::Refused(place, MailboxRefusal::NoRunningTurn) => {
                    self.told[usize::from(place)].sent -= 1;
                }
                Answer::Refused(..) => {}
            }
        }
    }

    fn is_false(&self, answer: &Answer) -> bool {
        let Answer::Refused(place, refusal) = answer else { return false };
        let told = &self.told[usize::from(*place)];
        match refusal {
            MailboxRefusal::AlreadyDelivered => {
                self.transcript.iter().all(|(delivered, _)| delivered != place)
            }
            MailboxRefusal::UnknownMessage => !told.asked_to_revoke && !told.may_be_dropped,
            MailboxRefusal::NoRunningTurn => told.id.is_some(),
        }
    }

    fn crash(&mut self, play: &Play) {
        self.mailbox = TurnedMailbox::restore(self.steer_method, self.saved.clone());
        self.turn = None;
        self.polled.clear();
        self.answers.clear();
        for (told, part) in self.told.iter_mut().zip(&play.parts) {
            told.may_be_dropped |= part.dialect == InputDialect::PromptV2 && told.sent > 0;
        }
    }
}

fn event(did: Did) -> Event {
    match did {
        Did::Start => Event::TurnStarted,
        Did::Stream => Event::StreamStarted,
        Did::StreamEnd => Event::StreamFinished,
        Did::Tool => Event::ToolStarted("tool".into()),
        Did::ToolEnd => Event::ToolFinished("tool".into()),
        Did::Ask => Event::PermissionOpened("permission".into()),
        Did::AskEnd => Event::PermissionClosed("permission".into()),
        Did::Pause => Event::Paused,
        Did::Unpause => Event::Resumed,
        Did::Break => Event::BreakPoint,
        Did::GoOn => Event::WentOn,
        Did::Idle => Event::Idle,
    }
}
