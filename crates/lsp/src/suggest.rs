//! A suggestion as a value, and as `nudge/suggest` says it.

use nudge_wire::nes::{Position, TextEdit, v2};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// One thing the user might do next.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LspSuggestion {
    /// Unique for as long as the editor runs.
    pub(crate) id: String,
    pub(crate) uri: String,
    /// The version of the document that the positions are about; `None` if it is not open in the editor.
    pub(crate) version: Option<i64>,
    pub(crate) act: SuggestionAction,
    pub(crate) reason: String,
    pub(crate) predictor: String,
    pub(crate) confidence: f64,
}

/// What a suggestion does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SuggestionAction {
    Edit {
        /// In the order of the text, none over another.
        edits: Vec<TextEdit>,
        cursor: Option<Position>,
    },
    Jump {
        position: Position,
    },
    Rename {
        position: Position,
        name: String,
        /// The edits it comes to, as far as they are known.
        changes: Vec<DocumentEdits>,
    },
    Replace {
        search: String,
        replace: String,
        is_regex: bool,
    },
}

/// The edits of one document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DocumentEdits {
    pub(crate) uri: String,
    /// As with [`LspSuggestion`].
    pub(crate) version: Option<i64>,
    pub(crate) edits: Vec<TextEdit>,
}

impl SuggestionAction {
    /// Whether it writes U+FFFD. That stands for what could not be read, so the text may have something else there.
    pub(crate) fn has_replacement_character(&self) -> bool {
        let writes = |edits: &[TextEdit]| edits.iter().any(|edit| edit.new_text.contains('\u{fffd}'));
        match self {
            Self::Edit { edits, .. } => writes(edits),
            Self::Jump { .. } => false,
            Self::Rename { changes, .. } => changes.iter().any(|change| writes(&change.edits)),
            Self::Replace { replace, .. } => replace.contains('\u{fffd}'),
        }
    }
}

impl LspSuggestion {
    /// What the other side said, under an id of ours; `None` for a kind that is not known here.
    pub(crate) fn new(
        id: String,
        said: v2::Suggestion,
        version_of: impl Fn(&str) -> Option<i64>,
    ) -> Option<Self> {
        let (uri, meta, act) = match said {
            v2::Suggestion::Edit(edit) => (
                edit.uri,
                edit.meta,
                SuggestionAction::Edit { edits: edit.edits, cursor: edit.cursor_position },
            ),
            v2::Suggestion::Jump(jump) => {
                (jump.uri, jump.meta, SuggestionAction::Jump { position: jump.position })
            }
            v2::Suggestion::Rename(rename) => {
                let changes = changes(rename.meta.as_ref(), &version_of);
                let act =
                    SuggestionAction::Rename { position: rename.position, name: rename.new_name, changes };
                (rename.uri, rename.meta, act)
            }
            v2::Suggestion::SearchAndReplace(all) => {
                let is_regex = all.is_regex.unwrap_or(false);
                (
                    all.uri,
                    all.meta,
                    SuggestionAction::Replace { search: all.search, replace: all.replace, is_regex },
                )
            }
            v2::Suggestion::Other(_) => return None,
        };
        let about = about(meta.as_ref());
        let text = |name: &str| about[name].as_str().unwrap_or_default().to_owned();
        Some(Self {
            id,
            version: version_of(&uri),
            uri,
            act,
            reason: text("reason"),
            predictor: text("predictor"),
            confidence: about["confidence"].as_f64().unwrap_or(0.5),
        })
    }

    /// As `nudge/suggest` says it. `edit` is the whole of it as a workspace edit, where it is more than one document's
    /// edits.
    pub(crate) fn to_json(&self, edit: Option<&Value>) -> Value {
        let Self { id, uri, version, act, reason, predictor, confidence } = self;
        let own = match act {
            SuggestionAction::Edit { edits, cursor } => {
                json!({ "kind": "edit", "version": version, "edits": edits, "cursor": cursor })
            }
            SuggestionAction::Jump { position } => json!({ "kind": "jump", "position": position }),
            SuggestionAction::Rename { position, name, .. } => {
                json!({ "kind": "rename", "position": position, "newName": name, "edit": edit })
            }
            SuggestionAction::Replace { search, replace, is_regex } => json!({
                "kind": "searchAndReplace", "search": search, "replace": replace, "isRegex": is_regex, "edit": edit,
            }),
        };
        let mut said = json!({ "id": id, "uri": uri });
        let shared = json!({ "reason": reason, "predictor": predictor, "confidence": confidence });
        let said_members = said.as_object_mut().expect("written as an object above");
        for members in [own, shared] {
            let Value::Object(members) = members else { continue };
            said_members.extend(without_null_cursor(members));
        }
        said
    }
}

/// What the other side says of a suggestion beside what the protocol has.
fn about(meta: Option<&Map<String, Value>>) -> &Value {
    meta.and_then(|meta| meta.get("nudge")).unwrap_or(&Value::Null)
}

/// The edits that a rename comes to. Some of them are worse than none.
fn changes(
    meta: Option<&Map<String, Value>>,
    version_of: impl Fn(&str) -> Option<i64>,
) -> Vec<DocumentEdits> {
    let said = about(meta)["changes"].as_object().into_iter().flatten();
    let change = |(uri, edits): (&String, &Value)| {
        let edits = Vec::<TextEdit>::deserialize(edits).ok()?;
        Some(DocumentEdits { version: version_of(uri), uri: uri.clone(), edits })
    };
    said.map(change).collect::<Option<_>>().unwrap_or_default()
}

/// A cursor that is not known is not said.
fn without_null_cursor(mut members: Map<String, Value>) -> Map<String, Value> {
    if members.get("cursor").is_some_and(Value::is_null) {
        members.shift_remove("cursor");
    }
    members
}
