//! The language server: its life, and which message goes where.

use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Instant,
};

use async_lsp::{AnyNotification, AnyRequest, ErrorCode, ResponseError};
use futures_util::{FutureExt, future::BoxFuture};
use nudge_wire::{
    Error,
    nes::{RejectReason, TriggerKind},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    action, ask,
    ask::NextEditQuestion,
    closed::UnopenedTexts,
    command, copilot,
    desk::{FocusedDocument, LspSession},
    edit,
    editor::{self, EditorProfile},
    guard, inline, params,
    settings::EditorSettings,
};

/// The server of one editor.
pub(crate) struct LspServer {
    desk: Arc<LspSession>,
    life: Life,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    New,
    Running,
    ShutDown,
}

/// The answer to a request, on its way.
pub(crate) type LspAnswer = BoxFuture<'static, Result<Value, Error>>;

impl LspServer {
    pub(crate) fn new(desk: Arc<LspSession>) -> Self {
        Self { desk, life: Life::New }
    }

    /// Takes a request. What depends on the order of messages happens before this returns.
    pub(crate) fn request(
        &mut self,
        request: AnyRequest,
    ) -> BoxFuture<'static, Result<Value, ResponseError>> {
        let AnyRequest { method, params, .. } = request;
        let answer = match self.life {
            Life::New if method == "initialize" => Ok(self.initialize(&params)),
            Life::New => return failed(ErrorCode::SERVER_NOT_INITIALIZED, "`initialize` comes first"),
            Life::ShutDown => return failed(ErrorCode::INVALID_REQUEST, "the server has been shut down"),
            Life::Running if method == "initialize" => {
                return failed(ErrorCode::INVALID_REQUEST, "the server is initialized already");
            }
            Life::Running => self.answer(&method, params),
        };
        let answer = answer.unwrap_or_else(|error| std::future::ready(Err(error)).boxed());
        answer.map(|answer| answer.map_err(|error| told(&error))).boxed()
    }

    fn initialize(&mut self, params: &Value) -> LspAnswer {
        let editor = EditorProfile::new(params);
        let mut settings = EditorSettings::default();
        settings.take(&params["initializationOptions"]);
        let welcome = editor.welcome(&self.desk.options.version);
        self.desk.begin(editor, settings);
        self.life = Life::Running;
        now(welcome)
    }

    fn answer(&mut self, method: &str, params: Value) -> Result<LspAnswer, Error> {
        let desk = &self.desk;
        Ok(match method {
            "shutdown" => {
                self.life = Life::ShutDown;
                desk.shut_down();
                now(Value::Null)
            }
            "nudge/suggest" => suggest(desk, read(method, params)?),
            "textDocument/inlineCompletion" => inline::complete(desk, read(method, params)?),
            "textDocument/copilotInlineEdit" => copilot::edit(desk, read(method, params)?),
            "textDocument/codeAction" => action::actions(desk, read(method, params)?),
            "workspace/executeCommand" => command::execute(desk, read(method, params)?)?,
            guard::UNREAD => {
                return Err(Error::invalid_request(read::<params::UnreadRequest>(method, params)?.message));
            }
            _ => return Err(Error::method_not_found(method)),
        })
    }

    /// Takes a notification. One that cannot be read is left out, and the document that it would have changed is out of
    /// step.
    pub(crate) fn notification(
        &mut self,
        notification: AnyNotification,
    ) -> ControlFlow<async_lsp::Result<()>> {
        let AnyNotification { method, params, .. } = notification;
        if method == "exit" {
            return ControlFlow::Break(Ok(()));
        }
        if self.life == Life::Running {
            let uri = || params["textDocument"]["uri"].as_str().map(str::to_owned);
            let changes_text = guard::changes_text(&method).then(uri);
            // The library answers for a request that panics, but would end at such a notification.
            match catch_unwind(AssertUnwindSafe(|| self.note(&method, params))) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!(method, %error, "a notification of the editor could not be taken");
                    changes_text.inspect(|uri| self.desk.lose(uri.as_deref()));
                }
                Err(_) => {
                    tracing::error!(method, "a notification of the editor made its handler panic");
                    changes_text.inspect(|uri| self.desk.lose(uri.as_deref()));
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn note(&self, method: &str, params: Value) -> Result<(), Error> {
        let desk = &self.desk;
        match method {
            "initialized" => command::register(desk),
            "textDocument/didOpen" => did_open(desk, &read(method, params)?),
            "textDocument/didChange" => did_change(desk, read(method, params)?),
            "textDocument/didClose" => {
                let about: params::LspDocumentParams = read(method, params)?;
                desk.lock().did_close(&about.text_document.uri);
            }
            "textDocument/didSave" => {
                let about: params::LspDocumentParams = read(method, params)?;
                desk.lock().did_save(&about.text_document.uri);
            }
            guard::UNREAD => desk.lose(read::<params::UnreadMessage>(method, params)?.uri.as_deref()),
            guard::MENDED => mended(desk, &read(method, params)?),
            "textDocument/didFocus" | "nudge/didFocus" => did_focus(desk, read(method, params)?),
            // Plugins for Copilot say this; that something was shown teaches nothing.
            "textDocument/didShowCompletion" | "textDocument/didShowInlineEdit" => {}
            "nudge/accept" => {
                let verdict: params::LspVerdict = read(method, params)?;
                // Of a suggestion that was taken in part the rest may still come.
                if verdict.part.is_none() {
                    desk.lock().accept(&verdict.id);
                }
            }
            "nudge/reject" => {
                let verdict: params::LspVerdict = read(method, params)?;
                let reason = verdict.reason.map_or(RejectReason::Rejected, RejectReason::from);
                desk.lock().reject(&verdict.id, &reason);
            }
            "nudge/diagnostics" => {
                let said: params::LspDiagnosticsParams = read(method, params)?;
                diagnose(desk, &said);
            }
            "workspace/didChangeConfiguration" => command::configure(desk, read(method, params)?),
            "workspace/didChangeWorkspaceFolders" => folders(desk, &params),
            _ => tracing::debug!(method, "a notification that is not known"),
        }
        Ok(())
    }
}

/// An answer that is there already.
pub(crate) fn now(answer: Value) -> LspAnswer {
    std::future::ready(Ok(answer)).boxed()
}

fn suggest(desk: &Arc<LspSession>, params: params::LspSuggestParams) -> LspAnswer {
    let begun = Instant::now();
    let asked = ask::ask(
        desk,
        NextEditQuestion {
            uri: params.text_document.uri,
            version: params.text_document.version,
            position: params.position,
            selection: params.selection,
            visible: params.visible,
            trigger: params.trigger.map_or(TriggerKind::Automatic, TriggerKind::from),
            diagnostics: Vec::new(),
        },
    );
    let desk = Arc::clone(desk);
    async move {
        let answer = asked.await?;
        let closed = UnopenedTexts::read(&desk, &answer.suggestions).await;
        let inner = desk.lock();
        let say = |suggestion: &crate::suggest::LspSuggestion| {
            suggestion.to_json(edit::whole(&inner, &closed, suggestion).as_ref())
        };
        let suggestions: Vec<_> = answer.suggestions.iter().map(say).collect();
        let elapsed = begun.elapsed().as_secs_f64() * 1000.0;
        let mut said =
            json!({ "suggestions": suggestions, "elapsedMs": (elapsed * 1000.0).round() / 1000.0 });
        if let Some(why) = answer.why {
            said["why"] = why.into();
        }
        Ok(said)
    }
    .boxed()
}

fn did_open(desk: &LspSession, params: &params::LspDidOpen) {
    let mut inner = desk.lock();
    let opened = &params.text_document;
    let was_open = inner.mirror.get(&opened.uri).is_some();
    match inner.mirror.open(opened) {
        Ok(()) => {
            let Some(ready) = inner.ready() else { return };
            let params::LspDocumentItem { uri, language_id, version, text } = opened;
            let session = ready.session.as_str();
            let event = nudge_wire::document::DidOpen::new(
                session,
                uri.as_str(),
                language_id.as_str(),
                *version,
                text.as_str(),
            );
            inner.send("document/didOpen", &event);
        }
        Err(why) => {
            tracing::info!(%why, "a document is not followed");
            if was_open && let Some(ready) = inner.ready() {
                let event = nudge_wire::document::DidClose::new(ready.session.as_str(), opened.uri.as_str());
                inner.send("document/didClose", &event);
            }
        }
    }
}

fn did_change(desk: &LspSession, change: params::LspDidChange) {
    let mut inner = desk.lock();
    let uri = change.text_document.uri.clone();
    let was_in_sync = inner.mirror.get(&uri).is_some_and(crate::mirror::MirroredDocument::in_sync);
    if let Err(why) = inner.did_change(change)
        && was_in_sync
    {
        drop(inner);
        tracing::warn!(%why, "a document is out of step");
        desk.log(&format!("a change of a document could not be made, so it gets no suggestions: {why}"));
    }
}

/// Half a surrogate pair is one unit of UTF-16, as is what stands for it. What it is in other encodings nobody knows.
fn mended(desk: &LspSession, about: &params::UnreadMessage) {
    if desk.lock().mirror.encoding() != nudge_text::Encoding::Utf16 {
        desk.lose(about.uri.as_deref());
    }
}

fn did_focus(desk: &LspSession, focus: params::LspDidFocus) {
    let Some(uri) = focus.text_document.map(|named| named.uri).or(focus.uri) else { return };
    let mut inner = desk.lock();
    if let (Some(position), Some(visible)) = (&focus.position, focus.visible) {
        inner.focus(FocusedDocument { uri: uri.clone(), position: position.clone(), visible });
    }
    if let Some(position) = focus.position {
        inner.place = Some((uri, position));
    }
}

fn diagnose(desk: &LspSession, said: &params::LspDiagnosticsParams) {
    let mut inner = desk.lock();
    let version = inner.mirror.get(&said.uri).map(crate::mirror::MirroredDocument::version);
    // Those of an older text are better than none only if the version is not said.
    if said.version.is_none() || said.version == version {
        inner.mirror.diagnose(&said.uri, &said.all);
    }
}

/// The folders are said once for a session; with others there is another.
fn folders(desk: &LspSession, params: &Value) {
    let event = &params["event"];
    let list = |name: &str| {
        event[name].as_array().into_iter().flatten().filter_map(editor::folder).collect::<Vec<_>>()
    };
    let (added, removed) = (list("added"), list("removed"));
    let mut inner = desk.lock();
    let folders = &mut inner.editor.folders;
    folders.retain(|folder| !removed.iter().chain(&added).any(|other| other.uri == folder.uri));
    folders.extend(added);
    if let Some(ready) = inner.ready() {
        ready.cx.close();
    }
}

fn read<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, Error> {
    serde_json::from_value(params).map_err(|error| Error::bad_params(method, &error))
}

fn failed(code: ErrorCode, message: &str) -> BoxFuture<'static, Result<Value, ResponseError>> {
    std::future::ready(Err(ResponseError::new(code, message))).boxed()
}

fn told(error: &Error) -> ResponseError {
    let code = ErrorCode(i32::try_from(error.code.0).unwrap_or(ErrorCode::INTERNAL_ERROR.0));
    ResponseError::new(code, &error.message)
}
