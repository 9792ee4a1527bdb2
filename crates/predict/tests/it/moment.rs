//! A moment in one document, for tests of what is not suggested.

use std::{ops::Range, sync::Arc};

use nudge_predict::{
    Eagerness, EngineSuggestion, FeedbackMemory, LessonCache, OfferedKinds, Scene, SceneDiagnostic, Severity,
    SuggestOutcome, SuggestTrigger, SuggestionKind, consider, suggest,
};
use nudge_syntax::{AnalysedDocument, Language, WorkspaceIndex};
use nudge_text::{
    Edits, Text,
    history::{EditHistory, LineChange},
};

/// A document whose edits were made one after the other.
pub(crate) struct Moment {
    pub(crate) source: AnalysedDocument,
    pub(crate) history: EditHistory,
    pub(crate) cursor: usize,
    pub(crate) memory: FeedbackMemory,
    pub(crate) diagnostics: Vec<SceneDiagnostic>,
    pub(crate) trigger: SuggestTrigger,
    pub(crate) visible: Option<Range<usize>>,
}

impl Moment {
    pub(crate) fn new(uri: &str, text: &str) -> Self {
        let uri: Arc<str> = uri.into();
        Self {
            source: AnalysedDocument::new(uri.clone(), Language::of(None, &uri), Text::new(text)),
            history: EditHistory::default(),
            cursor: 0,
            memory: FeedbackMemory::default(),
            diagnostics: Vec::new(),
            trigger: SuggestTrigger::Automatic,
            visible: None,
        }
    }

    /// Replaces the occurrence of `old` with this number.
    pub(crate) fn edit(mut self, old: &str, number: usize, new: &str) -> Self {
        let (at, _) = self.source.content().match_indices(old).nth(number).expect("the text is there");
        self.apply(&Edits::one(at..at + old.len(), new));
        self.cursor = at + new.len();
        self
    }

    pub(crate) fn apply(&mut self, edits: &Edits) {
        let after = edits.apply(self.source.text());
        self.history.record(self.source.uri(), self.source.text(), edits, &after, 0);
        self.history.close_open();
        self.source = self.source.edited(edits, after);
    }

    pub(crate) fn changes(&self) -> Vec<LineChange> {
        self.history.changes()
    }

    pub(crate) fn ask(&self) -> SuggestOutcome {
        self.ask_for(suggest)
    }

    pub(crate) fn ask_for(&self, engine: fn(&Scene<'_>) -> SuggestOutcome) -> SuggestOutcome {
        engine(&Scene {
            source: &self.source,
            cursor: self.cursor,
            selection: None,
            visible: self.visible.as_ref(),
            others: &[],
            changes: &self.changes(),
            diagnostics: &self.diagnostics,
            actions: &[],
            snippets: &[],
            index: &WorkspaceIndex::default(),
            memory: &self.memory,
            lessons: &LessonCache::default(),
            offers: OfferedKinds { jump: true, rename: true, search_and_replace: true },
            eagerness: Eagerness::High,
            trigger: self.trigger,
            cancelled: &|| false,
        })
    }

    /// Puts a text before the first occurrence of another.
    pub(crate) fn insert(self, before: &str, text: &str) -> Self {
        self.edit(before, 0, &format!("{text}{before}"))
    }

    /// A diagnostic at the first occurrence of a text.
    pub(crate) fn diagnosed(mut self, at: &str, message: &str) -> Self {
        let start = self.source.content().find(at).expect("a diagnostic has a place");
        self.diagnostics.push(SceneDiagnostic {
            uri: self.source.uri().clone(),
            range: start..start + at.len(),
            severity: Severity::Error,
            message: message.to_owned(),
        });
        self
    }

    /// The texts that anything would leave that is thought of and not refused, of any kind and however unlikely.
    pub(crate) fn outcomes(&self) -> Vec<String> {
        let content = self.source.content();
        let after = self.ask_for(consider).suggestions.into_iter().filter_map(|found| match found.kind {
            SuggestionKind::Edit { edits, .. } => Some(edits.apply(self.source.text()).to_string()),
            SuggestionKind::Rename { edits, .. } => {
                Some(edits.first()?.1.apply(self.source.text()).to_string())
            }
            SuggestionKind::Replace { search, replace, .. } => {
                Some(content.replace(search.trim_start_matches("\\b").trim_end_matches("\\b"), &replace))
            }
            SuggestionKind::Jump { .. } => None,
        });
        after.collect()
    }

    /// The texts that the suggested edits would leave.
    pub(crate) fn texts(&self) -> Vec<String> {
        let edits = self.ask().suggestions.into_iter().filter_map(|found| match found.kind {
            SuggestionKind::Edit { edits, .. } => Some(edits.apply(self.source.text()).to_string()),
            _ => None,
        });
        edits.collect()
    }

    pub(crate) fn first(&self) -> EngineSuggestion {
        self.ask().suggestions.into_iter().next().expect("there is a suggestion")
    }
}

pub(crate) const LOOP: &str =
    "def f(xs):\n    total = 0\n    for x in xs:\n        total += x\n    print(total)\n    return total\n";

/// A moment at which there is something to suggest.
pub(crate) fn renaming() -> Moment {
    Moment::new("a.py", LOOP).edit("total", 0, "amount").edit("total", 0, "amount")
}
