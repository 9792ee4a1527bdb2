//! `textDocument/copilotInlineEdit`: edits anywhere in the document, in the shape that plugins for Neovim
//! (copilot-lsp, sidekick.nvim) ask for.

use std::sync::Arc;

use futures_util::FutureExt;
use nudge_wire::nes::TriggerKind;
use serde_json::{Value, json};

use crate::{
    ask::{self, NextEditQuestion},
    inline::accept,
    params::LspPositionParams,
    server::LspAnswer,
    session::LspSession,
    suggest::{LspSuggestion, SuggestionAction},
};

pub(crate) fn edit(lsp: &Arc<LspSession>, at: LspPositionParams) -> LspAnswer {
    let uri = at.text_document.uri;
    let asked = ask::ask_quietly(
        lsp,
        NextEditQuestion {
            uri: uri.clone(),
            version: at.text_document.version,
            position: at.position,
            selection: None,
            visible: None,
            // These plugins say that the user asked even when it was a keystroke.
            trigger: TriggerKind::Automatic,
            diagnostics: Vec::new(),
        },
    );
    async move {
        let answer = asked.await?;
        // These plugins show the edits of one suggestion, in the document they asked about.
        let first = answer.suggestions.iter().find(|suggestion| suggestion.uri == uri && is_edit(suggestion));
        Ok(json!({ "edits": first.map(edits).unwrap_or_default() }))
    }
    .boxed()
}

fn is_edit(suggestion: &LspSuggestion) -> bool {
    matches!(suggestion.act, SuggestionAction::Edit { .. })
}

fn edits(suggestion: &LspSuggestion) -> Vec<Value> {
    let SuggestionAction::Edit { edits, .. } = &suggestion.act else { return Vec::new() };
    let document = json!({ "uri": suggestion.uri, "version": suggestion.version });
    let say = |edit: &nudge_wire::nes::TextEdit| {
        json!({
            "text": edit.new_text,
            "range": edit.range,
            "textDocument": document,
            "command": accept(suggestion),
        })
    };
    edits.iter().map(say).collect()
}
