//! A replay that may come late: some agents say what was said only after they have answered that the session is loaded.
//!
//! Nobody waits for it when a session is taken up. What comes before the first prompt is known to be a replay and dropped;
//! only a prompt that follows the loading closely is held until the agent has been silent for a moment, because what comes
//! after it would be taken for the answer.

use std::time::Duration;

use tokio::time::Instant;

/// How long an agent is silent that has replayed all.
const SILENCE: Duration = Duration::from_millis(400);
/// The same if some of it has come, with the answer: most have replayed all by then.
const REST: Duration = Duration::from_millis(100);
/// How long a replay may take.
const LATEST: Duration = Duration::from_secs(10);

/// A replay that may come, or go on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LateReplay {
    silence: Duration,
    over_at: Instant,
    latest: Instant,
}

impl LateReplay {
    /// After the agent has answered, and has replayed something by then or not.
    pub(crate) fn new(has_begun: bool, now: Instant) -> Self {
        let silence = if has_begun { REST } else { SILENCE };
        Self { silence, over_at: now + silence, latest: now + LATEST }
    }

    /// A part of it came.
    pub(crate) fn goes_on(&mut self, now: Instant) {
        self.over_at = (now + self.silence).min(self.latest);
    }

    /// When it can be taken to be over, unless more comes.
    pub(crate) fn over_at(&self) -> Instant {
        self.over_at
    }
}

/// Waits until a replay is over, if one may come.
pub(crate) async fn over(replay: Option<LateReplay>) {
    if let Some(replay) = replay {
        tokio::time::sleep_until(replay.over_at()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_is_over_when_the_agent_is_silent_or_has_had_its_time() {
        let now = Instant::now();
        assert_eq!(LateReplay::new(true, now).over_at(), now + REST);
        let mut replay = LateReplay::new(false, now);
        assert_eq!(replay.over_at(), now + SILENCE);
        replay.goes_on(now + REST);
        assert_eq!(replay.over_at(), now + REST + SILENCE);
        replay.goes_on(now + LATEST);
        assert_eq!(replay.over_at(), now + LATEST);
    }
}
