//! A session whose store cannot be written, because the disk is full for one: nothing that was accepted or shown is lost,
//! what is asked meanwhile is refused, and it goes on once there is room.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use nudge_backend::{BackendEvent, QuestionId, cancelled_permission, nobody_answers};
use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_mailbox::{ClientId, Event as Input, InStream, Mailbox, MessageId};
use nudge_peer::RawNotification;
use nudge_store::{Batch, Entry, Op, Pages, SessionChange, StoreError};
use nudge_wire::Error;
use tokio::time::Instant;

use crate::{
    backend::SessionAgent,
    own_updates,
    session::{
        actor::{Actor, AtBreak, Interrupt, OpenQuestion, Stage, Turn},
        outbox::{Effect, Failed, InDoubt, Step},
        perform::entry,
        restore::{self, dropped, interruption, past, saved},
    },
    time::now,
};

/// How often a session looks by itself whether it can be written again.
const RETRY: Duration = Duration::from_secs(2);

/// What a session has to remember that cannot be written.
pub(crate) struct Stall {
    /// Messages whose senders were told that they could not be stored.
    refused: Vec<MessageId>,
    /// Who the messages are from that waited when it began.
    senders: HashMap<MessageId, ClientId>,
    /// Whether nothing was to be delivered when it began.
    is_held: bool,
    /// Settings of the agent that are to be kept.
    config: Option<String>,
    retry_at: Instant,
}

/// Waits until it is time to look again.
pub(crate) async fn retry(stall: Option<&Stall>) {
    if let Some(stall) = stall {
        tokio::time::sleep_until(stall.retry_at).await;
    }
}

impl Actor {
    /// The store did not take a commit: what is in memory is ahead of it. If that may pass, the session waits for it; else
    /// it is left as it is on disk.
    pub(crate) fn fail(&mut self, failed: Failed) {
        let Failed { error, effects, in_doubt, ending: ended } = failed;
        let what = restore::told(&error, "The session cannot be stored");
        let (mut is_final, mut is_held) = (false, self.mailbox.is_held());
        let ending = self.ending.take().map(Effect::Leave);
        // What was shown and held back comes before the answers.
        self.flush_views();
        for effect in effects.into_iter().chain(ending) {
            if let Effect::Leave(ending) = &effect {
                is_final |= ending.is_final;
                is_held = ending.was_held;
            }
            effect.refuse(&what);
        }
        tracing::error!(session = %self.row.id, %error, "the session cannot be written");
        if error.may_pass() {
            self.begin_stall(&what, in_doubt, is_held);
            self.stage = if is_final { Stage::Left } else { Stage::Open };
        } else {
            self.refuse_waiting(&what);
            self.stage = Stage::Left;
        }
        if let Some(ended) = ended {
            (self.stage, self.ending) = (Stage::Left, Some(ended));
        }
    }

    /// Sends every client what was held back for it.
    fn flush_views(&mut self) {
        for view in &mut self.views {
            view.flush(&self.row.id);
        }
    }

    /// The store did not take a commit of a session that is being left: what was shown is still to be written, if it can.
    pub(crate) fn fail_to_leave(&mut self, failed: Failed) {
        let Failed { error, effects, in_doubt, ending } = failed;
        let what = restore::told(&error, "The session cannot be stored");
        self.ending = self.ending.take().or(ending);
        self.flush_views();
        for effect in effects {
            effect.refuse(&what);
        }
        tracing::error!(session = %self.row.id, %error, "the session cannot be written");
        if error.may_pass() {
            self.begin_stall(&what, in_doubt, true);
        }
    }

    /// Answers every request that still waits for a turn.
    pub(crate) fn refuse_waiting(&mut self, error: &Error) {
        let owner = self.turn.take().and_then(|turn| turn.owner);
        for (_, asked) in self.waiting.drain().chain(owner) {
            asked.answer(Err(error.clone()));
        }
    }

    /// Forgets what is not on disk and was not shown, and ends the turn: what the agent says from now on could not be kept.
    fn begin_stall(&mut self, why: &Error, in_doubt: InDoubt, is_held: bool) {
        let was_running = self.turn.is_some();
        self.note_stall(in_doubt, is_held);
        if let Some(turn) = &self.turn {
            self.last_prompter = Some(turn.prompter);
        }
        self.refuse_waiting(why);
        if self.is_prompted {
            self.backend.cancel();
        }
        self.cancel_questions();
        // After the cancel, which ends a turn that stands there.
        if self.at_break != AtBreak::Not {
            self.go_on(Vec::new());
        }
        self.steers_under_way = 0;
        self.interrupt = Interrupt::Not;
        self.params.clear();
        self.mailbox = Mailbox::new(InStream::Finish);
        self.mailbox.hold();
        if let SessionAgent::BuiltIn(agent) = &mut self.backend {
            agent.will_set_none();
        }
        if was_running {
            self.show(own_updates::idle(Some("error"), Some(why)), None, None);
        }
        if let Some(event) = self.parked.take() {
            self.event_in_stall(event);
        }
    }

    /// Answers what the agent asks and nobody will: what was asked of everybody, and what nobody was asked yet.
    fn cancel_questions(&mut self) {
        self.permissions.clear();
        let is_lost = |_: &QuestionId, question: &mut OpenQuestion| {
            matches!(question, OpenQuestion::Permission | OpenQuestion::Client(None))
        };
        for (id, question) in self.questions.extract_if(is_lost) {
            let answer = match question {
                OpenQuestion::Permission => Ok(cancelled_permission()),
                OpenQuestion::Client(_) | OpenQuestion::Answering => Err(nobody_answers("this request")),
            };
            self.backend.answer(id, answer);
        }
    }

    /// Notes what has to be remembered of what was under way, beside what is remembered already.
    fn note_stall(&mut self, in_doubt: InDoubt, is_held: bool) {
        let retry_at = Instant::now() + RETRY;
        let stall = self.stall.get_or_insert_with(|| Stall {
            refused: Vec::new(),
            senders: HashMap::new(),
            is_held,
            config: None,
            retry_at,
        });
        stall.retry_at = retry_at;
        let owner = self.turn.iter().filter_map(|turn| turn.owner.as_ref()).map(|(id, _)| id);
        stall.refused.extend(self.waiting.keys().chain(owner).cloned());
        stall.refused.extend(in_doubt.accepted);
        let waiting = self.mailbox.pending().map(|message| (message.id.clone(), message.client));
        stall.senders.extend(waiting.chain(in_doubt.delivered));
    }

    /// Takes in what the backend does while nothing of it can be kept.
    pub(crate) fn event_in_stall(&mut self, event: BackendEvent) {
        match event {
            BackendEvent::Update(update) if !update.kind.is_stored() => {
                // Its title is written when the session can be.
                self.note_title(&update, &mut Step::default());
                self.show(update, None, None);
            }
            BackendEvent::BreakPoint => self.go_on(Vec::new()),
            BackendEvent::Question(question) => {
                self.questions.insert(question.id, OpenQuestion::Client(None));
                if question.is_permission() {
                    return self.answered(question.id, Ok(cancelled_permission()));
                }
                self.ask_client(question);
            }
            BackendEvent::QuestionWithdrawn(id) => drop(self.questions.remove(&id)),
            BackendEvent::Notification(message) => {
                if let Some(note) = RawNotification::from_message(message) {
                    self.pass(&note);
                }
            }
            BackendEvent::Config(config) => {
                if let Some(stall) = &mut self.stall {
                    stall.config = Some(config.as_str().to_owned());
                }
            }
            BackendEvent::TurnStarted => {
                self.is_prompted = true;
                self.backend.cancel();
            }
            BackendEvent::TurnEnded(_) => self.is_prompted = false,
            BackendEvent::Lost(_) => self.questions.clear(),
            BackendEvent::Back { id, .. } => self.row.agent_session_id = Some(id.to_string()),
            _ => {}
        }
    }

    /// Goes on from what is on disk, if it can be written again: what was shown and is not there is written first.
    pub(crate) async fn recover(&mut self) -> Result<(), Error> {
        if let Some(stall) = &mut self.stall {
            stall.retry_at = Instant::now() + RETRY;
        }
        match self.hub.renew(&self.lease).await {
            Ok(true) => {}
            Ok(false) => {
                self.stage = Stage::Left;
                return Err(restore::told(&StoreError::Fenced, "The session cannot be stored"));
            }
            Err(error) => return Err(restore::told(&error, "The session cannot be stored")),
        }
        let hub = Arc::clone(&self.hub);
        let inputs = hub.store.inputs(&self.row.id).await.map_err(restore::stored)?;
        let next_input = inputs.iter().map(|input| input.seq + 1).max().unwrap_or(0);
        let senders = self.stall.as_ref().map(|stall| &stall.senders);
        let sender = |id: &MessageId| senders.and_then(|senders| senders.get(id)).copied();
        let mut saved = saved(inputs, sender);
        let refused: BTreeSet<_> = self.stall.iter().flat_map(|stall| &stall.refused).collect();
        // Whoever was refused may ask again under the same key.
        saved.keys.retain(|(_, id)| !refused.contains(id));
        let mut mailbox = Mailbox::restore(InStream::Finish, saved);
        for id in refused {
            // One that was never stored is unknown.
            let _ = mailbox.revoke(id);
        }
        let mut ops = dropped(&mut mailbox);
        let (next_seq, ending) = self.write_ending(&mut ops).await?;
        let batch = Batch { session: self.row.id.clone(), lease: self.lease.clone(), ops };
        let written = hub.store.commit(batch).await;
        written.map_err(|error| restore::told(&error, "The session cannot be stored"))?;
        self.next_input = next_input;
        self.end_stall(mailbox, next_seq, ending);
        Ok(())
    }

    /// Writes down what was shown, if that is possible after all, for a session that is left.
    pub(crate) async fn recover_to_leave(&mut self) {
        if let Some(stall) = &mut self.stall {
            stall.is_held = true;
            let _ = self.recover().await;
        }
    }

    /// Notes what was shown and is not on disk, and how the turn ended that was under way; gives the latter, and
    /// the number after the former.
    async fn write_ending(&mut self, ops: &mut Vec<Op>) -> Result<(u64, Vec<(u64, IndexedUpdate)>), Error> {
        let mut past = past(&self.hub, &self.row.id, false).await?;
        let missing = self.missing(past.next_seq).await?;
        for entry in &missing {
            past.take(entry);
        }
        let from = past.next_seq.max(self.next_seq);
        ops.extend(missing.into_iter().map(Op::Append));
        let mut ending = Vec::new();
        if past.is_running {
            ending.extend((from..).zip(interruption(&past.open_tools, "it could not be stored")));
        }
        ops.extend(ending.iter().map(|(seq, update)| Op::Append(entry(*seq, update))));
        ops.push(Op::UpdateSession(SessionChange {
            agent_session_id: Some(self.row.agent_session_id.clone()),
            config: self.stall.as_ref().and_then(|stall| stall.config.clone()),
            title: self.row.title.clone().map(Some),
            updated_at: Some(now()),
            ..SessionChange::default()
        }));
        Ok((from, ending))
    }

    /// What was shown and is not on disk, where `next_seq` follows. Something that came later may be there, for which there
    /// was room: what is missing before it gets a new number.
    async fn missing(&mut self, next_seq: u64) -> Result<Vec<Entry>, Error> {
        let mut there = BTreeSet::new();
        let mut pages = Pages::new(&*self.hub.store, &self.row.id, self.on_disk);
        while let Some(page) = pages.next().await.map_err(restore::stored)? {
            there.extend(page.iter().map(|entry| entry.seq));
        }
        let missing = self.recent.iter().filter(|(seq, _)| *seq >= self.on_disk && !there.contains(seq));
        let first = if there.is_empty() { 0 } else { next_seq.max(self.next_seq) };
        Ok((first..).zip(missing).map(|(new, (seq, update))| entry(new.max(*seq), update)).collect())
    }

    /// All is on disk: the session is in use as before.
    fn end_stall(
        &mut self,
        mailbox: Mailbox<nudge_wire::RawJson>,
        next_seq: u64,
        ending: Vec<(u64, IndexedUpdate)>,
    ) {
        let Some(stall) = self.stall.take() else { return };
        tracing::info!(session = %self.row.id, "the session can be written again");
        self.mailbox = mailbox;
        self.pending_on_disk = self.pending();
        self.next_seq = ending.last().map_or(next_seq, |(seq, _)| seq + 1);
        self.on_disk = self.next_seq;
        for (seq, update) in ending {
            // That the turn is over was told when it was.
            if update.kind == UpdateKind::StateUpdate {
                self.remember(seq, update);
            } else {
                self.show(update, Some(seq), None);
            }
        }
        self.set_in_stream();
        if self.is_prompted {
            // The agent takes its time to end the turn.
            self.mailbox.handle(Input::TurnStarted);
            self.mailbox.cancel();
            self.turn =
                Some(Turn { prompter: self.last_prompter.unwrap_or(ClientId(0)), prompt: None, owner: None });
        }
        if !stall.is_held {
            self.mailbox.resume();
        }
        self.finish(Step::default());
    }
}
