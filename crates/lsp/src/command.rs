//! Commands, for editors that show nothing of suggestions, and the settings as the editor keeps them.

use std::sync::Arc;

use async_lsp::lsp_types::request::Request;
use futures_util::{FutureExt, future::BoxFuture};
use nudge_wire::{
    Error,
    nes::{Position, Range, RejectReason, TriggerKind},
};
use serde_json::{Value, json};

use crate::{
    ask::{self, NextEditAnswer, NextEditQuestion},
    closed::UnopenedTexts,
    edit,
    params::{DidChangeConfiguration, LspExecuteParams},
    server::{LspAnswer, now},
    session::LspSession,
    settings::EagernessSetting,
    suggest::{LspSuggestion, SuggestionAction},
};

/// The commands there are.
pub(crate) const NAMES: [&str; 9] = [
    "nudge.accept",
    "nudge.reject",
    "nudge.applyNextEdit",
    "nudge.goToNextEdit",
    "nudge.enable",
    "nudge.disable",
    "nudge.toggle",
    "nudge.setEagerness",
    "nudge.status",
];

/// Does what a command says.
pub(crate) fn execute(lsp: &Arc<LspSession>, params: LspExecuteParams) -> Result<LspAnswer, Error> {
    let arguments = params.arguments.unwrap_or_default();
    let text = |at: usize| arguments.get(at).and_then(Value::as_str);
    match params.command.as_str() {
        "nudge.accept" => lsp.lock().accept(text(0).ok_or_else(|| wanted("the id of a suggestion"))?),
        "nudge.reject" => {
            let id = text(0).ok_or_else(|| wanted("the id of a suggestion"))?;
            let reason = text(1).map_or(RejectReason::Rejected, RejectReason::from);
            lsp.lock().reject(id, &reason);
        }
        "nudge.applyNextEdit" => return Ok(apply(lsp, &arguments)),
        "nudge.goToNextEdit" => return Ok(go(lsp, &arguments)),
        "nudge.enable" => lsp.set(|settings| settings.enabled = true),
        "nudge.disable" => lsp.set(|settings| settings.enabled = false),
        "nudge.toggle" => lsp.set(|settings| settings.enabled = !settings.enabled),
        "nudge.setEagerness" => {
            let level = text(0).and_then(EagernessSetting::from_name);
            let level = level.ok_or_else(|| wanted("\"low\", \"medium\" or \"high\""))?;
            lsp.set(|settings| settings.eagerness = level);
        }
        "nudge.status" => {}
        _ => {
            return Err(Error::invalid_params("Invalid command: expected one that the server has announced"));
        }
    }
    Ok(now(status(lsp)))
}

fn wanted(what: &str) -> Error {
    Error::invalid_params(format!("Invalid arguments of a command: expected {what}"))
}

fn status(lsp: &LspSession) -> Value {
    let inner = lsp.lock();
    let mut status = inner.status();
    status["enabled"] = inner.settings.enabled.into();
    status["eagerness"] = inner.settings.eagerness.name().into();
    status
}

/// The suggestion that a code action has named; else asks for the user, at the place that is named or where the user was
/// last.
fn asked(lsp: &Arc<LspSession>, arguments: &[Value]) -> BoxFuture<'static, Result<NextEditAnswer, Error>> {
    let ready = |answer: NextEditAnswer| std::future::ready(Ok(answer)).boxed();
    if let Some(known) = known(lsp, arguments) {
        return ready(NextEditAnswer { suggestions: vec![known], why: None });
    }
    let named = arguments.first().and_then(Value::as_str).map(ToOwned::to_owned);
    let at = arguments.get(1).and_then(|at| serde_json::from_value::<Position>(at.clone()).ok());
    let last = lsp.lock().place.clone();
    let place = match (named, at, last) {
        (Some(uri), Some(at), _) => Some((uri, at)),
        (Some(uri), None, Some((known, at))) if known == uri => Some((uri, at)),
        (Some(uri), None, _) => Some((uri, Position::new(0, 0))),
        (None, _, last) => last,
    };
    let Some((uri, position)) = place else {
        return ready(NextEditAnswer { suggestions: Vec::new(), why: Some("no place was named".to_owned()) });
    };
    let trigger = TriggerKind::Manual;
    let diagnostics = Vec::new();
    ask::ask(
        lsp,
        NextEditQuestion {
            uri,
            version: None,
            position,
            selection: None,
            visible: None,
            trigger,
            diagnostics,
        },
    )
}

/// Has the editor make the next edit, wherever it is.
fn apply(lsp: &Arc<LspSession>, arguments: &[Value]) -> LspAnswer {
    let asked = asked(lsp, arguments);
    let lsp = Arc::clone(lsp);
    async move {
        let answer = asked.await?;
        let closed = UnopenedTexts::read(&lsp, &answer.suggestions).await;
        let found = {
            let inner = lsp.lock();
            let edit = |suggestion: &LspSuggestion| edit::any(&inner, &closed, suggestion);
            answer.suggestions.iter().find_map(|suggestion| Some((suggestion.clone(), edit(suggestion)?)))
        };
        let Some((suggestion, edit)) = found else {
            return Ok(json!({ "applied": false, "why": answer.why }));
        };
        let params = json!({ "label": format!("Next edit: {}", suggestion.reason), "edit": edit });
        let applied = lsp.client().request::<Call<ApplyEdit>>(params).await;
        let applied = applied.is_ok_and(|applied| applied["applied"] == true);
        if applied {
            lsp.lock().accept(&suggestion.id);
        }
        Ok(json!({ "applied": applied, "id": suggestion.id, "reason": suggestion.reason }))
    }
    .boxed()
}

/// Has the editor go to the next edit.
fn go(lsp: &Arc<LspSession>, arguments: &[Value]) -> LspAnswer {
    let asked = asked(lsp, arguments);
    let lsp = Arc::clone(lsp);
    async move {
        let answer = asked.await?;
        let Some(suggestion) = answer.suggestions.first().cloned() else {
            return Ok(json!({ "shown": false, "why": answer.why }));
        };
        let target = match &suggestion.act {
            SuggestionAction::Edit { edits, .. } => edits.first().map(|edit| edit.range.start.clone()),
            SuggestionAction::Jump { position } | SuggestionAction::Rename { position, .. } => {
                Some(position.clone())
            }
            SuggestionAction::Replace { .. } => None,
        };
        let target = target.unwrap_or_else(|| Position::new(0, 0));
        let selection = Range::new(target.clone(), target.clone());
        let params = json!({ "uri": suggestion.uri, "takeFocus": true, "selection": selection });
        let can_show = lsp.lock().editor.offers.show_document;
        let shown = can_show && {
            let shown = lsp.client().request::<Call<ShowDocument>>(params).await;
            shown.is_ok_and(|shown| shown["success"] == true)
        };
        if shown && matches!(suggestion.act, SuggestionAction::Jump { .. }) {
            lsp.lock().accept(&suggestion.id);
        }
        Ok(json!({ "shown": shown, "uri": suggestion.uri, "position": target, "reason": suggestion.reason }))
    }
    .boxed()
}

/// The suggestion that a code action has named.
fn known(lsp: &LspSession, arguments: &[Value]) -> Option<LspSuggestion> {
    let id = arguments.get(2)?.as_str()?;
    lsp.lock().offered.find(id).map(|made| made.suggestion.clone())
}

/// Wants to be told of changes of the settings, where the editor has to be asked for it.
pub(crate) fn register(lsp: &Arc<LspSession>) {
    if !lsp.lock().editor.offers.registers_configuration {
        return;
    }
    let registration = json!({
        "id": "nudge-settings",
        "method": "workspace/didChangeConfiguration",
        "registerOptions": { "section": "nudge" },
    });
    let client = lsp.client();
    tokio::spawn(async move {
        let params = json!({ "registrations": [registration] });
        if let Err(error) = client.request::<Call<Register>>(params).await {
            tracing::info!(%error, "the editor does not tell of changed settings");
        }
    });
}

/// Takes changed settings, or fetches them where the editor only says that they have changed.
pub(crate) fn configure(lsp: &Arc<LspSession>, params: DidChangeConfiguration) {
    let said = params.settings;
    if !said.is_null() {
        lsp.set(|settings| settings.take(&said));
        return;
    }
    if !lsp.lock().editor.offers.configuration {
        return;
    }
    let lsp = Arc::clone(lsp);
    tokio::spawn(async move {
        let params = json!({ "items": [{ "section": "nudge" }] });
        match lsp.client().request::<Call<Configuration>>(params).await {
            Ok(said) => lsp.set(|settings| settings.take(&said[0])),
            Err(error) => tracing::info!(%error, "the editor does not tell its settings"),
        }
    });
}

/// A request to the editor with params and result as they are.
struct Call<M>(std::marker::PhantomData<M>);

trait Named {
    const NAME: &'static str;
}

impl<M: Named> Request for Call<M> {
    type Params = Value;
    type Result = Value;
    const METHOD: &'static str = M::NAME;
}

macro_rules! calls {
    ($($name:ident = $method:literal;)+) => {
        $(enum $name {}
        impl Named for $name {
            const NAME: &'static str = $method;
        })+
    };
}

calls! {
    ApplyEdit = "workspace/applyEdit";
    ShowDocument = "window/showDocument";
    Register = "client/registerCapability";
    Configuration = "workspace/configuration";
}
