//! An editor and an engine, both as scripts.

use std::{ops::Range, sync::Arc};

use nudge_nes::{NesConnection, NesEngine, NesOptions, NesService, PendingSuggestion};
use nudge_predict::{
    Eagerness, EngineSuggestion, OfferedKinds, PredictorName, Scene, SuggestOutcome, SuggestTrigger,
    SuggestionEffect, SuggestionFeatures, SuggestionKind,
};
use nudge_syntax::Language;
use nudge_text::{Edit, Edits};
use nudge_wire::{
    Error, RawJson, Version,
    caps::ClientInit,
    document::{ContentChange, DidChange, DidOpen},
    nes::v1::{self, Position, SuggestContext, SuggestRequest, SuggestResponse, TextEdit, TriggerKind},
};
use parking_lot::Mutex;
use serde_json::{Value, json};

pub(crate) const URI: &str = "file:///w/a.rs";

type Answer = Box<dyn Fn(&Scene<'_>) -> Vec<EngineSuggestion> + Send + Sync>;

/// An engine that answers what it is told to and remembers what it was asked.
#[derive(Default)]
pub(crate) struct Fake {
    answer: Mutex<Option<Arc<Answer>>>,
    seen: Mutex<Vec<Seen>>,
}

/// What an engine was asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) text: String,
    pub(crate) language: Language,
    pub(crate) cursor: usize,
    pub(crate) selection: Option<Range<usize>>,
    pub(crate) visible: Option<Range<usize>>,
    pub(crate) others: Vec<(String, String)>,
    /// Address, before and after.
    pub(crate) changes: Vec<(String, String, String)>,
    pub(crate) diagnostics: Vec<(String, Range<usize>, String)>,
    pub(crate) actions: Vec<String>,
    pub(crate) snippets: Vec<String>,
    pub(crate) files: usize,
    pub(crate) offers: OfferedKinds,
    pub(crate) eagerness: Eagerness,
    pub(crate) trigger: SuggestTrigger,
}

impl Fake {
    /// What it says from now on.
    pub(crate) fn says(&self, answer: impl Fn(&Scene<'_>) -> Vec<EngineSuggestion> + Send + Sync + 'static) {
        *self.answer.lock() = Some(Arc::new(Box::new(answer)));
    }

    /// What it was asked last.
    pub(crate) fn last(&self) -> Seen {
        self.seen.lock().last().cloned().expect("the engine was asked")
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> usize {
        self.seen.lock().len()
    }
}

impl NesEngine for Fake {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn suggest(&self, scene: &Scene<'_>) -> SuggestOutcome {
        self.seen.lock().push(Seen::of(scene));
        let answer = self.answer.lock().clone();
        let suggestions = answer.map(|answer| answer(scene)).unwrap_or_default();
        let why_nothing = if suggestions.is_empty() { "the script says nothing" } else { "" };
        SuggestOutcome { suggestions, why_nothing }
    }
}

impl Seen {
    fn of(scene: &Scene<'_>) -> Self {
        let text = |source: &nudge_syntax::AnalysedDocument| source.text().to_string();
        Self {
            text: text(scene.source),
            language: scene.source.language(),
            cursor: scene.cursor,
            selection: scene.selection.cloned(),
            visible: scene.visible.cloned(),
            others: scene.others.iter().map(|source| (source.uri().to_string(), text(source))).collect(),
            changes: scene
                .changes
                .iter()
                .map(|change| (change.uri.to_string(), change.before.clone(), change.after.clone()))
                .collect(),
            diagnostics: scene
                .diagnostics
                .iter()
                .map(|it| (it.uri.to_string(), it.range.clone(), format!("{:?} {}", it.severity, it.message)))
                .collect(),
            actions: scene.actions.iter().map(|action| format!("{} {}", action.name, action.line)).collect(),
            snippets: scene.snippets.iter().map(|snippet| snippet.text.clone()).collect(),
            files: scene.index.len(),
            offers: scene.offers,
            eagerness: scene.eagerness,
            trigger: scene.trigger,
        }
    }
}

/// A suggestion of this kind.
pub(crate) fn suggestion(kind: SuggestionKind) -> EngineSuggestion {
    let features = SuggestionFeatures {
        predictor: PredictorName::Repeat,
        language: Language::Rust,
        here: true,
        prior: 0.8,
    };
    EngineSuggestion {
        effect: SuggestionEffect::default(),
        kind,
        predictor: PredictorName::Repeat,
        reason: "repeats your edit on line 1".to_owned(),
        confidence: 0.8,
        features,
        group: 0,
        evidence: Vec::new(),
    }
}

/// A suggestion that makes these edits, with the cursor behind the last.
pub(crate) fn edit(uri: &str, edits: &[(Range<usize>, &str)]) -> EngineSuggestion {
    let edits: Vec<Edit> = edits.iter().map(|(range, text)| Edit::new(range.clone(), *text)).collect();
    let last = edits.last().expect("there is an edit").clone();
    let grown: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let shrunk: usize = edits.iter().map(|edit| edit.range.len()).sum();
    let cursor = last.range.end + grown - shrunk;
    suggestion(SuggestionKind::Edit {
        uri: uri.into(),
        edits: Edits::new(edits).expect("edits fit each other"),
        cursor,
    })
}

/// A suggestion that gives what is declared at an offset of the document another name.
pub(crate) fn rename(offset: usize, name: &str, edits: Vec<(Arc<str>, Edits)>) -> EngineSuggestion {
    suggestion(SuggestionKind::Rename { uri: URI.into(), offset, name: name.to_owned(), edits })
}

/// A client with one session.
pub(crate) struct Editor {
    pub(crate) service: NesService,
    pub(crate) connection: NesConnection,
    pub(crate) engine: Arc<Fake>,
    pub(crate) session: String,
}

impl Editor {
    pub(crate) fn new() -> Self {
        Self::with(&json!({}), &json!({}))
    }

    /// A client that says this in `initialize` and in `nes/start`.
    pub(crate) fn with(capabilities: &Value, start: &Value) -> Self {
        Self::with_options(capabilities, start, NesOptions { index: false, ..NesOptions::default() })
    }

    pub(crate) fn with_options(capabilities: &Value, start: &Value, options: NesOptions) -> Self {
        let engine = Arc::new(Fake::default());
        let service = NesService::new(NesOptions { engine: engine.clone(), ..options });
        let connection = service.connect(&client(Version::V1, capabilities));
        let session = begin(&connection, start);
        Self { service, connection, engine, session }
    }

    pub(crate) fn open(&self, uri: &str, version: i64, text: &str) {
        self.connection.did_open(DidOpen::new(&self.session, uri, "rust", version, text));
    }

    /// Replaces a range, given by line and character of start and end.
    pub(crate) fn replace(&self, version: i64, range: (u32, u32, u32, u32), text: &str) {
        self.change(URI, version, vec![piece(range, text)]);
    }

    pub(crate) fn change(&self, uri: &str, version: i64, changes: Vec<ContentChange>) {
        self.connection.did_change(DidChange::new(&self.session, uri, version, changes), 0);
    }

    /// A request for suggestions in the first document.
    pub(crate) fn ask(&self, version: i64, line: u32, character: u32) -> SuggestRequest {
        let position = Position::new(line, character);
        SuggestRequest::new(&self.session, URI, version, position, TriggerKind::Automatic)
    }

    pub(crate) fn begin(&self, request: SuggestRequest) -> Result<PendingSuggestion, String> {
        self.connection.suggest(request, 0).map_err(|error| name(&error))
    }

    /// The answer, or the name of the error.
    pub(crate) fn suggest(&self, request: SuggestRequest) -> Result<SuggestResponse, String> {
        self.begin(request)?.run().map(Into::into).map_err(|error| name(&error))
    }

    /// The suggestions at a place.
    pub(crate) fn suggestions(&self, version: i64, line: u32, character: u32) -> Vec<v1::Suggestion> {
        self.suggest(self.ask(version, line, character)).expect("an answer").suggestions
    }
}

/// The reason of an error, or its code.
pub(crate) fn name(error: &Error) -> String {
    error.get_reason().unwrap_or_else(|| error.code.0.to_string())
}

pub(crate) fn client(version: Version, capabilities: &Value) -> ClientInit {
    let member = if version == Version::V1 { "clientCapabilities" } else { "capabilities" };
    let params = json!({ "protocolVersion": version.number(), member: capabilities });
    ClientInit::new(version, RawJson::of(&params).unwrap())
}

pub(crate) fn begin(connection: &NesConnection, start: &Value) -> String {
    let request = serde_json::from_value(start.clone()).unwrap();
    connection.start(&request).expect("a session begins").session_id
}

pub(crate) fn piece(range: (u32, u32, u32, u32), text: &str) -> ContentChange {
    let (line, character, end_line, end_character) = range;
    let range = v1::Range::new(Position::new(line, character), Position::new(end_line, end_character));
    ContentChange { range: Some(range), ..ContentChange::new(text) }
}

pub(crate) fn full(text: &str) -> ContentChange {
    ContentChange::new(text)
}

/// The request with this attached.
pub(crate) fn attach(mut request: SuggestRequest, context: &Value) -> SuggestRequest {
    request.context = Some(serde_json::from_value::<SuggestContext>(context.clone()).unwrap());
    request
}

pub(crate) fn manual(mut request: SuggestRequest) -> SuggestRequest {
    request.trigger_kind = TriggerKind::Manual;
    request
}

/// The edits of an edit suggestion.
pub(crate) fn edits(suggestion: &v1::Suggestion) -> &[TextEdit] {
    match suggestion {
        v1::Suggestion::Edit(edit) => &edit.edits,
        other => panic!("not an edit: {other:?}"),
    }
}
