//! The tool `run`: its input.

use std::time::Duration;

use serde::Deserialize;

use super::number;

/// The input.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RunInput {
    pub(crate) command: String,
    #[serde(default, deserialize_with = "number")]
    timeout_seconds: Option<u32>,
}

impl RunInput {
    /// When to stop it, if it may not run longer than `most`.
    pub(crate) fn timeout(&self, most: Duration) -> Duration {
        let wanted = self.timeout_seconds.map(|seconds| Duration::from_secs(seconds.max(1).into()));
        wanted.map_or(most, |wanted| wanted.min(most))
    }
}
