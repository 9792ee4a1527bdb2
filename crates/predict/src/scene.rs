//! The moment at which a suggestion is asked for.

use std::{ops::Range, sync::Arc};

use nudge_syntax::{AnalysedDocument, WorkspaceIndex};
use nudge_text::history::LineChange;

use crate::{FeedbackMemory, LessonCache};

/// Everything the engine may look at.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The document the cursor is in.
    pub source: &'a AnalysedDocument,
    /// Where the cursor is, in bytes.
    pub cursor: usize,
    /// What is selected, if anything is.
    pub selection: Option<&'a Range<usize>>,
    /// What the user sees of the document, if the editor told.
    pub visible: Option<&'a Range<usize>>,
    /// Other documents, the most recently used first.
    pub others: &'a [AnalysedDocument],
    /// What was changed, the oldest first, across documents.
    pub changes: &'a [LineChange],
    /// What compilers and linters say.
    pub diagnostics: &'a [SceneDiagnostic],
    /// What the user did, the oldest first.
    pub actions: &'a [SceneAction],
    /// Code the client holds to be related.
    pub snippets: &'a [SceneSnippet],
    /// The files of the workspace.
    pub index: &'a WorkspaceIndex,
    /// What became of earlier suggestions.
    pub memory: &'a FeedbackMemory,
    /// What was learned for earlier questions.
    pub lessons: &'a LessonCache,
    /// Which kinds of suggestion the client can show.
    pub offers: OfferedKinds,
    /// How sure a suggestion must be to be shown.
    pub eagerness: Eagerness,
    /// Why it is asked.
    pub trigger: SuggestTrigger,
    /// Says whether the answer is still wanted.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// Which kinds of suggestion beyond edits a client can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OfferedKinds {
    /// Going to another place.
    pub jump: bool,
    /// Renaming by the editor's own means.
    pub rename: bool,
    /// Search and replace.
    pub search_and_replace: bool,
}

/// How sure a suggestion must be to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Eagerness {
    /// Only what is nearly certain.
    Low,
    /// What is right more often than not.
    #[default]
    Medium,
    /// What may well be right.
    High,
}

/// Why a suggestion is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SuggestTrigger {
    /// By the editor, on its own account.
    #[default]
    Automatic,
    /// Because of a diagnostic.
    Diagnostic,
    /// By the user.
    Manual,
}

/// What a compiler or linter says about a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneDiagnostic {
    /// The document.
    pub uri: Arc<str>,
    /// The place, in bytes of the document's text.
    pub range: Range<usize>,
    /// How bad it is.
    pub severity: Severity,
    /// What it says.
    pub message: String,
}

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It does not work.
    Error,
    /// It may not work.
    Warning,
    /// Worth knowing.
    Information,
    /// A possible improvement.
    Hint,
}

/// Something the user did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneAction {
    /// What it is called, such as `insertChar` or `cursorMovement`.
    pub name: String,
    /// The document.
    pub uri: Arc<str>,
    /// The line, counted from 0.
    pub line: usize,
    /// When, in milliseconds.
    pub time: u64,
}

/// Code that is related to what is being edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneSnippet {
    /// The file it is from.
    pub uri: Arc<str>,
    /// Its text.
    pub text: String,
}
