//! What an agent was asked about its turn and has not answered yet.

use std::pin::Pin;

use futures_util::{StreamExt, stream::FuturesUnordered};
use nudge_peer::CallError;
use nudge_wire::RawJson;

use crate::prompt_run::SteerId;

/// An agent's answer.
pub(crate) type AgentAnswer = Result<RawJson, CallError>;

type AnswerFuture = Pin<Box<dyn Future<Output = AgentAnswer> + Send>>;
type SteerFuture = Pin<Box<dyn Future<Output = (SteerId, AgentAnswer)> + Send>>;

/// The requests of one turn that are open. Dropping them takes them back.
#[derive(Default)]
pub(crate) struct OpenCalls {
    prompt: Option<AnswerFuture>,
    steers: FuturesUnordered<SteerFuture>,
}

/// What was answered.
pub(crate) enum AnsweredCall {
    Prompt(AgentAnswer),
    Steer(SteerId, AgentAnswer),
}

impl OpenCalls {
    /// The agent is prompted. An earlier prompt needs no answer any more.
    pub(crate) fn prompt(&mut self, answer: impl Future<Output = AgentAnswer> + Send + 'static) {
        self.prompt = Some(Box::pin(answer));
    }

    /// The agent is steered.
    pub(crate) fn steer(&mut self, id: SteerId, answer: impl Future<Output = AgentAnswer> + Send + 'static) {
        self.steers.push(Box::pin(async move { (id, answer.await) }));
    }

    /// The next answer. Safe to drop and call again.
    pub(crate) async fn next(&mut self) -> AnsweredCall {
        let Self { prompt, steers } = self;
        let answered = tokio::select! {
            biased;
            Some((id, answer)) = steers.next(), if !steers.is_empty() => AnsweredCall::Steer(id, answer),
            answer = of(prompt) => AnsweredCall::Prompt(answer),
        };
        if matches!(answered, AnsweredCall::Prompt(_)) {
            self.prompt = None;
        }
        answered
    }
}

/// Waits for what is there, or forever.
pub(crate) async fn of<F: Future + Unpin>(future: &mut Option<F>) -> F::Output {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}
