//! What the editor says of itself in `initialize`, and what it is answered.

use nudge_text::Encoding;
use nudge_wire::nes::{PositionEncoding, WorkspaceFolder};
use serde_json::{Value, json};

use crate::command;

/// What an editor can do and where it works.
#[derive(Debug, Clone)]
pub(crate) struct EditorProfile {
    pub(crate) encoding: PositionEncoding,
    pub(crate) folders: Vec<WorkspaceFolder>,
    pub(crate) offers: EditorOffers,
}

/// What an editor offers beyond what all do.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub(crate) struct EditorOffers {
    /// Edits of a named version of a document.
    pub(crate) document_changes: bool,
    /// Edits that are shown before they are made.
    pub(crate) annotations: bool,
    pub(crate) show_document: bool,
    pub(crate) configuration: bool,
    /// Whether it wants to be told that changes of settings are wanted.
    pub(crate) registers_configuration: bool,
}

impl Default for EditorProfile {
    fn default() -> Self {
        Self { encoding: PositionEncoding::Utf16, folders: Vec::new(), offers: EditorOffers::default() }
    }
}

impl EditorProfile {
    /// Reads the params of `initialize`. What cannot be read counts as not said.
    pub(crate) fn new(params: &Value) -> Self {
        let (general, workspace) = (&params["capabilities"]["general"], &params["capabilities"]["workspace"]);
        let is = |value: &Value| value.as_bool() == Some(true);
        let offered = general["positionEncodings"].as_array().into_iter().flatten();
        let offered: Vec<_> = offered.filter_map(Value::as_str).map(PositionEncoding::from).collect();
        let edit = &workspace["workspaceEdit"];
        Self {
            encoding: PositionEncoding::choose(&offered),
            folders: folders(params),
            offers: EditorOffers {
                document_changes: is(&edit["documentChanges"]),
                annotations: is(&edit["documentChanges"]) && edit["changeAnnotationSupport"].is_object(),
                show_document: is(&params["capabilities"]["window"]["showDocument"]["support"]),
                configuration: is(&workspace["configuration"]),
                registers_configuration: is(&workspace["didChangeConfiguration"]["dynamicRegistration"]),
            },
        }
    }

    /// The encoding in which positions are counted.
    pub(crate) fn units(&self) -> Encoding {
        match self.encoding {
            PositionEncoding::Utf8 => Encoding::Utf8,
            PositionEncoding::Utf32 => Encoding::Utf32,
            PositionEncoding::Utf16 | PositionEncoding::Other(_) => Encoding::Utf16,
        }
    }

    /// The result of `initialize`.
    pub(crate) fn welcome(&self, version: &str) -> Value {
        json!({
            "serverInfo": { "name": "nudge", "version": version },
            "capabilities": {
                "positionEncoding": self.encoding,
                "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
                "inlineCompletionProvider": {},
                "codeActionProvider": { "codeActionKinds": [crate::action::KIND] },
                "executeCommandProvider": { "commands": command::NAMES },
                "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
                "experimental": { "nudge": { "suggest": true } },
            },
        })
    }
}

/// The folders of the workspace; editors say one in three ways.
fn folders(params: &Value) -> Vec<WorkspaceFolder> {
    let said = params["workspaceFolders"].as_array().into_iter().flatten();
    let said: Vec<_> = said.filter_map(folder).collect();
    if !said.is_empty() {
        return said;
    }
    let path = || {
        params["rootPath"].as_str().filter(|path| path.starts_with('/')).map(|path| format!("file://{path}"))
    };
    let root = params["rootUri"].as_str().map(ToOwned::to_owned).or_else(path);
    root.map(|uri| WorkspaceFolder::new(uri, "root")).into_iter().collect()
}

/// A folder as LSP says it.
pub(crate) fn folder(said: &Value) -> Option<WorkspaceFolder> {
    let uri = said["uri"].as_str()?;
    Some(WorkspaceFolder::new(uri, said["name"].as_str().unwrap_or_default()))
}
