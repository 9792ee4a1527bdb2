//! Asking what the user might do next.

use std::{sync::Arc, time::Duration};

use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use nudge_peer::CallError;
use nudge_wire::{
    Error, ErrorCode,
    nes::{Diagnostic, ErrorReason, Position, Range, SuggestContext, TriggerKind, v2},
};

use crate::{
    mirror::{MirroredDocument, bytes},
    offered::{OfferedSuggestions, effect},
    session::{FocusedDocument, LspSession, LspSessionState, NesLine, ReadyLine},
    suggest::{LspSuggestion, SuggestionAction},
};

/// A user who asks waits this long for a line that is about to be there; who only types does not.
const WAIT: Duration = Duration::from_secs(3);

/// How long an answer may take; what comes later is of no use to anybody.
const PATIENCE: Duration = Duration::from_secs(10);

/// A question.
#[derive(Debug, Clone)]
pub(crate) struct NextEditQuestion {
    pub(crate) uri: String,
    /// The version the editor speaks of, if it says one.
    pub(crate) version: Option<i64>,
    pub(crate) position: Position,
    pub(crate) selection: Option<Range>,
    pub(crate) visible: Option<Range>,
    pub(crate) trigger: TriggerKind,
    /// What other language servers say, beside what they have said before.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// What the user might do next, best first, or why there is nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct NextEditAnswer {
    pub(crate) suggestions: Vec<LspSuggestion>,
    pub(crate) why: Option<String>,
}

/// A question that is being answered. Another that is the same waits for the same answer; else it would put an end to
/// this one.
pub(crate) struct RunningQuestion {
    key: Key,
    answer: Shared<BoxFuture<'static, Result<NextEditAnswer, Error>>>,
}

/// What the editor had when a question was asked.
struct State {
    /// The document that it is about.
    uri: String,
    version: i64,
    /// Of all documents, see [`crate::mirror::DocumentMirror::moves`].
    moves: u64,
}

type Key = (u64, String, i64, Position, Option<Range>, bool);

impl NextEditAnswer {
    fn nothing(why: impl Into<String>) -> Self {
        Self { suggestions: Vec::new(), why: Some(why.into()) }
    }
}

/// -32801: the document is another than the one that is spoken of.
fn content_modified() -> Error {
    Error::new(ErrorCode(-32801), "Content modified")
}

/// Asks for somebody who would show an error to the user: a question that was given up because of another is none, and has
/// nothing for an answer.
pub(crate) fn ask_quietly(
    lsp: &Arc<LspSession>,
    question: NextEditQuestion,
) -> BoxFuture<'static, Result<NextEditAnswer, Error>> {
    let given_up = [ErrorCode::REQUEST_CANCELLED, content_modified().code];
    let quieten = move |answer: Result<NextEditAnswer, Error>| match answer {
        Err(error) if given_up.contains(&error.code) => Ok(NextEditAnswer::default()),
        answer => answer,
    };
    ask(lsp, question).map(quieten).boxed()
}

/// Asks. What depends on the order of messages happens now, only the waiting later.
pub(crate) fn ask(
    lsp: &Arc<LspSession>,
    ask: NextEditQuestion,
) -> BoxFuture<'static, Result<NextEditAnswer, Error>> {
    let mut inner = lsp.lock();
    if let Some(known) = refused(&inner, &ask) {
        return std::future::ready(known).boxed();
    }
    if inner.ready().is_some() {
        return begin(lsp, &mut inner, &ask);
    }
    let why = match &inner.line {
        NesLine::Failed(why) => format!("there is no connection to the daemon: {why}"),
        _ => "the connection to the daemon is not there yet".to_owned(),
    };
    if ask.trigger != TriggerKind::Manual || matches!(inner.line, NesLine::Failed(_)) {
        return std::future::ready(Ok(NextEditAnswer::nothing(why))).boxed();
    }
    drop(inner);
    let lsp = Arc::clone(lsp);
    async move {
        let _ = tokio::time::timeout(WAIT, line_ready(&lsp)).await;
        let answer = {
            let mut inner = lsp.lock();
            match refused(&inner, &ask) {
                Some(known) => return known,
                None if inner.ready().is_none() => return Ok(NextEditAnswer::nothing(why)),
                None => begin(&lsp, &mut inner, &ask),
            }
        };
        answer.await
    }
    .boxed()
}

async fn line_ready(lsp: &LspSession) {
    let mut news = lsp.news.subscribe();
    while lsp.lock().ready().is_none() {
        if news.changed().await.is_err() {
            return;
        }
    }
}

/// The answer where nobody has to be asked for it.
fn refused(inner: &LspSessionState, ask: &NextEditQuestion) -> Option<Result<NextEditAnswer, Error>> {
    if !inner.settings.enabled {
        return Some(Ok(NextEditAnswer::nothing("suggestions are switched off")));
    }
    let Some(mirrored) = inner.mirror.get(&ask.uri) else {
        return Some(Ok(NextEditAnswer::nothing("the document is not open, or too long")));
    };
    if !mirrored.in_sync() {
        return Some(Ok(NextEditAnswer::nothing("a change of the document could not be made; open it anew")));
    }
    ask.version.is_some_and(|version| version != mirrored.version()).then(|| Err(content_modified()))
}

/// Sends the question, or finds the same one on its way.
fn begin(
    lsp: &Arc<LspSession>,
    inner: &mut LspSessionState,
    ask: &NextEditQuestion,
) -> BoxFuture<'static, Result<NextEditAnswer, Error>> {
    let (Some(ready), Some(mirrored)) = (inner.ready().cloned(), inner.mirror.get(&ask.uri)) else {
        return std::future::ready(Ok(NextEditAnswer::default())).boxed();
    };
    let version = mirrored.version();
    let is_manual = ask.trigger == TriggerKind::Manual;
    let (position, selection) = (ask.position.clone(), ask.selection.clone());
    let key: Key = (ready.generation, ask.uri.clone(), version, position, selection, is_manual);
    inner.place = Some((ask.uri.clone(), ask.position.clone()));
    if let Some(running) =
        inner.running.as_ref().filter(|running| running.key == key && running.answer.peek().is_none())
    {
        return running.answer.clone().boxed();
    }
    if let Some(visible) = ask.visible.clone() {
        inner.focus(FocusedDocument { uri: ask.uri.clone(), position: ask.position.clone(), visible });
    }
    let (session, uri) = (ready.session.as_str(), ask.uri.as_str());
    let mut request =
        v2::SuggestRequest::new(session, uri, version, ask.position.clone(), ask.trigger.clone());
    request.selection.clone_from(&ask.selection);
    let mut diagnostics = inner.mirror.diagnostics(uri);
    diagnostics.extend(
        ask.diagnostics.iter().filter(|more| !diagnostics.contains(more)).cloned().collect::<Vec<_>>(),
    );
    if !diagnostics.is_empty() {
        request.context =
            Some(SuggestContext { diagnostics: Some(diagnostics), ..SuggestContext::default() });
    }
    let asked = ready.cx.request(request);
    let lsp = Arc::clone(lsp);
    let state = State { uri: ask.uri.clone(), version, moves: inner.mirror.moves() };
    let answer = async move {
        match tokio::time::timeout(PATIENCE, asked).await {
            Ok(answer) => taken(&lsp, &ready, &state, answer),
            Err(_) => Ok(NextEditAnswer::nothing("the daemon does not answer")),
        }
    };
    let answer = answer.boxed().shared();
    inner.running = Some(RunningQuestion { key, answer: answer.clone() });
    answer.boxed()
}

/// Takes an answer of the other side.
fn taken(
    lsp: &LspSession,
    ready: &ReadyLine,
    state: &State,
    answer: Result<v2::SuggestResponse, CallError>,
) -> Result<NextEditAnswer, Error> {
    match answer {
        Ok(response) => {
            let why = response.meta.as_ref().and_then(|meta| meta.get("nudge")?["reason"].as_str());
            let why = why.map(ToOwned::to_owned);
            let mut inner = lsp.lock();
            let is_current =
                |mirrored: &MirroredDocument| mirrored.version() == state.version && mirrored.in_sync();
            if !inner.mirror.get(&state.uri).is_some_and(is_current) {
                // Its positions are those of a text that is not there any more.
                return Err(content_modified());
            }
            let said = response.suggestions.into_iter();
            let is_still = inner.mirror.moves() == state.moves;
            let suggestions: Vec<_> =
                said.filter_map(|said| enter(&mut inner, ready.generation, said, is_still)).collect();
            Ok(NextEditAnswer { why: why.filter(|_| suggestions.is_empty()), suggestions })
        }
        Err(CallError::Rpc(error)) if error.code == ErrorCode::REQUEST_CANCELLED => Err(error),
        Err(CallError::Rpc(error)) => {
            let reason = error.get_reason();
            if reason.as_deref() == Some(ErrorReason::DocumentOutOfSync.as_str()) {
                tell_again(lsp, ready, &state.uri);
            }
            tracing::warn!(%error, reason, "a question was not answered");
            Ok(NextEditAnswer::nothing(reason.unwrap_or(error.message)))
        }
        Err(error) => Ok(NextEditAnswer::nothing(error.to_string())),
    }
}

/// Tells a document anew to a side that has lost it.
fn tell_again(lsp: &LspSession, ready: &ReadyLine, uri: &str) {
    let inner = lsp.lock();
    let is_same = inner.ready().is_some_and(|now| now.generation == ready.generation);
    if let Some(mirrored) = inner.mirror.get(uri).filter(|mirrored| is_same && mirrored.in_sync()) {
        let (version, text) = (mirrored.version(), mirrored.text().to_string());
        let open = nudge_wire::document::DidOpen::new(
            ready.session.as_str(),
            uri,
            mirrored.language(),
            version,
            text,
        );
        inner.send("document/didOpen", &open);
    }
}

/// Enters a suggestion; `None` if it cannot be shown or was refused before. `is_still` says that no document has changed
/// since it was asked for.
fn enter(
    inner: &mut LspSessionState,
    generation: u64,
    said: v2::Suggestion,
    is_still: bool,
) -> Option<LspSuggestion> {
    let own_id = said.id().to_owned();
    let mirror = &inner.mirror;
    let version_of = |uri: &str| mirror.get(uri).map(MirroredDocument::version);
    let mut suggestion = LspSuggestion::new(OfferedSuggestions::id(generation, &own_id), said, version_of)?;
    let is_known = mirror.get(&suggestion.uri).is_none_or(MirroredDocument::in_sync);
    if !is_known || suggestion.act.has_replacement_character() {
        return None;
    }
    if let SuggestionAction::Rename { changes, .. } = &mut suggestion.act
        && !is_still
    {
        // They may be about a text that is not there any more, and which one is not said.
        changes.clear();
    }
    let lines = |range: &Range| {
        let Some(text) = mirror.get(&suggestion.uri).map(MirroredDocument::text) else {
            return format!("{range:?}");
        };
        let at = bytes(text, range, mirror.encoding());
        let (first, last) = (text.line_of(at.start), text.line_of(at.end));
        text.slice(text.line_start(first)..text.line_end(last)).into_owned()
    };
    let effect = effect(&suggestion, lines);
    if inner.offered.is_refused(&effect, generation) {
        return None;
    }
    inner.offered.enter(generation, own_id, suggestion.clone(), effect);
    Some(suggestion)
}
