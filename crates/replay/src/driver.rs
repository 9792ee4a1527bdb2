//! What a replay does to an engine.

use nudge_text::{Edit, Edits};
use nudge_wire::nes::RejectReason;

use crate::ReplayError;

/// One session with an engine, as an editor has it. Places are byte offsets in the texts both sides know.
pub(crate) trait EngineDriver {
    /// Opens a document.
    fn open(&mut self, uri: &str, language: &str, text: &str) -> Result<(), ReplayError>;
    /// Goes to a place.
    fn focus(&mut self, uri: &str, cursor: usize) -> Result<(), ReplayError>;
    /// Changes a document.
    fn change(&mut self, uri: &str, edits: &[Edit]) -> Result<(), ReplayError>;
    /// Asks what comes next. Only the best suggestion counts.
    fn suggest(&mut self, uri: &str, cursor: usize) -> Result<EngineAnswer, ReplayError>;
    /// Takes a suggestion; the change itself is told by [`EngineDriver::change`].
    fn accept(&mut self, id: &str) -> Result<(), ReplayError>;
    /// Does not take a suggestion.
    fn reject(&mut self, id: &str, reason: RejectReason) -> Result<(), ReplayError>;
}

/// What an engine said, and how long it took.
#[derive(Debug, Clone)]
pub(crate) struct EngineAnswer {
    pub(crate) shown: Option<ShownEdit>,
    pub(crate) micros: u64,
}

/// A suggestion as the user sees it.
#[derive(Debug, Clone)]
pub(crate) struct ShownEdit {
    pub(crate) id: String,
    pub(crate) uri: String,
    /// Empty if it is not an edit.
    pub(crate) edits: Edits,
    /// Where the cursor is afterwards.
    pub(crate) cursor: usize,
    pub(crate) predictor: String,
    pub(crate) confidence: f64,
    pub(crate) reason: String,
}

impl ShownEdit {
    /// Something else than an edit of a document that is open; it cannot be right.
    pub(crate) fn not_an_edit(id: String) -> Self {
        Self {
            id,
            uri: String::new(),
            edits: Edits::default(),
            cursor: 0,
            predictor: String::new(),
            confidence: 0.0,
            reason: String::new(),
        }
    }
}
