//! A case that is played: the agent, its model's server, and what both are told.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Result;
use parking_lot::Mutex;
use serde_json::Value;

use super::table::AgentFault;
use crate::{
    chat::{Chat, Turn},
    client::Client,
    run::Scene,
};

/// How long is waited for something that may well not come.
pub(super) const SOON: Duration = Duration::from_secs(2);
/// How long a server stays ill after a message was sent, and a fault lasts before a cancel.
pub(super) const MEANWHILE: Duration = Duration::from_secs(1);

/// What the user does about the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UserAct {
    Watch,
    Steer,
    Cancel,
}

impl UserAct {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Watch => "watch",
            Self::Steer => "steer",
            Self::Cancel => "cancel",
        }
    }

    pub(super) fn text(self, what: &str) -> String {
        format!("peers-{what}-{}", self.word())
    }
}

/// What both the provider's thread and the case look at.
#[derive(Debug, Default)]
pub(super) struct Illness {
    pub(super) is_on: AtomicBool,
    /// The requests that got the fault.
    pub(super) struck: Mutex<Vec<Value>>,
}

/// A case that is played.
pub(super) struct FaultPlay<'a> {
    pub(super) scene: Scene<'a>,
    pub(super) fault: &'static AgentFault,
    pub(super) illness: Arc<Illness>,
}

impl FaultPlay<'_> {
    /// The server is well again.
    pub(super) fn heal(&mut self) -> Result<()> {
        self.illness.is_on.store(false, Ordering::Relaxed);
        Ok(self.scene.provider.come_back()?)
    }

    /// Whether the turn is over within this time, by an answer or with the process.
    pub(super) fn until_over(&mut self, turn: Turn, patience: Duration) -> Result<bool> {
        let chat = self.scene.chat()?;
        wait(chat, patience, |client| client.response_now(turn.id).is_some());
        Ok(chat.has_ended(turn) || chat.client.is_gone)
    }

    /// Whether a model was asked with this text, beside the requests that got the fault.
    pub(super) fn has_reached(&self, text: &str) -> bool {
        let mut struck = self.illness.struck.lock().clone();
        self.scene.provider.requests().iter().any(|seen| {
            if let Some(at) = struck.iter().position(|body| *body == seen.body) {
                struck.swap_remove(at);
                return false;
            }
            seen.body.to_string().contains(text)
        })
    }
}

/// Takes what comes, until this is so, the time is over, or the program is gone.
pub(super) fn wait(chat: &mut Chat, patience: Duration, mut is_so: impl FnMut(&Client) -> bool) {
    let found = chat.client.until("", patience, |client| is_so(client).then_some(()));
    if found.is_err() && chat.client.is_gone {
        return;
    }
    // Time that is over is what was asked for.
    drop(found);
}
