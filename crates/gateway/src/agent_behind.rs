//! The agent behind a connection: which it is, and the lane of what only it understands.

use std::{fmt, path::PathBuf, sync::Arc};

use nudge_adapt::{
    AdaptedSource, AgentLane, AgentProgram, ClientAgent, DownstreamAgent, SignInPlace, sets_process,
    terminal_methods, through_nudge,
};
use nudge_hub::SessionSource;
use nudge_peer::{Cx, UnhandledMessage};
use nudge_wire::{
    ConnectionId, ContextHold, Error, RawJson,
    caps::{AgentInit, ClientInit},
};

use crate::Gateway;

/// Finds or makes the agent for a client that said this in `initialize`.
pub type AgentFinder = Arc<dyn Fn(&ClientInit) -> Arc<DownstreamAgent> + Send + Sync>;

/// What runs the sessions that a connection begins, in place of the built-in agent.
#[derive(Clone)]
pub enum ConnectionAgent {
    /// A program that speaks ACP. Connections that want the same share it.
    Program(AgentProgram),
    /// An ACP agent that is reached in another way.
    Found(AgentFinder),
    /// Anything that runs sessions. Nothing of it is seen but its sessions.
    Source(SessionSource),
}

impl fmt::Debug for ConnectionAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(spec) => f.debug_tuple("ConnectionAgent").field(spec).finish(),
            Self::Found(_) => f.write_str("Found"),
            Self::Source(_) => f.write_str("Source"),
        }
    }
}

/// The ACP agent behind a connection.
#[derive(Clone)]
pub(crate) struct AgentBehind {
    agent: Arc<ClientAgent>,
    /// What this connection says to it and nobody else understands.
    lane: Arc<AgentLane>,
    /// The methods by which a user signs in to it on a terminal.
    terminal_methods: Arc<[String]>,
    /// The command that starts it, if it is one.
    command: Option<(String, Vec<String>)>,
    /// What the agent says to nobody in particular is for this connection.
    _listening: Arc<AgentListening>,
}

/// A connection is told what its agent says about no session.
struct AgentListening(Arc<ClientAgent>);

impl Drop for AgentListening {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl AgentBehind {
    /// Starts the agent, or finds it running; `None` if no ACP agent is behind the connection.
    pub(crate) async fn start(
        choice: Option<&ConnectionAgent>,
        gateway: &Gateway,
        client: &ClientInit,
        (id, cx): (ConnectionId, &Cx),
    ) -> Result<Option<Self>, Error> {
        let agents = gateway.agents();
        let (agent, command) = match choice {
            Some(ConnectionAgent::Program(spec)) => {
                let command = (spec.program.clone(), spec.args.clone());
                (agents.agent(spec.clone(), client.clone(), id), Some(command))
            }
            Some(ConnectionAgent::Found(find)) => (agents.found(find(client), id), None),
            Some(ConnectionAgent::Source(_)) | None => return Ok(None),
        };
        let init = agent.init().await?;
        agent.listen(id, client.version, cx.clone());
        let listening = Arc::new(AgentListening(Arc::clone(&agent)));
        let lane = Arc::new(AgentLane::new(Arc::clone(&agent), client.version));
        let offered = through_nudge(init.result.clone(), client, SignInPlace::default());
        let terminal_methods = [terminal_methods(&init.result), terminal_methods(&offered)].concat().into();
        Ok(Some(Self { agent, lane, terminal_methods, command, _listening: listening }))
    }

    /// What is offered in front of it, with the methods to sign in on a terminal as the client runs them through Nudge.
    pub(crate) fn with_terminal_methods(&self, offered: AgentInit, client: &ClientInit) -> AgentInit {
        let nudge = own_program();
        let place = SignInPlace {
            nudge: nudge.as_deref(),
            agent: self.command.as_ref(),
            client: Some(self.agent.token()),
        };
        let result = through_nudge(offered.result, client, place);
        AgentInit::new(offered.version, result)
    }

    /// Keeps the client's agent, with what is set of it, for as long as a turn of the client may still begin; and what is kept
    /// beside it.
    pub(crate) fn hold(&self, beside: ContextHold) -> ContextHold {
        ContextHold::new((Arc::clone(&self.agent), beside))
    }

    /// Passes on what only the agent understands, but for what no agent is to be asked.
    pub(crate) async fn push(&self, message: UnhandledMessage) {
        match message {
            UnhandledMessage::Request(request)
                if names_method(request.method(), request.params(), &self.terminal_methods) =>
            {
                let what = "Invalid params: the client runs this method itself, on a terminal, with the variables it names";
                // Whoever asked may be gone.
                let _ = request.respond::<()>(Err(Error::invalid_params(what))).await;
            }
            message => self.lane.push(message).await,
        }
    }

    /// What it said to `initialize`.
    pub(crate) async fn init(&self) -> Result<AgentInit, Error> {
        self.agent.init().await
    }

    /// It, as the hub knows it.
    pub(crate) fn source(&self) -> SessionSource {
        Arc::new(AdaptedSource::new(Arc::clone(&self.agent)))
    }
}

/// Whether it is the agent that answers a message, whatever session that names: what is set of its process is no session's.
pub(crate) fn is_for_agent(message: &UnhandledMessage) -> bool {
    matches!(message, UnhandledMessage::Request(request) if sets_process(request.method()))
}

/// By which this program can be started. The file of one that runs may have been replaced by another since.
fn own_program() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    if program.exists() {
        return Some(program);
    }
    let replaced = PathBuf::from(program.to_str()?.strip_suffix(" (deleted)")?);
    replaced.exists().then_some(replaced)
}

/// Whether a request signs in by one of these methods.
fn names_method(method: &str, params: Option<&RawJson>, methods: &[String]) -> bool {
    matches!(method, "authenticate" | "auth/login")
        && params
            .and_then(|params| params.get(&["methodId"])?.to::<String>().ok())
            .is_some_and(|named| methods.contains(&named))
}
