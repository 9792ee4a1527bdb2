//! A session whose store cannot be written, because the disk is full for one: nothing that was accepted or shown is lost,
//! what is asked meanwhile is refused, and it goes on once there is room.

use std::collections::{BTreeMap, BTreeSet};

use nudge_backend::{BackendEvent, BackendParting};
use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_mailbox::{ClientId, Mailbox, MessageId, SavedMailbox};
use nudge_wire::{Error, RawJson};

use crate::{
    CommitFailure, InputContent, InputDelivery, Moment, RowChange, RunningTurn, SessionCommit, SessionCore,
    SessionEffect, StoreOperation, TranscriptPast,
    agent_event::FORMER_CLIENT,
    lifecycle::LifecycleStage,
    outbox::{InDoubt, OutboxAct},
    own_updates,
    restored::{dropped, interruption},
    turn::BreakPoint,
};

/// What a session has to remember that cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct StoreStall {
    pub(crate) error: Error,
    /// Messages whose senders were told that they could not be stored.
    refused: BTreeSet<MessageId>,
    /// Who the messages are from that waited when it began.
    senders: BTreeMap<MessageId, ClientId>,
    /// Whether nothing was to be delivered when it began.
    pub(crate) is_held: bool,
    /// Settings of the agent that are to be kept.
    config: Option<RawJson>,
}

/// What is on disk of a session that could not be written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StoredState {
    /// The pending input.
    pub inputs: SavedMailbox<InputContent>,
    /// The number of the next input.
    pub next_input: u64,
    /// What the transcript tells of how things stand.
    pub past: TranscriptPast,
    /// The numbers of the entries from [`SessionCore::on_disk`] on.
    pub entries: BTreeSet<u64>,
}

/// How a session goes on from what is on disk, once that is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StallRecovery {
    mailbox: Mailbox<InputContent>,
    next_input: u64,
    next_seq: u64,
    /// What is said of the turn that was under way.
    ending: Vec<(u64, IndexedUpdate)>,
}

impl SessionCore {
    /// Whether the store could not be written: nothing goes on before it can be again.
    pub fn is_stalled(&self) -> bool {
        self.lifecycle.stall.is_some()
    }

    /// The number after that of the last entry that is known to be on disk.
    pub fn on_disk(&self) -> u64 {
        self.transcript.on_disk()
    }

    /// The store did not take a commit: what is in memory is ahead of it. If that may pass, the session waits for it; else
    /// it is left as it is on disk.
    pub(crate) fn commit_failed(&mut self, failure: CommitFailure) {
        let CommitFailure { error, may_pass, written } = failure;
        let (acts, in_doubt, ended) = self.take_unwritten(&written);
        let was_left = self.lifecycle.stage == LifecycleStage::Left;
        // What was shown and held back comes before the answers.
        self.step.effects.push(SessionEffect::Flush);
        let ending = self.lifecycle.ending.take().map(OutboxAct::Leave);
        let (mut is_final, mut is_held) = (false, self.delivery.is_held || was_left);
        for act in acts.into_iter().chain(ending) {
            if let OutboxAct::Leave(ending) = &act {
                is_final |= ending.is_final;
                is_held = ending.was_held || was_left;
            }
            for request in act.requests() {
                self.answer_now(request, Err(error.clone()));
            }
            if let OutboxAct::Permit { permission, by, .. } = &act {
                // Its answer is lost, and nobody else is to give one.
                self.withdraw(permission, Some(*by));
            }
        }
        if may_pass {
            self.begin_stall(&error, in_doubt, is_held);
        } else {
            self.refuse_unanswered(&error);
        }
        match ended {
            Some(OutboxAct::Leave(ending)) => self.leave(ending.parting(), ending.waiting()),
            _ if was_left => {}
            _ if is_final || !may_pass => self.leave(BackendParting::Leave, Vec::new()),
            _ => self.lifecycle.stage = LifecycleStage::Open,
        }
    }

    /// What waited for commits that failed, what they said of messages, and the end of the session's use, if there was room
    /// to write that after all.
    fn take_unwritten(&mut self, written: &[bool]) -> (Vec<OutboxAct>, InDoubt, Option<OutboxAct>) {
        let (mut acts, mut in_doubt, mut ended) = (Vec::new(), InDoubt::default(), None);
        let mut is_written = std::iter::once(false).chain(written.iter().copied());
        while let Some(group) = self.outbox.pop() {
            let is_written = is_written.next().unwrap_or(false);
            in_doubt.extend(group.in_doubt);
            for act in group.acts {
                if is_written && matches!(act, OutboxAct::Leave(_)) {
                    ended = Some(act);
                } else {
                    acts.push(act);
                }
            }
        }
        (acts, in_doubt, ended)
    }

    /// Forgets what is not on disk and was not shown, and ends the turn: what the agent says from now on could not be kept.
    fn begin_stall(&mut self, why: &Error, in_doubt: InDoubt, is_held: bool) {
        self.note_stall(why, in_doubt, is_held);
        self.refuse_unanswered(why);
        let turn = self.turn.take();
        if turn.as_ref().is_some_and(RunningTurn::is_prompted) {
            self.step.effects.push(SessionEffect::Cancel);
        }
        self.cancel_questions();
        if let Some(turn) = turn {
            self.abandon(&turn, why);
        }
        let InputDelivery { steer_method, signed_out, .. } = self.delivery;
        self.delivery = InputDelivery { is_held: true, signed_out, ..InputDelivery::new(steer_method) };
        self.step.effects.push(SessionEffect::ForgetOptions);
    }

    /// A turn that cannot be kept is over for the clients, and for the agent as soon as that has ended it.
    fn abandon(&mut self, turn: &RunningTurn, why: &Error) {
        self.last_prompter = Some(turn.prompter);
        // After the cancel, which ends a turn that stands there.
        if turn.break_point != BreakPoint::Not {
            self.step.effects.push(SessionEffect::GoOn(Vec::new()));
        }
        if turn.is_prompted() {
            self.turn = Some(RunningTurn::abandoned(turn.number, turn.prompter));
        }
        if !turn.is_abandoned {
            let update = own_updates::failed(why);
            self.step.effects.push(SessionEffect::Show { update, skip: Vec::new() });
        }
    }

    /// Notes what has to be remembered of what was under way, beside what is remembered already.
    fn note_stall(&mut self, error: &Error, in_doubt: InDoubt, is_held: bool) {
        let owner =
            self.turn.iter().filter(|turn| turn.unanswered.is_some()).filter_map(|turn| turn.prompt.clone());
        let refused: Vec<_> = self.unanswered.keys().cloned().chain(owner).chain(in_doubt.accepted).collect();
        let waiting = self.delivery.mailbox.pending().map(|message| (message.id.clone(), message.client));
        let senders: Vec<_> = waiting.chain(in_doubt.delivered).collect();
        let stall = self.lifecycle.stall.get_or_insert_with(|| StoreStall {
            error: error.clone(),
            refused: BTreeSet::new(),
            senders: BTreeMap::new(),
            is_held,
            config: None,
        });
        stall.refused.extend(refused);
        stall.senders.extend(senders);
    }

    /// Takes in what the agent does while nothing of it can be kept.
    pub(crate) fn agent_event_in_stall(&mut self, event: BackendEvent) {
        match event {
            BackendEvent::Update(update) if !update.kind.is_stored() => self.show_in_stall(update),
            BackendEvent::BreakPoint => self.go_on(Vec::new()),
            BackendEvent::Question(question) => match question.cancelled() {
                Some(answer) => self.step.effects.push(SessionEffect::AnswerAgent(question.id, Ok(answer))),
                None => self.take_question(question),
            },
            BackendEvent::QuestionWithdrawn(id) => self.forget_question(id),
            BackendEvent::Notification(message) => self.draft.acts.push(OutboxAct::Notify(message)),
            BackendEvent::Config(config) => {
                if let Some(stall) = &mut self.lifecycle.stall {
                    stall.config = Some(config);
                }
            }
            BackendEvent::TurnStarted => {
                let number = self.next_turn();
                let prompter = self.last_prompter.unwrap_or(FORMER_CLIENT);
                self.turn = Some(RunningTurn::abandoned(number, prompter));
                self.step.effects.push(SessionEffect::Cancel);
            }
            BackendEvent::TurnEnded(_) => {
                self.turn = None;
                self.end_now();
            }
            BackendEvent::Lost(_) => self.forget_questions(),
            BackendEvent::Back { id, .. } => self.agent_session_id = Some(id.to_string()),
            _ => {}
        }
    }

    /// Its title is written when the session can be.
    fn show_in_stall(&mut self, update: IndexedUpdate) {
        let written = self.draft.operations.len();
        self.note_title(&update);
        self.draft.operations.truncate(written);
        self.show(update, None);
    }

    /// What has to be written for a session that could not be, and how it goes on then: from what is on disk, with what was
    /// shown and is not there. Once it is written, [`SessionInput::Recovered`](crate::SessionInput::Recovered) follows.
    pub fn plan_recovery(
        &mut self,
        stored: StoredState,
        now: Moment,
    ) -> Option<(SessionCommit, StallRecovery)> {
        let StoredState { inputs, next_input, mut past, entries } = stored;
        let mailbox = self.recovered_mailbox(inputs)?;
        let (mailbox, mut operations) = dropped(mailbox);
        let missing = self.missing(past.next_seq, &entries);
        for (seq, update) in &missing {
            past.take(*seq, update);
        }
        let from = past.next_seq.max(self.transcript.next_seq());
        let mut ending = Vec::new();
        if past.is_running {
            let id = self.ids.message();
            ending.extend((from..).zip(interruption(&past, &id, "it could not be stored")));
        }
        let appended = missing.iter().chain(&ending);
        operations.extend(
            appended.map(|(seq, update)| StoreOperation::Append { seq: *seq, update: update.clone() }),
        );
        operations.push(StoreOperation::UpdateSession(RowChange {
            agent_session_id: self.agent_session_id.clone(),
            config: self.lifecycle.stall.as_ref().and_then(|stall| stall.config.clone()),
            title: self.title.clone(),
            ..RowChange::default()
        }));
        let commit = SessionCommit { operations, is_durable: true, at: now.unix_millis };
        let next_seq = ending.last().map_or(from, |(seq, _)| seq + 1);
        Some((commit, StallRecovery { mailbox, next_input, next_seq, ending }))
    }

    /// What waits on disk, without what was refused: whoever was refused may ask again under the same key.
    fn recovered_mailbox(&self, mut inputs: SavedMailbox<InputContent>) -> Option<Mailbox<InputContent>> {
        let StoreStall { refused, senders, .. } = self.lifecycle.stall.as_ref()?;
        for message in &mut inputs.pending {
            message.client = senders.get(&message.id).copied().unwrap_or(message.client);
        }
        let mut mailbox = Mailbox::restore(inputs);
        for id in refused {
            // One that was never stored is unknown.
            mailbox.forget(id);
        }
        Some(mailbox)
    }

    /// What was shown and is not on disk, where `next_seq` follows. Something that came later may be there, for which there
    /// was room: what is missing before it gets a new number.
    fn missing(&self, next_seq: u64, there: &BTreeSet<u64>) -> Vec<(u64, IndexedUpdate)> {
        let missing = self.transcript.in_doubt().filter(|(seq, _)| !there.contains(seq));
        let first = if there.is_empty() { 0 } else { next_seq.max(self.transcript.next_seq()) };
        (first..).zip(missing).map(|(new, (seq, update))| (new.max(*seq), update.clone())).collect()
    }

    /// All is on disk: the session is in use as before.
    pub(crate) fn recovered(&mut self, recovery: StallRecovery) {
        let Some(stall) = self.lifecycle.stall.take() else { return };
        let StallRecovery { mailbox, next_input, next_seq, ending } = recovery;
        self.delivery.mailbox = mailbox;
        self.delivery.is_held = stall.is_held || self.lifecycle.stage != LifecycleStage::Open;
        self.next_input = next_input;
        self.set_pending_on_disk(self.pending());
        let shown = ending.first().map_or(next_seq, |(seq, _)| *seq);
        self.transcript.recovered(shown, next_seq);
        for (seq, update) in ending {
            // That the turn is over was told when it was.
            if update.kind == UpdateKind::StateUpdate {
                self.transcript.remember(seq, &update);
            } else {
                self.act(OutboxAct::Show { update, seq: Some(seq), but: None });
            }
        }
    }
}
