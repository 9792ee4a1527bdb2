//! What a request is about, put together from the events of the session and what came with the request. Where both tell,
//! the events are believed, but for what the user sees.

use std::sync::Arc;

use nudge_predict::{EngineSuggestion, SceneAction, SceneDiagnostic, SceneSnippet, SuggestTrigger};
use nudge_syntax::AnalysedDocument;
use nudge_text::{
    Text,
    history::{self, LineChange},
};
use nudge_wire::{
    Error,
    nes::{ErrorReason, RecentFile, SuggestContext},
};

use crate::{
    SuggestQuestion, convert,
    documents::DocumentLookup,
    limits,
    pending::{NesClient, SuggestSnapshot},
    session::NesSession,
    shown::CursorPlace,
};

/// What a request comes to.
pub(crate) enum GatheredScene {
    /// There is nothing to suggest, and why.
    Nothing(&'static str),
    /// What is left of the suggestion that is shown.
    Left(Box<EngineSuggestion>, CursorPlace),
    /// The engine is asked.
    Scene(Box<SuggestSnapshot>),
}

pub(crate) fn is_manual(ask: &SuggestQuestion) -> bool {
    convert::trigger(&ask.trigger) == SuggestTrigger::Manual
}

/// Looks at a request.
pub(crate) fn gather(
    session: &mut NesSession,
    client: &NesClient,
    ask: &SuggestQuestion,
    now: u64,
) -> Result<GatheredScene, Error> {
    let mut source = match document(session, ask, now)? {
        Ok(source) => source,
        Err(why) => return Ok(GatheredScene::Nothing(why)),
    };
    if !session.settings.enabled {
        return Ok(GatheredScene::Nothing("suggestions are turned off"));
    }
    let mut others = others(session, &ask.context, source.uri());
    let mut at_hand: Vec<&mut AnalysedDocument> = std::iter::once(&mut source).chain(&mut others).collect();
    session.keep_only(&mut at_hand);
    let text = source.text();
    let cursor = convert::offset(text, &ask.position, client.encoding);
    let selection = ask.selection.as_ref().map(|range| convert::range(text, range, client.encoding));
    let selection = selection.filter(|range| !range.is_empty());
    let changes = changes(session, &ask.context, &source, &others);
    let diagnostics = diagnostics(&ask.context, client, &source, &others);
    let trigger = convert::trigger(&ask.trigger);
    let place = CursorPlace::new(&source, cursor, selection.clone());
    let standing = session.offered.standing(&place, |uri| {
        std::iter::once(&source)
            .chain(&others)
            .find(|source| **source.uri() == *uri)
            .map(AnalysedDocument::text)
    });
    let memory = session.memory_of(std::iter::once(&source).chain(&others));
    if standing.is_empty() {
        if let Some(left) = session.offered.remainder(&place).filter(|left| !memory.refuses(&left.effect)) {
            return Ok(GatheredScene::Left(Box::new(left), place));
        }
        if changes.is_empty() && diagnostics.is_empty() && trigger != SuggestTrigger::Manual {
            return Ok(GatheredScene::Nothing("there is no edit and no diagnostic to go by"));
        }
    }
    let index = session.workspace.index.as_ref();
    Ok(GatheredScene::Scene(Box::new(SuggestSnapshot {
        client: client.clone(),
        folders: Arc::clone(&session.workspace.folders),
        visible: visible(session, ask, client, text, cursor),
        cursor,
        selection,
        changes,
        diagnostics,
        actions: actions(&ask.context),
        snippets: snippets(&ask.context),
        index: index.map(|index| index.latest()).unwrap_or_default(),
        left_out: index.filter(|_| trigger == SuggestTrigger::Manual).and_then(|index| index.left_out()),
        memory,
        lessons: Arc::clone(&session.lessons),
        eagerness: session.settings.eagerness,
        trigger,
        standing,
        others,
        source,
    })))
}

/// The document that is asked about, or why there is nothing to say about it.
fn document(
    session: &mut NesSession,
    ask: &SuggestQuestion,
    now: u64,
) -> Result<Result<AnalysedDocument, &'static str>, Error> {
    match session.documents.get(&ask.uri) {
        DocumentLookup::Open { version, .. } if ask.version > version => {
            Err(ErrorReason::DocumentOutOfSync.error())
        }
        DocumentLookup::Open { version, .. } if ask.version < version => {
            Ok(Err("the document has changed since it was asked"))
        }
        DocumentLookup::Open { source, .. } => Ok(Ok(source.clone())),
        DocumentLookup::OutOfSync => Err(ErrorReason::DocumentOutOfSync.error()),
        DocumentLookup::TooLarge => Ok(Err("the document is too large")),
        DocumentLookup::Unknown => attached(session, ask, now),
    }
}

/// A document that no event was about: it came with the request, or it is read from the workspace.
fn attached(
    session: &mut NesSession,
    ask: &SuggestQuestion,
    now: u64,
) -> Result<Result<AnalysedDocument, &'static str>, Error> {
    let files = ask.context.recent_files.iter().flatten();
    let Some(file) = files.into_iter().find(|file| file.uri == ask.uri) else {
        let read = session.recent.read(&session.workspace.folders, &ask.uri);
        return read.map(Ok).ok_or_else(|| ErrorReason::UnknownDocument.error());
    };
    if file.text.len() > limits::FILE_BYTES {
        return Ok(Err("the document is too large"));
    }
    let (source, changed) = session.recent.put(&file.uri, &file.language_id, &file.text);
    // A client that tells no edits at all still shows them, one request after the other.
    if let Some(made) = changed.filter(|_| ask.context.edit_history.is_none()) {
        session.changed(&made, now);
    }
    Ok(Ok(source))
}

/// The other documents, the most recently used first.
fn others(session: &mut NesSession, context: &SuggestContext, this: &str) -> Vec<AnalysedDocument> {
    let mut others: Vec<AnalysedDocument> =
        session.documents.recent().into_iter().filter(|source| **source.uri() != *this).cloned().collect();
    others.truncate(limits::OTHERS);
    let is_new = |others: &[AnalysedDocument], session: &NesSession, uri: &str| {
        uri != this
            && others.len() < limits::OTHERS
            && matches!(session.documents.get(uri), DocumentLookup::Unknown)
            && others.iter().all(|source| **source.uri() != *uri)
    };
    let short = |file: &&RecentFile| file.text.len() <= limits::FILE_BYTES;
    for file in context.recent_files.iter().flatten().filter(short).take(limits::RECENT_FILES) {
        if is_new(&others, session, &file.uri) {
            others.push(session.recent.put(&file.uri, &file.language_id, &file.text).0);
        }
    }
    let mut open: Vec<_> = context.open_files.iter().flatten().collect();
    open.sort_by_key(|file| std::cmp::Reverse(file.last_focused_ms.as_option().copied()));
    for file in open.into_iter().take(limits::OPEN_FILES) {
        if is_new(&others, session, &file.uri)
            && let Some(source) = session.recent.read(&session.workspace.folders, &file.uri)
        {
            others.push(source);
        }
    }
    others
}

/// What was changed, the oldest first. Of a document whose edits were seen the request has nothing to add.
fn changes(
    session: &NesSession,
    context: &SuggestContext,
    source: &AnalysedDocument,
    others: &[AnalysedDocument],
) -> Vec<LineChange> {
    let seen = session.history.changes();
    let told: Vec<_> = context.edit_history.iter().flatten().collect();
    let told = &told[told.len().saturating_sub(limits::EDIT_HISTORY)..];
    let mut changes = Vec::new();
    for entry in told {
        if seen.iter().any(|change| *change.uri == *entry.uri) || entry.diff.len() > limits::FILE_BYTES {
            continue;
        }
        let known = std::iter::once(source).chain(others).find(|source| **source.uri() == *entry.uri);
        let uri = known.map_or_else(|| entry.uri.as_str().into(), |source| Arc::clone(source.uri()));
        changes.extend(history::from_diff(&uri, &entry.diff, known.map(AnalysedDocument::text)));
    }
    changes.extend(seen);
    changes
}

/// What compilers and linters say about documents whose text is known.
fn diagnostics(
    context: &SuggestContext,
    client: &NesClient,
    source: &AnalysedDocument,
    others: &[AnalysedDocument],
) -> Vec<SceneDiagnostic> {
    let convert = |diagnostic: &nudge_wire::nes::Diagnostic| {
        let mut known = std::iter::once(source).chain(others);
        let about = known.find(|source| **source.uri() == *diagnostic.uri)?;
        Some(SceneDiagnostic {
            uri: Arc::clone(about.uri()),
            range: convert::range(about.text(), &diagnostic.range, client.encoding),
            severity: convert::severity(&diagnostic.severity),
            message: diagnostic.message.clone(),
        })
    };
    context.diagnostics.iter().flatten().filter_map(convert).take(limits::DIAGNOSTICS).collect()
}

fn actions(context: &SuggestContext) -> Vec<SceneAction> {
    let told: Vec<_> = context.user_actions.iter().flatten().collect();
    let told = &told[told.len().saturating_sub(limits::USER_ACTIONS)..];
    let convert = |action: &&nudge_wire::nes::UserAction| SceneAction {
        name: action.action.clone(),
        uri: action.uri.as_str().into(),
        line: action.position.line as usize,
        time: action.timestamp_ms,
    };
    told.iter().map(convert).collect()
}

fn snippets(context: &SuggestContext) -> Vec<SceneSnippet> {
    let mut snippets = Vec::new();
    for related in context.related_snippets.iter().flatten() {
        let uri: Arc<str> = related.uri.as_str().into();
        let excerpts = related.excerpts.iter().filter(|excerpt| excerpt.text.len() <= limits::FILE_BYTES);
        snippets.extend(
            excerpts.map(|excerpt| SceneSnippet { uri: Arc::clone(&uri), text: excerpt.text.clone() }),
        );
    }
    snippets.truncate(limits::SNIPPETS);
    snippets
}

/// What the user sees of the document. What came with the request is newer than what an event told, and an event that does
/// not know the cursor's place is out of date: editors need not tell that the user has scrolled.
fn visible(
    session: &NesSession,
    ask: &SuggestQuestion,
    client: &NesClient,
    text: &Text,
    cursor: usize,
) -> Option<std::ops::Range<usize>> {
    let range = |range| convert::range(text, range, client.encoding);
    let open = ask.context.open_files.iter().flatten().find(|file| file.uri == ask.uri);
    if let Some(told) = open.and_then(|file| file.visible_range.as_option()) {
        return Some(range(told));
    }
    let DocumentLookup::Open { visible, .. } = session.documents.get(&ask.uri) else { return None };
    visible.map(range).filter(|seen| seen.start <= cursor && cursor <= seen.end)
}
