//! What an agent offers itself.

use nudge_wire::{Version, caps::AgentInit};

/// What an agent has itself, beside `session/new`, `session/prompt` and `session/cancel`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a capability of its own on the wire")]
pub struct AgentOffers {
    /// `session/load`; in version 2 `session/resume` with a replay.
    pub load: bool,
    /// `session/resume`.
    pub resume: bool,
    /// `session/list`.
    pub list: bool,
    /// `session/fork`.
    pub fork: bool,
    /// `session/close`.
    pub close: bool,
    /// `session/delete`.
    pub delete: bool,
    /// Images in prompts.
    pub image: bool,
    /// Sound in prompts.
    pub audio: bool,
    /// Whole resources in prompts.
    pub embedded_context: bool,
    /// `auth/status`.
    pub auth_status: bool,
}

impl AgentOffers {
    /// What the answer to `initialize` says.
    pub fn of(init: &AgentInit) -> Self {
        let at = |path: &[&str]| {
            let value = init.result.get(path);
            value.is_some_and(|value| !matches!(value.as_str(), "null" | "false"))
        };
        match init.version {
            Version::V1 => {
                let session = |name: &str| at(&["agentCapabilities", "sessionCapabilities", name]);
                let prompt = |name: &str| at(&["agentCapabilities", "promptCapabilities", name]);
                Self {
                    load: at(&["agentCapabilities", "loadSession"]),
                    resume: session("resume"),
                    list: session("list"),
                    fork: session("fork"),
                    close: session("close"),
                    delete: session("delete"),
                    image: prompt("image"),
                    audio: prompt("audio"),
                    embedded_context: prompt("embeddedContext"),
                    auth_status: at(&["agentCapabilities", "auth", "status"]),
                }
            }
            Version::V2 => {
                let session = |name: &str| at(&["capabilities", "session", name]);
                let prompt = |name: &str| at(&["capabilities", "session", "prompt", name]);
                let has_sessions = at(&["capabilities", "session"]);
                Self {
                    load: has_sessions,
                    resume: has_sessions,
                    list: has_sessions,
                    close: has_sessions,
                    fork: session("fork"),
                    delete: session("delete"),
                    image: prompt("image"),
                    audio: prompt("audio"),
                    embedded_context: prompt("embeddedContext"),
                    auth_status: at(&["capabilities", "auth", "status"]),
                }
            }
        }
    }
}
