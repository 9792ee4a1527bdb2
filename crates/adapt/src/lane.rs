//! What a connection says to its agent and to no session: it waits here while the agent is away, so that nothing else
//! the connection says waits with it.

use std::{collections::VecDeque, future::Future, pin::Pin, sync::Arc, task::Poll};

use nudge_peer::{CancellationToken, DropGuard, UnhandledMessage};
use nudge_wire::{ConnectionId, Error, Version};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::{
    ClientAgent, DownstreamAgent, agent_messages::refuse, remembered::ProcessSetting, running::RunningAgent,
};

/// Bytes that may wait for the agent; a single message may be longer.
const ROOM: usize = 4 * 1024 * 1024;
/// What a message costs beside its text.
const OVERHEAD: usize = 256;

/// The way of one connection to its agent. What is said on it arrives in order; dropping it gives up what waits.
#[derive(Debug)]
pub struct AgentLane {
    agent: Arc<ClientAgent>,
    /// The version of the client.
    from: Version,
    queue: mpsc::UnboundedSender<Waiting>,
    room: Arc<Semaphore>,
    _ends: DropGuard,
}

struct Waiting {
    what: What,
    /// The agent that the client had when it said it.
    agent: Arc<DownstreamAgent>,
    _room: OwnedSemaphorePermit,
}

enum What {
    /// The agent was away when it came.
    Message(UnhandledMessage),
    /// The agent was there, but has not read what came before.
    Sending(Pin<Box<dyn Future<Output = ()> + Send>>),
}

impl AgentLane {
    /// A way to `agent` for a client of this version; needs a tokio runtime.
    pub fn new(agent: Arc<ClientAgent>, from: Version) -> Self {
        let (queue, waiting) = mpsc::unbounded_channel();
        let ends = CancellationToken::new();
        let (ended, who) = (ends.clone(), (from, agent.connection()));
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = ended.cancelled() => {}
                () = pass_all(who, waiting) => {}
            }
        });
        Self { agent, from, queue, room: Arc::new(Semaphore::new(ROOM)), _ends: ends.drop_guard() }
    }

    /// Takes a message on its way to the agent, and does not wait for the agent unless the lane is full. Then it does, but
    /// for a request to an agent that is away, which is refused. A client that sets something of the agent has it to itself
    /// from then on.
    pub async fn push(&self, message: UnhandledMessage) {
        let sets = sets_something(&message);
        let agent = if sets { self.agent.own() } else { self.agent.current() };
        let is_empty = self.room.available_permits() == ROOM;
        let size = u32::try_from((message.size() + OVERHEAD).min(ROOM)).unwrap_or(u32::MAX);
        let room = match Arc::clone(&self.room).try_acquire_many_owned(size) {
            Ok(room) => room,
            Err(_) if matches!(message, UnhandledMessage::Request(_)) && agent.there().is_none() => {
                // That the connection is over is seen elsewhere.
                let _ = refuse(message, full()).await;
                return;
            }
            Err(_) => match Arc::clone(&self.room).acquire_many_owned(size).await {
                Ok(room) => room,
                // It is never closed.
                Err(_) => return,
            },
        };
        let there = if is_answered_unsettled(&message) { agent.there_to_be_set() } else { agent.there() };
        let what = match there.filter(|_| is_empty) {
            Some(running) => match self.send_now(&agent, running, message).await {
                Some(sending) => What::Sending(sending),
                None => return,
            },
            None => What::Message(message),
        };
        // The task ends after this.
        let _ = self.queue.send(Waiting { what, agent, _room: room });
    }

    /// Sends what nothing is ahead of. Gives back the rest of the work if the agent does not read.
    async fn send_now(
        &self,
        agent: &Arc<DownstreamAgent>,
        running: Arc<RunningAgent>,
        message: UnhandledMessage,
    ) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        let (agent, who) = (Arc::clone(agent), (self.from, self.agent.connection()));
        let mut sending = Box::pin(async move {
            let _ = agent.pass_to(&running, message, who).await;
        });
        let is_sent = std::future::poll_fn(|cx| Poll::Ready(sending.as_mut().poll(cx).is_ready())).await;
        (!is_sent).then_some(sending as _)
    }
}

async fn pass_all(who: (Version, Option<ConnectionId>), mut waiting: mpsc::UnboundedReceiver<Waiting>) {
    // Taken out while others before them were refused.
    let mut kept = VecDeque::new();
    loop {
        let next = match kept.pop_front() {
            Some(next) => Some(next),
            None => waiting.recv().await,
        };
        let Some(Waiting { what, agent, _room }) = next else { return };
        let message = match what {
            What::Message(message) => message,
            What::Sending(sending) => {
                sending.await;
                continue;
            }
        };
        let running = if is_answered_unsettled(&message) {
            agent.running_to_be_set().await
        } else {
            agent.running().await
        };
        match running {
            Ok(running) => {
                let _ = agent.pass_to(&running, message, who).await;
            }
            // What sets it anew may still be taken.
            Err(error) if agent.there_to_be_set().is_some() => drop(refuse(message, error).await),
            Err(error) => {
                let _ = refuse(message, error.clone()).await;
                kept.extend(std::iter::from_fn(|| waiting.try_recv().ok()));
                kept = refuse_all(kept, &agent, &error).await;
            }
        }
    }
}

fn sets_something(message: &UnhandledMessage) -> bool {
    matches!(message, UnhandledMessage::Request(_)) && ProcessSetting::of(message.method()).is_some()
}

/// Whether a process answers it that has not taken what was set before: by it that is set anew, or looked at.
fn is_answered_unsettled(message: &UnhandledMessage) -> bool {
    let is_looked_at = matches!(&**message.method(), "auth/status" | "providers/list");
    sets_something(message) || (is_looked_at && matches!(message, UnhandledMessage::Request(_)))
}

/// Refuses all that has waited for a start of this agent that failed: another start for each would make the last wait for ever.
/// Gives back what waits for another.
async fn refuse_all(
    waiting: VecDeque<Waiting>,
    agent: &Arc<DownstreamAgent>,
    error: &Error,
) -> VecDeque<Waiting> {
    let mut others = VecDeque::new();
    for one in waiting {
        match one.what {
            What::Message(message) if Arc::ptr_eq(&one.agent, agent) => {
                drop(refuse(message, error.clone()).await);
            }
            _ => others.push_back(one),
        }
    }
    others
}

fn full() -> Error {
    let what = format!(
        "More than {ROOM} bytes wait for the agent, which is being started. Ask again when they are answered"
    );
    Error::internal(what).reason("agent_away")
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waiting").finish_non_exhaustive()
    }
}
