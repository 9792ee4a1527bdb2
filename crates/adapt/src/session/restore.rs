//! The agent is lost and comes back, and the session with it.

use std::{pin::Pin, sync::Arc};

use nudge_backend::BackendEvent;
use nudge_wire::Error;
use tokio::time::Instant;

use super::AdaptedSession;
use crate::open::{TakenUp, take_up};

/// How often a lost session is taken up again by itself; after that, the next prompt tries.
const TRIES: u32 = 4;

pub(super) type RestoreFuture = Pin<Box<dyn Future<Output = Result<TakenUp, Error>> + Send>>;

impl AdaptedSession {
    /// The process has ended, and all it said was heard.
    pub(super) async fn lose(&mut self) {
        let Some(link) = &self.link else { return };
        let error = link.running.why().await;
        self.link = None;
        self.questions.clear();
        self.ready.push_back(BackendEvent::Lost(error.clone()));
        let actions = self.run.lost(error, Instant::now());
        self.act(actions);
        self.failures = 0;
        self.begin_taking_up();
    }

    pub(super) fn begin_taking_up(&mut self) {
        if self.taking_up.is_some() {
            return;
        }
        let (agent, id) = (Arc::clone(&self.agent), Arc::clone(&self.id));
        let (base, recap) = (self.base.clone(), Arc::clone(&self.recap));
        self.taking_up = Some(Box::pin(async move { take_up(&agent, Some(&id), &base, &recap).await }));
    }

    pub(super) fn taken_up(&mut self, taken_up: Result<TakenUp, Error>) {
        self.taking_up = None;
        match taken_up {
            Ok(taken_up) => self.is_back(taken_up),
            Err(error) => {
                self.failures += 1;
                match self.run.not_restored(error) {
                    Some(actions) => self.act(actions),
                    None if self.failures < TRIES => self.begin_taking_up(),
                    None => {}
                }
            }
        }
    }

    fn is_back(&mut self, TakenUp { link, id, result, recap, news, replay }: TakenUp) {
        self.standing.is_back(&link.running, result);
        self.link = Some(link);
        self.id = Arc::clone(&id);
        let is_recap = recap.is_some();
        self.set_past(recap, replay);
        self.failures = 0;
        self.ready.push_back(BackendEvent::Back { id, is_recap });
        for update in news {
            self.show(update);
        }
        if replay.is_none() {
            self.release();
        }
    }
}
