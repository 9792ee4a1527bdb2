//! What a tool tells of itself: to a model, and of one call to the user.

use nudge_model::ToolSpec;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::update;

/// The input of a tool, and what is said of the tool and of a call of it. A tool is one such type, a row in the table of tools,
/// and what is done when it is called.
pub(crate) trait ToolInput: DeserializeOwned {
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

    /// The tool as a model is told of it.
    fn spec() -> ToolSpec {
        let schema =
            json!({ "type": "object", "properties": Self::properties(), "required": Self::REQUIRED });
        ToolSpec {
            name: Self::NAME.to_owned(),
            description: Self::DESCRIPTION.to_owned(),
            input: update::raw(&schema),
        }
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
