//! The session goes over to another process: that of a client that has one to itself, or one that has taken the place of its own.

use std::{sync::Arc, time::Duration};

use nudge_backend::{BackendEvent, BackendFuture};
use nudge_wire::{ClientContext, RawJson};

use super::AdaptedSession;
use crate::{DownstreamAgent, open::SessionLink};

/// How long a process may take to let go of the session.
const PATIENCE: Duration = Duration::from_secs(5);

impl AdaptedSession {
    /// Goes where a turn of this client is to run. To be called between turns.
    pub(super) fn go_where_it_runs(&mut self, client: &ClientContext) {
        let elsewhere = self.home.agent_of(client, &self.agent);
        let is_retired = self.link.as_ref().is_some_and(|link| link.running.retired.is_cancelled());
        match elsewhere {
            Some(agent) => self.go_to(agent.for_session()),
            None if is_retired => self.go_to(Arc::clone(&self.agent)),
            None => {}
        }
        self.prompter_hears = self.home.uses(client, &self.agent);
    }

    /// Leaves its process for one of this agent.
    pub(super) fn go_to(&mut self, agent: Arc<DownstreamAgent>) {
        let left: BackendFuture<'static, ()> = match self.link.take() {
            Some(link) => {
                link.running.routes.leave(&self.id);
                Box::pin(let_go(link, Arc::clone(&self.id), Arc::clone(&self.agent)))
            }
            None => Box::pin(async {}),
        };
        tracing::info!(agent = agent.name(), "a session goes over to another process");
        self.settings = agent.family.changes();
        self.agent = agent;
        self.prompter_hears = None;
        // The process goes on without whoever would answer it.
        let withdrawn = self.questions.withdraw_all().into_iter();
        self.qwen_steers.clear();
        self.ready.extend(withdrawn.map(BackendEvent::QuestionWithdrawn));
        self.failures = 0;
        self.taking_up = None;
        self.begin_taking_up_after(left);
    }
}

/// Two processes are not to have one session open at the same time.
async fn let_go(link: SessionLink, id: Arc<str>, agent: Arc<DownstreamAgent>) {
    let SessionLink { running, .. } = link;
    if running.offers.close && !running.is_over() {
        let id = RawJson::of(&*id).expect("a string is JSON");
        let asked = running.cx.request_raw("session/close", Some(&RawJson::object(&[("sessionId", &id)])));
        // It goes on elsewhere whatever it says.
        let _ = tokio::time::timeout(PATIENCE, asked).await;
    }
    agent.rest();
}
