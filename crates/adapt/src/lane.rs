//! What a connection says to its agent and to no session: it waits here while the agent is away, so that nothing else
//! the connection says waits with it.

use std::{future::Future, pin::Pin, sync::Arc, task::Poll};

use nudge_peer::{CancellationToken, DropGuard, UnhandledMessage};
use nudge_wire::{Error, Version};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::{DownstreamAgent, agent::refuse, running::RunningAgent};

/// Bytes that may wait for the agent; a single message may be longer.
const ROOM: usize = 4 * 1024 * 1024;
/// What a message costs beside its text.
const OVERHEAD: usize = 256;

/// The way of one connection to its agent. What is said on it arrives in order; dropping it gives up what waits.
#[derive(Debug)]
pub struct AgentLane {
    agent: Arc<DownstreamAgent>,
    /// The version of the client.
    from: Version,
    queue: mpsc::UnboundedSender<Waiting>,
    room: Arc<Semaphore>,
    _ends: DropGuard,
}

struct Waiting {
    what: What,
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
    pub fn new(agent: Arc<DownstreamAgent>, from: Version) -> Self {
        let (queue, waiting) = mpsc::unbounded_channel();
        let ends = CancellationToken::new();
        let (ended, to) = (ends.clone(), Arc::clone(&agent));
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = ended.cancelled() => {}
                () = pass_all(&to, from, waiting) => {}
            }
        });
        Self { agent, from, queue, room: Arc::new(Semaphore::new(ROOM)), _ends: ends.drop_guard() }
    }

    /// Takes a message on its way to the agent, and does not wait for the agent unless the lane is full. Then it does, but
    /// for a request to an agent that is away, which is refused.
    pub async fn push(&self, message: UnhandledMessage) {
        let is_empty = self.room.available_permits() == ROOM;
        let size = u32::try_from((message.size() + OVERHEAD).min(ROOM)).unwrap_or(u32::MAX);
        let room = match Arc::clone(&self.room).try_acquire_many_owned(size) {
            Ok(room) => room,
            Err(_) if matches!(message, UnhandledMessage::Request(_)) && self.agent.there().is_none() => {
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
        let what = match self.agent.there().filter(|_| is_empty) {
            Some(running) => match self.send_now(running, message).await {
                Some(sending) => What::Sending(sending),
                None => return,
            },
            None => What::Message(message),
        };
        // The task ends after this.
        let _ = self.queue.send(Waiting { what, _room: room });
    }

    /// Sends what nothing is ahead of. Gives back the rest of the work if the agent does not read.
    async fn send_now(
        &self,
        running: Arc<RunningAgent>,
        message: UnhandledMessage,
    ) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        let (agent, from) = (Arc::clone(&self.agent), self.from);
        let mut sending = Box::pin(async move {
            let _ = agent.pass_to(&running, message, from).await;
        });
        let is_sent = std::future::poll_fn(|cx| Poll::Ready(sending.as_mut().poll(cx).is_ready())).await;
        (!is_sent).then_some(sending as _)
    }
}

async fn pass_all(
    agent: &Arc<DownstreamAgent>,
    from: Version,
    mut waiting: mpsc::UnboundedReceiver<Waiting>,
) {
    while let Some(Waiting { what, _room }) = waiting.recv().await {
        let message = match what {
            What::Message(message) => message,
            What::Sending(sending) => {
                sending.await;
                continue;
            }
        };
        match agent.running().await {
            Ok(running) => {
                let _ = agent.pass_to(&running, message, from).await;
            }
            Err(error) => {
                let _ = refuse(message, error.clone()).await;
                refuse_all(&mut waiting, &error).await;
            }
        }
    }
}

/// Refuses all that has waited for a start that failed: another start for each would make the last wait for ever.
async fn refuse_all(waiting: &mut mpsc::UnboundedReceiver<Waiting>, error: &Error) {
    while let Ok(Waiting { what, _room }) = waiting.try_recv() {
        match what {
            What::Message(message) => drop(refuse(message, error.clone()).await),
            What::Sending(sending) => sending.await,
        }
    }
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
