//! Code actions: the next edit for editors that show nothing else.

use std::sync::Arc;

use futures_util::FutureExt;
use nudge_wire::nes::{Diagnostic, TriggerKind};
use serde_json::{Value, json};

use crate::{
    ask::{self, NextEditQuestion},
    closed::UnopenedTexts,
    edit,
    inline::accept,
    mirror,
    params::{self, CodeAction},
    server::{LspAnswer, now},
    session::{LspSession, LspSessionState},
    suggest::{LspSuggestion, SuggestionAction},
};

/// The kind of the code actions.
pub(crate) const KIND: &str = "refactor.nudge";

/// LSP's trigger kind of an editor that asks by itself, to show that there is something.
const BY_ITSELF: u8 = 2;

pub(crate) fn actions(lsp: &Arc<LspSession>, params: CodeAction) -> LspAnswer {
    let CodeAction { text_document, range, context } = params;
    if !context.only.as_ref().is_none_or(|only| only.iter().any(|kind| covers(kind))) {
        return now(json!([]));
    }
    let is_asked = context.trigger_kind != Some(BY_ITSELF);
    let diagnostics = {
        let inner = lsp.lock();
        let wanted = inner.settings.diagnostics_from_code_actions;
        let said = context.diagnostics.into_iter().filter(|_| wanted);
        said.filter_map(|said| diagnostic(&text_document.uri, said)).collect()
    };
    let place = json!([text_document.uri, range.start]);
    let selection = (range.start != range.end).then(|| range.clone());
    let asked = ask::ask_quietly(
        lsp,
        NextEditQuestion {
            uri: text_document.uri,
            version: text_document.version,
            position: range.start,
            selection,
            visible: None,
            trigger: if is_asked { TriggerKind::Manual } else { TriggerKind::Automatic },
            diagnostics,
        },
    );
    let lsp = Arc::clone(lsp);
    async move {
        let answer = asked.await?;
        let closed = UnopenedTexts::read(&lsp, &answer.suggestions).await;
        let inner = lsp.lock();
        let action = |suggestion| action(&inner, &closed, suggestion, &place);
        let offered = answer.suggestions.iter().filter_map(action);
        Ok(Value::Array(offered.collect()))
    }
    .boxed()
}

/// Whether a kind that is asked for is ours or one above it.
fn covers(kind: &str) -> bool {
    kind.is_empty() || KIND.strip_prefix(kind).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn diagnostic(uri: &str, said: Value) -> Option<Diagnostic> {
    let said: params::LspDiagnostic = serde_json::from_value(said).ok()?;
    Some(Diagnostic::new(uri, said.range, mirror::severity(said.severity), mirror::message(&said.message)))
}

fn action(
    inner: &LspSessionState,
    closed: &UnopenedTexts,
    suggestion: &LspSuggestion,
    place: &Value,
) -> Option<Value> {
    let reason = &suggestion.reason;
    if let SuggestionAction::Jump { .. } = suggestion.act {
        if !inner.editor.offers.show_document {
            return None;
        }
        let arguments = json!([place[0], place[1], suggestion.id]);
        let title = format!("Go to next edit: {reason}");
        let command = json!({ "title": title, "command": "nudge.goToNextEdit", "arguments": arguments });
        return Some(json!({ "title": title, "kind": KIND, "command": command }));
    }
    let title = match &suggestion.act {
        SuggestionAction::Rename { name, .. } => format!("Rename to {name}: {reason}"),
        _ if place[0] == suggestion.uri => format!("Apply next edit: {reason}"),
        _ => format!("Apply next edit in {}: {reason}", name_of(&suggestion.uri)),
    };
    Some(json!({
        "title": title,
        "kind": KIND,
        "edit": edit::any(inner, closed, suggestion)?,
        "command": accept(suggestion),
    }))
}

/// The name of a file, as people say it.
fn name_of(uri: &str) -> &str {
    uri.rsplit('/').next().unwrap_or(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_is_asked_for_is_ours_or_above_it() {
        for (kind, expected) in [
            ("", true),
            ("refactor", true),
            ("refactor.nudge", true),
            ("refactor.nudge.more", false),
            ("refactor.n", false),
            ("quickfix", false),
            ("source.organizeImports", false),
        ] {
            assert_eq!(covers(kind), expected, "{kind}");
        }
    }
}
