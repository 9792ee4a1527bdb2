//! Scenes from marked texts.
//!
//! `⟦old→new⟧` is what the user did, in the order of the text; `⟨old→new⟩` is what is to follow. Either side may be empty.

use std::{ops::Range, sync::Arc};

use nudge_predict::{
    Eagerness, EngineSuggestion, FeedbackMemory, LessonCache, OfferedKinds, PredictorName, Scene,
    SceneDiagnostic, Severity, SuggestOutcome, SuggestTrigger, SuggestionFeedback, SuggestionKind,
    TrustWeights, consider, suggest,
};
use nudge_syntax::{AnalysedDocument, FileFacts, Language, WorkspaceIndex};
use nudge_text::{Edits, Text, history::EditHistory};

/// A moment in a workspace.
pub(crate) struct Fixture {
    predictor: PredictorName,
    files: Vec<File>,
    history: EditHistory,
    /// The file the cursor is in, and where.
    current: usize,
    cursor: usize,
    index: WorkspaceIndex,
    diagnostics: Vec<SceneDiagnostic>,
    pub(crate) offers: OfferedKinds,
    memory: FeedbackMemory,
    lessons: LessonCache,
}

struct File {
    uri: Arc<str>,
    source: AnalysedDocument,
    expected: String,
}

/// What the user sees first.
pub(crate) enum Shown {
    /// What was to follow.
    Expected,
    /// What the text would become instead.
    Other(String),
    Nothing,
}

/// A piece of a marked text.
enum Piece<'a> {
    Plain(&'a str),
    Done(&'a str, &'a str),
    Expected(&'a str, &'a str),
}

impl Fixture {
    /// The files after the user's edits, which are made file by file.
    pub(crate) fn new(predictor: PredictorName, files: &[(&str, &str)]) -> Self {
        let mut fixture = Self {
            predictor,
            files: Vec::new(),
            history: EditHistory::default(),
            current: 0,
            cursor: 0,
            index: WorkspaceIndex::default(),
            diagnostics: Vec::new(),
            offers: OfferedKinds::default(),
            memory: memory_with(silent_but(predictor)),
            lessons: LessonCache::default(),
        };
        for (at, (uri, marked)) in files.iter().enumerate() {
            fixture.open(at, uri, &pieces(marked));
        }
        fixture
    }

    fn open(&mut self, at: usize, uri: &str, pieces: &[Piece<'_>]) {
        let uri: Arc<str> = uri.into();
        let before: String = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Plain(text) | Piece::Done(text, _) | Piece::Expected(text, _) => *text,
            })
            .collect();
        let expected: String = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Plain(text) | Piece::Done(_, text) | Piece::Expected(_, text) => *text,
            })
            .collect();
        let mut source = AnalysedDocument::new(uri.clone(), Language::of(None, &uri), Text::new(&before));
        let mut offset = 0;
        for piece in pieces {
            match piece {
                Piece::Plain(text) | Piece::Expected(text, _) => offset += text.len(),
                Piece::Done(old, new) => {
                    // The last letter by a key of its own: what comes in one piece is not being typed.
                    let typed =
                        new.char_indices().next_back().filter(|_| self.predictor == PredictorName::Complete);
                    let (first, last) = new.split_at(typed.map_or(new.len(), |(at, _)| at));
                    let edits = Edits::one(offset..offset + old.len(), first);
                    source = change(&mut self.history, &source, &edits);
                    if !last.is_empty() {
                        let key = Edits::one(offset + first.len()..offset + first.len(), last);
                        source = change(&mut self.history, &source, &key);
                    }
                    self.history.close_open();
                    offset += new.len();
                    (self.current, self.cursor) = (at, offset);
                }
            }
        }
        self.files.push(File { uri, source, expected });
    }

    /// The user goes behind a text of a file; behind nothing is its beginning.
    pub(crate) fn gone_behind(mut self, uri: &str, text: &str) -> Self {
        self.current = self.files.iter().position(|file| *file.uri == *uri).expect("the file is there");
        self.cursor = self.place(text).end;
        self
    }

    /// The user takes a text of the current file away again.
    pub(crate) fn then_without(mut self, text: &str) -> Self {
        let edits = Edits::one(self.place(text), "");
        let file = &mut self.files[self.current];
        file.source = record(&mut self.history, &file.source, &edits);
        self
    }

    /// The user types over a text of the current file, key by key, and is still there.
    pub(crate) fn typing(mut self, old: &str, new: &str) -> Self {
        let place = self.place(old);
        self.cursor = place.start;
        let mut gone = place.len();
        for key in new.split_inclusive(|_: char| true) {
            let edits = Edits::one(self.cursor..self.cursor + gone, key);
            let file = &mut self.files[self.current];
            file.source = change(&mut self.history, &file.source, &edits);
            self.cursor += key.len();
            gone = 0;
        }
        self
    }

    /// A file that is in the workspace, but not open.
    pub(crate) fn indexed(mut self, uri: &str, text: &str) -> Self {
        let facts = FileFacts::of(Language::of(None, uri), text);
        self.index.insert(uri.into(), Arc::new(facts));
        self
    }

    /// A diagnostic at the first occurrence of `at` in the current file.
    pub(crate) fn diagnosed(mut self, at: &str, message: &str) -> Self {
        let file = &self.files[self.current];
        let start = file.source.content().find(at).expect("a diagnostic has a place");
        self.diagnostics.push(SceneDiagnostic {
            uri: file.uri.clone(),
            range: start..start + at.len(),
            severity: Severity::Error,
            message: message.to_owned(),
        });
        self
    }

    /// The text of the first file.
    pub(crate) fn content(&self) -> &str {
        self.files[0].source.content()
    }

    /// A diagnostic of the first file, where the user is if nothing was done yet.
    pub(crate) fn diagnosed_in(mut self, range: Range<usize>, severity: Severity, message: &str) -> Self {
        self.current = 0;
        if self.history.changes().is_empty() && self.diagnostics.is_empty() {
            self.cursor = range.start;
        }
        let uri = self.files[0].uri.clone();
        let message = message.trim_end().to_owned();
        self.diagnostics.push(SceneDiagnostic { uri, range, severity, message });
        self
    }

    /// What the first suggestion at an eagerness is.
    pub(crate) fn shown(mut self, eagerness: Eagerness) -> Shown {
        let Some(first) = self.ask(eagerness, suggest).into_iter().next() else { return Shown::Nothing };
        self.take(&first);
        if self.files.iter().all(|file| file.source.content() == file.expected) {
            return Shown::Expected;
        }
        Shown::Other(format!("{:.2} {}:\n{}", first.confidence, first.reason, self.content()))
    }

    /// What the first suggestion is once the one before was taken, though no tool has looked again.
    pub(crate) fn shown_again(mut self, eagerness: Eagerness) -> Shown {
        let Some(first) = self.ask(eagerness, suggest).into_iter().next() else { return Shown::Nothing };
        let diagnostics = self.diagnostics.clone();
        self.take(&first);
        self.diagnostics = diagnostics;
        self.shown(eagerness)
    }

    /// What the predictor says, the best first.
    pub(crate) fn suggestions(&self) -> Vec<EngineSuggestion> {
        self.ask(Eagerness::High, consider)
    }

    fn ask(&self, eagerness: Eagerness, engine: fn(&Scene<'_>) -> SuggestOutcome) -> Vec<EngineSuggestion> {
        let others: Vec<AnalysedDocument> = self
            .files
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != self.current)
            .map(|(_, file)| file.source.clone())
            .collect();
        let changes = self.history.changes();
        let scene = Scene {
            source: &self.files[self.current].source,
            cursor: self.cursor,
            selection: None,
            visible: None,
            others: &others,
            changes: &changes,
            diagnostics: &self.diagnostics,
            actions: &[],
            snippets: &[],
            index: &self.index,
            memory: &self.memory,
            lessons: &self.lessons,
            offers: self.offers,
            eagerness,
            trigger: SuggestTrigger::Automatic,
            cancelled: &|| false,
        };
        let mut found = engine(&scene).suggestions;
        found.retain(|found| found.predictor == self.predictor);
        found
    }

    /// What the predictor says beyond the few that are shown at a time: each that is shown is refused until none is left.
    pub(crate) fn all(&mut self) -> Vec<EngineSuggestion> {
        let mut all = Vec::new();
        loop {
            let found = self.suggestions();
            if found.is_empty() || all.len() > 60 {
                return all;
            }
            for suggestion in found {
                self.memory.feedback(&suggestion, SuggestionFeedback::Rejected);
                all.push(suggestion);
            }
        }
    }

    /// Takes suggestion after suggestion, as long as one is as likely as `bar`, and compares the files with what was expected.
    pub(crate) fn check(mut self, bar: f32) {
        let mut taken: Vec<String> = Vec::new();
        for _ in 0..20 {
            let found = self.suggestions();
            let next = found
                .into_iter()
                .find(|found| found.confidence >= bar && matches!(found.kind, SuggestionKind::Edit { .. }));
            let Some(next) = next else { break };
            taken.push(format!("{:.2} {}", next.confidence, next.reason));
            self.take(&next);
        }
        for file in &self.files {
            assert_eq!(file.source.content(), file.expected, "{}; taken: {taken:#?}", file.uri);
        }
    }

    pub(crate) fn take(&mut self, suggestion: &EngineSuggestion) {
        let SuggestionKind::Edit { uri, edits, cursor } = &suggestion.kind else { return };
        let at =
            self.files.iter().position(|file| file.uri == *uri).expect("a suggestion is about a known file");
        self.files[at].source = record(&mut self.history, &self.files[at].source, edits);
        (self.current, self.cursor) = (at, *cursor);
        assert!(*cursor <= self.files[at].source.content().len(), "the cursor is in the text");
        self.diagnostics.clear();
    }

    /// The line of a place in the current file.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.files[self.current].source.text().line_of(offset)
    }

    /// Where a text is in the current file.
    pub(crate) fn place(&self, text: &str) -> Range<usize> {
        let start = self.files[self.current].source.content().find(text).expect("the text is there");
        start..start + text.len()
    }
}

/// Everything that is marked follows, and nothing else.
pub(crate) fn check(predictor: PredictorName, files: &[(&str, &str)]) {
    Fixture::new(predictor, files).check(0.3);
}

/// Nothing follows that is as likely as this.
pub(crate) fn check_silent(predictor: PredictorName, files: &[(&str, &str)], bar: f32) {
    let found = Fixture::new(predictor, files).suggestions();
    let loud: Vec<_> = found
        .iter()
        .filter(|found| found.confidence >= bar)
        .map(|found| (&found.reason, &found.kind))
        .collect();
    assert!(loud.is_empty(), "{loud:#?}");
}

fn record(history: &mut EditHistory, source: &AnalysedDocument, edits: &Edits) -> AnalysedDocument {
    let after = change(history, source, edits);
    history.close_open();
    after
}

fn change(history: &mut EditHistory, source: &AnalysedDocument, edits: &Edits) -> AnalysedDocument {
    let after = edits.apply(source.text());
    history.record(source.uri(), source.text(), edits, &after, 0);
    source.edited(edits, after)
}

/// A memory that begins with what was learned before.
pub(crate) fn memory_with(weights: TrustWeights) -> FeedbackMemory {
    let mut memory = FeedbackMemory::default();
    memory.set_weights(weights);
    memory
}

/// Every predictor.
const PREDICTORS: [PredictorName; 8] = [
    PredictorName::Repeat,
    PredictorName::Rename,
    PredictorName::Signature,
    PredictorName::Move,
    PredictorName::Import,
    PredictorName::Diagnostic,
    PredictorName::Complete,
    PredictorName::Jump,
];

/// Weights under which only one predictor is believed.
fn silent_but(predictor: PredictorName) -> TrustWeights {
    let others = PREDICTORS.into_iter().filter(|other| *other != predictor);
    let weights: serde_json::Map<String, serde_json::Value> =
        others.map(|other| (other.name().to_owned(), serde_json::json!(-40.0))).collect();
    serde_json::from_value(serde_json::Value::Object(weights)).expect("weights are names and numbers")
}

fn pieces(marked: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = marked;
    while let Some(at) = rest.find(['⟦', '⟨']) {
        let (plain, marked) = rest.split_at(at);
        found.push(Piece::Plain(plain));
        let is_done = marked.starts_with('⟦');
        let (inside, after) = marked['⟦'.len_utf8()..].split_once(['⟧', '⟩']).expect("a mark is closed");
        let (old, new) = inside.split_once('→').expect("a mark has an arrow");
        found.push(if is_done { Piece::Done(old, new) } else { Piece::Expected(old, new) });
        rest = after;
    }
    found.push(Piece::Plain(rest));
    found
}
