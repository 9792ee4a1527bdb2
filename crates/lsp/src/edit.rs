//! Suggestions as workspace edits, in the richest form the editor takes.

use nudge_text::Text;
use nudge_wire::nes::{Range, TextEdit};
use regex::{NoExpand, Regex, RegexBuilder};
use serde_json::{Value, json};

use crate::{
    closed::UnopenedTexts,
    mirror::{MirroredDocument, position},
    session::LspSessionState,
    suggest::{DocumentEdits, LspSuggestion, SuggestionAction},
};

/// The most hits a search and replace may have to be made into an edit.
const HITS: usize = 10_000;

/// What a suggestion of any kind changes.
pub(crate) fn any(
    inner: &LspSessionState,
    closed: &UnopenedTexts,
    suggestion: &LspSuggestion,
) -> Option<Value> {
    if let SuggestionAction::Edit { edits, .. } = &suggestion.act {
        let own =
            DocumentEdits { uri: suggestion.uri.clone(), version: suggestion.version, edits: edits.clone() };
        return Some(workspace_edit(inner, &[own], None));
    }
    whole(inner, closed, suggestion)
}

/// What a suggestion of more than edits changes. The editor shows it before it makes it, if it can.
pub(crate) fn whole(
    inner: &LspSessionState,
    closed: &UnopenedTexts,
    suggestion: &LspSuggestion,
) -> Option<Value> {
    let changes = match &suggestion.act {
        SuggestionAction::Edit { .. } | SuggestionAction::Jump { .. } => return None,
        SuggestionAction::Rename { changes, .. } => {
            changes.iter().map(|change| current(inner, change)).collect()
        }
        SuggestionAction::Replace { search, replace, is_regex } => {
            let pattern = if *is_regex { search.clone() } else { regex::escape(search) };
            let pattern = RegexBuilder::new(&pattern).multi_line(true).size_limit(1 << 20).build().ok()?;
            let (uri, version) = (suggestion.uri.clone(), suggestion.version);
            let open = inner.mirror.get(&uri);
            if !open.is_none_or(MirroredDocument::in_sync) {
                return None;
            }
            let text = open.map(MirroredDocument::text).or_else(|| closed.get(&uri))?;
            let edits = hits(inner, text, &pattern, replace, *is_regex)?;
            Some(vec![DocumentEdits { uri, version, edits }])
        }
    };
    let changes: Vec<_> = changes.filter(|changes: &Vec<_>| !changes.is_empty())?;
    Some(workspace_edit(inner, &changes, Some(&suggestion.reason)))
}

/// A change of a text that the editor still has.
fn current(inner: &LspSessionState, change: &DocumentEdits) -> Option<DocumentEdits> {
    let open = inner.mirror.get(&change.uri);
    let is_current =
        open.map(MirroredDocument::version) == change.version && open.is_none_or(MirroredDocument::in_sync);
    is_current.then(|| change.clone())
}

/// The edits that put `replace` in the place of every hit.
fn hits(
    inner: &LspSessionState,
    text: &Text,
    pattern: &Regex,
    replace: &str,
    is_regex: bool,
) -> Option<Vec<TextEdit>> {
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
        let range = Range::new(position(text, all.start(), encoding), position(text, all.end(), encoding));
        edits.push(TextEdit::new(range, new));
        if edits.len() > HITS {
            return None;
        }
    }
    (!edits.is_empty()).then_some(edits)
}

fn workspace_edit(inner: &LspSessionState, changes: &[DocumentEdits], to_confirm: Option<&str>) -> Value {
    let offers = inner.editor.offers;
    if !offers.document_changes {
        let changes = changes.iter().map(|change| (change.uri.clone(), json!(change.edits)));
        return json!({ "changes": changes.collect::<serde_json::Map<_, _>>() });
    }
    let annotate = to_confirm.filter(|_| offers.annotations);
    let document = |change: &DocumentEdits| {
        let mut edits = json!(change.edits);
        for edit in edits.as_array_mut().into_iter().flatten().filter(|_| annotate.is_some()) {
            edit["annotationId"] = json!("nudge");
        }
        json!({ "textDocument": { "uri": change.uri, "version": change.version }, "edits": edits })
    };
    let mut whole = json!({ "documentChanges": changes.iter().map(document).collect::<Vec<_>>() });
    if let Some(reason) = annotate {
        whole["changeAnnotations"] =
            json!({ "nudge": { "label": "Next edit", "description": reason, "needsConfirmation": true } });
    }
    whole
}
