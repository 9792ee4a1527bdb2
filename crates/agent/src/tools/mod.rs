//! The tools: what a model may ask for, and how it is read and described.

mod ask;
mod change;
mod files;
mod lines;
mod list;
mod plan;
mod read;
mod run;
mod search;
mod spec;
mod standing;
mod walk;

use nudge_model::{ToolCall, ToolSpec};
use nudge_wire::{RawJson, error::expectation};
use nudge_workspace::SessionDirectories;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use ask::AskInput;
use change::{EditInput, WriteInput};
use list::ListInput;
use plan::PlanInput;
use read::ReadInput;
pub(crate) use run::RunInput;
use search::SearchInput;
pub(crate) use spec::UnderstoodToolCall;
use spec::{AgentTool, BuiltInTool, brief};

/// The tools of a session.
pub(crate) struct ToolSet {
    tools: Vec<(ToolSpec, Box<dyn AgentTool>)>,
}

impl ToolSet {
    /// Those that are built in.
    pub(crate) fn built_in() -> Self {
        let mut set = Self { tools: Vec::new() };
        set.add(BuiltInTool::<ReadInput>::new());
        set.add(BuiltInTool::<ListInput>::new());
        set.add(BuiltInTool::<SearchInput>::new());
        set.add(BuiltInTool::<WriteInput>::new());
        set.add(BuiltInTool::<EditInput>::new());
        set.add(BuiltInTool::<RunInput>::new());
        set.add(BuiltInTool::<PlanInput>::new());
        set.add(BuiltInTool::<AskInput>::new());
        set
    }

    fn add(&mut self, tool: impl AgentTool + 'static) {
        self.tools.push((tool.spec(), Box::new(tool)));
    }

    /// All of them, as a model is told.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|(spec, _)| spec.clone()).collect()
    }

    /// Understands a call, or says why not.
    pub(crate) fn understand(&self, call: &ToolCall) -> Result<Box<dyn UnderstoodToolCall>, String> {
        if let Some((_, tool)) = self.tools.iter().find(|(spec, _)| spec.name == call.name) {
            return tool.understand(call);
        }
        let names: Vec<_> = self.tools.iter().map(|(spec, _)| spec.name.as_str()).collect();
        Err(format!("There is no such tool. The tools are {}.", listed(&names)))
    }
}

/// Names in a sentence.
fn listed(names: &[&str]) -> String {
    match names {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => names.concat(),
    }
}

/// How a call is announced: the fields of a `tool_call_update`.
pub(crate) fn describe(
    call: &ToolCall,
    tool: Option<&dyn UnderstoodToolCall>,
    roots: &SessionDirectories,
) -> Value {
    let name = brief(&call.name);
    let location = tool.and_then(UnderstoodToolCall::location).and_then(|(path, line)| {
        let place = roots.resolve(path).ok()?;
        let mut location = json!({ "path": place.shown().to_string_lossy() });
        if let Some(line) = line {
            location["line"] = json!(line);
        }
        Some(location)
    });
    json!({
        "title": tool.map_or_else(|| format!("Use {name}"), UnderstoodToolCall::title),
        "name": name,
        "kind": tool.map_or("other", UnderstoodToolCall::kind),
        "status": "pending",
        "locations": location.into_iter().collect::<Vec<_>>(),
        "rawInput": call.input,
    })
}

/// How deep an input may be nested; no tool has a use for more, and not everything can read it.
const DEEPEST_INPUT: usize = 64;

/// An input as it can be shown and kept: one that is nested too deep, or cannot be read as values (half a character, a number
/// without end), is taken as text, which every tool refuses.
pub(crate) fn shallow(input: RawJson) -> RawJson {
    let (mut depth, mut deepest, mut in_string, mut is_escaped) = (0_usize, 0, false, false);
    for byte in input.as_str().bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    let is_shown = deepest <= DEEPEST_INPUT && input.to::<Value>().is_ok();
    if is_shown { input } else { RawJson::of(input.as_str()).expect("a text is JSON") }
}

/// What came of a call.
#[derive(Debug)]
pub(crate) struct ToolOutcome {
    /// What the model is told.
    pub(crate) output: String,
    pub(crate) failed: bool,
    /// What the user is shown, if it is not the output; nothing is what was shown before.
    pub(crate) content: Option<Vec<Value>>,
}

impl ToolOutcome {
    pub(crate) fn done(output: String) -> Self {
        Self { output, failed: false, content: None }
    }

    pub(crate) fn failed(why: &str) -> Self {
        Self { output: why.to_owned(), failed: true, content: None }
    }

    pub(crate) fn shown(output: String, content: Vec<Value>) -> Self {
        Self { output, failed: false, content: Some(content) }
    }
}

impl From<Result<String, String>> for ToolOutcome {
    fn from(result: Result<String, String>) -> Self {
        match result {
            Ok(output) => Self::done(output),
            Err(why) => Self::failed(&why),
        }
    }
}

fn input<T: DeserializeOwned>(call: &ToolCall) -> Result<T, String> {
    call.input.to().map_err(|error| format!("The input does not fit the tool: {}.", expectation(&error)))
}

/// An empty text where a field may be left out: the workspace itself.
fn here() -> String {
    ".".to_owned()
}

/// A field that some models write as `null` instead of leaving it out.
fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// A number that a model may have written as a text.
fn number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Number(u32),
        Text(String),
    }
    match Option::<Number>::deserialize(deserializer)? {
        None => Ok(None),
        Some(Number::Number(number)) => Ok(Some(number)),
        Some(Number::Text(text)) => {
            text.trim().parse().map(Some).map_err(|_| {
                serde::de::Error::invalid_type(serde::de::Unexpected::Other("text"), &"a number")
            })
        }
    }
}
