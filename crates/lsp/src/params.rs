//! What editors say, as far as it is looked at.

use nudge_wire::{
    document::ContentChange,
    nes::{Position, Range},
};
use serde::Deserialize;
use serde_json::Value;

/// A document named by its address, with its version where the editor says it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LspDocumentId {
    pub(crate) uri: String,
    #[serde(default)]
    pub(crate) version: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LspDidOpen {
    pub(crate) text_document: LspDocumentItem,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LspDocumentItem {
    pub(crate) uri: String,
    #[serde(default)]
    pub(crate) language_id: String,
    pub(crate) version: i64,
    pub(crate) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LspDidChange {
    pub(crate) text_document: LspChangedDocument,
    pub(crate) content_changes: Vec<ContentChange>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct LspChangedDocument {
    pub(crate) uri: String,
    pub(crate) version: i64,
}

/// What stands for a message that could not be read, or follows one that was mended: the document it was about.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct UnreadMessage {
    #[serde(default)]
    pub(crate) uri: Option<String>,
}

/// What stands for a request that could not be read.
#[derive(Debug, Deserialize)]
pub(crate) struct UnreadRequest {
    pub(crate) message: String,
}

/// `didClose` and `didSave`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LspDocumentParams {
    pub(crate) text_document: LspDocumentId,
}

/// A place in a document: `textDocument/inlineCompletion`, `textDocument/copilotInlineEdit`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LspPositionParams {
    pub(crate) text_document: LspDocumentId,
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
pub(crate) struct LspSuggestParams {
    pub(crate) text_document: LspDocumentId,
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
pub(crate) struct LspDidFocus {
    #[serde(default)]
    pub(crate) text_document: Option<LspDocumentId>,
    #[serde(default)]
    pub(crate) uri: Option<String>,
    #[serde(default)]
    pub(crate) position: Option<Position>,
    #[serde(default)]
    pub(crate) visible: Option<Range>,
}

/// `nudge/accept` and `nudge/reject`.
#[derive(Debug, Deserialize)]
pub(crate) struct LspVerdict {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) part: Option<String>,
    #[serde(default)]
    pub(crate) reason: Option<String>,
}

/// `nudge/diagnostics`.
#[derive(Debug, Deserialize)]
pub(crate) struct LspDiagnosticsParams {
    pub(crate) uri: String,
    #[serde(default)]
    pub(crate) version: Option<i64>,
    #[serde(rename = "diagnostics")]
    pub(crate) all: Vec<LspDiagnostic>,
}

/// A diagnostic as LSP has it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LspDiagnostic {
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
    pub(crate) text_document: LspDocumentId,
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
pub(crate) struct LspExecuteParams {
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
