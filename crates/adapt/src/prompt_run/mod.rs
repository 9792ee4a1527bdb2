//! The prompt that an agent works on, as a value: what happens goes in with the time, what to do comes out.
//!
//! A turn of a session is one or more prompts to the agent. [`PromptRun`] knows where the current one stands and where every
//! message of the user is: in the agent's hands, sent as a steer, held, to be prompted next, or undelivered. It does no IO
//! and reads no clock. Whoever drives it
//!
//! 1. tells it what happens: what the session wants ([`begin`](PromptRun::begin), [`steer`](PromptRun::steer),
//!    [`go_on`](PromptRun::go_on), [`interrupt`](PromptRun::interrupt), [`cancel`](PromptRun::cancel)), what the agent says,
//!    and that it was lost or is back;
//! 2. does what each call returns, in order;
//! 3. calls [`handle_timeout`](PromptRun::handle_timeout) at the [`deadline`](PromptRun::deadline).

mod action;
mod agent_says;
mod session_wants;
mod stage;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use nudge_backend::{TurnEnd, UserMessage};
use nudge_wire::Error;
use tokio::time::Instant;

pub(crate) use action::{AgentReadiness, PromptAfter, RunAction, SteerOutcome};
pub(crate) use stage::SteerId;
use stage::{
    EndedPrompt, HeldPrompt, MOST_RESENDS, OnceSent, PromptReceipt, PromptStage, PromptWork,
    ReportedBreakPoint, StopWish, StoppedFor,
};

/// Where the prompt of one session stands.
#[derive(Debug)]
pub(crate) struct PromptRun {
    stage: PromptStage,
    /// Messages that the agent did not take, to go with the next prompt.
    undelivered: Vec<UserMessage>,
    /// How long the agent may take to stop when the user cancels.
    patience: Duration,
    last_steer: u64,
}

type Actions = Vec<RunAction>;

impl PromptRun {
    /// Of an agent that may take this long to stop.
    pub(crate) fn new(patience: Duration) -> Self {
        Self { stage: PromptStage::Idle, undelivered: Vec::new(), patience, last_steer: 0 }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match &self.stage {
            PromptStage::Working(
                _,
                StopWish::InterruptDue { cancel_at } | StopWish::InterruptUnlessEnded { cancel_at },
            ) => Some(*cancel_at),
            PromptStage::Working(_, StopWish::CancelSent { close_at }) => *close_at,
            PromptStage::Ended(_, ended) => ended.finish_at,
            _ => None,
        }
    }

    /// The agent took too long to say its first word, or to stop.
    pub(crate) fn handle_timeout(&mut self, now: Instant) -> Actions {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return Actions::new();
        }
        match &mut self.stage {
            PromptStage::Working(
                _,
                stop @ (StopWish::InterruptDue { .. } | StopWish::InterruptUnlessEnded { .. }),
            ) => {
                *stop = StopWish::InterruptSent;
                vec![RunAction::SendCancel]
            }
            PromptStage::Working(_, StopWish::CancelSent { close_at }) => {
                *close_at = None;
                vec![RunAction::CloseConnection]
            }
            PromptStage::Ended(..) => self.finish(),
            _ => Actions::new(),
        }
    }

    /// The agent can be prompted now.
    pub(crate) fn release(&mut self, now: Instant) -> Actions {
        let PromptStage::Held(_) = &self.stage else { return Actions::new() };
        let PromptStage::Held(held) = self.take_stage() else { return Actions::new() };
        let mut actions = self.send(held.messages, PromptAfter::Itself, held.resends, now);
        if held.once_sent == OnceSent::Interrupt {
            actions.extend(self.interrupt(now));
        }
        actions
    }

    /// The agent is gone. A prompt that it cannot have begun with is held, once, until it is back.
    pub(crate) fn lost(&mut self, why: Error, now: Instant) -> Actions {
        match &mut self.stage {
            PromptStage::Idle => Actions::new(),
            PromptStage::Held(held) if held.resends < MOST_RESENDS => {
                held.resends += 1;
                Actions::new()
            }
            PromptStage::Working(_, StopWish::CancelSent { .. })
            | PromptStage::Ended(_, EndedPrompt { stopped_for: StoppedFor::User, .. }) => {
                self.end_turn(TurnEnd::cancelled())
            }
            PromptStage::Working(work, _) if work.is_untouched(now) && work.resends < MOST_RESENDS => {
                self.hold_again();
                Actions::new()
            }
            PromptStage::Held(_) | PromptStage::Working(..) | PromptStage::Ended(..) => {
                self.end_turn(TurnEnd::Failed(why))
            }
        }
    }

    /// The agent did not come back. Whether a turn has waited for it.
    pub(crate) fn not_restored(&mut self, why: Error) -> Option<Actions> {
        matches!(self.stage, PromptStage::Held(_)).then(|| self.end_turn(TurnEnd::Failed(why)))
    }

    /// Whether no turn runs.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.stage, PromptStage::Idle)
    }

    /// Whether the agent has ended its prompt, and the turn is not over.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.stage, PromptStage::Ended(..))
    }

    /// Whether the agent waits to be told what goes in.
    pub(crate) fn is_asked(&self) -> bool {
        let PromptStage::Working(work, _) = &self.stage else { return false };
        work.break_point == ReportedBreakPoint::Asked
    }

    /// Whether a prompt waits to be sent.
    pub(crate) fn is_held(&self) -> bool {
        matches!(self.stage, PromptStage::Held(_))
    }

    /// Whether what the agent says is about its prompt or its own turn.
    pub(crate) fn is_under_way(&self) -> bool {
        matches!(self.stage, PromptStage::Working(..) | PromptStage::Ended(..))
    }

    /// The id under which a version 2 agent repeats the prompt.
    pub(crate) fn message_id(&self) -> Option<&Arc<str>> {
        match &self.stage {
            PromptStage::Working(PromptWork { receipt: PromptReceipt::Shown { message_id }, .. }, _)
            | PromptStage::Ended(PromptWork { receipt: PromptReceipt::Shown { message_id }, .. }, _) => {
                message_id.as_ref()
            }
            _ => None,
        }
    }
}

impl PromptRun {
    /// The agent's prompt is over: the turn goes on with what the agent did not take or what now goes in, or is over too.
    fn settle(&mut self, now: Instant) -> Actions {
        let PromptStage::Ended(work, ended) = &mut self.stage else { return Actions::new() };
        if !work.steers.is_empty() || work.break_point == ReportedBreakPoint::Reported {
            return Actions::new();
        }
        if ended.stopped_for == StoppedFor::User || matches!(ended.end, TurnEnd::Failed(_)) {
            return self.finish();
        }
        let next = std::mem::take(&mut work.next_prompt);
        if !next.is_empty() {
            return self.send_next(next, now);
        }
        work.break_point = ReportedBreakPoint::Reported;
        vec![RunAction::ReportBreakPoint]
    }

    /// The agent had ended when a steer reached it, and has begun anew with that: the turn goes on.
    fn goes_on_by_itself(&mut self, now: Instant) -> Actions {
        let PromptStage::Ended(mut work, ended) = self.take_stage() else { return Actions::new() };
        work.receipt.show();
        self.stage = PromptStage::Working(work, StopWish::NotAsked);
        let mut actions = vec![RunAction::ReportStream];
        if ended.stopped_for == StoppedFor::User {
            actions.extend(self.cancel(now));
        }
        actions
    }

    /// The next prompt of the turn. Steers that are under way stay so.
    fn send_next(&mut self, messages: Vec<UserMessage>, now: Instant) -> Actions {
        let PromptStage::Ended(before, ended) = self.take_stage() else { return Actions::new() };
        let after = if ended.is_cut_off() { PromptAfter::CutOff } else { PromptAfter::Itself };
        let actions = self.send(messages, after, before.resends, now);
        if let Some(work) = self.work() {
            work.steers = before.steers;
            work.next_prompt = before.next_prompt;
        }
        actions
    }

    fn send(&mut self, messages: Vec<UserMessage>, after: PromptAfter, resends: u8, now: Instant) -> Actions {
        let messages: Vec<_> = self.undelivered.drain(..).chain(messages).collect();
        self.stage = PromptStage::Working(PromptWork::on(messages.clone(), now, resends), StopWish::NotAsked);
        vec![RunAction::SendPrompt { messages, after }]
    }

    /// The prompt goes to the agent once more when that is back, with what it did not take of it.
    fn hold_again(&mut self) {
        let PromptStage::Working(work, stop) = self.take_stage() else { return };
        let is_for_steer = StoppedFor::from(stop) == StoppedFor::Steer && work.next_prompt.is_empty();
        let once_sent = if is_for_steer { OnceSent::Interrupt } else { OnceSent::Work };
        let resends = work.resends + 1;
        let sent = work.sent.map(|sent| sent.messages).unwrap_or_default();
        let messages = sent.into_iter().chain(work.next_prompt).collect();
        self.stage = PromptStage::Held(HeldPrompt { messages, once_sent, resends });
    }

    /// The turn ends as the agent has ended it.
    fn finish(&mut self) -> Actions {
        let PromptStage::Ended(work, ended) = self.take_stage() else { return Actions::new() };
        self.undelivered.extend(work.untaken());
        vec![RunAction::EndTurn(ended.end)]
    }

    /// The turn ends, whatever the agent does.
    fn end_turn(&mut self, end: TurnEnd) -> Actions {
        self.put_aside();
        vec![RunAction::EndTools, RunAction::EndTurn(end)]
    }

    /// No turn runs any more. What the agent did not take goes with the next prompt.
    fn put_aside(&mut self) {
        match self.take_stage() {
            PromptStage::Idle => {}
            PromptStage::Held(held) => self.undelivered.extend(held.messages),
            PromptStage::Working(work, _) | PromptStage::Ended(work, _) => {
                self.undelivered.extend(work.untaken());
            }
        }
    }

    fn take_stage(&mut self) -> PromptStage {
        std::mem::replace(&mut self.stage, PromptStage::Idle)
    }

    fn work(&mut self) -> Option<&mut PromptWork> {
        match &mut self.stage {
            PromptStage::Working(work, _) | PromptStage::Ended(work, _) => Some(work),
            PromptStage::Idle | PromptStage::Held(_) => None,
        }
    }
}
