//! A turn of an agent: the prompts that make it, the steers on their way, and how it ends.

use std::{pin::Pin, sync::Arc, time::Duration};

use futures_util::{StreamExt, stream::FuturesUnordered};
use nudge_backend::{TurnEnd, UserMessage};
use nudge_peer::CallError;
use nudge_wire::RawJson;
use tokio::time::Instant;

use crate::retold::Retold;

/// How long after a prompt the end of a silent agent counts as having come before it.
const DYING: Duration = Duration::from_secs(1);
/// How long a steer waits for the first word of an agent before it cuts it off: some lose a cancel that comes too early.
const FIRST_WORD: Duration = Duration::from_millis(1500);
/// The same after a tool has run: many agents forget what a tool gave if they are cut off before the model has answered it.
const NEXT_WORD: Duration = Duration::from_secs(20);

pub(crate) type Answer = Result<RawJson, CallError>;

type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;
type Steering = Pin<Box<dyn Future<Output = (UserMessage, Answer)> + Send>>;

/// A running turn.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own about the turn")]
pub(crate) struct Turn {
    prompt: Option<Answering>,
    steering: FuturesUnordered<Steering>,
    /// It waits at a break-point to be told what goes in.
    pub(crate) is_at_break: bool,
    /// The agent's word for the end of its turn, which may not be the end of ours.
    pub(crate) end: Option<TurnEnd>,
    /// The id under which a version 2 agent repeats the prompt.
    pub(crate) message_id: Option<Arc<str>>,
    /// The user has ended it.
    pub(crate) is_cancelled: bool,
    /// It is to be cut off for a steer.
    pub(crate) is_interrupted: bool,
    /// The agent was told to stop.
    pub(crate) is_told: bool,
    /// The agent has shown that it works on the prompt: nothing it says of an end before that is about this turn.
    pub(crate) has_begun: bool,
    /// The agent has said something since it was prompted.
    pub(crate) is_heard: bool,
    /// The model has said something since it was asked last: what it was told is remembered then, also if it is cut off.
    pub(crate) has_spoken: bool,
    /// A tool has run since the prompt.
    pub(crate) has_worked: bool,
    /// What the agent was prompted with, and when.
    pub(crate) prompted_with: Vec<UserMessage>,
    pub(crate) prompted_at: Option<Instant>,
    /// What happened so far, for an agent that forgets it when it is cut off.
    pub(crate) retold: Option<Retold>,
    /// The prompt was said once more to an agent that had died.
    pub(crate) is_said_again: bool,
    /// Messages that the agent did not take.
    pub(crate) owed: Vec<UserMessage>,
    pub(crate) deadline: Option<Instant>,
}

/// What a turn waited for.
pub(crate) enum Step {
    Answered(Answer),
    Steered(UserMessage, Answer),
    Late,
}

impl Turn {
    /// A turn that the agent began by itself.
    pub(crate) fn of_its_own() -> Self {
        Self { has_begun: true, is_heard: true, has_spoken: true, ..Self::default() }
    }

    /// The agent is prompted, at the start or once more.
    pub(crate) fn prompted(&mut self, answer: impl Future<Output = Answer> + Send + 'static) {
        self.prompt = Some(Box::pin(answer));
        self.prompted_at = Some(Instant::now());
        self.end = None;
        self.message_id = None;
        self.is_interrupted = false;
        self.is_told = false;
        self.has_begun = false;
        self.is_heard = false;
        self.has_spoken = false;
        self.has_worked = false;
        self.deadline = None;
    }

    /// How long a steer waits for the model's first word before the agent is cut off without it.
    pub(crate) fn patience(&self) -> Duration {
        if self.has_worked { NEXT_WORD } else { FIRST_WORD }
    }

    /// Whether the agent died before it can have done much about its prompt: it was dying when it was prompted.
    pub(crate) fn may_be_said_again(&self) -> bool {
        let was_dying = self.prompted_at.is_some_and(|at| at.elapsed() < DYING);
        let is_untouched = was_dying && self.is_running() && !self.is_heard && self.steering.is_empty();
        is_untouched && !self.is_cancelled && !self.is_said_again && !self.prompted_with.is_empty()
    }

    /// A steer is on its way.
    pub(crate) fn steered(&mut self, steer: impl Future<Output = (UserMessage, Answer)> + Send + 'static) {
        self.steering.push(Box::pin(steer));
    }

    pub(crate) fn has_steers_under_way(&self) -> bool {
        !self.steering.is_empty()
    }

    /// Whether the agent was stopped for a steer.
    pub(crate) fn was_cut_off(&self) -> bool {
        self.is_interrupted && self.end.as_ref().is_some_and(TurnEnd::is_cancelled)
    }

    /// Whether the agent works on a prompt.
    pub(crate) fn is_running(&self) -> bool {
        self.end.is_none()
    }

    /// Waits for the next thing. Safe to drop and call again.
    pub(crate) async fn step(&mut self) -> Step {
        let Self { prompt, steering, deadline, .. } = self;
        let step = tokio::select! {
            biased;
            Some((message, answer)) = steering.next(), if !steering.is_empty() => Step::Steered(message, answer),
            answer = of(prompt) => Step::Answered(answer),
            () = until(*deadline) => Step::Late,
        };
        match step {
            Step::Answered(_) => self.prompt = None,
            Step::Late => self.deadline = None,
            Step::Steered(..) => {}
        }
        step
    }
}

/// Waits for what is there, or forever.
pub(crate) async fn of<F: Future + Unpin>(future: &mut Option<F>) -> F::Output {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
