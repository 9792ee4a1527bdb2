//! What is done once its turn has come: what it depends on is on disk.

use nudge_bridge::IndexedUpdate;
use nudge_mailbox::ClientId;

use crate::{
    Attach, Effect, Joined, SessionCore, SessionState,
    lifecycle::Stage,
    outbox::Act,
    own_updates,
    turn::{BreakPoint, Interrupt},
};

impl SessionCore {
    pub(crate) fn act(&mut self, act: Act) {
        match act {
            Act::Show { update, seq, but } => self.show_now(update, seq, but),
            Act::Answer { request, outcome } => self.answer_now(request, outcome),
            Act::Prompt { turn, messages, prompter } => {
                if let Some(turn) = self.turn.as_mut().filter(|now| now.number == turn) {
                    turn.prompted();
                }
                self.step.effects.push(Effect::Prompt { messages, prompter });
            }
            Act::Cancel { turn } => self.cancel_now(turn),
            Act::GoOn(messages) => self.go_on(messages),
            Act::Steer { turn, messages } => self.steer_now(turn, messages),
            Act::Interrupt => self.interrupt_now(),
            Act::Permit { permission, by, answer } => self.permit(&permission, by, answer),
            Act::SetOption(option) => self.step.effects.push(Effect::SetOption(option)),
            Act::Pending(pending) => self.pending_on_disk = pending,
            Act::AskEveryone(ask) => self.ask_everyone(ask),
            Act::AskOne(question) => self.ask_one(question),
            Act::Notify(message) => self.step.effects.push(Effect::Notify(message)),
            Act::Title(title) => drop(self.title.get_or_insert(title)),
            Act::Join(attach) => self.join(attach),
            Act::Leave(ending) => self.leave(ending.parting(), ending.waiting()),
        }
    }

    fn show_now(&mut self, update: IndexedUpdate, seq: Option<u64>, but: Option<ClientId>) {
        let mut skip: Vec<ClientId> = but.into_iter().collect();
        if let Some(seq) = seq {
            skip.extend(self.attendance.have_seen(seq));
            self.transcript.remember(seq, &update);
        }
        self.step.effects.push(Effect::Show { update, skip });
    }

    fn cancel_now(&mut self, turn: u64) {
        if self.turn.as_ref().is_some_and(|now| now.number == turn) {
            self.step.effects.push(Effect::Cancel);
            self.cancel_permissions();
        }
    }

    /// The agent goes on from its break-point.
    pub(crate) fn go_on(&mut self, messages: Vec<nudge_backend::UserMessage>) {
        if let Some(turn) = &mut self.turn {
            turn.break_point = BreakPoint::Not;
        }
        self.step.effects.push(Effect::GoOn(messages));
    }

    fn steer_now(&mut self, turn: u64, messages: Vec<nudge_backend::UserMessage>) {
        let turn = self.turn.as_mut().filter(|now| now.number == turn);
        let is_waited_for = turn.is_some_and(|turn| {
            turn.steers_under_way = turn.steers_under_way.saturating_sub(1);
            turn.break_point == BreakPoint::WaitsForSteers
        });
        if is_waited_for {
            self.go_on(messages);
        } else {
            self.step.effects.push(Effect::Steer(messages));
        }
    }

    /// Cuts the stream off, unless there is no reason for it any more. A steer that is not on disk is none yet.
    pub(crate) fn interrupt_now(&mut self) {
        let is_wanted = self.wants_interrupt() && self.has_steer_on_disk();
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.interrupt != Interrupt::Sent) else { return };
        turn.interrupt = Interrupt::Not;
        if is_wanted {
            turn.interrupt = Interrupt::Sent;
            self.step.effects.push(Effect::Interrupt);
        }
    }

    fn has_steer_on_disk(&self) -> bool {
        let on_disk = |id: &str| self.pending_on_disk.iter().any(|pending| pending.message_id == id);
        let mut steers =
            self.delivery.mailbox.pending().filter(|message| message.mode == nudge_mailbox::Mode::Steer);
        steers.any(|message| on_disk(&message.id))
    }

    pub(crate) fn wants_interrupt(&self) -> bool {
        self.delivery.wants_interrupt(self.turn.as_ref(), self.questions.has_permissions())
    }

    /// Shows what is missing, answers, and from then on the client is shown all that comes. What waits for somebody to
    /// come back is delivered after the answer.
    fn join(&mut self, attach: Attach) {
        let Attach { request, attendee, from, options } = attach;
        let missed = if options.wants_history { self.transcript.since(from) } else { Some(Vec::new()) };
        let Some(missed) = missed else {
            return self.step.effects.push(Effect::ReadOn(request));
        };
        let (client, version) = (attendee.id, attendee.version);
        self.withdraw_from(client);
        self.attendance.join(attendee, from.max(self.transcript.shown()));
        let (state, is_running) = (self.state_update(), self.turn.is_some());
        let (pending, is_new) = (self.pending_on_disk.clone(), options.is_new);
        let joined = Joined { request, client, is_new, missed, state, is_running, pending };
        self.step.effects.push(Effect::Joined(Box::new(joined)));
        self.ask_for_all(client, version);
        let is_in_use = self.lifecycle.stage == Stage::Open && self.lifecycle.ending.is_none();
        if self.delivery.is_held && !options.keeps_hold && is_in_use && !self.is_stalled() {
            self.delivery.is_held = false;
            self.step.effects.push(Effect::TakenUpBy(client));
            self.interrupt_now();
        }
    }

    fn state_update(&self) -> IndexedUpdate {
        match self.state() {
            SessionState::Idle => own_updates::idle(None),
            _ if self.questions.has_permissions() => own_updates::requires_action(),
            SessionState::Running | SessionState::RequiresAction => own_updates::running(),
        }
    }

    pub(crate) fn detach(&mut self, client: ClientId) {
        self.outbox.drop_joins(client);
        self.attendance.leave(client);
        self.withdraw_from(client);
    }
}
