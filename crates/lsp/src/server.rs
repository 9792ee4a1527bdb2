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
    command, copilot, edit,
    editor::{self, EditorProfile},
    guard, inline, params,
    session::{FocusedDocument, LspSession},
    settings::EditorSettings,
};

/// The server of one editor.
pub(crate) struct LspServer {
    lsp: Arc<LspSession>,
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
    pub(crate) fn new(lsp: Arc<LspSession>) -> Self {
        Self { lsp, life: Life::New }
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
        answer.map(|answer| answer.map_err(|error| response_error(&error))).boxed()
    }

    fn initialize(&mut self, params: &Value) -> LspAnswer {
        let editor = EditorProfile::new(params);
        let mut settings = EditorSettings::default();
        settings.take(&params["initializationOptions"]);
        let welcome = editor.welcome(&self.lsp.options.version);
        self.lsp.begin(editor, settings);
        self.life = Life::Running;
        now(welcome)
    }

    fn answer(&mut self, method: &str, params: Value) -> Result<LspAnswer, Error> {
        let lsp = &self.lsp;
        Ok(match method {
            "shutdown" => {
                self.life = Life::ShutDown;
                lsp.shut_down();
                now(Value::Null)
            }
            "nudge/suggest" => suggest(lsp, read(method, params)?),
            "textDocument/inlineCompletion" => inline::complete(lsp, read(method, params)?),
            "textDocument/copilotInlineEdit" => copilot::edit(lsp, read(method, params)?),
            "textDocument/codeAction" => action::actions(lsp, read(method, params)?),
            "workspace/executeCommand" => command::execute(lsp, read(method, params)?)?,
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
                    changes_text.inspect(|uri| self.lsp.lose(uri.as_deref()));
                }
                Err(_) => {
                    tracing::error!(method, "a notification of the editor made its handler panic");
                    changes_text.inspect(|uri| self.lsp.lose(uri.as_deref()));
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn note(&self, method: &str, params: Value) -> Result<(), Error> {
        let lsp = &self.lsp;
        match method {
            "initialized" => command::register(lsp),
            "textDocument/didOpen" => did_open(lsp, &read(method, params)?),
            "textDocument/didChange" => did_change(lsp, read(method, params)?),
            "textDocument/didClose" => {
                let about: params::LspDocumentParams = read(method, params)?;
                lsp.lock().did_close(&about.text_document.uri);
            }
            "textDocument/didSave" => {
                let about: params::LspDocumentParams = read(method, params)?;
                lsp.lock().did_save(&about.text_document.uri);
            }
            guard::UNREAD => lsp.lose(read::<params::UnreadMessage>(method, params)?.uri.as_deref()),
            guard::MENDED => mended(lsp, &read(method, params)?),
            "textDocument/didFocus" | "nudge/didFocus" => did_focus(lsp, read(method, params)?),
            // Plugins for Copilot say this; that something was shown teaches nothing.
            "textDocument/didShowCompletion" | "textDocument/didShowInlineEdit" => {}
            "nudge/accept" => {
                let verdict: params::LspVerdict = read(method, params)?;
                // Of a suggestion that was taken in part the rest may still come.
                if verdict.part.is_none() {
                    lsp.lock().accept(&verdict.id);
                }
            }
            "nudge/reject" => {
                let verdict: params::LspVerdict = read(method, params)?;
                let reason = verdict.reason.map_or(RejectReason::Rejected, RejectReason::from);
                lsp.lock().reject(&verdict.id, &reason);
            }
            "nudge/diagnostics" => {
                let said: params::LspDiagnosticsParams = read(method, params)?;
                diagnose(lsp, &said);
            }
            "workspace/didChangeConfiguration" => command::configure(lsp, read(method, params)?),
            "workspace/didChangeWorkspaceFolders" => folders(lsp, &params),
            _ => tracing::debug!(method, "a notification that is not known"),
        }
        Ok(())
    }
}

/// An answer that is there already.
pub(crate) fn now(answer: Value) -> LspAnswer {
    std::future::ready(Ok(answer)).boxed()
}

fn suggest(lsp: &Arc<LspSession>, params: params::LspSuggestParams) -> LspAnswer {
    let begun = Instant::now();
    let asked = ask::ask(
        lsp,
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
    let lsp = Arc::clone(lsp);
    async move {
        let answer = asked.await?;
        let closed = UnopenedTexts::read(&lsp, &answer.suggestions).await;
        let inner = lsp.lock();
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

fn did_open(lsp: &LspSession, params: &params::LspDidOpen) {
    let mut inner = lsp.lock();
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

fn did_change(lsp: &LspSession, change: params::LspDidChange) {
    let mut inner = lsp.lock();
    let uri = change.text_document.uri.clone();
    let was_in_sync = inner.mirror.get(&uri).is_some_and(crate::mirror::MirroredDocument::in_sync);
    if let Err(why) = inner.did_change(change)
        && was_in_sync
    {
        drop(inner);
        tracing::warn!(%why, "a document is out of step");
        lsp.log(&format!("a change of a document could not be made, so it gets no suggestions: {why}"));
    }
}

/// Half a surrogate pair is one unit of UTF-16, as is what stands for it. What it is in other encodings nobody knows.
fn mended(lsp: &LspSession, about: &params::UnreadMessage) {
    if lsp.lock().mirror.encoding() != nudge_text::Encoding::Utf16 {
        lsp.lose(about.uri.as_deref());
    }
}

fn did_focus(lsp: &LspSession, focus: params::LspDidFocus) {
    let Some(uri) = focus.text_document.map(|named| named.uri).or(focus.uri) else { return };
    let mut inner = lsp.lock();
    if let (Some(position), Some(visible)) = (&focus.position, focus.visible) {
        inner.focus(FocusedDocument { uri: uri.clone(), position: position.clone(), visible });
    }
    if let Some(position) = focus.position {
        inner.place = Some((uri, position));
    }
}

fn diagnose(lsp: &LspSession, said: &params::LspDiagnosticsParams) {
    let mut inner = lsp.lock();
    let version = inner.mirror.get(&said.uri).map(crate::mirror::MirroredDocument::version);
    // Those of an older text are better than none only if the version is not said.
    if said.version.is_none() || said.version == version {
        inner.mirror.diagnose(&said.uri, &said.all);
    }
}

/// The folders are said once for a session; with others there is another.
fn folders(lsp: &LspSession, params: &Value) {
    let event = &params["event"];
    let list = |name: &str| {
        event[name].as_array().into_iter().flatten().filter_map(editor::folder).collect::<Vec<_>>()
    };
    let (added, removed) = (list("added"), list("removed"));
    let mut inner = lsp.lock();
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

fn response_error(error: &Error) -> ResponseError {
    let code = ErrorCode(i32::try_from(error.code.0).unwrap_or(ErrorCode::INTERNAL_ERROR.0));
    ResponseError::new(code, &error.message)
}
