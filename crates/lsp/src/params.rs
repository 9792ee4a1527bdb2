//! What editors say, as far as it is looked at.

use nudge_wire::{
    document::ContentChange,
    nes::{Position, Range},
};
use serde::Deserialize;
use serde_json::Value;

/// A document named by its address, with its version where the editor says it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Named {
    pub(crate) uri: String,
    #[serde(default)]
    pub(crate) version: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DidOpen {
    pub(crate) text_document: Opened,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Opened {
    pub(crate) uri: String,
    #[serde(default)]
    pub(crate) language_id: String,
    pub(crate) version: i64,
    pub(crate) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DidChange {
    pub(crate) text_document: Changed,
    pub(crate) content_changes: Vec<ContentChange>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Changed {
    pub(crate) uri: String,
    pub(crate) version: i64,
}

/// What stands for a message that could not be read, or follows one that was mended: the document it was about.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Unread {
    #[serde(default)]
    pub(crate) uri: Option<String>,
}

/// What stands for a request that could not be read.
#[derive(Debug, Deserialize)]
pub(crate) struct Failure {
    pub(crate) message: String,
}

/// `didClose` and `didSave`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct About {
    pub(crate) text_document: Named,
}

/// A place in a document: `textDocument/inlineCompletion`, `textDocument/copilotInlineEdit`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct At {
    pub(crate) text_document: Named,
    pub(crate) position: Position,
    #[serde(default)]
    pub(crate) context: Option<InlineContext>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InlineContext {
    /// 1 when the user asked, else automatic.
    #[serde(default)]
    pub(crate) trigger_kind: Value,
}

/// `nudge/suggest`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Suggest {
    pub(crate) text_document: Named,
    pub(crate) position: Position,
    #[serde(default)]
    pub(crate) selection: Option<Range>,
    #[serde(default)]
    pub(crate) visible: Option<Range>,
    #[serde(default)]
    pub(crate) trigger: Option<String>,
}

/// `nudge/didFocus` and `textDocument/didFocus`; the latter may name nothing, or the document in another way.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DidFocus {
    #[serde(default)]
    pub(crate) text_document: Option<Named>,
    #[serde(default)]
    pub(crate) uri: Option<String>,
    #[serde(default)]
    pub(crate) position: Option<Position>,
    #[serde(default)]
    pub(crate) visible: Option<Range>,
}

/// `nudge/accept` and `nudge/reject`.
#[derive(Debug, Deserialize)]
pub(crate) struct Verdict {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) part: Option<String>,
    #[serde(default)]
    pub(crate) reason: Option<String>,
}

/// `nudge/diagnostics`.
#[derive(Debug, Deserialize)]
pub(crate) struct Diagnostics {
    pub(crate) uri: String,
    #[serde(default)]
    pub(crate) version: Option<i64>,
    #[serde(rename = "diagnostics")]
    pub(crate) all: Vec<Diagnostic>,
}

/// A diagnostic as LSP has it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Diagnostic {
    pub(crate) range: Range,
    #[serde(default)]
    pub(crate) severity: Option<u8>,
    #[serde(default)]
    pub(crate) message: Value,
}

/// `textDocument/codeAction`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CodeAction {
    pub(crate) text_document: Named,
    pub(crate) range: Range,
    pub(crate) context: CodeActionContext,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CodeActionContext {
    #[serde(default)]
    pub(crate) diagnostics: Vec<Value>,
    #[serde(default)]
    pub(crate) only: Option<Vec<String>>,
    /// 2 when the editor asks by itself.
    #[serde(default)]
    pub(crate) trigger_kind: Option<u8>,
}

/// `workspace/executeCommand`.
#[derive(Debug, Deserialize)]
pub(crate) struct Execute {
    pub(crate) command: String,
    #[serde(default)]
    pub(crate) arguments: Option<Vec<Value>>,
}

/// `workspace/didChangeConfiguration`.
#[derive(Debug, Deserialize)]
pub(crate) struct DidChangeConfiguration {
    #[serde(default)]
    pub(crate) settings: Value,
}
