//! What is said to the agent about a session beside its turns.

use std::{sync::Arc, time::Duration};

use nudge_peer::PassedMessage;
use nudge_wire::{Error, RawJson};
use tokio::sync::{mpsc, watch};

use super::{AboutSession, AdaptedSession, AgentReturn};
use crate::{open::failed, open_requests::RequestPurpose, running::RunningAgent};

/// How long a request waits for an agent that is being started or that the session goes over to.
const WAITS: Duration = Duration::from_mins(1);

/// Params of a request about the session that the agent knows as `id`.
fn about(id: &str, params: &RawJson) -> RawJson {
    let id = RawJson::of(id).expect("a string is JSON");
    params.with(&["sessionId"], &id).unwrap_or_else(|_| params.clone())
}

/// What becomes of the agent; nothing if that takes too long.
async fn agent_back(
    mut news: watch::Receiver<AgentReturn>,
) -> Option<Result<(Arc<RunningAgent>, Arc<str>), Error>> {
    let known = tokio::time::timeout(WAITS, news.wait_for(Option::is_some)).await.ok()?;
    known.ok()?.clone()
}

impl AdaptedSession {
    /// Sends a request about this session, in the agent's version, with the agent's id of it.
    pub(super) fn request(
        &self,
        purpose: Option<RequestPurpose>,
        method: &str,
        params: &RawJson,
    ) -> impl Future<Output = Result<RawJson, Error>> + Send + 'static {
        let hears = match &purpose {
            Some(RequestPurpose::Client(origin)) => self.home.hears(origin.connection, &self.agent),
            _ => None,
        };
        let here = self
            .link
            .as_ref()
            .map(|link| link.running.request_in_order_for(purpose.clone(), method, &about(&self.id, params)));
        let back = self.taking_up.as_ref().map(|_| self.return_news.subscribe());
        let (method, params) = (method.to_owned(), params.clone());
        let why_away = self.why_away.clone();
        async move {
            // What the agent wants to know about it is asked of whoever made it.
            let _hears = hears;
            let why = match (here, back) {
                (Some(asked), _) => return asked.await.map_err(failed),
                (None, Some(back)) => match agent_back(back).await {
                    Some(Ok((running, id))) => {
                        let asked = running.request_in_order_for(purpose, &method, &about(&id, &params));
                        return asked.await.map_err(failed);
                    }
                    Some(Err(why)) => Some(why),
                    None => None,
                },
                (None, None) => why_away,
            };
            Err(why.unwrap_or_else(|| {
                Error::internal("The agent is being started again. Try once more").reason("agent_gone")
            }))
        }
    }

    /// Passes a message on that only the agent understands, in order with others of its kind. Its room is given back when the
    /// agent's connection has taken it.
    pub(super) fn pass_in_order(&mut self, message: PassedMessage) {
        let (agent, id) = (Arc::clone(&self.agent), Arc::clone(&self.id));
        let passing = self.passing.get_or_insert_with(|| {
            let (passing, mut messages) = mpsc::unbounded_channel::<AboutSession>();
            tokio::spawn(async move {
                while let Some((agent, id, PassedMessage { from, message, room })) = messages.recv().await {
                    // Whoever asked was told.
                    let _ = agent.pass_about(&id, message, from).await;
                    drop(room);
                }
            });
            passing
        });
        let _ = passing.send((agent, id, message));
    }

    /// Tells the agent to let go of the session, if it has a method for that: `session/close` or `session/delete`.
    pub(crate) async fn part(&mut self, method: &str) {
        let Some(link) = &self.link else { return };
        let offers = link.running.offers;
        let has = match method {
            "session/close" => offers.close,
            "session/delete" => offers.delete,
            _ => false,
        };
        if has {
            let asked = self.request(None, method, &RawJson::object(&[]));
            if let Ok(Err(error)) = tokio::time::timeout(Duration::from_secs(5), asked).await {
                tracing::info!(
                    agent = self.agent.name(),
                    method,
                    error = error.message,
                    "the agent did not let go"
                );
            }
        }
    }
}
