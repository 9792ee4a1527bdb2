//! What the agent says of the prompt it works on.

use std::{sync::Arc, time::Duration};

use nudge_backend::TurnEnd;
use tokio::time::Instant;

use super::{
    Actions, PromptRun, RunAction, SteerId, SteerOutcome,
    stage::{
        EndedPrompt, HeardSincePrompt, PromptReceipt, PromptStage, PromptWork, ReportedBreakPoint, StopWish,
        StoppedFor,
    },
};

/// How long the end of a prompt may be on its way when the agent says that it has no turn.
const END: Duration = Duration::from_secs(2);

impl PromptRun {
    /// Something that is no word of its model.
    pub(crate) fn heard_activity(&mut self) {
        if let Some(work) = self.work().filter(|work| work.heard == HeardSincePrompt::Nothing) {
            work.heard = HeardSincePrompt::Activity;
        }
    }

    /// A tool has finished: its model is asked again.
    pub(crate) fn heard_tool_result(&mut self) {
        if let Some(work) = self.work() {
            work.heard = HeardSincePrompt::ToolResult;
        }
    }

    /// A word of its model, for which a steer may have waited.
    pub(crate) fn heard_word(&mut self) -> Actions {
        if let Some(work) = self.work() {
            work.heard = HeardSincePrompt::Words;
        }
        match &mut self.stage {
            PromptStage::Working(_, stop @ StopWish::InterruptDue { .. }) => {
                *stop = StopWish::InterruptSent;
                vec![RunAction::SendCancel]
            }
            _ => Actions::new(),
        }
    }

    /// The agent asks what the user has said meanwhile and waits for the answer, between its tools and the next question to its
    /// model: a break-point. Nothing comes of it while it is to stop.
    pub(crate) fn asks_what_goes_in(&mut self) -> Actions {
        let PromptStage::Working(work, stop @ (StopWish::NotAsked | StopWish::InterruptDue { .. })) =
            &mut self.stage
        else {
            return Actions::new();
        };
        if work.break_point != ReportedBreakPoint::None {
            return Actions::new();
        }
        *stop = StopWish::NotAsked;
        work.break_point = ReportedBreakPoint::Asked;
        vec![RunAction::ReportBreakPoint]
    }

    /// A version 2 agent says that it runs: on its prompt, by itself, or on a steer that reached it when it had ended.
    pub(crate) fn says_running(&mut self, now: Instant) -> Actions {
        match &mut self.stage {
            PromptStage::Idle => {
                self.stage = PromptStage::Working(PromptWork::of_its_own(), StopWish::NotAsked);
                vec![RunAction::ReportTurnStarted, RunAction::ReportStream]
            }
            PromptStage::Held(_) => Actions::new(),
            PromptStage::Working(work, _) => {
                work.receipt.show();
                Actions::new()
            }
            PromptStage::Ended(..) => self.goes_on_by_itself(now),
        }
    }

    /// A version 2 agent says that it is idle.
    pub(crate) fn says_idle(&mut self, end: TurnEnd, now: Instant) -> Actions {
        match &self.stage {
            PromptStage::Working(PromptWork { receipt: PromptReceipt::Shown { .. }, .. }, _) => {
                self.prompt_ended(end, now)
            }
            _ => Actions::new(),
        }
    }

    /// A version 2 agent has taken the prompt, and repeats it under this id.
    pub(crate) fn prompt_taken(&mut self, message_id: Option<Arc<str>>) {
        if let Some(work) = self.work() {
            work.receipt = PromptReceipt::Shown { message_id };
        }
    }

    /// The agent has ended the prompt.
    pub(crate) fn prompt_ended(&mut self, end: TurnEnd, now: Instant) -> Actions {
        let stopped_for = match &self.stage {
            PromptStage::Idle | PromptStage::Held(_) => return Actions::new(),
            PromptStage::Working(_, stop) => StoppedFor::from(*stop),
            PromptStage::Ended(_, ended) => ended.stopped_for,
        };
        if let PromptStage::Working(mut work, _) | PromptStage::Ended(mut work, _) = self.take_stage() {
            if work.break_point == ReportedBreakPoint::Asked {
                // What goes in is told still, and the agent prompted with it.
                work.break_point = ReportedBreakPoint::Reported;
            }
            self.stage = PromptStage::Ended(work, EndedPrompt { end, stopped_for, finish_at: None });
        }
        let mut actions = vec![RunAction::EndTools];
        actions.extend(self.settle(now));
        actions
    }

    /// The agent says that it does nothing: its end should be on its way.
    fn interrupt_unless_ended(&mut self, now: Instant) {
        if let PromptStage::Working(_, stop @ StopWish::NotAsked) = &mut self.stage {
            *stop = StopWish::InterruptUnlessEnded { cancel_at: now + END };
        }
    }

    /// The agent has answered a steer.
    pub(crate) fn steer_answered(&mut self, id: SteerId, outcome: SteerOutcome, now: Instant) -> Actions {
        let Some(work) = self.work() else { return Actions::new() };
        let Some(at) = work.steers.iter().position(|(steer, _)| *steer == id) else { return Actions::new() };
        let (_, message) = work.steers.remove(at);
        let mut actions = match outcome {
            SteerOutcome::Taken => vec![RunAction::ReportStream],
            SteerOutcome::PromptRequired => {
                work.next_prompt.push(message);
                Actions::new()
            }
            SteerOutcome::TooLate => {
                work.next_prompt.push(message);
                self.interrupt_unless_ended(now);
                Actions::new()
            }
            SteerOutcome::Refused => {
                work.next_prompt.push(message);
                self.interrupt(now)
            }
        };
        actions.extend(self.settle(now));
        actions
    }
}
