//! The ways from a provider to whoever reads it, and what is measured on each.

use std::{process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::{client::AcpClient, provider::ProviderProcess};
use crate::hub::{client::Home, place::Place};

/// A way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelLeg {
    /// The HTTP library alone, which finds the tokens in the bytes.
    Http,
    /// The crate `genai`.
    Genai,
    /// The room `model`.
    Model,
    /// `nudge acp` without a daemon.
    Alone,
    /// `nudge acp` and the daemon behind it.
    Daemon,
}

impl ModelLeg {
    pub(super) const ALL: [Self; 5] = [Self::Http, Self::Genai, Self::Model, Self::Alone, Self::Daemon];

    /// Of those that are libraries, in a process of their own.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Http => Some("http"),
            Self::Genai => Some("genai"),
            Self::Model => Some("model"),
            Self::Alone | Self::Daemon => None,
        }
    }

    /// Asks for some answers in a new process.
    pub(super) fn take(self, place: &Place, provider: &ProviderProcess, wish: &StreamWish) -> Result<Taken> {
        let Some(name) = self.name() else {
            let home = if self == Self::Alone { Home::Alone } else { Home::Daemon };
            return AcpClient::start(place, home, &provider.base)?.take(wish);
        };
        let wish = serde_json::to_string(wish)?;
        let read =
            Command::new(std::env::current_exe()?).args(["reader", name, &provider.base, &wish]).output()?;
        ensure!(read.status.success(), "{name}: {}", String::from_utf8_lossy(&read.stderr));
        serde_json::from_slice(&read.stdout).with_context(|| format!("what {name} has measured"))
    }
}

/// What is asked for.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct StreamWish {
    /// Sessions at one time.
    pub(super) sessions: usize,
    /// Answers of each, one after the other.
    pub(super) answers: usize,
    /// Tokens of each answer, and the pause before each.
    pub(super) tokens: usize,
    pub(super) pause: Duration,
}

impl StreamWish {
    pub(super) fn all_tokens(&self) -> usize {
        self.sessions * self.answers * self.tokens
    }
}

/// What was measured.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Taken {
    /// From the provider's write of a token to its arrival.
    pub(super) delays: Vec<Duration>,
    /// From the first question to the last answer's end.
    pub(super) wall: Duration,
    /// Of all that is between provider and client.
    pub(super) cpu: Duration,
    /// At its peak, in bytes.
    pub(super) memory: usize,
}
