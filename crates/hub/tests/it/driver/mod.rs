//! What only the task of a session does, with agents that are the contract and nothing else.

mod asks;
mod ends;
mod environments;
mod joining;
mod options;
mod passing;
mod shown;
mod slow;
mod unwritten;

use std::collections::BTreeMap;

use nudge_hub::Environment;
use serde_json::{Value, json};

use crate::{
    connected::{Client, Place},
    scripted::{Agents, ScriptedAgent, Traits},
};

/// A place, and agents for the sessions in it.
struct Scene {
    place: Place,
    agents: Agents,
}

impl Scene {
    fn new() -> Self {
        Self::of(Traits::default())
    }

    fn of(traits: Traits) -> Self {
        Self { place: Place::new(), agents: Agents::new(traits) }
    }

    /// A client that has greeted.
    async fn client(&self, version: u64) -> Client {
        self.client_with(version, &json!({}), None).await
    }

    async fn client_with(&self, version: u64, capabilities: &Value, bird: Option<&str>) -> Client {
        let variables = |bird: &str| BTreeMap::from([("BIRD".to_owned(), bird.to_owned())]);
        let environment = bird.map(|bird| Environment::new(variables(bird)));
        let connection = self.place.connect(Some(self.agents.source()), environment);
        Client::new(connection, version, capabilities).await
    }

    /// A client with a new session, and the agent of that.
    async fn session(&mut self, version: u64) -> (Client, ScriptedAgent) {
        let client = self.client(version).await;
        self.session_of(client).await
    }

    async fn session_of(&mut self, mut client: Client) -> (Client, ScriptedAgent) {
        client.new_session(&self.place.cwd()).await;
        (client, self.agents.next().await)
    }

    /// Another client of a session, which is shown its history.
    async fn joined(&self, version: u64, session: &str) -> Client {
        let mut client = self.client(version).await;
        client.load(session, &self.place.cwd()).await;
        client
    }
}

/// Params that name a session and nothing else.
fn named(client: &Client) -> Value {
    json!({ "sessionId": client.session })
}
