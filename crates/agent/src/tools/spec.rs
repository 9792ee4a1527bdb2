//! What a tool is: what it tells of itself to a model and of one call to the user, and what it does.

use std::{future::Future, marker::PhantomData, pin::Pin};

use nudge_model::{ToolCall, ToolSpec};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{ToolOutcome, input};
use crate::{
    session::{Halt, ToolRun},
    update,
};

/// What a model may call, wherever it comes from.
pub(crate) trait AgentTool: Send + Sync {
    /// The tool as a model is told of it.
    fn spec(&self) -> ToolSpec;

    /// Understands a call, or says why not.
    fn understand(&self, call: &ToolCall) -> Result<Box<dyn UnderstoodToolCall>, String>;
}

/// A call whose input has been understood.
pub(crate) trait UnderstoodToolCall: Send {
    /// The kind of tool in the protocol's words.
    fn kind(&self) -> &'static str;

    /// The call in a few words for the user.
    fn title(&self) -> String;

    /// The file or folder that it is about, and the line.
    fn location(&self) -> Option<(&str, Option<u32>)>;

    /// Does what is wanted.
    fn run<'a>(self: Box<Self>, run: &'a mut ToolRun<'_>) -> RunningTool<'a>;
}

/// What a tool does, until it is done.
pub(crate) type RunningTool<'a> = Pin<Box<dyn Future<Output = Result<ToolOutcome, Halt>> + Send + 'a>>;

/// A tool that is built in: its input, what is said of it, and what is done when it is called. One such type in a file of its own
/// and a row in [`ToolSet::built_in`](super::ToolSet::built_in) make a tool.
pub(crate) trait ToolInput: DeserializeOwned + Send + 'static {
    /// What a model calls it.
    const NAME: &'static str;
    /// What it does, for a model.
    const DESCRIPTION: &'static str;
    /// The kind of tool in the protocol's words.
    const KIND: &'static str;
    /// The fields without which a call makes no sense.
    const REQUIRED: &'static [&'static str];

    /// The JSON Schema of each field.
    fn properties() -> Value;

    /// One call, in a few words for the user.
    fn title(&self) -> String;

    /// The file or folder that a call is about, and the line.
    fn location(&self) -> Option<(&str, Option<u32>)> {
        None
    }

    /// Does what is wanted. What changes something asks by [`ToolRun::permit`] first; what runs says so by [`ToolRun::begin`].
    fn run(self, run: &mut ToolRun<'_>) -> impl Future<Output = Result<ToolOutcome, Halt>> + Send;
}

/// A built-in tool among others.
pub(super) struct BuiltInTool<T>(PhantomData<fn() -> T>);

impl<T> BuiltInTool<T> {
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: ToolInput> AgentTool for BuiltInTool<T> {
    fn spec(&self) -> ToolSpec {
        let schema = json!({ "type": "object", "properties": T::properties(), "required": T::REQUIRED });
        ToolSpec {
            name: T::NAME.to_owned(),
            description: T::DESCRIPTION.to_owned(),
            input: update::raw(&schema),
        }
    }

    fn understand(&self, call: &ToolCall) -> Result<Box<dyn UnderstoodToolCall>, String> {
        Ok(Box::new(input::<T>(call)?))
    }
}

impl<T: ToolInput> UnderstoodToolCall for T {
    fn kind(&self) -> &'static str {
        T::KIND
    }

    fn title(&self) -> String {
        ToolInput::title(self)
    }

    fn location(&self) -> Option<(&str, Option<u32>)> {
        ToolInput::location(self)
    }

    fn run<'a>(self: Box<Self>, run: &'a mut ToolRun<'_>) -> RunningTool<'a> {
        Box::pin(ToolInput::run(*self, run))
    }
}

pub(super) fn path_field(what: &str) -> Value {
    text_field(&format!("{what}, relative to the workspace or absolute"))
}

pub(super) fn number_field(what: &str) -> Value {
    json!({ "type": "integer", "minimum": 1, "description": what })
}

pub(super) fn flag_field(what: &str) -> Value {
    json!({ "type": "boolean", "description": what })
}

pub(super) fn text_field(what: &str) -> Value {
    json!({ "type": "string", "description": what })
}

/// One short line of a text that may be anything.
pub(super) fn brief(text: &str) -> String {
    const MOST: usize = 80;
    let line = text.trim().lines().next().unwrap_or_default();
    let mut short: String = line.chars().filter(|c| !c.is_control()).take(MOST).collect();
    if short.len() < text.trim().len() {
        short.push('…');
    }
    short
}
