//! A rehearsal as it is written, and what is checked before it is played.

use std::collections::HashSet;

use regex::Regex;
use serde::Deserialize;

use crate::SlashCommand;

/// The step names that have a meaning of their own.
pub(super) const END: &str = "end";
pub(super) const STAY: &str = "stay";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rehearsal {
    #[serde(default = "nameless")]
    pub(super) name: String,
    /// Milliseconds before each word, unless a turn or an act says otherwise.
    #[serde(default)]
    pub(super) token_ms: u64,
    #[serde(default)]
    pub(super) command: Vec<SlashCommand>,
    #[serde(default)]
    pub(super) turn: Vec<ScriptTurn>,
    /// Rules for steers in any turn, after the turn's own.
    #[serde(default)]
    pub(super) steer: Vec<ScriptSteer>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptTurn {
    literal: Option<String>,
    #[serde(default, deserialize_with = "pattern")]
    regex: Option<Regex>,
    pub(super) token_ms: Option<u64>,
    pub(super) step: Vec<ScriptStep>,
    #[serde(default)]
    pub(super) steer: Vec<ScriptSteer>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptStep {
    pub(super) label: Option<String>,
    /// How often it is played, each time as an answer of its own.
    pub(super) times: Option<ScriptCount>,
    pub(super) find: Option<ScriptFind>,
    #[serde(default)]
    pub(super) play: Vec<ScriptAct>,
    pub(super) next: Option<String>,
}

/// A condition: takes a text apart, or goes elsewhere.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptFind {
    pub(super) r#in: String,
    #[serde(deserialize_with = "needed_pattern")]
    pub(super) regex: Regex,
    pub(super) r#else: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptSteer {
    literal: Option<String>,
    #[serde(default, deserialize_with = "pattern")]
    regex: Option<Regex>,
    #[serde(default)]
    pub(super) play: Vec<ScriptAct>,
    pub(super) next: Option<String>,
}

/// One thing an answer does; exactly one of the fields that name a deed is set.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ScriptAct {
    pub(super) text: Option<String>,
    pub(super) thought: Option<String>,
    pub(super) call: Option<String>,
    pub(super) plan: Option<Vec<ScriptEntry>>,
    pub(super) usage: Option<ScriptUsage>,
    pub(super) pause_ms: Option<u64>,
    pub(super) wait_ms: Option<u64>,
    pub(super) stop: Option<ScriptStop>,
    pub(super) error: Option<String>,

    pub(super) input: Option<toml::Table>,
    pub(super) raw_input: Option<String>,
    pub(super) repeat: Option<ScriptCount>,
    pub(super) token_ms: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptEntry {
    pub(super) content: String,
    #[serde(default = "medium")]
    pub(super) priority: String,
    #[serde(default = "pending")]
    pub(super) status: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptUsage {
    pub(super) used: u64,
    pub(super) size: u64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ScriptStop {
    EndTurn,
    MaxTokens,
    Refusal,
}

/// A number, or a template that becomes one.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum ScriptCount {
    Number(u64),
    Template(String),
}

impl Rehearsal {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let rehearsal: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        if rehearsal.turn.is_empty() {
            return Err("expected at least one [[turn]]".to_owned());
        }
        for (number, turn) in (1..).zip(&rehearsal.turn) {
            turn.check(&rehearsal.steer).map_err(|why| format!("turn {number}: {why}"))?;
        }
        Ok(rehearsal)
    }
}

impl ScriptTurn {
    /// The named parts of what the user said, if this turn is for it.
    pub(super) fn matches(&self, text: &str) -> Option<Vec<(String, String)>> {
        matches(self.literal.as_deref(), self.regex.as_ref(), text)
    }

    /// The step of this name.
    pub(super) fn labelled(&self, label: &str) -> Option<usize> {
        self.step.iter().position(|step| step.label.as_deref() == Some(label))
    }

    fn check(&self, general: &[ScriptSteer]) -> Result<(), String> {
        if self.step.is_empty() {
            return Err("expected at least one [[turn.step]]".to_owned());
        }
        let mut labels = HashSet::from([END, STAY]);
        for label in self.step.iter().filter_map(|step| step.label.as_deref()) {
            if !labels.insert(label) {
                return Err(format!("the label `{label}` is taken"));
            }
        }
        let steps = self.step.iter().flat_map(|step| {
            let other = step.find.as_ref().and_then(|find| find.r#else.as_deref());
            [step.next.as_deref(), other]
        });
        // A general rule may name a step that only some turns have.
        let rules = self.steer.iter().map(|rule| rule.next.as_deref());
        if let Some(label) = steps.chain(rules).flatten().find(|label| !labels.contains(label)) {
            return Err(format!("no step is labelled `{label}`"));
        }
        let acts = self.step.iter().flat_map(|step| &step.play);
        let steers = self.steer.iter().chain(general).flat_map(|rule| &rule.play);
        acts.chain(steers).try_for_each(ScriptAct::check)
    }
}

impl ScriptSteer {
    /// The named parts of the steer, if this rule is for it.
    pub(super) fn matches(&self, text: &str) -> Option<Vec<(String, String)>> {
        matches(self.literal.as_deref(), self.regex.as_ref(), text)
    }
}

impl ScriptAct {
    fn check(&self) -> Result<(), String> {
        let deeds = [
            self.text.is_some(),
            self.thought.is_some(),
            self.call.is_some(),
            self.plan.is_some(),
            self.usage.is_some(),
            self.pause_ms.is_some(),
            self.wait_ms.is_some(),
            self.stop.is_some(),
            self.error.is_some(),
        ];
        match deeds.iter().filter(|deed| **deed).count() {
            1 => Ok(()),
            many => Err(format!(
                "expected one of text, thought, call, plan, usage, pause_ms, wait_ms, stop, error in each part of \
                 `play`; found {many}"
            )),
        }
    }
}

/// Without a pattern everything matches. A literal is the whole text, but for white space around it.
fn matches(literal: Option<&str>, regex: Option<&Regex>, text: &str) -> Option<Vec<(String, String)>> {
    if let Some(literal) = literal {
        return (text.trim() == literal).then(Vec::new);
    }
    let Some(regex) = regex else { return Some(Vec::new()) };
    named(regex, text)
}

/// The named groups of the first match.
pub(super) fn named(regex: &Regex, text: &str) -> Option<Vec<(String, String)>> {
    let captures = regex.captures(text)?;
    let groups = regex.capture_names().flatten();
    let value = |name: &str| captures.name(name).map_or("", |group| group.as_str()).to_owned();
    Some(groups.map(|name| (name.to_owned(), value(name))).collect())
}

fn nameless() -> String {
    "rehearsal".to_owned()
}

fn medium() -> String {
    "medium".to_owned()
}

fn pending() -> String {
    "pending".to_owned()
}

fn needed_pattern<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Regex, D::Error> {
    let text = String::deserialize(deserializer)?;
    Regex::new(&text).map_err(serde::de::Error::custom)
}

fn pattern<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Regex>, D::Error> {
    needed_pattern(deserializer).map(Some)
}
