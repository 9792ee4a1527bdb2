//! A place where sessions are kept, and the hubs that run them there, each as a process of its own would.

mod cases;
mod client;
mod connection;
mod story;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use nudge_agent::BuiltInSource;
use nudge_gateway::ConnectionAgent;
use nudge_hub::{Environment, Hub, HubOptions, SessionSource};
use nudge_model::script::ScriptedModel;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use cases::{both, check_each};
pub(crate) use client::{Client, Message};
pub(crate) use connection::Connection;
pub(crate) use story::{content, is_turn_end, is_user, notice, text};

use crate::memory_store::MemoryStore;

/// How long a test waits for what ought to come at once; where time stands still it costs nothing.
pub(crate) const PATIENCE: Duration = nudge_testkit::PATIENCE;

/// How long a session that nobody looks at stays in use.
pub(crate) const LINGER: Duration = Duration::from_secs(30);

/// A store, and a folder to work in.
pub(crate) struct Place {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) work: TempDir,
    /// Where hubs show that they are alive.
    owners: TempDir,
    daemon: OnceLock<Hub>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = || tempfile::tempdir().expect("a temporary folder");
        Self { store: Arc::default(), work: dir(), owners: dir(), daemon: OnceLock::new() }
    }

    /// Lets a command go on that waits for this file.
    pub(crate) fn touch(&self, name: &str) {
        std::fs::write(self.work.path().join(name), "").expect("the folder can be written to");
    }

    pub(crate) fn cwd(&self) -> String {
        let path = self.work.path().canonicalize().expect("the folder is there");
        path.to_str().expect("its name is text").to_owned()
    }

    /// A hub, as a process has one; a daemon's outlives its clients.
    pub(crate) fn hub(&self, is_daemon: bool) -> Hub {
        let options = HubOptions {
            store: String::new(),
            owners: Some(self.owners.path().to_owned()),
            built_in: rehearsed(REHEARSAL),
            linger: LINGER,
            outlives_clients: is_daemon,
            observer: None,
        };
        Hub::with_store(Arc::clone(&self.store) as _, options).expect("the folder can be written to")
    }

    /// The hub that connections share.
    pub(crate) fn daemon(&self) -> &Hub {
        self.daemon.get_or_init(|| self.hub(true))
    }

    /// A connection to a hub of its own, which ends with it.
    pub(crate) fn connect_alone(&self, agent: Option<ConnectionAgent>) -> Connection {
        Connection::alone(self.hub(false), agent)
    }

    /// A connection to the hub that others share.
    pub(crate) fn connect(
        &self,
        agent: Option<ConnectionAgent>,
        environment: Option<Environment>,
    ) -> Connection {
        Connection::shared(self.daemon().clone(), agent, environment)
    }

    /// A client of a hub of its own.
    pub(crate) async fn client(&self, version: u64) -> Client {
        Client::new(self.connect_alone(None), version, &json!({})).await
    }

    /// A client of the hub that others share.
    pub(crate) async fn shared_client(&self, version: u64) -> Client {
        self.shared_client_with(version, &json!({})).await
    }

    pub(crate) async fn shared_client_with(&self, version: u64, capabilities: &Value) -> Client {
        Client::new(self.connect(None, None), version, capabilities).await
    }
}

/// Waits until `done`, which must come about soon.
pub(crate) async fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let come_about = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, come_about).await.unwrap_or_else(|_| panic!("{what} did not come about"));
}

/// What the built-in agent plays.
pub(crate) const REHEARSAL: &str = include_str!("../../../../cli/tests/rehearsal.toml");

/// The built-in agent, playing this.
pub(crate) fn rehearsed(text: &str) -> SessionSource {
    let script = ScriptedModel::parse(text).expect("it can be played");
    Arc::new(BuiltInSource::of_model(Arc::new(script)))
}
