//! A moment in one document, for tests of what is not suggested.

use std::{ops::Range, sync::Arc};

use nudge_predict::{
    Diagnostic, Eagerness, Kind, Lessons, Memory, Offers, Outcome, Scene, Severity, Suggestion, Trigger,
    consider, suggest,
};
use nudge_syntax::{Index, Language, Source};
use nudge_text::{
    Edits, Text,
    history::{Change, History},
};

/// A document whose edits were made one after the other.
pub(crate) struct Moment {
    pub(crate) source: Source,
    pub(crate) history: History,
    pub(crate) cursor: usize,
    pub(crate) memory: Memory,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) trigger: Trigger,
    pub(crate) visible: Option<Range<usize>>,
}

impl Moment {
    pub(crate) fn new(uri: &str, text: &str) -> Self {
        let uri: Arc<str> = uri.into();
        Self {
            source: Source::new(uri.clone(), Language::of(None, &uri), Text::new(text)),
            history: History::default(),
            cursor: 0,
            memory: Memory::default(),
            diagnostics: Vec::new(),
            trigger: Trigger::Automatic,
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

    pub(crate) fn changes(&self) -> Vec<Change> {
        self.history.changes()
    }

    pub(crate) fn ask(&self) -> Outcome {
        self.ask_for(suggest)
    }

    pub(crate) fn ask_for(&self, engine: fn(&Scene<'_>) -> Outcome) -> Outcome {
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
            index: &Index::default(),
            memory: &self.memory,
            lessons: &Lessons::default(),
            offers: Offers { jump: true, rename: true, search_and_replace: true },
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
        self.diagnostics.push(Diagnostic {
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
            Kind::Edit { edits, .. } => Some(edits.apply(self.source.text()).to_string()),
            Kind::Rename { edits, .. } => Some(edits.first()?.1.apply(self.source.text()).to_string()),
            Kind::Replace { search, replace, .. } => {
                Some(content.replace(search.trim_start_matches("\\b").trim_end_matches("\\b"), &replace))
            }
            Kind::Jump { .. } => None,
        });
        after.collect()
    }

    /// The texts that the suggested edits would leave.
    pub(crate) fn texts(&self) -> Vec<String> {
        let edits = self.ask().suggestions.into_iter().filter_map(|found| match found.kind {
            Kind::Edit { edits, .. } => Some(edits.apply(self.source.text()).to_string()),
            _ => None,
        });
        edits.collect()
    }

    pub(crate) fn first(&self) -> Suggestion {
        self.ask().suggestions.into_iter().next().expect("there is a suggestion")
    }
}

pub(crate) const LOOP: &str =
    "def f(xs):\n    total = 0\n    for x in xs:\n        total += x\n    print(total)\n    return total\n";

/// A moment at which there is something to suggest.
pub(crate) fn renaming() -> Moment {
    Moment::new("a.py", LOOP).edit("total", 0, "amount").edit("total", 0, "amount")
}
