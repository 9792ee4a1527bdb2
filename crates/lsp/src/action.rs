//! Code actions: the next edit for editors that show nothing else, and suggestions as workspace edits.

use std::sync::Arc;

use futures_util::FutureExt;
use nudge_wire::nes::{Diagnostic, TextEdit, TriggerKind};
use regex::{NoExpand, Regex, RegexBuilder};
use serde_json::{Value, json};

use crate::{
    ask::{self, Ask},
    desk::{Desk, Inner},
    inline::accept,
    mirror::{self, position},
    params::{self, CodeAction},
    server::{Answering, now},
    suggest::{Act, Suggestion},
};

/// The kind of the code actions.
pub(crate) const KIND: &str = "refactor.nudge";

/// LSP's trigger kind of an editor that asks by itself, to show that there is something.
const BY_ITSELF: u8 = 2;

/// The most hits a search and replace may have to be made into an edit.
const HITS: usize = 10_000;

pub(crate) fn actions(desk: &Arc<Desk>, params: CodeAction) -> Answering {
    let CodeAction { text_document, range, context } = params;
    if !context.only.as_ref().is_none_or(|only| only.iter().any(|kind| covers(kind))) {
        return now(json!([]));
    }
    let is_asked = context.trigger_kind != Some(BY_ITSELF);
    let diagnostics = {
        let inner = desk.lock();
        let wanted = inner.settings.diagnostics_from_code_actions;
        let said = context.diagnostics.into_iter().filter(|_| wanted);
        said.filter_map(|said| diagnostic(&text_document.uri, said)).collect()
    };
    let place = json!([text_document.uri, range.start]);
    let selection = (range.start != range.end).then(|| range.clone());
    let asked = ask::ask_quietly(
        desk,
        Ask {
            uri: text_document.uri,
            version: text_document.version,
            position: range.start,
            selection,
            visible: None,
            trigger: if is_asked { TriggerKind::Manual } else { TriggerKind::Automatic },
            diagnostics,
        },
    );
    let desk = Arc::clone(desk);
    async move {
        let answer = asked.await?;
        let inner = desk.lock();
        let offered = answer.suggestions.iter().filter_map(|suggestion| action(&inner, suggestion, &place));
        Ok(Value::Array(offered.collect()))
    }
    .boxed()
}

/// Whether a kind that is asked for is ours or one above it.
fn covers(kind: &str) -> bool {
    kind.is_empty() || KIND.strip_prefix(kind).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn diagnostic(uri: &str, said: Value) -> Option<Diagnostic> {
    let said: params::Diagnostic = serde_json::from_value(said).ok()?;
    Some(Diagnostic::new(uri, said.range, mirror::severity(said.severity), mirror::message(&said.message)))
}

fn action(inner: &Inner, suggestion: &Suggestion, place: &Value) -> Option<Value> {
    let reason = &suggestion.reason;
    if let Act::Jump { .. } = suggestion.act {
        let arguments = json!([place[0], place[1], suggestion.id]);
        let title = format!("Go to next edit: {reason}");
        let command = json!({ "title": title, "command": "nudge.goToNextEdit", "arguments": arguments });
        return Some(json!({ "title": title, "kind": KIND, "command": command }));
    }
    let edit = whole_edit(inner, suggestion).or_else(|| own_edit(inner, suggestion))?;
    Some(json!({
        "title": format!("Apply next edit: {reason}"),
        "kind": KIND,
        "edit": edit,
        "command": accept(suggestion),
    }))
}

/// An edit suggestion as a workspace edit.
pub(crate) fn own_edit(inner: &Inner, suggestion: &Suggestion) -> Option<Value> {
    let Act::Edit { edits, .. } = &suggestion.act else { return None };
    Some(workspace_edit(inner, &suggestion.uri, suggestion.version, edits, None))
}

/// A suggestion of more than edits as a workspace edit, which the editor shows before it makes it if it can.
pub(crate) fn whole_edit(inner: &Inner, suggestion: &Suggestion) -> Option<Value> {
    let Act::Replace { search, replace, is_regex } = &suggestion.act else { return None };
    let pattern = if *is_regex { search.clone() } else { regex::escape(search) };
    let pattern = RegexBuilder::new(&pattern).multi_line(true).size_limit(1 << 20).build().ok()?;
    let edits = hits(inner, &suggestion.uri, &pattern, replace, *is_regex)?;
    Some(workspace_edit(inner, &suggestion.uri, suggestion.version, &edits, Some(&suggestion.reason)))
}

/// The edits that put `replace` in the place of every hit in a document that is open.
fn hits(inner: &Inner, uri: &str, pattern: &Regex, replace: &str, is_regex: bool) -> Option<Vec<TextEdit>> {
    let text = inner.mirror.get(uri)?.text();
    let whole = text.to_string();
    let encoding = inner.mirror.encoding();
    let mut edits = Vec::new();
    for found in pattern.captures_iter(&whole) {
        let all = found.get(0)?;
        let mut new = String::new();
        if is_regex {
            found.expand(replace, &mut new);
        } else {
            regex::Replacer::replace_append(&mut NoExpand(replace), &found, &mut new);
        }
        let range = nudge_wire::nes::Range::new(
            position(text, all.start(), encoding),
            position(text, all.end(), encoding),
        );
        edits.push(TextEdit::new(range, new));
        if edits.len() > HITS {
            return None;
        }
    }
    (!edits.is_empty()).then_some(edits)
}

/// A workspace edit in the richest form the editor takes.
fn workspace_edit(
    inner: &Inner,
    uri: &str,
    version: Option<i64>,
    edits: &[TextEdit],
    to_confirm: Option<&str>,
) -> Value {
    let offers = inner.editor.offers;
    if !offers.document_changes {
        return json!({ "changes": { uri: edits } });
    }
    let annotate = to_confirm.filter(|_| offers.annotations);
    let mut edits = json!(edits);
    if annotate.is_some() {
        for edit in edits.as_array_mut().into_iter().flatten() {
            edit["annotationId"] = json!("nudge");
        }
    }
    let document = json!({ "uri": uri, "version": version });
    let mut whole = json!({ "documentChanges": [{ "textDocument": document, "edits": edits }] });
    if let Some(reason) = annotate {
        whole["changeAnnotations"] =
            json!({ "nudge": { "label": "Next edit", "description": reason, "needsConfirmation": true } });
    }
    whole
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
