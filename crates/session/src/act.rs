//! What is done once its turn has come: what it depends on is on disk.

use nudge_backend::COMPLETE_ELICITATION;
use nudge_bridge::IndexedUpdate;
use nudge_mailbox::ClientId;
use nudge_wire::Message;

use crate::{
    AttachRequest, JoinedClient, PendingMessage, SessionCore, SessionEffect, SessionState,
    lifecycle::LifecycleStage,
    outbox::OutboxAct,
    own_updates,
    turn::{BreakPoint, StreamInterrupt},
};

impl SessionCore {
    pub(crate) fn act(&mut self, act: OutboxAct) {
        match act {
            OutboxAct::Show { update, seq, but } => self.show_now(update, seq, but),
            OutboxAct::Answer { request, outcome } => self.answer_now(request, outcome),
            OutboxAct::Prompt { turn, messages, prompter } => {
                if let Some(turn) = self.turn.as_mut().filter(|now| now.number == turn) {
                    turn.prompted();
                }
                self.step.effects.push(SessionEffect::Prompt { messages, prompter });
            }
            OutboxAct::Cancel { turn } => self.cancel_now(turn),
            OutboxAct::GoOn(messages) => self.go_on(messages),
            OutboxAct::Steer { turn, messages } => self.steer_now(turn, messages),
            OutboxAct::Interrupt => self.interrupt_now(),
            OutboxAct::Permit { permission, by, answer } => self.permit(&permission, by, answer),
            OutboxAct::SetOption(option) => self.step.effects.push(SessionEffect::SetOption(option)),
            OutboxAct::Pending(pending) => self.set_pending_on_disk(pending),
            OutboxAct::AskUser(ask) => self.ask_user(ask),
            OutboxAct::AskOne(question) => self.ask_one(question),
            OutboxAct::Notify(message) => self.notify(message),
            OutboxAct::Title(title) => drop(self.title.get_or_insert(title)),
            OutboxAct::Join(attach) => self.join(attach),
            OutboxAct::Leave(ending) => self.leave(ending.parting(), ending.waiting()),
        }
    }

    /// What waits is on disk like this.
    pub(crate) fn set_pending_on_disk(&mut self, pending: Vec<PendingMessage>) {
        if self.pending_on_disk != pending {
            self.step.effects.push(SessionEffect::TellPending(pending.clone()));
            self.pending_on_disk = pending;
        }
    }

    /// News go to every client, but that a page is done with to the one that was asked to show it.
    fn notify(&mut self, message: Message) {
        if message.method().is_none_or(|method| **method != *COMPLETE_ELICITATION) {
            return self.step.effects.push(SessionEffect::Notify(message));
        }
        let page = message.params().and_then(|params| params.get(&["elicitationId"])?.to::<String>().ok());
        if let Some(client) = page.and_then(|page| self.who_showed(&page)) {
            self.step.effects.push(SessionEffect::NotifyOne(client, message));
        }
    }

    fn show_now(&mut self, update: IndexedUpdate, seq: Option<u64>, but: Option<ClientId>) {
        let mut skip: Vec<ClientId> = but.into_iter().collect();
        if let Some(seq) = seq {
            skip.extend(self.attendance.have_seen(seq));
            self.transcript.remember(seq, &update);
        }
        self.step.effects.push(SessionEffect::Show { update, skip });
    }

    fn cancel_now(&mut self, turn: u64) {
        if self.turn.as_ref().is_some_and(|now| now.number == turn) {
            self.step.effects.push(SessionEffect::Cancel);
            self.cancel_user_questions();
        }
    }

    /// The agent goes on from its break-point.
    pub(crate) fn go_on(&mut self, messages: Vec<nudge_backend::UserMessage>) {
        if let Some(turn) = &mut self.turn {
            turn.break_point = BreakPoint::Not;
        }
        self.step.effects.push(SessionEffect::GoOn(messages));
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
            self.step.effects.push(SessionEffect::Steer(messages));
        }
    }

    /// Cuts the stream off, unless there is no reason for it any more. A steer that is not on disk is none yet.
    pub(crate) fn interrupt_now(&mut self) {
        let is_wanted = self.wants_interrupt() && self.has_steer_on_disk();
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.interrupt != StreamInterrupt::Sent) else {
            return;
        };
        turn.interrupt = StreamInterrupt::Not;
        if is_wanted {
            turn.interrupt = StreamInterrupt::Sent;
            self.step.effects.push(SessionEffect::Interrupt);
        }
    }

    fn has_steer_on_disk(&self) -> bool {
        let on_disk = |id: &str| self.pending_on_disk.iter().any(|pending| pending.message_id == id);
        let mut steers = self
            .delivery
            .mailbox
            .pending()
            .filter(|message| message.mode == nudge_mailbox::DeliveryMode::Steer);
        steers.any(|message| on_disk(&message.id))
    }

    pub(crate) fn wants_interrupt(&self) -> bool {
        self.delivery.wants_interrupt(self.turn.as_ref(), self.questions.needs_user())
    }

    /// Shows what is missing, answers, and from then on the client is shown all that comes. What waits for somebody to
    /// come back is delivered after the answer.
    fn join(&mut self, attach: AttachRequest) {
        let AttachRequest { request, attendee, from, options } = attach;
        let missed = if options.wants_history { self.transcript.since(from) } else { Some(Vec::new()) };
        let Some(missed) = missed else {
            return self.step.effects.push(SessionEffect::ReadOn(request));
        };
        let (client, version) = (attendee.id, attendee.version);
        let unasked = self.withdraw_from(client);
        self.attendance.join(attendee, from.max(self.transcript.shown()));
        let (state, is_running) = (self.state_update(), self.turn.is_some());
        let (pending, is_new) = (self.pending_on_disk.clone(), options.is_new);
        let joined = JoinedClient { request, client, is_new, missed, state, is_running, pending };
        self.step.effects.push(SessionEffect::Joined(Box::new(joined)));
        self.ask_for_all(client, version);
        // What it showed before it joined anew is for somebody else now, or for it again.
        for ask in unasked {
            self.ask_user(ask);
        }
        let is_in_use = self.lifecycle.stage == LifecycleStage::Open && self.lifecycle.ending.is_none();
        if self.delivery.is_held && !options.keeps_hold && is_in_use && !self.is_stalled() {
            self.delivery.is_held = false;
            self.step.effects.push(SessionEffect::TakenUpBy(client));
            self.interrupt_now();
        }
    }

    fn state_update(&self) -> IndexedUpdate {
        match self.state() {
            SessionState::Idle => own_updates::idle(None),
            SessionState::RequiresAction => own_updates::requires_action(),
            SessionState::Running => own_updates::running(),
        }
    }

    pub(crate) fn detach(&mut self, client: ClientId) {
        self.outbox.drop_joins(client);
        self.attendance.leave(client);
        self.questions.pages.forget(client);
        for ask in self.withdraw_from(client) {
            self.ask_user(ask);
        }
    }
}
