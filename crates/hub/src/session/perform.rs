//! What a step comes to: it is written down, and then shown and done.

use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_mailbox::{Change, ClientId, MessageId};
use nudge_store::{Batch, Entry, InputState, Op};
use nudge_wire::Version;

use crate::{
    client::Out,
    session::{
        actor::{Actor, AtBreak, Stage},
        outbox::{Effect, Landed, Step, UnderWay},
        view::Shown,
    },
    shape,
    time::now,
};

/// Updates kept in memory, so that a client that reads the history can catch up with what is not on disk yet.
const RECENT: usize = 1024;
const RECENT_BYTES: usize = 4 * 1024 * 1024;

impl Actor {
    /// Numbers an update, notes it to be written down, and shows it.
    pub(crate) fn record(&mut self, step: &mut Step, mut update: IndexedUpdate, but: Option<ClientId>) {
        self.runs.name(&mut update);
        if !update.kind.is_stored() {
            return step.show(update, but);
        }
        let seq = self.next_seq;
        self.next_seq += 1;
        step.bytes += update.raw.as_str().len();
        step.ops.push(Op::Append(entry(seq, &update)));
        step.effects.push(Effect::Show { update, seq: Some(seq), but });
    }

    /// Numbers an update and notes it to be written down, but shows it to nobody.
    pub(crate) fn keep_quietly(&mut self, step: &mut Step, update: &IndexedUpdate) {
        step.ops.push(Op::Append(entry(self.next_seq, update)));
        self.next_seq += 1;
    }

    /// Writes down what a step changes and shows its effects, after the commit if they depend on it.
    pub(crate) fn finish(&mut self, mut step: Step) {
        self.deliver(&mut step);
        if step.is_input {
            step.effects.insert(0, Effect::Pending(self.pending()));
        }
        if !step.ops.is_empty() {
            let batch = Batch { session: self.row.id.clone(), lease: self.lease.clone(), ops: step.ops };
            // What is shown is remembered until it is on disk, so it counts even if it does not wait.
            let bytes = batch.weight() + step.effects.iter().map(Effect::size).sum::<usize>();
            let (next_seq, in_doubt) = (self.next_seq, step.in_doubt);
            if step.is_durable {
                let ticket = self.hub.store.commit(batch);
                return self.outbox.wait(UnderWay { ticket, bytes, next_seq, in_doubt }, step.effects, true);
            }
            let ticket = self.hub.store.append(batch);
            self.show_now(step.effects);
            return self.outbox.wait(UnderWay { ticket, bytes, next_seq, in_doubt }, Vec::new(), false);
        }
        self.show_now(step.effects);
    }

    /// Shows effects that wait for nothing themselves, in their place behind those that do.
    fn show_now(&mut self, effects: Vec<Effect>) {
        if let Some(effects) = self.outbox.follow(effects) {
            self.perform_all(effects);
        }
    }

    /// Turns what the mailbox did into what is to be written down.
    pub(crate) fn note_changes(&mut self, step: &mut Step) {
        let changes = self.mailbox.take_changes();
        step.is_durable |= !changes.is_empty();
        step.is_input |= !changes.is_empty();
        for change in changes {
            match change {
                Change::Added(message) => {
                    step.in_doubt.accepted.push(message.id.clone());
                    step.ops.push(Op::AddInput(shape::input(&message, self.next_input())));
                }
                Change::Replaced { id, content } => {
                    let content = content.as_str().to_owned();
                    step.ops.push(Op::ReplaceInput { id, content });
                }
                Change::Revoked { id } => step.ops.push(set_input(&id, InputState::Revoked)),
                Change::Delivered { ids } => {
                    step.ops.extend(ids.iter().map(|id| set_input(id, InputState::Delivered)));
                }
            }
        }
    }

    fn next_input(&mut self) -> u64 {
        self.next_input += 1;
        self.next_input - 1
    }

    pub(crate) fn landed(&mut self, landed: Landed) {
        self.on_disk = landed.next_seq;
        self.perform_all(landed.effects);
    }

    fn perform_all(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.perform(effect);
        }
        self.cut_off();
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Show { update, seq, but } => self.show(update, seq, but),
            Effect::Answer { client, responder, outcome } => client.push(Out::Answer(responder, outcome)),
            Effect::Prompt(messages) => {
                self.is_prompted = true;
                self.backend.prompt(messages, self.environments.now().cloned());
            }
            Effect::Cancel => {
                self.backend.cancel();
                self.cancel_permissions();
            }
            Effect::GoOn(messages) => self.go_on(messages),
            Effect::Steer(messages) => {
                self.steers_under_way -= 1;
                match self.at_break {
                    AtBreak::WaitsForSteers => self.go_on(messages),
                    _ => self.backend.steer(messages),
                }
            }
            Effect::Interrupt => self.interrupt_now(),
            Effect::Permit { mut permission, by, answer } => {
                permission.answered(by);
                self.answered(permission.question, Ok(answer));
            }
            Effect::SetOption(set) => self.set_option(&set),
            Effect::Pending(pending) => self.pending_on_disk = pending,
            Effect::Ask(id) => self.ask_all(id),
            Effect::AskClient(request) => self.ask_client(request),
            Effect::Pass(note) => self.pass(&note),
            Effect::Titled(title) => {
                self.row.title.get_or_insert(title);
            }
            Effect::Attach(attaching) => self.join(*attaching),
            Effect::Leave(ending) => {
                self.stage = Stage::Left;
                self.ending = Some(ending);
            }
        }
    }

    pub(crate) fn show(&mut self, update: IndexedUpdate, seq: Option<u64>, but: Option<ClientId>) {
        let mut shown = Shown::new(&self.row.id, &update);
        for view in &mut self.views {
            let is_shown_already = seq.is_some_and(|seq| seq < view.from);
            if !is_shown_already && but != Some(view.client.id) {
                view.show(&mut shown);
            } else if update.kind == UpdateKind::StateUpdate {
                // It learns of the state by an answer, which says that all has been sent.
                view.flush(&self.row.id);
            }
        }
        if let Some(seq) = seq {
            self.remember(seq, update);
        }
    }

    /// Keeps an entry in memory until it is on disk, and for a while after that.
    pub(crate) fn remember(&mut self, seq: u64, update: IndexedUpdate) {
        self.shown = seq + 1;
        self.recent_bytes += update.raw.as_str().len();
        self.recent.push_back((seq, update.without_message()));
        while self.recent.len() > RECENT || self.recent_bytes > RECENT_BYTES {
            let on_disk = self.on_disk;
            let Some((_, oldest)) = self.recent.pop_front_if(|(seq, _)| *seq < on_disk) else { break };
            self.recent_bytes -= oldest.raw.as_str().len();
        }
    }

    /// Nobody waits for a client that does not read. One that is alone makes the agent wait instead.
    fn cut_off(&self) {
        if self.views.len() > 1 {
            for view in self.views.iter().filter(|view| view.client.is_hopeless()) {
                view.client.cut_off();
            }
        }
    }
}

fn set_input(id: &MessageId, state: InputState) -> Op {
    Op::SetInput { id: id.clone(), state }
}

pub(crate) fn entry(seq: u64, update: &IndexedUpdate) -> Entry {
    Entry {
        seq,
        at: now(),
        dialect: match update.version {
            Version::V1 => nudge_store::Dialect::V1,
            Version::V2 => nudge_store::Dialect::V2,
        },
        kind: update.kind.name().into(),
        message_id: update.message_id.as_deref().map(Into::into),
        tool_call_id: update.tool_call_id.as_deref().map(Into::into),
        origin: None,
        frame: update.raw.as_bytes().clone(),
    }
}
