//! A conversation in one session, in the words of either version of the protocol.

use std::{collections::BTreeMap, path::Path, time::Duration};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::client::{Client, PATIENCE};

/// The version of the protocol that the client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Version 1.
    V1,
    /// The draft of version 2.
    V2,
}

impl Version {
    /// Its number on the wire.
    pub fn number(self) -> u64 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }
}

/// A turn that was begun.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// The id of its request.
    pub id: u64,
    /// How many notifications there were before it.
    pub since: usize,
}

/// A message of the user, as the session tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// Its id, if it has one.
    pub id: Option<String>,
    /// Its text.
    pub text: String,
}

/// A client with a session.
#[derive(Debug)]
pub struct Chat {
    /// The connection.
    pub client: Client,
    /// The version spoken.
    pub version: Version,
    /// The answer to `initialize`.
    pub initialized: Value,
    /// The session that is talked in.
    pub session: String,
}

impl Chat {
    /// Initializes the connection with these capabilities of the client, and authenticates by this method if there is one. There
    /// is no session yet.
    pub fn connect(
        mut client: Client,
        version: Version,
        capabilities: &Value,
        authenticate: Option<&str>,
    ) -> Result<Self> {
        let info = json!({ "name": "nudge-peers", "version": "1" });
        let params = match version {
            Version::V1 => {
                json!({ "protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": info })
            }
            Version::V2 => json!({ "protocolVersion": 2, "capabilities": capabilities, "info": info }),
        };
        let initialized = client.call("initialize", &params)?;
        if initialized["protocolVersion"] != version.number() {
            bail!("asked for version {}, it answers {}", version.number(), initialized["protocolVersion"]);
        }
        if let Some(method) = authenticate {
            let name = if version == Version::V1 { "authenticate" } else { "auth/login" };
            client.call(name, &json!({ "methodId": method }))?;
        }
        Ok(Self { client, version, initialized, session: String::new() })
    }

    /// Begins a session, in which is talked from now on.
    pub fn begin(&mut self, folder: &Path) -> Result<()> {
        let result = self.client.call("session/new", &json!({ "cwd": folder, "mcpServers": [] }))?;
        let id = result["sessionId"].as_str().context("session/new answers a session id")?;
        id.clone_into(&mut self.session);
        Ok(())
    }

    /// Sends a prompt.
    pub fn prompt(&mut self, text: &str) -> Result<Turn> {
        let since = self.client.notifications.len();
        let params = json!({ "sessionId": self.session, "prompt": [{ "type": "text", "text": text }] });
        Ok(Turn { id: self.client.send("session/prompt", &params)?, since })
    }

    /// Waits for the end of a turn; gives its stop reason.
    pub fn end_of(&mut self, turn: Turn, patience: Duration) -> Result<String> {
        let result = self.client.result(turn.id, patience).context("session/prompt failed")?;
        match self.version {
            Version::V1 => reason(&result),
            Version::V2 => self.idle_after(turn.since, 1, patience),
        }
    }

    /// Sends a prompt and waits for the end of its turn; gives its stop reason and what the agent said.
    pub fn ask(&mut self, text: &str) -> Result<(String, String)> {
        let turn = self.prompt(text)?;
        let reason = self.end_of(turn, PATIENCE)?;
        Ok((reason, self.agent_text(turn.since)))
    }

    /// Whether the turn has ended, as far as is known now.
    pub fn has_ended(&self, turn: Turn) -> bool {
        match self.version {
            Version::V1 => self.client.response_now(turn.id).is_some(),
            Version::V2 => !self.idles(turn.since).is_empty(),
        }
    }

    /// Cancels the turn that runs.
    pub fn cancel(&mut self) -> Result<()> {
        self.client.notify("session/cancel", &json!({ "sessionId": self.session }))
    }

    /// Waits until the session has become idle for the `count`th time since; gives the last stop reason.
    pub fn idle_after(&mut self, since: usize, count: usize, patience: Duration) -> Result<String> {
        let (session, version) = (self.session.clone(), self.version);
        self.client.until("the end of the turn", patience, |client| {
            let idles = idles(client, &session, version, since);
            idles.get(count - 1).cloned()
        })
    }

    fn idles(&self, since: usize) -> Vec<String> {
        idles(&self.client, &self.session, self.version, since)
    }

    /// The updates of the session since a moment.
    pub fn updates(&self, since: usize) -> impl Iterator<Item = &Value> {
        updates(&self.client, &self.session, since)
    }

    /// What the agent said since a moment.
    pub fn agent_text(&self, since: usize) -> String {
        let kinds = ["agent_message_chunk", "agent_message"];
        let said =
            self.updates(since).filter(|update| kinds.iter().any(|kind| update["sessionUpdate"] == *kind));
        said.map(|update| text_of(&update["content"])).collect()
    }

    /// The messages of the user that the session told of since a moment.
    pub fn user_messages(&self, since: usize) -> Vec<Said> {
        user_messages(self.updates(since))
    }

    /// Waits for a message of the user with this id; gives it.
    pub fn user_message(&mut self, id: &str, since: usize, patience: Duration) -> Result<Said> {
        let session = self.session.clone();
        let what = format!("the message {id}");
        self.client.until(&what, patience, |client| {
            let said = user_messages(updates(client, &session, since));
            said.into_iter().find(|said| said.id.as_deref() == Some(id))
        })
    }

    /// The last status of each tool call since a moment.
    pub fn tool_calls(&self, since: usize) -> BTreeMap<String, String> {
        let mut calls = BTreeMap::new();
        for update in self.updates(since) {
            if let Some(id) = update["toolCallId"].as_str() {
                let status = calls.entry(id.to_owned()).or_default();
                if let Some(new) = update["status"].as_str() {
                    new.clone_into(status);
                }
            }
        }
        calls
    }

    /// Adds input to the session while a turn runs; gives the message's id.
    pub fn inject(&mut self, mode: &str, text: &str) -> Result<String> {
        let content = json!([{ "type": "text", "text": text }]);
        let params = json!({ "sessionId": self.session, "mode": mode, "content": content });
        let result = self.client.call("session/inject", &params)?;
        Ok(result["messageId"].as_str().context("session/inject answers a message id")?.to_owned())
    }

    /// What the agent, or Nudge in front of it, can do with input while a turn runs.
    pub fn inject_modes(&self) -> Vec<&str> {
        let capabilities = self.capabilities();
        let modes = capabilities["session"]["inject"]["modes"].as_array();
        modes.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// What the other side said it can do.
    pub fn capabilities(&self) -> &Value {
        let member = if self.version == Version::V1 { "agentCapabilities" } else { "capabilities" };
        &self.initialized[member]
    }
}

fn updates<'a>(client: &'a Client, session: &'a str, since: usize) -> impl Iterator<Item = &'a Value> {
    let all = client.notifications.iter().skip(since);
    let of_session =
        all.filter(move |(method, params)| method == "session/update" && params["sessionId"] == session);
    of_session.map(|(_, params)| &params["update"])
}

/// The stop reasons of the turns that have ended: in version 1 those that were begun by queued input only.
fn idles(client: &Client, session: &str, version: Version, since: usize) -> Vec<String> {
    let idle = |update: &Value| {
        let state = match version {
            Version::V1 if update["sessionUpdate"] == "session_info_update" => &update["_meta"],
            Version::V2 if update["sessionUpdate"] == "state_update" => update,
            _ => return None,
        };
        let state = if state["state"].is_string() { state } else { &state["nudge"] };
        let reason = state["stopReason"].as_str().unwrap_or("end_turn").to_owned();
        (state["state"] == "idle").then_some(reason)
    };
    updates(client, session, since).filter_map(idle).collect()
}

fn user_messages<'a>(updates: impl Iterator<Item = &'a Value>) -> Vec<Said> {
    let mut all: Vec<Said> = Vec::new();
    for update in updates {
        let is_whole = update["sessionUpdate"] == "user_message";
        if !is_whole && update["sessionUpdate"] != "user_message_chunk" {
            continue;
        }
        let (id, text) = (update["messageId"].as_str().map(str::to_owned), text_of(&update["content"]));
        match all.iter_mut().find(|said| said.id.is_some() && said.id == id) {
            Some(said) if is_whole => said.text = text,
            Some(said) => said.text.push_str(&text),
            None => all.push(Said { id, text }),
        }
    }
    all
}

fn text_of(content: &Value) -> String {
    match content {
        Value::Array(blocks) => blocks.iter().map(text_of).collect(),
        block => block["text"].as_str().unwrap_or_default().to_owned(),
    }
}

fn reason(result: &Value) -> Result<String> {
    Ok(result["stopReason"].as_str().context("a turn ends with a stop reason")?.to_owned())
}
