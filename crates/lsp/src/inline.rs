//! `textDocument/inlineCompletion` of LSP 3.18: what can be shown as ghost text at the cursor.

use std::sync::Arc;

use futures_util::FutureExt;
use nudge_text::{Encoding, Text};
use nudge_wire::nes::{Position, TextEdit, TriggerKind};
use serde_json::{Value, json};

use crate::{
    ask::{self, NextEditQuestion},
    mirror::{bytes, offset},
    params::LspPositionParams,
    server::LspAnswer,
    session::{LspSession, LspSessionState},
    suggest::{LspSuggestion, SuggestionAction},
};

/// The trigger kind of LSP for a user who asks.
const INVOKED: u64 = 1;

pub(crate) fn complete(lsp: &Arc<LspSession>, at: LspPositionParams) -> LspAnswer {
    let is_asked = at.context.is_some_and(|context| context.trigger_kind.as_u64() == Some(INVOKED));
    let trigger = if is_asked { TriggerKind::Manual } else { TriggerKind::Automatic };
    let (uri, position) = (at.text_document.uri, at.position);
    let asked = ask::ask_quietly(
        lsp,
        NextEditQuestion {
            uri: uri.clone(),
            version: at.text_document.version,
            position: position.clone(),
            selection: None,
            visible: None,
            trigger,
            diagnostics: Vec::new(),
        },
    );
    let lsp = Arc::clone(lsp);
    async move {
        let answer = asked.await?;
        let inner = lsp.lock();
        let items =
            answer.suggestions.iter().filter_map(|suggestion| item(&inner, suggestion, &uri, &position));
        Ok(json!({ "items": items.collect::<Vec<_>>() }))
    }
    .boxed()
}

/// The part of a suggestion that is at the cursor.
fn item(inner: &LspSessionState, suggestion: &LspSuggestion, uri: &str, cursor: &Position) -> Option<Value> {
    let SuggestionAction::Edit { edits, .. } = &suggestion.act else { return None };
    let mirrored = inner.mirror.get(uri).filter(|_| suggestion.uri == uri)?;
    let edit = edits.iter().find(|edit| is_here(mirrored.text(), edit, cursor, inner.mirror.encoding()))?;
    Some(json!({
        "insertText": edit.new_text,
        "range": edit.range,
        "command": accept(suggestion),
    }))
}

/// What an editor runs after it has taken a suggestion.
pub(crate) fn accept(suggestion: &LspSuggestion) -> Value {
    json!({ "title": "Accept", "command": "nudge.accept", "arguments": [suggestion.id] })
}

/// Whether an edit changes nothing before the cursor and nothing outside its line.
fn is_here(text: &Text, edit: &TextEdit, cursor: &Position, encoding: Encoding) -> bool {
    if edit.range.start.line != cursor.line || edit.range.end.line != cursor.line {
        return false;
    }
    let (range, at) = (bytes(text, &edit.range, encoding), offset(text, cursor, encoding));
    let has_cursor = range.start <= at && at <= range.end;
    has_cursor && edit.new_text.starts_with(&*text.slice(range.start..at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nudge_wire::nes::Range;

    #[test]
    fn only_what_leaves_the_text_before_the_cursor_alone_is_ghost_text() {
        // The line, the range that is replaced, its new text, the cursor.
        let cases = [
            ("let x = fo", (8, 10), "foo(1)", 10, true),
            ("let x = ", (8, 8), "foo", 8, true),
            ("let x = fo", (8, 10), "bar", 10, false),
            ("let x = fo", (8, 10), "bar", 8, true),
            ("let x = fo", (4, 5), "y", 10, false),
            ("é🙂 = fo", (0, 2), "é🙃", 1, true),
            ("é🙂 = fo", (0, 2), "e🙃", 1, false),
        ];
        for (line, (start, end), new, cursor, expected) in cases {
            let range = Range::new(Position::new(0, start), Position::new(0, end));
            let edit = TextEdit::new(range, new);
            let is = is_here(&Text::new(line), &edit, &Position::new(0, cursor), Encoding::Utf32);
            assert_eq!(is, expected, "{line:?} {new:?}");
        }
    }

    #[test]
    fn more_than_the_cursors_line_is_not_ghost_text() {
        let text = Text::new("a\nb\n");
        let range = Range::new(Position::new(0, 1), Position::new(1, 1));
        assert!(!is_here(&text, &TextEdit::new(range, "x"), &Position::new(0, 1), Encoding::Utf16));
    }
}
