//! Sessions of agents that are adapted, with an agent that plays what it is told, in a thread of its own.

mod by_hand;
mod bytes;
mod dialects;
mod forms;
mod full_store;
mod input;
mod log;
mod pass_through;
mod raw;
mod scopes;
mod sessions;
mod settings;
mod signed_in;
mod steer;
mod strays;
mod supervision;
mod thread;
mod versions;

use std::{sync::Arc, time::Duration};

use nudge_adapt::{AgentSettings, DownstreamAgent};
use nudge_gateway::{AgentFinder, ConnectionAgent};
use nudge_wire::caps::ClientInit;
use parking_lot::Mutex;
use serde_json::json;
use tempfile::TempDir;

use crate::connected::{self, Client, Connection, check_each, content, eventually, notice, text};
use log::Log;
use thread::InThread;

/// Every way there is to steer an agent: its number, and the options of an agent that is steered that way.
const TIERS: [(u64, &str); 8] = [
    (1, "--inject"),
    (1, "--v2 --inject"),
    (2, "--steering"),
    (2, "--v2 --steering"),
    (3, "--v2 --prompt-steering"),
    (4, ""),
    (4, "--v2"),
    (4, "--drains"),
];

/// Runs a test for every kind of agent with clients of both versions: the tier, the agent's options, the version.
async fn for_all(test: impl AsyncFn(u64, &str, u64)) {
    let cases = TIERS.into_iter().flat_map(|(tier, options)| [(tier, options, 1), (tier, options, 2)]);
    check_each(cases, async |(tier, options, version)| test(tier, options, version).await).await;
}

/// Runs a test with a client and an agent that speak the same version.
async fn for_same(test: impl AsyncFn(&str, u64)) {
    check_each([("", 1), ("--v2", 2)], async |(options, version)| test(options, version).await).await;
}

/// Runs a test with a client and an agent that do not.
async fn for_mixed(test: impl AsyncFn(&str, u64)) {
    check_each([("--v2", 1), ("", 2)], async |(options, version)| test(options, version).await).await;
}

/// A place for sessions, and what the agents write down.
struct Place {
    connected: connected::Place,
    desk: TempDir,
    /// The lives of agents, oldest first.
    lives: Arc<Mutex<Vec<std::os::unix::net::UnixStream>>>,
    /// The agents that connections share, by their options and the greetings of their clients.
    agents: Arc<Mutex<Vec<SharedAgent>>>,
    /// How long an agent may take to stop.
    patience: Duration,
}

/// An agent that connections share: its options, the greeting of its clients, and itself.
type SharedAgent = (String, ClientInit, Arc<DownstreamAgent>);

impl Place {
    fn new() -> Self {
        let desk = tempfile::tempdir().expect("a temporary folder");
        let connected = connected::Place::new();
        Self {
            connected,
            desk,
            lives: Arc::default(),
            agents: Arc::default(),
            patience: Duration::from_secs(10),
        }
    }

    fn cwd(&self) -> String {
        self.connected.cwd()
    }

    /// Lets an agent go on that waits for this file.
    fn touch(&self, name: &str) {
        self.connected.touch(name);
    }

    fn desk(&self, name: &str) -> String {
        self.desk.path().join(name).to_str().expect("its name is text").to_owned()
    }

    /// What the agents have heard and said.
    fn log(&self) -> Log {
        Log::read(&self.desk.path().join("log"))
    }

    /// Ends the agent that was started last, without a word.
    fn kill_agent(&self) {
        let lives = self.lives.lock();
        let newest = lives.last().expect("an agent was started");
        newest.shutdown(std::net::Shutdown::Both).expect("it was not ended before");
    }

    /// A connection to a hub of its own, in front of an agent with these options. `MEMORY` and `COUNT` are files.
    fn alone(&self, options: &str) -> Connection {
        let (launch, settings) = (self.launch(options), self.settings());
        let make: AgentFinder = Arc::new(move |init| {
            DownstreamAgent::reached_by(Arc::clone(&launch) as _, settings.clone(), init.clone())
        });
        self.connected.connect_alone(Some(ConnectionAgent::Found(make)))
    }

    /// A connection to the hub that others share, and with it agents that are the same.
    fn shared(&self, options: &str) -> Connection {
        let (launch, settings) = (self.launch(options), self.settings());
        let (agents, options) = (Arc::clone(&self.agents), options.to_owned());
        let make: AgentFinder = Arc::new(move |init| {
            let mut agents = agents.lock();
            let same = agents.iter().find(|(other, client, _)| *other == options && client == init);
            if let Some((.., agent)) = same {
                return Arc::clone(agent);
            }
            let agent = DownstreamAgent::reached_by(Arc::clone(&launch) as _, settings.clone(), init.clone());
            agents.push((options.clone(), init.clone(), Arc::clone(&agent)));
            agent
        });
        self.connected.connect(Some(ConnectionAgent::Found(make)), None)
    }

    fn launch(&self, options: &str) -> Arc<InThread> {
        let options = options.replace("MEMORY", &self.desk("memory")).replace("COUNT", &self.desk("count"));
        let log = self.desk("log");
        let args = ["--log", &log].into_iter().chain(options.split_whitespace()).map(str::to_owned).collect();
        Arc::new(InThread { args, lives: Arc::clone(&self.lives) })
    }

    fn settings(&self) -> AgentSettings {
        AgentSettings {
            name: "scripted-agent".to_owned(),
            isolate: false,
            patience: self.patience,
            start_timeout: Duration::from_mins(1),
        }
    }

    /// A client of a hub of its own.
    async fn client(&self, options: &str, version: u64) -> Client {
        Client::new(self.alone(options), version, &json!({})).await
    }

    /// A client of the hub that others share.
    async fn shared_client(&self, options: &str, version: u64) -> Client {
        Client::new(self.shared(options), version, &json!({})).await
    }

    /// A client with a new session.
    async fn session(&self, options: &str, version: u64) -> Client {
        let mut client = self.client(options, version).await;
        client.new_session(&self.cwd()).await;
        client
    }

    /// A client whose agent waits in a tool call for the file `go`, and says `after` then.
    async fn in_a_tool(&self, options: &str, version: u64) -> Client {
        let mut client = self.session(options, version).await;
        client.prompt("tool t go; say after");
        client.tool("in_progress").await;
        client
    }

    /// A client whose agent has said `one`, and says `two` when the file `go` is there.
    async fn in_a_stream(&self, options: &str, version: u64) -> Client {
        let mut client = self.session(options, version).await;
        client.prompt("say one; until go; say two");
        client.said("one").await;
        client
    }
}
