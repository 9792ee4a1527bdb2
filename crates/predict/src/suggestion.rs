//! What comes out of the engine.

use std::sync::Arc;

use nudge_text::Edits;

use crate::{SuggestionEffect, SuggestionFeatures};

/// The answer to one question.
#[derive(Debug, Clone, Default)]
pub struct SuggestOutcome {
    /// The best first; at most a handful.
    pub suggestions: Vec<EngineSuggestion>,
    /// Why there are none; empty if there are.
    pub why_nothing: &'static str,
}

/// One thing the user may want to do next.
#[derive(Debug, Clone)]
pub struct EngineSuggestion {
    /// What to do.
    pub kind: SuggestionKind,
    /// Who says so.
    pub predictor: PredictorName,
    /// Why, in one sentence.
    pub reason: String,
    /// How sure the engine is, from 0 to 1.
    pub confidence: f32,
    /// What the confidence was made from; given back with the feedback.
    pub features: SuggestionFeatures,
    /// What it does and where, to know it again; given back with the feedback.
    pub effect: SuggestionEffect,
    /// What it has in common with others that stand or fall with it.
    pub group: u64,
    /// What the predictor's own estimate was made from, by name.
    pub evidence: Vec<(&'static str, f32)>,
}

/// What a suggestion does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuggestionKind {
    /// Changes a document.
    Edit {
        /// The document.
        uri: Arc<str>,
        /// The change.
        edits: Edits,
        /// Where the user goes on typing, in bytes of the text after the change.
        cursor: usize,
    },
    /// Goes to a place.
    Jump {
        /// The document.
        uri: Arc<str>,
        /// The place in bytes.
        offset: usize,
    },
    /// Renames the symbol at a place by the editor's own means.
    Rename {
        /// The document.
        uri: Arc<str>,
        /// A place inside the symbol, in bytes.
        offset: usize,
        /// The new name.
        name: String,
        /// What it comes to, by document, the one of `uri` first, for editors without means of their own; empty if it is not
        /// known.
        edits: Vec<(Arc<str>, Edits)>,
    },
    /// Replaces every occurrence in a document or folder.
    Replace {
        /// The document or folder.
        uri: Arc<str>,
        /// What is searched for.
        search: String,
        /// What it becomes.
        replace: String,
        /// Whether `search` is a regular expression.
        regex: bool,
    },
}

impl SuggestionKind {
    /// The document or folder it is about.
    pub fn uri(&self) -> &Arc<str> {
        match self {
            Self::Edit { uri, .. }
            | Self::Jump { uri, .. }
            | Self::Rename { uri, .. }
            | Self::Replace { uri, .. } => uri,
        }
    }
}

/// Who makes suggestions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PredictorName {
    /// Does again elsewhere what was just done.
    Repeat,
    /// Carries a new name to the uses of the old one.
    Rename,
    /// Carries a changed declaration to what depends on it.
    Signature,
    /// Does the other half of a move.
    Move,
    /// Adds or removes an import.
    Import,
    /// Does what a diagnostic asks for.
    Diagnostic,
    /// Finishes what is being typed.
    Complete,
    /// Goes to the place of the next edit.
    Jump,
}

impl PredictorName {
    /// Its name, as shown in `_meta`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repeat => "repeat",
            Self::Rename => "rename",
            Self::Signature => "signature",
            Self::Move => "move",
            Self::Import => "import",
            Self::Diagnostic => "diagnostic",
            Self::Complete => "complete",
            Self::Jump => "jump",
        }
    }
}
