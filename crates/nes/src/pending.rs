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
    Action, Diagnostic, Eagerness, Effect, Kind, Lessons, Memory, Offers, Outcome, Scene, Snippet,
    Suggestion, Trigger,
};
use nudge_syntax::{Index, Source};
use nudge_text::{Encoding, Text, history::Change};
use nudge_wire::Error;
use parking_lot::Mutex;

use crate::{
    Ask, Engine, Response,
    answer::{self, Answer},
    convert,
    folders::{Folders, read_text},
    gather::{self, Gathered},
    limits,
    offered::{Entry, Place, Ready, extends},
    patience::Patience,
    session::Session,
    warm::Warm,
};

/// A request for suggestions that is still to be answered.
///
/// It holds a snapshot of everything it needs, so that it can be run on any thread while the session goes on.
pub struct Pending {
    cancel: Cancel,
    work: Work,
}

enum Work {
    /// The answer is known without asking the engine.
    Known(Response),
    Compute(Box<Snapshot>, Arc<Mutex<Session>>),
}

/// Ends a request for suggestions before its time. Clones end the same request.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// What a connection's client can take.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) encoding: Encoding,
    pub(crate) offers: Offers,
    pub(crate) engine: Arc<dyn Engine>,
    /// Who parses what a question has no time for.
    pub(crate) warm: Arc<Warm>,
    /// How long it has.
    pub(crate) parse_time: Duration,
}

/// Everything the engine looks at, as it was when the request came.
pub(crate) struct Snapshot {
    pub(crate) client: Client,
    pub(crate) folders: Arc<Folders>,
    pub(crate) source: Source,
    pub(crate) cursor: usize,
    pub(crate) selection: Option<Range<usize>>,
    pub(crate) visible: Option<Range<usize>>,
    pub(crate) others: Vec<Source>,
    pub(crate) changes: Vec<Change>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) actions: Vec<Action>,
    pub(crate) snippets: Vec<Snippet>,
    pub(crate) index: Arc<Index>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) lessons: Arc<Lessons>,
    pub(crate) eagerness: Eagerness,
    pub(crate) trigger: Trigger,
    /// What was not read of the workspace, for a user who asks.
    pub(crate) left_out: Option<Arc<str>>,
    /// What is shown and goes on to be, unless something extends it.
    pub(crate) standing: Vec<Entry>,
}

impl Cancel {
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

impl Pending {
    pub(crate) fn new(
        session: &Arc<Mutex<Session>>,
        client: &Client,
        ask: &Ask,
        now: u64,
    ) -> Result<Self, Error> {
        let mut locked = session.lock();
        let cancel = locked.begin();
        let work = match gather::gather(&mut locked, client, ask, now)? {
            Gathered::Nothing(why) => {
                tracing::debug!(session = locked.id, why, "nothing is suggested");
                Work::Known(Response::nothing(why, gather::is_manual(ask)))
            }
            Gathered::Left(suggestion, place) => Work::Known(go_on(&mut locked, client, *suggestion, place)),
            Gathered::Scene(snapshot) => {
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
    pub fn canceller(&self) -> Cancel {
        self.cancel.clone()
    }

    /// The answer; -32800 if it is not wanted any more.
    pub fn run(self) -> Result<Response, Error> {
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
                Ok(Response { left_out, ..response })
            }
        }
    }
}

/// Offers what is left of a suggestion whose beginning the user has typed.
fn go_on(session: &mut Session, client: &Client, suggestion: Suggestion, place: Place) -> Response {
    let target = Some(place.text.clone());
    let answer = convert::answer(&suggestion, |_| target.as_ref(), client.encoding);
    let entry = answer.map(|answer| session.offered.enter(Ready { suggestion, target, answer }));
    show(session, place, entry.into_iter().collect())
}

/// Shows these from now on.
fn show(session: &mut Session, place: Place, entries: Vec<Entry>) -> Response {
    let suggestions = entries.iter().map(|entry| entry.answer.clone()).collect();
    session.offered.show(place, entries);
    Response { suggestions, ..Response::default() }
}

impl Snapshot {
    /// The same with documents that are not parsed for longer than the answer is wanted and can wait.
    fn within(mut self, cancel: &Cancel) -> Self {
        let patience: Arc<dyn nudge_syntax::Patience> =
            Arc::new(Patience::new(cancel.clone(), self.client.parse_time));
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

    fn suggest(&self, cancel: &Cancel) -> Outcome {
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
    fn ready(&self, suggestions: Vec<Suggestion>) -> Vec<Ready> {
        let offers = self.client.offers;
        let is_offered = |suggestion: &Suggestion| match suggestion.kind {
            Kind::Edit { .. } => true,
            Kind::Jump { .. } => offers.jump,
            Kind::Rename { .. } => offers.rename,
            Kind::Replace { .. } => offers.search_and_replace,
        };
        let ready = |mut suggestion: Suggestion| {
            let known = self.text(suggestion.kind.uri());
            let read = if known.is_none() { self.read(&suggestion.kind) } else { None };
            let text = |uri: &str| self.text(uri).or(read.as_ref());
            let answer = convert::answer(&suggestion, text, self.client.encoding)?;
            // Not every engine says what identifies a suggestion.
            if suggestion.effect.is_empty() {
                suggestion.effect = Effect::of(&suggestion.kind, text);
            }
            // What a whole folder is about is not looked at again, nor is a file that is not open.
            let is_placed = !matches!(suggestion.kind, Kind::Replace { .. });
            Some(Ready { target: known.filter(|_| is_placed).cloned(), suggestion, answer })
        };
        suggestions.into_iter().filter(is_offered).filter_map(ready).collect()
    }

    /// The text of a document.
    fn text(&self, uri: &str) -> Option<&Text> {
        let mut known = iter::once(&self.source).chain(&self.others);
        known.find(|source| **source.uri() == *uri).map(Source::text)
    }

    /// The text of a file that is not open. An edit must fit the very text it was made for, but a jump to a place nearby
    /// is still of use.
    fn read(&self, kind: &Kind) -> Option<Text> {
        let Kind::Jump { uri, .. } = kind else { return None };
        let found = self.folders.find(uri)?;
        read_text(&found.path, limits::FILE_BYTES).map(Text::from)
    }

    /// Decides what is shown from now on.
    fn settle(mut self, session: &mut Session, mut ready: Vec<Ready>, why_nothing: &'static str) -> Response {
        session.recover();
        // Something may have been taken or refused while this one was on its way.
        let memory = session.memory();
        ready.retain(|ready| !memory.refuses(&ready.suggestion.effect));
        self.standing
            .retain(|entry| session.offered.is_shown(&entry.id) && !memory.refuses(&entry.suggestion.effect));
        let entries: Vec<Entry> = if self.standing.is_empty() {
            ready.into_iter().map(|ready| session.offered.enter(ready)).collect()
        } else {
            let stand = |entry: Entry| {
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
            return Response::nothing(why, self.trigger == Trigger::Manual);
        }
        show(session, Place::new(&self.source, self.cursor, self.selection), entries)
    }
}

/// What stands as it was, but for the edits of a rename: they are in other documents too, which may have changed.
fn brought_up(mut entry: Entry, ready: &[Ready]) -> Entry {
    let Answer { uri, action, .. } = &mut entry.answer;
    if let answer::Action::Rename { position, name, changes } = action {
        let same = ready.iter().find_map(|ready| match &ready.answer.action {
            answer::Action::Rename { position: at, name: new, changes }
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

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}
