//! The tool `run`: its input.

use std::time::Duration;

use serde::Deserialize;

use super::number;

/// The input.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Run {
    pub(crate) command: String,
    #[serde(default, deserialize_with = "number")]
    timeout_seconds: Option<u32>,
}

impl Run {
    /// When to stop it, if it may not run longer than `most`.
    pub(crate) fn timeout(&self, most: Duration) -> Duration {
        let wanted = self.timeout_seconds.map(|seconds| Duration::from_secs(seconds.max(1).into()));
        wanted.map_or(most, |wanted| wanted.min(most))
    }
}

/// The program of a command line that runs nothing else. A standing permission for a program must not cover a line that
/// runs another one behind it, so a line with anything that a shell would interpret has none.
pub(crate) fn program(line: &str) -> Option<&str> {
    let is_plain = |c: char| c.is_alphanumeric() || " \t-_./:,=+@%".contains(c);
    let word = line.split_ascii_whitespace().next()?;
    (line.chars().all(is_plain) && !word.contains('=')).then_some(word)
}
