//! A suggestion on its way.

use std::{
    fmt, iter,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use nudge_predict::{
    Eagerness, EngineSuggestion, FeedbackMemory, LessonCache, OfferedKinds, Scene, SceneAction,
    SceneDiagnostic, SceneSnippet, SuggestOutcome, SuggestTrigger, SuggestionEffect, SuggestionKind,
};
use nudge_syntax::{AnalysedDocument, WorkspaceIndex};
use nudge_text::{Encoding, Text, history::LineChange};
use nudge_wire::Error;
use parking_lot::Mutex;

use crate::{
    NesAnswer, NesEngine, SuggestQuestion,
    answer::{self, PositionedSuggestion},
    convert,
    folders::{NesFolders, read_text},
    gather::{self, GatheredScene},
    limits,
    patience::SuggestPatience,
    session::NesSession,
    shown::{CursorPlace, ReadySuggestion, ShownSuggestion, extends},
    warm_parser::WarmParser,
};

/// A request for suggestions that is still to be answered.
///
/// It holds a snapshot of everything it needs, so that it can be run on any thread while the session goes on.
pub struct PendingSuggestion {
    cancel: SuggestCanceller,
    work: Work,
}

enum Work {
    /// The answer is known without asking the engine.
    Known(NesAnswer),
    Compute(Box<SuggestSnapshot>, Arc<Mutex<NesSession>>),
}

/// Ends a request for suggestions before its time. Clones end the same request.
#[derive(Debug, Clone, Default)]
pub struct SuggestCanceller(Arc<AtomicBool>);

/// What a connection's client can take.
#[derive(Clone)]
pub(crate) struct NesClient {
    pub(crate) encoding: Encoding,
    pub(crate) offers: OfferedKinds,
    pub(crate) engine: Arc<dyn NesEngine>,
    /// Who parses what a question has no time for.
    pub(crate) warm: Arc<WarmParser>,
    /// How long it has.
    pub(crate) parse_time: Duration,
}

/// Everything the engine looks at, as it was when the request came.
pub(crate) struct SuggestSnapshot {
    pub(crate) client: NesClient,
    pub(crate) folders: Arc<NesFolders>,
    pub(crate) source: AnalysedDocument,
    pub(crate) cursor: usize,
    pub(crate) selection: Option<Range<usize>>,
    pub(crate) visible: Option<Range<usize>>,
    pub(crate) others: Vec<AnalysedDocument>,
    pub(crate) changes: Vec<LineChange>,
    pub(crate) diagnostics: Vec<SceneDiagnostic>,
    pub(crate) actions: Vec<SceneAction>,
    pub(crate) snippets: Vec<SceneSnippet>,
    pub(crate) index: Arc<WorkspaceIndex>,
    pub(crate) memory: Arc<FeedbackMemory>,
    pub(crate) lessons: Arc<LessonCache>,
    pub(crate) eagerness: Eagerness,
    pub(crate) trigger: SuggestTrigger,
    /// What was not read of the workspace, for a user who asks.
    pub(crate) left_out: Option<Arc<str>>,
    /// What is shown and goes on to be, unless something extends it.
    pub(crate) standing: Vec<ShownSuggestion>,
}

impl SuggestCanceller {
    /// Ends the request: it is answered with -32800.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn check(&self) -> Result<(), Error> {
        if self.is_cancelled() { Err(Error::cancelled()) } else { Ok(()) }
    }
}

impl PendingSuggestion {
    pub(crate) fn new(
        session: &Arc<Mutex<NesSession>>,
        client: &NesClient,
        ask: &SuggestQuestion,
        now: u64,
    ) -> Result<Self, Error> {
        let mut locked = session.lock();
        let cancel = locked.begin();
        let work = match gather::gather(&mut locked, client, ask, now)? {
            GatheredScene::Nothing(why) => {
                tracing::debug!(session = locked.id, why, "nothing is suggested");
                Work::Known(NesAnswer::nothing(why, gather::is_manual(ask)))
            }
            GatheredScene::Left(suggestion, place) => {
                Work::Known(go_on(&mut locked, client, *suggestion, place))
            }
            GatheredScene::Scene(snapshot) => {
                Work::Compute(Box::new(snapshot.within(&cancel)), Arc::clone(session))
            }
        };
        Ok(Self { cancel, work })
    }

    /// Whether the answer is known already, so that running it takes no time.
    pub fn is_known(&self) -> bool {
        matches!(self.work, Work::Known(_))
    }

    /// What ends it before its time.
    pub fn canceller(&self) -> SuggestCanceller {
        self.cancel.clone()
    }

    /// The answer; -32800 if it is not wanted any more.
    pub fn run(self) -> Result<NesAnswer, Error> {
        self.cancel.check()?;
        match self.work {
            Work::Known(response) => Ok(response),
            Work::Compute(mut snapshot, session) => {
                let outcome = snapshot.suggest(&self.cancel);
                snapshot.make_up();
                self.cancel.check()?;
                let ready = snapshot.ready(outcome.suggestions);
                let mut session = session.lock();
                self.cancel.check()?;
                let left_out = snapshot.left_out.take();
                let response = snapshot.settle(&mut session, ready, outcome.why_nothing);
                Ok(NesAnswer { left_out, ..response })
            }
        }
    }
}

/// Offers what is left of a suggestion whose beginning the user has typed.
fn go_on(
    session: &mut NesSession,
    client: &NesClient,
    suggestion: EngineSuggestion,
    place: CursorPlace,
) -> NesAnswer {
    let target = Some(place.text.clone());
    let answer = convert::answer(&suggestion, |_| target.as_ref(), client.encoding);
    let entry = answer.map(|answer| session.offered.enter(ReadySuggestion { suggestion, target, answer }));
    show(session, place, entry.into_iter().collect())
}

/// Shows these from now on.
fn show(session: &mut NesSession, place: CursorPlace, entries: Vec<ShownSuggestion>) -> NesAnswer {
    let suggestions = entries.iter().map(|entry| entry.answer.clone()).collect();
    session.offered.show(place, entries);
    NesAnswer { suggestions, ..NesAnswer::default() }
}

impl SuggestSnapshot {
    /// The same with documents that are not parsed for longer than the answer is wanted and can wait.
    fn within(mut self, cancel: &SuggestCanceller) -> Self {
        let patience: Arc<dyn nudge_syntax::ParsePatience> =
            Arc::new(SuggestPatience::new(cancel.clone(), self.client.parse_time));
        for source in iter::once(&mut self.source).chain(&mut self.others) {
            *source = source.within(Arc::clone(&patience));
        }
        self
    }

    /// What could not be parsed in time is when there is more.
    fn make_up(&self) {
        for source in iter::once(&self.source).chain(&self.others).filter(|source| source.gave_up()) {
            tracing::debug!(uri = &**source.uri(), "a document was not parsed in time");
            self.client.warm.parse_later(source.clone());
        }
    }

    fn suggest(&self, cancel: &SuggestCanceller) -> SuggestOutcome {
        let cancelled = || cancel.is_cancelled();
        self.client.engine.suggest(&Scene {
            source: &self.source,
            cursor: self.cursor,
            selection: self.selection.as_ref(),
            visible: self.visible.as_ref(),
            others: &self.others,
            changes: &self.changes,
            diagnostics: &self.diagnostics,
            actions: &self.actions,
            snippets: &self.snippets,
            index: &self.index,
            memory: &self.memory,
            lessons: &self.lessons,
            offers: self.client.offers,
            eagerness: self.eagerness,
            trigger: self.trigger,
            cancelled: &cancelled,
        })
    }

    /// What of it the client can show.
    fn ready(&self, suggestions: Vec<EngineSuggestion>) -> Vec<ReadySuggestion> {
        let offers = self.client.offers;
        let is_offered = |suggestion: &EngineSuggestion| match suggestion.kind {
            SuggestionKind::Edit { .. } => true,
            SuggestionKind::Jump { .. } => offers.jump,
            SuggestionKind::Rename { .. } => offers.rename,
            SuggestionKind::Replace { .. } => offers.search_and_replace,
        };
        let ready = |mut suggestion: EngineSuggestion| {
            let known = self.text(suggestion.kind.uri());
            let read = if known.is_none() { self.read(&suggestion.kind) } else { None };
            let text = |uri: &str| self.text(uri).or(read.as_ref());
            let answer = convert::answer(&suggestion, text, self.client.encoding)?;
            // Not every engine says what identifies a suggestion.
            if suggestion.effect.is_empty() {
                suggestion.effect = SuggestionEffect::of(&suggestion.kind, text);
            }
            // What a whole folder is about is not looked at again, nor is a file that is not open.
            let is_placed = !matches!(suggestion.kind, SuggestionKind::Replace { .. });
            Some(ReadySuggestion { target: known.filter(|_| is_placed).cloned(), suggestion, answer })
        };
        suggestions.into_iter().filter(is_offered).filter_map(ready).collect()
    }

    /// The text of a document.
    fn text(&self, uri: &str) -> Option<&Text> {
        let mut known = iter::once(&self.source).chain(&self.others);
        known.find(|source| **source.uri() == *uri).map(AnalysedDocument::text)
    }

    /// The text of a file that is not open. An edit must fit the very text it was made for, but a jump to a place nearby
    /// is still of use.
    fn read(&self, kind: &SuggestionKind) -> Option<Text> {
        let SuggestionKind::Jump { uri, .. } = kind else { return None };
        let found = self.folders.find(uri)?;
        read_text(&found.path, limits::FILE_BYTES).map(Text::from)
    }

    /// Decides what is shown from now on.
    fn settle(
        mut self,
        session: &mut NesSession,
        mut ready: Vec<ReadySuggestion>,
        why_nothing: &'static str,
    ) -> NesAnswer {
        session.recover();
        // Something may have been taken or refused while this one was on its way.
        let memory = session.memory();
        ready.retain(|ready| !memory.refuses(&ready.suggestion.effect));
        self.standing
            .retain(|entry| session.offered.is_shown(&entry.id) && !memory.refuses(&entry.suggestion.effect));
        let entries: Vec<ShownSuggestion> = if self.standing.is_empty() {
            ready.into_iter().map(|ready| session.offered.enter(ready)).collect()
        } else {
            let stand = |entry: ShownSuggestion| {
                let more = ready.iter().position(|ready| extends(&ready.suggestion, &entry.suggestion));
                match more {
                    Some(at) => session.offered.enter(ready.remove(at)),
                    None => brought_up(entry, &ready),
                }
            };
            self.standing.into_iter().map(stand).collect()
        };
        if entries.is_empty() {
            let why =
                if why_nothing.is_empty() { "nothing that was found can be shown" } else { why_nothing };
            tracing::debug!(session = session.id, why, "nothing is suggested");
            session.offered.clear();
            return NesAnswer::nothing(why, self.trigger == SuggestTrigger::Manual);
        }
        show(session, CursorPlace::new(&self.source, self.cursor, self.selection), entries)
    }
}

/// What stands as it was, but for the edits of a rename: they are in other documents too, which may have changed.
fn brought_up(mut entry: ShownSuggestion, ready: &[ReadySuggestion]) -> ShownSuggestion {
    let PositionedSuggestion { uri, action, .. } = &mut entry.answer;
    if let answer::NesAction::Rename { position, name, changes } = action {
        let same = ready.iter().find_map(|ready| match &ready.answer.action {
            answer::NesAction::Rename { position: at, name: new, changes }
                if (&ready.answer.uri, at, new) == (&*uri, &*position, &*name) =>
            {
                Some(changes.clone())
            }
            _ => None,
        });
        *changes = same.unwrap_or_default();
    }
    entry
}

impl fmt::Debug for PendingSuggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingSuggestion").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}
