//! What was suggested lately, so that what the editor says about it can be passed on.

use std::{
    collections::{HashMap, VecDeque},
    fmt::Write,
};

use crate::suggest::{LspSuggestion, SuggestionAction};

/// How many are remembered.
const REMEMBERED: usize = 256;

/// The suggestions made lately, and what the user did not want.
#[derive(Debug, Default)]
pub(crate) struct OfferedSuggestions {
    made: VecDeque<MadeSuggestion>,
    /// By what they do, with the connection over which it was refused.
    refused: HashMap<String, u64>,
}

/// A suggestion that was made.
#[derive(Debug, Clone)]
pub(crate) struct MadeSuggestion {
    /// The connection it came over; its own id means something only there.
    pub(crate) generation: u64,
    pub(crate) own_id: String,
    pub(crate) suggestion: LspSuggestion,
    /// What it does, in words that stay the same on another connection.
    effect: String,
    is_settled: bool,
}

impl OfferedSuggestions {
    /// The id under which the editor knows a suggestion.
    pub(crate) fn id(generation: u64, own_id: &str) -> String {
        format!("{generation}.{own_id}")
    }

    /// Enters a suggestion. `effect` says what it does, see [`effect`].
    pub(crate) fn enter(
        &mut self,
        generation: u64,
        own_id: String,
        suggestion: LspSuggestion,
        effect: String,
    ) {
        self.made.retain(|made| made.suggestion.id != suggestion.id);
        if self.made.len() == REMEMBERED {
            self.made.pop_front();
        }
        self.made.push_back(MadeSuggestion { generation, own_id, suggestion, effect, is_settled: false });
    }

    pub(crate) fn find(&self, id: &str) -> Option<&MadeSuggestion> {
        self.made.iter().rev().find(|made| made.suggestion.id == id)
    }

    /// Whether the user has refused the same over an earlier connection. Over this one the other side knows it itself.
    pub(crate) fn is_refused(&self, effect: &str, generation: u64) -> bool {
        self.refused.get(effect).is_some_and(|refused| *refused != generation)
    }

    /// The user has decided: the suggestion if this is the first word about it.
    pub(crate) fn settle(&mut self, id: &str, is_refusal: bool) -> Option<MadeSuggestion> {
        let made = self.made.iter_mut().rev().find(|made| made.suggestion.id == id)?;
        if std::mem::replace(&mut made.is_settled, true) {
            return None;
        }
        let made = made.clone();
        if is_refusal {
            if self.refused.len() >= REMEMBERED {
                self.refused.clear();
            }
            self.refused.insert(made.effect.clone(), made.generation);
        }
        Some(made)
    }
}

/// What a suggestion does. `lines` gives the lines that a range of its document is on.
pub(crate) fn effect(
    suggestion: &LspSuggestion,
    lines: impl Fn(&nudge_wire::nes::Range) -> String,
) -> String {
    let uri = &suggestion.uri;
    match &suggestion.act {
        SuggestionAction::Edit { edits, .. } => {
            let mut effect = format!("edit {uri}");
            for edit in edits {
                let _ = write!(effect, "\n{:?} {:?}", lines(&edit.range), edit.new_text);
            }
            effect
        }
        SuggestionAction::Jump { position } => format!("jump {uri} {}", position.line),
        SuggestionAction::Rename { name, .. } => format!("rename {uri} {name}"),
        SuggestionAction::Replace { search, replace, .. } => format!("replace {uri} {search:?} {replace:?}"),
    }
}
