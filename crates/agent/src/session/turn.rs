//! The course of a turn.

use nudge_backend::UserMessage;
use nudge_model::{RetryPlan, StopReason};

use super::{AgentSession, Halt};
use crate::update;

/// How many answers a model may give before it hears from the user again.
const MOST_ANSWERS: usize = 200;

impl AgentSession {
    /// Asks the model and runs its tools until it is done. Gives the stop reason.
    pub(super) async fn play(&mut self, messages: Vec<UserMessage>) -> Result<&'static str, Halt> {
        self.take_in(&messages, false);
        self.is_asked_in_turn = false;
        let (mut answers, mut has_content) = (0, false);
        let mut retry = RetryPlan::default();
        loop {
            let Some(answer) = self.answer(&mut retry).await? else {
                let steers = self.break_point().await?;
                self.take_in(&steers, true);
                continue;
            };
            answers += 1;
            retry = RetryPlan::default();
            has_content |= answer.has_content;
            let goes_on = answer.was_cut || !answer.calls.is_empty();
            for call in answer.calls {
                self.call(call).await?;
            }
            let steers = self.break_point().await?;
            if !steers.is_empty() {
                self.take_in(&steers, true);
                answers = 0;
            } else if !goes_on {
                if !has_content && answer.stop == StopReason::EndTurn {
                    self.tell_silence().await?;
                }
                return Ok(reason(answer.stop));
            } else if answers >= MOST_ANSWERS {
                return Ok("max_turn_requests");
            }
        }
    }

    /// Nothing was said or done in the whole turn, which looks as if it had not been asked.
    async fn tell_silence(&mut self) -> Result<(), Halt> {
        let more = "Say it in other words, or choose another model.";
        self.outlet.update(update::notice("warning", "The model gave no answer", more)).await
    }

    fn take_in(&mut self, messages: &[UserMessage], steer: bool) {
        for message in messages {
            self.history.user(message, steer);
        }
    }
}

fn reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::MaxTokens => "max_tokens",
        StopReason::Refusal => "refusal",
        _ => "end_turn",
    }
}
