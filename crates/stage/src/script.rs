//! Rules from a file, for a provider that is run by hand.
//!
//! ```toml
//! [[rule]]
//! text = "fix it"            # in the user's last message; left out: any
//! after = "input"            # or "result", or "any"
//! with_tools = true          # or false; left out: either
//! times = 1                  # left out: always
//! reply = [
//!   { think = "Where is it?" },
//!   { text = "I look." },
//!   { call = [{ tool = "read_file|Read", arguments = { path = "a.rs" } }] },
//! ]
//! ```
//!
//! Further steps are `pause_ms`, `gate`, `error = { status, message, retry_after }` and `cut = true`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::{ModelReply, ReplyRule, StageProvider};

/// Why a script cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// It is not TOML, or has what rules have not.
    #[error("a script in TOML is a list of `[[rule]]`; see the documentation of the module `script`")]
    Toml(#[from] toml::de::Error),
    /// It is not JSON, or has what rules have not.
    #[error("a script in JSON is an object with a list `rule`; see the documentation of the module `script`")]
    Json(#[from] serde_json::Error),
    /// A name of a tool is no pattern.
    #[error("the name of a tool in a script is a regular expression; rule {rule} has one that is not")]
    Pattern {
        /// Its place in the script, from 1.
        rule: usize,
    },
    /// A call without a tool.
    #[error("a call in a script has at least one tool; rule {rule} has one with none")]
    NoTool {
        /// Its place in the script, from 1.
        rule: usize,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    text: Option<String>,
    #[serde(default)]
    anywhere: bool,
    #[serde(default)]
    after: After,
    with_tools: Option<bool>,
    times: Option<usize>,
    #[serde(default)]
    gap_ms: u64,
    reply: Vec<Step>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum After {
    #[default]
    Input,
    Result,
    Any,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Step {
    Text(String),
    Think(String),
    Call(Vec<Candidate>),
    PauseMs(u64),
    Gate(String),
    Error(Failure),
    Cut(bool),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Candidate {
    tool: String,
    arguments: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    status: u16,
    message: String,
    retry_after: Option<u64>,
}

pub(crate) fn add(provider: &StageProvider, script: &str) -> Result<(), ScriptError> {
    let file: File = if script.trim_start().starts_with('{') {
        serde_json::from_str(script)?
    } else {
        toml::from_str(script)?
    };
    let replies = file.rule.iter().enumerate().map(|(place, rule)| reply(rule, place + 1));
    let replies = replies.collect::<Result<Vec<_>, _>>()?;
    for (written, reply) in file.rule.into_iter().zip(replies) {
        rule(provider, written).reply(reply);
    }
    Ok(())
}

fn rule(provider: &StageProvider, written: Written) -> ReplyRule {
    let mut rule = match written.text {
        Some(text) => provider.on(text),
        None => provider.on_any(),
    };
    if written.anywhere {
        rule = rule.anywhere();
    }
    rule = match written.after {
        After::Input => rule,
        After::Result => rule.after_tool_result(),
        After::Any => rule.at_any_moment(),
    };
    rule = match written.with_tools {
        Some(true) => rule.with_tools(),
        Some(false) => rule.without_tools(),
        None => rule,
    };
    match written.times {
        Some(times) => rule.times(times),
        None => rule,
    }
}

fn reply(written: &Written, place: usize) -> Result<ModelReply, ScriptError> {
    let mut reply = ModelReply::empty().every(Duration::from_millis(written.gap_ms));
    for step in &written.reply {
        reply = match step {
            Step::Text(text) => reply.and_text(text),
            Step::Think(text) => reply.and_thinking(text),
            Step::Call(candidates) => call(reply, candidates, place)?,
            Step::PauseMs(pause) => reply.and_pause(Duration::from_millis(*pause)),
            Step::Gate(name) => reply.and_gate(name),
            Step::Cut(true) => reply.and_cut(),
            Step::Cut(false) => reply,
            Step::Error(Failure { status, message, retry_after }) => {
                let reply = reply.and_error(*status, message);
                match retry_after {
                    Some(seconds) => reply.retry_after(*seconds),
                    None => reply,
                }
            }
        };
    }
    Ok(reply)
}

fn call(reply: ModelReply, candidates: &[Candidate], rule: usize) -> Result<ModelReply, ScriptError> {
    if candidates.iter().any(|candidate| regex::Regex::new(&candidate.tool).is_err()) {
        return Err(ScriptError::Pattern { rule });
    }
    let Some((first, others)) = candidates.split_first() else { return Err(ScriptError::NoTool { rule }) };
    let reply = reply.and_call(&first.tool, first.arguments.clone());
    Ok(others.iter().fold(reply, |reply, other| reply.or_call(&other.tool, other.arguments.clone())))
}
