//! The answer to a request for suggestions, in the words of either version.

use std::sync::Arc;

use nudge_wire::nes::{Position, TextEdit, v1, v2};
use serde_json::{Map, Value, json};

/// What the user might do next, best first, or why there is nothing to say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NesAnswer {
    pub(crate) suggestions: Vec<PositionedSuggestion>,
    pub(crate) why_nothing: Option<&'static str>,
    /// Whether the client is told why.
    pub(crate) says_why: bool,
    /// What was not read of the workspace, if the client is told.
    pub(crate) left_out: Option<Arc<str>>,
}

/// One suggestion with its positions counted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PositionedSuggestion {
    pub(crate) id: String,
    pub(crate) uri: String,
    pub(crate) action: NesAction,
    pub(crate) predictor: &'static str,
    pub(crate) reason: String,
    pub(crate) confidence: f32,
}

/// What a suggestion does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NesAction {
    Edit {
        edits: Vec<TextEdit>,
        cursor: Position,
    },
    Jump {
        position: Position,
    },
    Rename {
        position: Position,
        name: String,
        /// Which edits it comes to, by document; empty if that is not known.
        changes: Vec<(String, Vec<TextEdit>)>,
    },
    Replace {
        search: String,
        replace: String,
        regex: bool,
    },
}

impl NesAnswer {
    /// Nothing, and why.
    pub(crate) fn nothing(why: &'static str, says_why: bool) -> Self {
        Self { why_nothing: Some(why), says_why, ..Self::default() }
    }

    fn meta(&self) -> Option<Map<String, Value>> {
        let mut said = Map::new();
        if let Some(why) = self.why_nothing.filter(|_| self.says_why) {
            said.insert("reason".to_owned(), json!(why));
        }
        if let Some(left_out) = &self.left_out {
            said.insert("notRead".to_owned(), json!(left_out));
        }
        (!said.is_empty()).then(|| nudge(Value::Object(said)))
    }
}

impl PositionedSuggestion {
    fn meta(&self) -> Map<String, Value> {
        // Two digits are as good as the estimate is.
        let confidence = (f64::from(self.confidence.clamp(0.0, 1.0)) * 100.0).round() / 100.0;
        let mut said =
            json!({ "predictor": self.predictor, "reason": self.reason, "confidence": confidence });
        if let NesAction::Rename { changes, .. } = &self.action
            && !changes.is_empty()
        {
            said["changes"] = changes.iter().map(|(uri, edits)| (uri.clone(), json!(edits))).collect();
        }
        nudge(said)
    }
}

fn nudge(value: Value) -> Map<String, Value> {
    Map::from_iter([("nudge".to_owned(), value)])
}

macro_rules! into {
    ($($version:ident)+) => {
        $(impl From<NesAnswer> for $version::SuggestResponse {
            fn from(response: NesAnswer) -> Self {
                let meta = response.meta();
                let mut written = Self::new(response.suggestions.into_iter().map(Into::into).collect());
                written.meta = meta;
                written
            }
        }

        impl From<PositionedSuggestion> for $version::Suggestion {
            fn from(answer: PositionedSuggestion) -> Self {
                use $version::{
                    EditSuggestion, JumpSuggestion, RenameSuggestion, SearchAndReplaceSuggestion,
                };
                let meta = Some(answer.meta());
                let PositionedSuggestion { id, uri, action, .. } = answer;
                match action {
                    NesAction::Edit { edits, cursor } => {
                        let suggestion = EditSuggestion::new(id, uri, edits);
                        Self::Edit(EditSuggestion { cursor_position: Some(cursor), meta, ..suggestion })
                    }
                    NesAction::Jump { position } => {
                        Self::Jump(JumpSuggestion { meta, ..JumpSuggestion::new(id, uri, position) })
                    }
                    NesAction::Rename { position, name, .. } => {
                        let suggestion = RenameSuggestion::new(id, uri, position, name);
                        Self::Rename(RenameSuggestion { meta, ..suggestion })
                    }
                    NesAction::Replace { search, replace, regex } => {
                        let suggestion = SearchAndReplaceSuggestion::new(id, uri, search, replace);
                        Self::SearchAndReplace(SearchAndReplaceSuggestion {
                            is_regex: Some(regex),
                            meta,
                            ..suggestion
                        })
                    }
                }
            }
        })+
    };
}

into! { v1 v2 }
