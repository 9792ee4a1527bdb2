//! The tools: what a model may ask for, and how it is read and described.

mod change;
pub(crate) mod files;
mod lines;
pub(crate) mod list;
mod read;
mod run;
pub(crate) mod search;
mod spec;
mod standing;
mod walk;

use nudge_model::{ToolCall, ToolSpec};
use nudge_wire::{RawJson, error::expectation};
use nudge_workspace::SessionDirectories;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

pub(crate) use change::{EditInput, FileChange, WriteInput};
pub(crate) use list::ListInput;
pub(crate) use read::ReadInput;
pub(crate) use run::RunInput;
pub(crate) use search::SearchInput;
pub(crate) use spec::ToolInput;
use spec::brief;
pub(crate) use standing::{program, scope};

/// The table of tools: makes [`ToolInvocation`] and all that is the same for each of them.
macro_rules! tools {
    ($($tool:ident($input:ty)),+ $(,)?) => {
        /// A tool call whose input has been understood.
        #[derive(Debug)]
        pub(crate) enum ToolInvocation {
            $($tool($input)),+
        }

        const NAMES: &[&str] = &[$(<$input>::NAME),+];

        /// All tools, as a model is told of them.
        pub(crate) fn specs() -> Vec<ToolSpec> {
            vec![$(<$input>::spec()),+]
        }

        impl ToolInvocation {
            /// Understands a call, or says why not.
            pub(crate) fn read(call: &ToolCall) -> Result<Self, String> {
                match call.name.as_str() {
                    $(<$input>::NAME => input(call).map(Self::$tool),)+
                    _ => Err(format!("There is no such tool. The tools are {}.", listed(NAMES))),
                }
            }

            fn kind(&self) -> &'static str {
                match self {
                    $(Self::$tool(_) => <$input>::KIND),+
                }
            }

            fn title(&self) -> String {
                match self {
                    $(Self::$tool(input) => input.title()),+
                }
            }

            fn location(&self) -> Option<(&str, Option<u32>)> {
                match self {
                    $(Self::$tool(input) => input.location()),+
                }
            }
        }
    };
}

// What each does when it is called is in `session/tool.rs`.
tools! {
    Read(ReadInput),
    List(ListInput),
    Search(SearchInput),
    Write(WriteInput),
    Edit(EditInput),
    Run(RunInput),
}

/// Names in a sentence.
fn listed(names: &[&str]) -> String {
    match names {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => names.concat(),
    }
}

/// How a call is announced: the fields of a `tool_call_update`.
pub(crate) fn describe(call: &ToolCall, tool: Option<&ToolInvocation>, roots: &SessionDirectories) -> Value {
    let name = brief(&call.name);
    let location = tool.and_then(ToolInvocation::location).and_then(|(path, line)| {
        let place = roots.resolve(path).ok()?;
        let mut location = json!({ "path": place.shown().to_string_lossy() });
        if let Some(line) = line {
            location["line"] = json!(line);
        }
        Some(location)
    });
    json!({
        "title": tool.map_or_else(|| format!("Use {name}"), ToolInvocation::title),
        "name": name,
        "kind": tool.map_or("other", ToolInvocation::kind),
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
    /// What the user is shown, if it is not the output.
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
