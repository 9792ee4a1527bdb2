//! How the tools are described to a model.

use nudge_model::ToolSpec;
use serde_json::{Value, json};

use crate::update;

/// All tools.
pub(crate) fn specs() -> Vec<ToolSpec> {
    let path = |what: &str| json!({ "type": "string", "description": format!("{what}, relative to the workspace or absolute") });
    let number = |what: &str| json!({ "type": "integer", "minimum": 1, "description": what });
    let flag = |what: &str| json!({ "type": "boolean", "description": what });
    let text = |what: &str| json!({ "type": "string", "description": what });
    vec![
        spec(
            "read",
            "Reads a text file.",
            &["path"],
            &json!({ "path": path("The file"), "line": number("The first line"), "limit": number("How many lines") }),
        ),
        spec(
            "list",
            "Lists a folder. Ignored files are left out.",
            &[],
            &json!({ "path": path("The folder"), "depth": number("How many folders deep; 1 unless given") }),
        ),
        spec(
            "search",
            "Searches text files of any size for a pattern, line by line. Ignored files are left out; what else could not be searched is said at the end.",
            &["pattern"],
            &json!({
                "pattern": text("What to look for"),
                "path": path("Where to look"),
                "regex": flag("Whether the pattern is a regular expression"),
                "ignore_case": flag("Whether case does not matter"),
            }),
        ),
        spec(
            "write",
            "Writes a whole text file, new or not.",
            &["path", "content"],
            &json!({ "path": path("The file"), "content": text("The whole text") }),
        ),
        spec(
            "edit",
            "Replaces a text in a file by another. It must be in the file exactly once, unless `all` is set.",
            &["path", "old", "new"],
            &json!({
                "path": path("The file"),
                "old": text("The text to be replaced, exactly"),
                "new": text("The text in its place"),
                "all": flag("Whether every occurrence is meant"),
            }),
        ),
        spec(
            "run",
            "Runs a command line with sh in the workspace. Whatever it leaves running is stopped when it ends.",
            &["command"],
            &json!({ "command": text("The command line"), "timeout_seconds": number("When to stop it") }),
        ),
    ]
}

fn spec(name: &str, description: &str, required: &[&str], properties: &Value) -> ToolSpec {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    ToolSpec { name: name.to_owned(), description: description.to_owned(), input: update::raw(&schema) }
}
