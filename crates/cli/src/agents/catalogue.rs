//! Agents that were tried, and how each is started.

/// An agent that is known by name.
pub(crate) struct CatalogueAgent {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) program: &'static str,
    pub(crate) args: &'static [&'static str],
    /// The package it comes in.
    pub(crate) package: &'static str,
    /// How a steer gets into it.
    pub(crate) tier: &'static str,
    /// What was found when it was tried.
    pub(crate) notes: &'static str,
}

/// What the built-in agent is called where an agent is named.
pub(crate) const BUILT_IN: &str = "nudge";

/// The agent of this name.
pub(crate) fn find(name: &str) -> Option<&'static CatalogueAgent> {
    KNOWN.iter().find(|known| known.name == name)
}

pub(crate) const KNOWN: &[CatalogueAgent] = &[
    CatalogueAgent {
        name: "claude",
        title: "Claude Code",
        program: "claude-agent-acp",
        args: &[],
        package: "npm @agentclientprotocol/claude-agent-acp",
        tier: "2 in version 1, 4 in version 2",
        notes: "its own steering cuts a stream off; in version 2 it offers none",
    },
    CatalogueAgent {
        name: "codex",
        title: "Codex",
        program: "codex-acp",
        args: &[],
        package: "npm @agentclientprotocol/codex-acp",
        tier: "2",
        notes: "a command goes on running after a cancel; its own steering cuts a stream off",
    },
    CatalogueAgent {
        name: "copilot",
        title: "GitHub Copilot CLI",
        program: "copilot",
        args: &["--acp"],
        package: "npm @github/copilot",
        tier: "4",
        notes: "",
    },
    CatalogueAgent {
        name: "gemini",
        title: "Gemini CLI",
        program: "gemini",
        args: &["--acp"],
        package: "npm @google/gemini-cli",
        tier: "4",
        notes: "replays a loaded session after it has answered, so loading one takes a moment longer",
    },
    CatalogueAgent {
        name: "goose",
        title: "Goose",
        program: "goose",
        args: &["acp"],
        package: "npm @aaif/goose",
        tier: "2",
        notes: "a command goes on running after a cancel",
    },
    CatalogueAgent {
        name: "kilo",
        title: "Kilo Code",
        program: "kilo",
        args: &["acp"],
        package: "npm @kilocode/cli",
        tier: "4",
        notes: "writes files through its client even if that does not offer it; Nudge serves that",
    },
    CatalogueAgent {
        name: "kimi",
        title: "Kimi Code",
        program: "kimi",
        args: &["acp"],
        package: "npm @moonshot-ai/kimi-code",
        tier: "4",
        notes: "",
    },
    CatalogueAgent {
        name: "opencode",
        title: "OpenCode",
        program: "opencode",
        args: &["acp"],
        package: "npm opencode-ai",
        tier: "4",
        notes: "takes up to two seconds to stop; writes files through its client even if that does not offer it",
    },
    CatalogueAgent {
        name: "pi",
        title: "Pi",
        program: "pi-acp",
        args: &[],
        package: "npm pi-acp",
        tier: "4",
        notes: "asks for no permission",
    },
    CatalogueAgent {
        name: "qwen",
        title: "Qwen Code",
        program: "qwen",
        args: &["--acp"],
        package: "npm @qwen-code/qwen-code",
        tier: "4",
        notes: "",
    },
    CatalogueAgent {
        name: "vibe",
        title: "Mistral Vibe",
        program: "vibe-acp",
        args: &[],
        package: "PyPI mistral-vibe",
        tier: "4",
        notes: "repeats what the user says, which is shown once",
    },
];
