//! The tool `run`: what it asks before a command is run.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    ToolOutcome, number,
    spec::{ToolInput, brief, number_field, text_field},
    standing::{program, scope},
};
use crate::session::{GuardedDeed, Halt, PermissionVerdict, StandingPermission, ToolRun};

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

    async fn run(self, run: &mut ToolRun<'_>) -> Result<ToolOutcome, Halt> {
        let deed = self.deed(run);
        match run.permit(deed).await? {
            PermissionVerdict::Refused(why) => Ok(ToolOutcome::failed(&why)),
            PermissionVerdict::Allowed => {
                run.begin().await?;
                run.run_command(&self).await
            }
        }
    }
}

impl RunInput {
    fn deed(&self, run: &ToolRun<'_>) -> GuardedDeed {
        let command = &*self.command;
        let standing =
            scope(command).map(|scope| StandingPermission { key: scope.key(), what: scope.what() });
        let refused_by = program(command).map(|name| format!("run:{name}"));
        let subject =
            json!({ "type": "command", "command": command, "cwd": run.cwd(), "toolCallId": run.id() });
        let title = "Run this command?".to_owned();
        let description = command.to_owned();
        GuardedDeed { is_edit: false, standing, refused_by, title, description, subject }
    }

    /// When to stop it, if it may not run longer than `most`.
    pub(crate) fn timeout(&self, most: Duration) -> Duration {
        let wanted = self.timeout_seconds.map(|seconds| Duration::from_secs(seconds.max(1).into()));
        wanted.map_or(most, |wanted| wanted.min(most))
    }
}
