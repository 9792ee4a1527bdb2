//! When a request that failed is sent again: decided here, without a clock.

use std::time::{Duration, SystemTime};

use crate::ModelError;

/// How often a request is sent again.
const MOST_RETRIES: u32 = 6;
/// The longest wait that a provider may ask for; past it the user is told at once.
pub(crate) const MOST_WAIT: Duration = Duration::from_mins(1);
/// The longest wait of our own.
const MOST_BACKOFF: Duration = Duration::from_secs(32);

/// How often a request has failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetryPlan {
    attempt: u32,
}

impl RetryPlan {
    /// How many times it has been sent again.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// How long to wait before the request is sent again; `None` if it is not. `chance` is a random number from 0 to 1.
    pub fn after(&mut self, error: &ModelError, now: SystemTime, chance: f64) -> Option<Duration> {
        if !error.may_pass() || self.attempt >= MOST_RETRIES {
            return None;
        }
        let backoff = MOST_BACKOFF.min(Duration::from_secs(1 << self.attempt));
        if let ModelError::HeldBack { wait, .. } = error {
            // Nobody was asked, so it counts for nothing; and not all that wait come at once.
            return Some(*wait + Duration::from_millis(250).mul_f64(chance.clamp(0.0, 1.0)));
        }
        let wait = match error.reset().map(|reset| reset.from(now)) {
            Some(wait) if wait > MOST_WAIT => return None,
            Some(wait) if !wait.is_zero() => wait,
            // At once is what was tried just now, and the clocks of two machines differ.
            _ => backoff.mul_f64(0.75 + 0.5 * chance.clamp(0.0, 1.0)),
        };
        self.attempt += 1;
        Some(wait)
    }
}

/// A random number from 0 to 1, so that not all who wait come back at once.
pub fn chance() -> f64 {
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    f64::from(random) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProviderReset;

    fn limited(reset: Option<Duration>) -> ModelError {
        ModelError::RateLimited { provider: "Them".into(), reset: reset.map(ProviderReset::After) }
    }

    fn waits(error: &ModelError, chance: f64) -> Vec<u64> {
        let mut plan = RetryPlan::default();
        let waits = std::iter::from_fn(|| plan.after(error, SystemTime::UNIX_EPOCH, chance));
        waits.map(|wait| u64::try_from(wait.as_millis()).expect("a minute fits")).collect()
    }

    #[test]
    fn waits_double_and_end() {
        assert_eq!(waits(&limited(None), 0.5), [1000, 2000, 4000, 8000, 16000, 32000]);
        assert_eq!(waits(&limited(None), 0.0)[..2], [750, 1500]);
        assert_eq!(waits(&limited(None), 1.0)[..2], [1250, 2500]);
    }

    #[test]
    fn what_the_provider_asks_for_is_done_up_to_a_minute() {
        assert_eq!(waits(&limited(Some(Duration::from_mins(1))), 0.3), [60_000; 6]);
        assert!(waits(&limited(Some(Duration::from_secs(61))), 0.3).is_empty());
        assert_eq!(waits(&limited(Some(Duration::ZERO)), 0.5)[..2], [1000, 2000], "that was tried already");
        let mut plan = RetryPlan::default();
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(5);
        let error = ModelError::RateLimited { provider: "Them".into(), reset: Some(ProviderReset::At(at)) };
        assert_eq!(plan.after(&error, SystemTime::UNIX_EPOCH, 0.5), Some(Duration::from_secs(5)));
        assert_eq!(plan.attempt(), 1);
    }

    #[test]
    fn what_was_not_sent_is_no_attempt() {
        let held = ModelError::HeldBack { provider: "Them".into(), wait: Duration::from_secs(3) };
        let mut plan = RetryPlan::default();
        for _ in 0..20 {
            assert_eq!(plan.after(&held, SystemTime::UNIX_EPOCH, 0.4), Some(Duration::from_millis(3100)));
        }
        assert_eq!(plan.attempt(), 0);
    }

    #[test]
    fn what_will_not_pass_is_not_tried_again() {
        let provider = String::from("Them");
        for error in [
            ModelError::Auth { provider: provider.clone(), origin: crate::AccessOrigin::Stored },
            ModelError::ContextOverflow,
            ModelError::Quota { provider: provider.clone(), reset: None },
            ModelError::Malformed { provider: provider.clone(), what: "JSON".into() },
            ModelError::Reasoning { provider },
        ] {
            assert!(waits(&error, 0.5).is_empty(), "{error}");
        }
    }
}
