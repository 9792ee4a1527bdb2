//! The tool `run`: its input.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    number,
    spec::{ToolInput, brief, number_field, text_field},
};

/// The input.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RunInput {
    pub(crate) command: String,
    #[serde(default, deserialize_with = "number")]
    timeout_seconds: Option<u32>,
}

impl ToolInput for RunInput {
    const NAME: &'static str = "run";
    const DESCRIPTION: &'static str =
        "Runs a command line with sh in the workspace. Whatever it leaves running is stopped when it ends.";
    const KIND: &'static str = "execute";
    const REQUIRED: &'static [&'static str] = &["command"];

    fn properties() -> Value {
        json!({ "command": text_field("The command line"), "timeout_seconds": number_field("When to stop it") })
    }

    fn title(&self) -> String {
        format!("Run `{}`", brief(&self.command))
    }
}

impl RunInput {
    /// When to stop it, if it may not run longer than `most`.
    pub(crate) fn timeout(&self, most: Duration) -> Duration {
        let wanted = self.timeout_seconds.map(|seconds| Duration::from_secs(seconds.max(1).into()));
        wanted.map_or(most, |wanted| wanted.min(most))
    }
}
