//! The agent is lost and comes back, and the session with it.

use std::{pin::Pin, sync::Arc};

use nudge_backend::{BackendEvent, BackendFuture};
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
        self.prompt = None;
        self.is_lost = true;
        self.questions.clear();
        self.qwen_steers.clear();
        self.ready.push_back(BackendEvent::Lost(error.clone()));
        let actions = self.run.lost(error, Instant::now());
        self.act(actions);
        self.failures = 0;
        self.begin_taking_up();
    }

    pub(super) fn begin_taking_up(&mut self) {
        self.begin_taking_up_after(Box::pin(async {}));
    }

    /// As [`begin_taking_up`](Self::begin_taking_up), once something else is done. What was chosen in the session is chosen again.
    pub(super) fn begin_taking_up_after(&mut self, before: BackendFuture<'static, ()>) {
        if self.taking_up.is_some() {
            return;
        }
        self.return_news.send_replace(None);
        let (agent, id) = (Arc::clone(&self.agent), Arc::clone(&self.id));
        let (base, recap) = (self.base.clone(), Arc::clone(&self.recap));
        let chosen = self.chosen.clone();
        self.taking_up = Some(Box::pin(async move {
            before.await;
            let mut taken_up = take_up(&agent, None, Some(&id), &base, &recap).await?;
            taken_up.choose_again(chosen).await;
            Ok(taken_up)
        }));
    }

    pub(super) fn taken_up(&mut self, taken_up: Result<TakenUp, Error>) {
        self.taking_up = None;
        match taken_up {
            Ok(taken_up) => self.is_back(taken_up),
            Err(error) => {
                self.failures += 1;
                self.why_away = Some(error.clone());
                match self.run.not_restored(error.clone()) {
                    Some(actions) => self.act(actions),
                    None if self.failures < TRIES => return self.begin_taking_up(),
                    None => {}
                }
                self.return_news.send_replace(Some(Err(error)));
            }
        }
    }

    fn is_back(&mut self, TakenUp { link, id, result, recap, news, replay, options }: TakenUp) {
        self.standing.is_back(&link.running, result);
        let running = Arc::clone(&link.running);
        self.link = Some(link);
        let is_recap = recap.is_some();
        // One that knows of the session, and was not told yet what was said in it before, is told still.
        let untold = self.untold_recap.take().filter(|_| self.id == id);
        self.set_past(recap.or(untold), replay);
        self.id = Arc::clone(&id);
        self.failures = 0;
        (self.why_away, self.chosen) = (None, options.chosen);
        let was_lost = std::mem::take(&mut self.is_lost);
        self.ready.push_back(BackendEvent::Back { id: Arc::clone(&id), is_recap, was_lost });
        for update in news {
            self.show(update);
        }
        for (method, params, answer) in &options.set {
            self.option_was_set(method, params, answer);
        }
        for update in options.instead {
            self.show(update);
        }
        self.return_news.send_replace(Some(Ok((running, id))));
        if replay.is_none() {
            self.release();
        }
    }
}
