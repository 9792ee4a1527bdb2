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

use nudge_model::ToolCall;
use nudge_wire::error::expectation;
use nudge_workspace::SessionDirectories;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

pub(crate) use change::{EditInput, FileChange, WriteInput};
pub(crate) use list::ListInput;
pub(crate) use read::ReadInput;
pub(crate) use run::RunInput;
pub(crate) use search::SearchInput;
pub(crate) use spec::specs;
pub(crate) use standing::{program, scope};

/// A tool call whose input has been understood.
#[derive(Debug)]
pub(crate) enum ToolInvocation {
    Read(ReadInput),
    List(ListInput),
    Search(SearchInput),
    Write(WriteInput),
    Edit(EditInput),
    Run(RunInput),
}

impl ToolInvocation {
    /// Understands a call, or says why not.
    pub(crate) fn read(call: &ToolCall) -> Result<Self, String> {
        match call.name.as_str() {
            "read" => input(call).map(Self::Read),
            "list" => input(call).map(Self::List),
            "search" => input(call).map(Self::Search),
            "write" => input(call).map(Self::Write),
            "edit" => input(call).map(Self::Edit),
            "run" => input(call).map(Self::Run),
            _ => {
                Err("There is no such tool. The tools are read, list, search, write, edit and run."
                    .to_owned())
            }
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Read(_) | Self::List(_) => "read",
            Self::Search(_) => "search",
            Self::Write(_) | Self::Edit(_) => "edit",
            Self::Run(_) => "execute",
        }
    }

    fn title(&self) -> String {
        match self {
            Self::Read(read) => format!("Read {}", brief(&read.path)),
            Self::List(list) => format!("List {}", brief(&list.path)),
            Self::Search(search) => format!("Search for `{}`", brief(&search.pattern)),
            Self::Write(write) => format!("Write {}", brief(&write.path)),
            Self::Edit(edit) => format!("Edit {}", brief(&edit.path)),
            Self::Run(run) => format!("Run `{}`", brief(&run.command)),
        }
    }

    /// The file or folder it is about, and the line.
    fn location(&self) -> Option<(&str, Option<u32>)> {
        match self {
            Self::Read(read) => Some((&read.path, read.line)),
            Self::List(list) => Some((&list.path, None)),
            Self::Search(_) | Self::Run(_) => None,
            Self::Write(write) => Some((&write.path, None)),
            Self::Edit(edit) => Some((&edit.path, None)),
        }
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

/// One short line of a text that may be anything.
fn brief(text: &str) -> String {
    const MOST: usize = 80;
    let line = text.trim().lines().next().unwrap_or_default();
    let mut short: String = line.chars().filter(|c| !c.is_control()).take(MOST).collect();
    if short.len() < text.trim().len() {
        short.push('…');
    }
    short
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
