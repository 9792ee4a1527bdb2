//! What the session wants of the prompt: to begin it, to steer it, to end it.

use nudge_backend::{TurnEnd, UserMessage};
use tokio::time::Instant;

use super::{
    Actions, AgentReadiness, PromptAfter, PromptRun, RunAction, SteerId,
    stage::{
        HeardSincePrompt, HeldPrompt, OnceSent, PromptStage, PromptWork, ReportedBreakPoint, StopWish,
        StoppedFor,
    },
};
use crate::say;

impl PromptRun {
    /// A turn begins. It takes the place of one that the agent has begun by itself at the same time.
    pub(crate) fn begin(
        &mut self,
        messages: Vec<UserMessage>,
        agent: AgentReadiness,
        now: Instant,
    ) -> Actions {
        self.put_aside();
        match agent {
            AgentReadiness::Ready => self.send(messages, PromptAfter::Itself, 0, now),
            AgentReadiness::NotYet => {
                self.stage =
                    PromptStage::Held(HeldPrompt { messages, once_sent: OnceSent::Work, resends: 0 });
                Actions::new()
            }
        }
    }

    /// Steers for the turn that runs. Where none does any more they go with the next prompt.
    pub(crate) fn steer(&mut self, messages: Vec<UserMessage>, now: Instant) -> Actions {
        match &mut self.stage {
            PromptStage::Idle => self.undelivered.extend(messages),
            PromptStage::Held(held) => held.messages.extend(messages),
            PromptStage::Working(..) => {
                let steers = self.numbered(messages);
                return steers.into_iter().map(|(id, message)| RunAction::SendSteer(id, message)).collect();
            }
            PromptStage::Ended(work, _) => {
                work.next_prompt.extend(messages);
                return self.settle(now);
            }
        }
        Actions::new()
    }

    /// What goes in at the break-point that was reported. If the agent has gone on or was lost meanwhile, they are steers.
    pub(crate) fn go_on(&mut self, messages: Vec<UserMessage>, now: Instant) -> Actions {
        let PromptStage::Ended(work, ended) = &mut self.stage else {
            if let PromptStage::Working(work, _) = &mut self.stage
                && std::mem::replace(&mut work.break_point, ReportedBreakPoint::None)
                    == ReportedBreakPoint::Asked
            {
                return self.answer_asked(messages);
            }
            return self.steer(messages, now);
        };
        if std::mem::replace(&mut work.break_point, ReportedBreakPoint::None) == ReportedBreakPoint::None {
            return self.steer(messages, now);
        }
        work.next_prompt.extend(messages);
        let is_cut_off = ended.is_cut_off();
        let is_over = ended.stopped_for == StoppedFor::User || matches!(ended.end, TurnEnd::Failed(_));
        if is_over || !work.steers.is_empty() {
            return self.settle(now);
        }
        let mut messages = std::mem::take(&mut work.next_prompt);
        if messages.is_empty() && is_cut_off {
            messages.push(say::go_on());
        }
        if messages.is_empty() { self.finish() } else { self.send_next(messages, now) }
    }

    /// The agent that waits to be told what goes in is told. One that is to stop may not look at it any more: it goes with the
    /// next prompt.
    fn answer_asked(&mut self, messages: Vec<UserMessage>) -> Actions {
        let told = match &mut self.stage {
            PromptStage::Working(_, StopWish::NotAsked) => self.numbered(messages),
            PromptStage::Working(work, _) => {
                work.next_prompt.extend(messages);
                Vec::new()
            }
            _ => return Actions::new(),
        };
        vec![RunAction::AnswerAsked(told), RunAction::ReportStream]
    }

    /// Steers that the agent is about to get, by their numbers.
    fn numbered(&mut self, messages: Vec<UserMessage>) -> Vec<(SteerId, UserMessage)> {
        let first = self.last_steer + 1;
        let steers: Vec<_> = (first..).map(SteerId).zip(messages).collect();
        self.last_steer += u64::try_from(steers.len()).unwrap_or_default();
        if let Some(work) = self.work() {
            work.steers.extend(steers.iter().cloned());
        }
        steers
    }

    /// The agent is cut off, so that a break-point follows. One that has asked what goes in stands at a break-point.
    pub(crate) fn interrupt(&mut self, now: Instant) -> Actions {
        match &mut self.stage {
            PromptStage::Held(held) => held.once_sent = OnceSent::Interrupt,
            PromptStage::Working(PromptWork { break_point: ReportedBreakPoint::Asked, .. }, _) => {}
            PromptStage::Working(
                PromptWork { heard: HeardSincePrompt::Words, .. },
                stop @ (StopWish::NotAsked | StopWish::InterruptUnlessEnded { .. }),
            ) => {
                *stop = StopWish::InterruptSent;
                return vec![RunAction::SendCancel];
            }
            PromptStage::Working(
                work,
                stop @ (StopWish::NotAsked | StopWish::InterruptUnlessEnded { .. }),
            ) => {
                *stop = StopWish::InterruptDue { cancel_at: now + work.heard.patience() };
            }
            PromptStage::Idle | PromptStage::Working(..) | PromptStage::Ended(..) => {}
        }
        Actions::new()
    }

    /// The user ends the turn.
    pub(crate) fn cancel(&mut self, now: Instant) -> Actions {
        match &mut self.stage {
            PromptStage::Idle | PromptStage::Working(_, StopWish::CancelSent { .. }) => Actions::new(),
            PromptStage::Held(_) => self.end_turn(TurnEnd::cancelled()),
            PromptStage::Working(_, stop) => {
                *stop = StopWish::CancelSent { close_at: Some(now + self.patience) };
                vec![RunAction::SendCancel]
            }
            PromptStage::Ended(work, ended) => {
                ended.stopped_for = StoppedFor::User;
                if !work.steers.is_empty() && ended.finish_at.is_none() {
                    ended.finish_at = Some(now + self.patience);
                }
                Actions::new()
            }
        }
    }
}
