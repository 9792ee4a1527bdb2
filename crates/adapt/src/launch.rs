//! How an agent is reached.

use std::io;

use nudge_peer::{Connect, Transport};

use crate::AgentProgram;

/// A way to reach an agent.
pub trait LaunchAgent: Send + Sync {
    /// Brings a connection to an agent that was told nothing yet. It is called when the agent is needed, and again when the
    /// agent was lost; the end of the connection is the end of that agent.
    fn launch(&self) -> io::Result<Transport>;
}

/// A child process, on its standard input and output.
impl LaunchAgent for AgentProgram {
    fn launch(&self) -> io::Result<Transport> {
        self.child().open()
    }
}
