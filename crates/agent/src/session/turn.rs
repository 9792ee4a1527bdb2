//! The course of a turn.

use nudge_backend::UserMessage;
use nudge_model::StopReason;

use super::{AgentSession, Halt};

/// How many answers a model may give before it hears from the user again.
const MOST_ANSWERS: usize = 200;

impl AgentSession {
    /// Asks the model and runs its tools until it is done. Gives the stop reason.
    pub(super) async fn play(&mut self, messages: Vec<UserMessage>) -> Result<&'static str, Halt> {
        self.take_in(&messages, false);
        let mut answers = 0;
        loop {
            answers += 1;
            let answer = self.answer().await?;
            let goes_on = answer.was_cut || !answer.calls.is_empty();
            for call in answer.calls {
                self.call(call).await?;
            }
            let steers = self.break_point().await?;
            if !steers.is_empty() {
                self.take_in(&steers, true);
                answers = 0;
            } else if !goes_on {
                return Ok(reason(answer.stop));
            } else if answers >= MOST_ANSWERS {
                return Ok("max_turn_requests");
            }
        }
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
