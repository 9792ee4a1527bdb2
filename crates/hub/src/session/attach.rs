//! A client joins a session that is in use.

use std::sync::Arc;

use nudge_bridge::IndexedUpdate;
use nudge_peer::Responder;
use nudge_wire::{RawJson, Version};
use serde_json::json;
use tokio::sync::oneshot;

use crate::{
    client::Out,
    hub::Shared,
    own_updates,
    session::{
        Command, Wish,
        actor::{Actor, Ending, Stage},
        outbox::{Effect, Step},
        view::{Shown, View},
    },
    shape,
};

/// What a client that joins wants.
#[derive(Debug)]
pub(crate) struct Attach {
    /// What it has been shown so far; [`View::from`] is where it goes on.
    pub(crate) view: View,
    pub(crate) how: How,
    pub(crate) responder: Responder,
}

/// How a client joins.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct How {
    /// Whether it is shown the history.
    pub(crate) wants_history: bool,
    /// Whether what waits stays where it is: the client only looks, or takes something back.
    pub(crate) keeps_hold: bool,
    /// Whether the answer names the session, as that to `session/new` does.
    pub(crate) is_new: bool,
}

/// What became of a wish to join.
#[derive(Debug)]
pub(crate) enum Attached {
    /// It has joined and is answered.
    Joined,
    /// It has to read on from the store first: more has been written than is kept in memory.
    ReadOn(Box<Attach>),
}

/// A wish to join that waits for its place.
pub(crate) struct Attaching {
    attach: Attach,
    reply: oneshot::Sender<Attached>,
}

impl Attaching {
    /// It does not join, and is told why.
    pub(crate) fn refuse(self, error: &nudge_wire::Error) {
        let Attach { view, responder, .. } = self.attach;
        view.client.push(Out::Answer(responder, Err(error.clone())));
    }
}

impl Actor {
    /// Joins in its place among all that is shown.
    pub(crate) fn attach(&mut self, attach: Attach, reply: oneshot::Sender<Attached>) {
        let attaching = Attaching { attach, reply };
        let effects = vec![Effect::Attach(Box::new(attaching))];
        self.finish(Step { effects, ..Step::default() });
    }

    /// Shows what is missing, answers, and from then on the client is shown all that comes. What waits for somebody to
    /// come back is delivered after the answer.
    pub(crate) fn join(&mut self, attaching: Attaching) {
        let Attaching { mut attach, reply } = attaching;
        if attach.view.client.is_gone() {
            return;
        }
        if attach.how.wants_history && !self.catch_up(&mut attach.view) {
            // The reader is gone only if the connection is.
            let _ = reply.send(Attached::ReadOn(Box::new(attach)));
            return;
        }
        let Attach { mut view, how: How { is_new, keeps_hold, .. }, responder } = attach;
        view.from = view.from.max(self.shown);
        view.end_history(&self.row.id);
        let client = view.client.clone();
        self.views.retain(|other| other.client.id != client.id);
        self.withdraw_from(client.id);
        let id = is_new.then_some(&*self.row.id);
        let result = self.backend.opened(id, &self.meta());
        let (result, updates) = view.opened(&self.row.id, self.backend.version(), result);
        let (before, after) = if is_new { (Vec::new(), updates) } else { (updates, Vec::new()) };
        for update in before {
            client.push(update);
        }
        if !is_new {
            // Of a session that it knows by name the client is told how things stand before the answer.
            for news in self.backend.standing() {
                view.show(&mut Shown::new(&self.row.id, &news));
            }
            if client.version == Version::V2 {
                view.show(&mut Shown::new(&self.row.id, &self.state()));
            }
        }
        client.push(Out::Answer(responder, Ok(result)));
        for update in after {
            client.push(update);
        }
        self.views.push(view);
        self.environments.joins(client.id, client.environment.clone());
        self.has_been_seen = true;
        let _ = reply.send(Attached::Joined);
        self.tell_now(is_new);
        if self.mailbox.is_held() && !keeps_hold && self.ending.is_none() && self.stage == Stage::Open {
            self.environments.resumes(client.id);
            self.mailbox.resume();
            self.finish(Step::default());
        }
    }

    /// Leaves the session if nobody uses it, so that it can come into use anew. Whoever waits is told, or not if it stays.
    pub(crate) fn leave_if_unused(&mut self, done: oneshot::Sender<()>) {
        if self.views.is_empty() && self.turn.is_none() && self.mailbox.is_idle() {
            self.end(Ending { is_open: true, left: vec![done], ..Ending::default() });
        }
    }

    /// Shows entries that the store may not have yet; `false` if some are not in memory any more.
    fn catch_up(&mut self, view: &mut View) -> bool {
        let oldest = self.recent.front().map_or(self.shown, |(seq, _)| *seq);
        if view.from < oldest {
            return false;
        }
        let from = view.from;
        let missing = self.recent.iter().filter(|(seq, _)| *seq >= from);
        for (_, update) in missing.filter(|(_, update)| update.kind.is_replayed()) {
            view.show_history(&mut Shown::new(&self.row.id, update));
        }
        true
    }

    /// Tells the client that has just joined how things stand, as far as it could not be told before the answer.
    fn tell_now(&mut self, is_new: bool) {
        let at = self.views.len() - 1;
        let mut updates = if is_new { self.backend.standing() } else { Vec::new() };
        if self.turn.is_some() && self.views[at].client.version == Version::V1 {
            updates.push(self.state());
        }
        for update in &updates {
            self.views[at].show(&mut Shown::new(&self.row.id, update));
        }
        let open: Vec<u64> = self.permissions.iter().map(|permission| permission.id).collect();
        for id in open {
            self.ask(id, at);
        }
    }

    fn state(&self) -> IndexedUpdate {
        match &self.turn {
            None => own_updates::idle(None, None),
            Some(_) if self.permissions.is_empty() => own_updates::running(),
            Some(_) => own_updates::requires_action(),
        }
    }

    /// What the answer says of the session beside what the protocol has a place for.
    fn meta(&self) -> RawJson {
        shape::raw(&json!({ "inject": { "pending": self.pending_on_disk() } }))
    }
}

/// Sends a wish to join, reading on from the store as often as it takes.
pub(crate) async fn join(
    hub: &Arc<Shared>,
    mut handle: super::Handle,
    session: &str,
    mut attach: Box<Attach>,
) -> Result<(), (nudge_wire::Error, Option<Responder>)> {
    loop {
        if attach.how.wants_history
            && let Err(error) = crate::history::replay(&*hub.store, session, &mut attach.view).await
        {
            return Err((error, Some(attach.responder)));
        }
        let (reply, replied) = oneshot::channel();
        if let Err(Command::Attach(again, _)) = handle.send(Command::Attach(attach, reply)).await {
            // It was just being left.
            handle = match hub.session(session, &Wish::of(&again.view.client)).await {
                Ok(handle) => handle,
                Err(error) => return Err((error, Some(again.responder))),
            };
            attach = again;
            continue;
        }
        match replied.await {
            Ok(Attached::Joined) => return Ok(()),
            Ok(Attached::ReadOn(again)) => attach = again,
            Err(_) => return Err((super::unknown(), None)),
        }
    }
}
