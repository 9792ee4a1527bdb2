//! What the core wants done, done: towards clients, the agent and the store.

use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_mailbox::ClientId;
use nudge_session::{JoinedClient, PendingMessage, SessionCommit, SessionEffect, SessionInput};
use nudge_store::{WriteBatch, WriteTicket};
use nudge_wire::Version;
use serde_json::json;

use crate::{
    client::ClientMessage,
    session::{
        AttachOutcome, JoinRequest,
        driver::{LeaveReason, SessionDriver},
        stored_ops::ops,
        view::ShownUpdate,
        waiters::{AnswerWaiter, JoiningClient},
    },
    shape,
};

/// How clients that want to know are told what waits to be delivered.
const PENDING_CHANGED: &str = "_nudge/pending";

impl SessionDriver {
    /// Gives a commit to the store.
    pub(crate) fn write(&self, commit: SessionCommit) -> WriteTicket {
        let SessionCommit { operations, is_durable, at } = commit;
        let ops = ops(operations, at);
        let batch = WriteBatch { session: self.row.id.clone(), lease: self.lease.clone(), ops };
        if is_durable { self.hub.store.commit(batch) } else { self.hub.store.append(batch) }
    }

    pub(crate) fn perform(&mut self, effect: SessionEffect) {
        match effect {
            SessionEffect::Show { update, skip } => self.show(&update, &skip),
            SessionEffect::Notify(message) => self.notify(message),
            SessionEffect::NotifyOne(client, message) => self.notify_one(client, message),
            SessionEffect::Answer { request, outcome } => {
                if let Some(waiter) = self.waiters.remove(&request) {
                    waiter.answer(outcome);
                }
            }
            SessionEffect::Joined(joined) => self.joined(*joined),
            SessionEffect::ReadOn(request) => {
                if let Some(AnswerWaiter::Join(joining)) = self.waiters.remove(&request) {
                    let JoiningClient { attach, reply } = *joining;
                    // The reader is gone only if the connection is.
                    let _ = reply.send(AttachOutcome::ReadOn(Box::new(attach)));
                }
            }
            SessionEffect::TakenUpBy(client) => self.contexts.resumes(client),
            SessionEffect::TellPending(pending) => self.tell_pending(&pending),
            SessionEffect::Flush => self.views.iter_mut().for_each(|view| view.flush(&self.row.id)),
            SessionEffect::Prompt { messages, prompter } => {
                self.contexts.serve(prompter);
                self.forget_contexts();
                self.agent.prompt(messages, self.contexts.now().clone());
            }
            SessionEffect::Steer(messages) => self.agent.steer(messages),
            SessionEffect::GoOn(messages) => self.agent.go_on(messages),
            SessionEffect::Interrupt => self.agent.interrupt(),
            SessionEffect::Cancel => self.agent.cancel(),
            SessionEffect::AnswerAgent(question, answer) => self.agent.answer(question, answer),
            SessionEffect::SetOption(option) => {
                self.agent.set_option(&option);
                self.feed(SessionInput::SteerMethod(self.agent.steer_method()));
            }
            SessionEffect::ForgetOptions => self.agent.forget_options(),
            SessionEffect::Ask { ask, client, question } => self.ask(ask, client, &question),
            SessionEffect::WithdrawAsk { ask, client } => drop(self.asks.remove(&(ask, client))),
            SessionEffect::Serve(question) => {
                self.agent.serve(question, self.contexts.now().environment.clone());
            }
            SessionEffect::Leave { parting, waiting } => self.leaves(parting, waiting),
        }
    }

    fn show(&mut self, update: &IndexedUpdate, skip: &[ClientId]) {
        let mut shown = ShownUpdate::new(&self.row.id, update);
        for view in &mut self.views {
            if !skip.contains(&view.client.id) {
                view.show(&mut shown);
            } else if update.kind == UpdateKind::StateUpdate {
                // It learns of the state by an answer, which says that all has been sent.
                view.flush(&self.row.id);
            }
        }
    }

    /// Tells the clients that want to know what waits to be delivered.
    fn tell_pending(&self, pending: &[PendingMessage]) {
        let mut views = self.views.iter().filter(|view| view.client.hears_pending).peekable();
        if views.peek().is_none() {
            return;
        }
        let params = shape::raw(&json!({ "sessionId": &*self.row.id, "pending": pending }));
        for view in views {
            view.client.push(ClientMessage::Notify(PENDING_CHANGED.to_owned(), params.clone()));
        }
    }

    /// Shows a client that joins what it missed, answers it, and tells it how things stand.
    fn joined(&mut self, joined: JoinedClient) {
        let JoinedClient { request, client, is_new, missed, state, is_running, pending } = joined;
        let Some(AnswerWaiter::Join(joining)) = self.waiters.remove(&request) else { return };
        let JoiningClient { attach: JoinRequest { mut view, responder, .. }, reply } = *joining;
        if view.client.is_gone() {
            return self.detach(client);
        }
        let session = &self.row.id;
        for update in &missed {
            view.show_history(&mut ShownUpdate::new(session, update));
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
            self.agent.standing().iter().for_each(|news| view.show(&mut ShownUpdate::new(session, news)));
            if is_v2 {
                view.show(&mut ShownUpdate::new(session, &state));
            }
        }
        view.client.push(ClientMessage::Answer(responder, Ok(result)));
        for update in after {
            view.client.push(update);
        }
        if is_new {
            self.agent.standing().iter().for_each(|news| view.show(&mut ShownUpdate::new(session, news)));
        }
        if is_running && !is_v2 {
            view.show(&mut ShownUpdate::new(session, &state));
        }
        self.contexts.joins(client, view.client.context.clone());
        self.views.push(view);
        // The reader is gone only if the connection is.
        let _ = reply.send(AttachOutcome::Joined);
    }

    fn leaves(&mut self, parting: nudge_backend::BackendParting, waiting: Vec<nudge_session::RequestId>) {
        match &mut self.leaving {
            Some(leaving) => {
                leaving.parting = parting;
                leaving.waiting.extend(waiting);
            }
            None => self.leaving = Some(LeaveReason { parting, waiting }),
        }
    }
}
