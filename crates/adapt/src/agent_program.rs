//! What program an agent is, and how it is started.

use std::{fmt, path::PathBuf, time::Duration};

use nudge_peer::ChildProgram;
use nudge_process::ProcessCommand;
use nudge_wire::Environment;
use nudge_workspace::in_environment;

/// A program that speaks ACP on its standard input and output.
#[derive(Clone, PartialEq, Eq)]
pub struct AgentProgram {
    /// The name in logs, errors and the store.
    pub name: String,
    /// The program, found as a shell would find it.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables of its own, beside the environment.
    pub env: Vec<(String, String)>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// The environment it sees, and no other; that of this process unless set.
    pub environment: Option<Environment>,
    /// Whether every session has a process of its own.
    pub isolate: bool,
    /// How long it may take to stop when it was told to, before it counts as hung.
    pub patience: Duration,
    /// How long it may take to answer `initialize` before it is given up.
    pub start_timeout: Duration,
}

/// How an agent is treated, however it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSettings {
    /// The name in logs, errors and the store.
    pub name: String,
    /// Whether every session has an agent of its own.
    pub isolate: bool,
    /// How long it may take to stop when it was told to, before it counts as hung.
    pub patience: Duration,
    /// How long it may take to answer `initialize` before it is given up.
    pub start_timeout: Duration,
}

impl AgentProgram {
    pub(crate) fn settings(&self) -> AgentSettings {
        let Self { name, isolate, patience, start_timeout, .. } = self.clone();
        AgentSettings { name, isolate, patience, start_timeout }
    }

    pub(crate) fn child(&self) -> ChildProgram {
        let command = ProcessCommand::new(&self.program).args(&self.args).current_dir(&self.cwd);
        let command = match &self.environment {
            Some(environment) => in_environment(environment, command),
            None => command,
        };
        let command = self.env.iter().fold(command, |command, (name, value)| command.env(name, value));
        ChildProgram::of(&self.name, command)
    }
}

/// Arguments and environment may hold keys, so only the name is shown.
impl fmt::Debug for AgentProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentProgram").field("name", &self.name).finish_non_exhaustive()
    }
}
