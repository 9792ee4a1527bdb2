//! What an agent is taken through, step by step.

mod beside;
mod input;
mod settings;
mod turns;

use std::fmt;

use anyhow::Result;

use crate::run::Scene;

/// How a step went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// As it should.
    Pass,
    /// Not as it should, and why.
    Fail(String),
    /// The agent does not claim to do this, or cannot be brought to do it.
    NotOffered(&'static str),
}

impl Verdict {
    /// One word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail(_) => "FAIL",
            Self::NotOffered(_) => "–",
        }
    }

    /// The reason, if it did not pass.
    pub fn reason(&self) -> &str {
        match self {
            Self::Pass => "",
            Self::Fail(why) => why,
            Self::NotOffered(why) => why,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("pass"),
            Self::Fail(why) => write!(f, "FAIL: {why}"),
            Self::NotOffered(why) => write!(f, "not offered: {why}"),
        }
    }
}

/// One step: an error is a failure.
pub struct Step {
    /// Its name in tables.
    pub name: &'static str,
    /// What it does.
    pub run: fn(&mut Scene<'_>) -> Result<Verdict>,
}

/// The step that has its own column in the table of the agents: sign-in on a terminal.
pub const SIGN_IN: &str = "sign-in";
/// The same for forms.
pub const FORM: &str = "form";
/// The same for a provider that was set, after the agent was started again.
pub const PROVIDERS: &str = "providers";

/// All steps, in order. Each uses words of its own in its prompts, so that its rules are for it alone.
pub const STEPS: &[Step] = &[
    Step { name: "prompt", run: turns::prompt },
    Step { name: "tool", run: turns::tool },
    Step { name: "permission", run: turns::permission },
    Step { name: "write", run: turns::write },
    Step { name: "cancel", run: turns::cancel },
    Step { name: "queue", run: input::queue },
    Step { name: "steer", run: input::steer },
    Step { name: "revoke", run: input::revoke },
    Step { name: "replace", run: input::replace },
    Step { name: "nes", run: beside::nes },
    Step { name: "extension", run: beside::extension },
    Step { name: "reload", run: beside::reload },
    Step { name: SIGN_IN, run: settings::sign_in },
    Step { name: FORM, run: settings::form },
    Step { name: PROVIDERS, run: settings::providers },
];
