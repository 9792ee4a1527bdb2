//! What the core wants done, done: towards clients, the agent and the store.

use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_mailbox::ClientId;
use nudge_session::{Commit, Effect, Joined, SessionInput};
use nudge_store::{Batch, Ticket};
use nudge_wire::Version;
use serde_json::json;

use crate::{
    client::Out,
    session::{
        Attached, JoinRequest,
        driver::{Leaving, SessionDriver},
        stored_ops::ops,
        view::Shown,
        waiters::{Joining, Waiter},
    },
    shape,
};

impl SessionDriver {
    /// Gives a commit to the store.
    pub(crate) fn write(&self, commit: Commit) -> Ticket {
        let Commit { operations, is_durable, at } = commit;
        let ops = ops(operations, at);
        let batch = Batch { session: self.row.id.clone(), lease: self.lease.clone(), ops };
        if is_durable { self.hub.store.commit(batch) } else { self.hub.store.append(batch) }
    }

    pub(crate) fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Show { update, skip } => self.show(&update, &skip),
            Effect::Notify(message) => self.notify(message),
            Effect::Answer { request, outcome } => {
                if let Some(waiter) = self.waiters.remove(&request) {
                    waiter.answer(outcome);
                }
            }
            Effect::Joined(joined) => self.joined(*joined),
            Effect::ReadOn(request) => {
                if let Some(Waiter::Join(joining)) = self.waiters.remove(&request) {
                    let Joining { attach, reply } = *joining;
                    // The reader is gone only if the connection is.
                    let _ = reply.send(Attached::ReadOn(Box::new(attach)));
                }
            }
            Effect::TakenUpBy(client) => self.environments.resumes(client),
            Effect::Flush => self.views.iter_mut().for_each(|view| view.flush(&self.row.id)),
            Effect::Prompt { messages, prompter } => {
                self.environments.serve(prompter);
                self.forget_environments();
                self.agent.prompt(messages, self.environments.now().cloned());
            }
            Effect::Steer(messages) => self.agent.steer(messages),
            Effect::GoOn(messages) => self.agent.go_on(messages),
            Effect::Interrupt => self.agent.interrupt(),
            Effect::Cancel => self.agent.cancel(),
            Effect::AnswerAgent(question, answer) => self.agent.answer(question, answer),
            Effect::SetOption(option) => {
                self.agent.set_option(&option);
                self.feed(SessionInput::SteerMethod(self.agent.steer_method()));
            }
            Effect::ForgetOptions => self.agent.forget_options(),
            Effect::Ask { ask, client, question } => self.ask(ask, client, question),
            Effect::WithdrawAsk { ask, client } => drop(self.asks.remove(&(ask, client))),
            Effect::Serve(question) => {
                self.agent.serve(question, self.environments.now().cloned());
            }
            Effect::Leave { parting, waiting } => self.leaves(parting, waiting),
        }
    }

    fn show(&mut self, update: &IndexedUpdate, skip: &[ClientId]) {
        let mut shown = Shown::new(&self.row.id, update);
        for view in &mut self.views {
            if !skip.contains(&view.client.id) {
                view.show(&mut shown);
            } else if update.kind == UpdateKind::StateUpdate {
                // It learns of the state by an answer, which says that all has been sent.
                view.flush(&self.row.id);
            }
        }
    }

    /// Shows a client that joins what it missed, answers it, and tells it how things stand.
    fn joined(&mut self, joined: Joined) {
        let Joined { request, client, is_new, missed, state, is_running, pending } = joined;
        let Some(Waiter::Join(joining)) = self.waiters.remove(&request) else { return };
        let Joining { attach: JoinRequest { mut view, responder, .. }, reply } = *joining;
        if view.client.is_gone() {
            return self.detach(client);
        }
        let session = &self.row.id;
        for update in &missed {
            view.show_history(&mut Shown::new(session, update));
        }
        view.end_history(session);
        self.views.retain(|other| other.client.id != client);
        let meta = shape::raw(&json!({ "inject": { "pending": pending } }));
        let result = self.agent.opened(is_new.then_some(session), &meta);
        let (result, updates) = view.opened(session, self.agent.version(), result);
        let (before, after) = if is_new { (Vec::new(), updates) } else { (updates, Vec::new()) };
        for update in before {
            view.client.push(update);
        }
        let is_v2 = view.client.version == Version::V2;
        if !is_new {
            // Of a session that it knows by name the client is told how things stand before the answer.
            self.agent.standing().iter().for_each(|news| view.show(&mut Shown::new(session, news)));
            if is_v2 {
                view.show(&mut Shown::new(session, &state));
            }
        }
        view.client.push(Out::Answer(responder, Ok(result)));
        for update in after {
            view.client.push(update);
        }
        if is_new {
            self.agent.standing().iter().for_each(|news| view.show(&mut Shown::new(session, news)));
        }
        if is_running && !is_v2 {
            view.show(&mut Shown::new(session, &state));
        }
        self.environments.joins(client, view.client.environment.clone());
        self.views.push(view);
        // The reader is gone only if the connection is.
        let _ = reply.send(Attached::Joined);
    }

    fn leaves(&mut self, parting: nudge_backend::Parting, waiting: Vec<nudge_session::RequestId>) {
        match &mut self.leaving {
            Some(leaving) => {
                leaving.parting = parting;
                leaving.waiting.extend(waiting);
            }
            None => self.leaving = Some(Leaving { parting, waiting }),
        }
    }
}
