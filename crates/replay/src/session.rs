//! A session over a connection in memory, as an editor has one.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use nudge_gateway::{ConnectionOptions, Gateway, ProgramInfo};
use nudge_nes::{NesEngine, NesOptions, NesService};
use nudge_peer::{CallError, Cx, Peer, pair};
use nudge_text::{Edit, Edits, Encoding, Point, Text};
use nudge_wire::{
    Notification, RawJson, Request, Version,
    caps::ClientInit,
    document::{ContentChange, DidChange, DidFocus, DidOpen},
    nes::{Position, PositionEncoding, Range, RejectReason, v1},
};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::{
    ReplayError,
    driver::{EngineAnswer, EngineDriver, ShownEdit},
    run::EagernessLevel,
};

/// How much of a document is on the screen, in lines above and below the cursor.
const SCREEN: usize = 25;
/// A pause to look around, and one between two keys, in milliseconds.
const LOOK: u64 = 1000;
const KEY: u64 = 150;

/// One NES session of a client that shows edits only and counts in bytes. Nothing is shared with other sessions, and time
/// is what the events make of it, so that the same events have the same answers.
pub(crate) struct ReplaySession {
    client: Cx,
    id: String,
    documents: HashMap<String, Document>,
    /// The time that the other side sees. It stands still while a message is on its way.
    now: Arc<AtomicU64>,
    /// Runs both ends of the connection. It is last, so that all else is gone before it.
    runtime: Runtime,
}

struct Document {
    text: Text,
    version: i64,
}

impl ReplaySession {
    pub(crate) fn start(engine: &Arc<dyn NesEngine>, level: EagernessLevel) -> Result<Self, ReplayError> {
        let runtime = Builder::new_current_thread().enable_time().build().map_err(ReplayError::Runtime)?;
        let now = Arc::new(AtomicU64::new(LOOK));
        let entered = runtime.enter();
        let client = connect(engine, &now).map_err(ReplayError::Runtime)?;
        drop(entered);
        let mut session = Self { client, id: String::new(), documents: HashMap::new(), now, runtime };
        session.initialize(level)?;
        Ok(session)
    }

    fn initialize(&mut self, level: EagernessLevel) -> Result<(), ReplayError> {
        let params = RawJson::parse(r#"{"protocolVersion":1}"#.to_owned()).expect("an object");
        let init = ClientInit::new(Version::V1, params)
            .with_position_encodings(&[PositionEncoding::Utf8])
            .expect("the params are an object");
        self.ask_raw("initialize", &init.params)?;
        self.id = self.ask(v1::StartRequest::default())?.session_id;
        let eagerness = json!({ "sessionId": self.id, "configId": "eagerness", "value": level.name() });
        let eagerness = RawJson::of(&eagerness).expect("plain data is JSON");
        self.ask_raw("session/set_config_option", &eagerness)
    }

    /// Sends a request and waits for its answer.
    fn ask<R: Request>(&self, request: R) -> Result<R::Response, ReplayError> {
        self.runtime.block_on(self.client.request(request)).map_err(refused(R::METHOD))
    }

    fn ask_raw(&self, method: &'static str, params: &RawJson) -> Result<(), ReplayError> {
        let answered = self.runtime.block_on(self.client.request_raw(method, Some(params)));
        answered.map(drop).map_err(refused(method))
    }

    /// Sends a notification and waits until it is handled, at the time that it is now.
    fn tell<N: Notification>(&self, notification: N) -> Result<(), ReplayError> {
        self.runtime.block_on(self.client.notify(notification)).map_err(refused(N::METHOD))?;
        self.ask_raw("_nudge/settle", &RawJson::parse("{}".to_owned()).expect("an object"))
    }

    fn wait(&self, millis: u64) {
        self.now.fetch_add(millis, Ordering::Relaxed);
    }

    fn document(&self, uri: &str) -> &Document {
        self.documents.get(uri).expect("the replay has opened it")
    }

    fn shown(&self, suggestion: v1::Suggestion) -> ShownEdit {
        let id = suggestion.id().to_owned();
        let v1::Suggestion::Edit(edit) = suggestion else {
            return ShownEdit::not_an_edit(id);
        };
        let Some(document) = self.documents.get(&edit.uri) else { return ShownEdit::not_an_edit(id) };
        let offset =
            |text: &Text, at: &Position| text.offset(Point::new(at.line, at.character), Encoding::Utf8);
        let edits = edit.edits.iter().map(|edit| {
            let range = offset(&document.text, &edit.range.start)..offset(&document.text, &edit.range.end);
            Edit::new(range, edit.new_text.clone())
        });
        let edits = Edits::new(edits.collect()).unwrap_or_default();
        let cursor = match &edit.cursor_position {
            Some(position) => offset(&edits.apply(&document.text), position),
            None => edits.iter().last().map_or(0, |edit| edit.range.start + edit.text.len()),
        };
        let said = said_by_nudge(edit.meta.as_ref());
        let text = |name: &str| said.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        ShownEdit {
            id,
            uri: edit.uri,
            edits,
            cursor,
            predictor: text("predictor"),
            confidence: said.get("confidence").and_then(Value::as_f64).unwrap_or_default(),
            reason: text("reason"),
        }
    }
}

impl EngineDriver for ReplaySession {
    fn open(&mut self, uri: &str, language: &str, text: &str) -> Result<(), ReplayError> {
        self.documents.insert(uri.to_owned(), Document { text: Text::new(text), version: 1 });
        self.tell(DidOpen::new(self.id.clone(), uri, language, 1, text))
    }

    fn focus(&mut self, uri: &str, cursor: usize) -> Result<(), ReplayError> {
        self.wait(LOOK);
        let Document { text, version } = self.document(uri);
        let line = text.line_of(cursor);
        let from = text.line_start(line.saturating_sub(SCREEN));
        let to = text.line_end((line + SCREEN).min(text.line_count() - 1));
        let visible = Range::new(position(text, from), position(text, to));
        let event = DidFocus::new(self.id.clone(), uri, *version, position(text, cursor), visible);
        self.tell(event)
    }

    fn change(&mut self, uri: &str, edits: &[Edit]) -> Result<(), ReplayError> {
        let is_key = matches!(edits, [edit] if edit.range.is_empty() && edit.text.chars().count() == 1);
        self.wait(if is_key { KEY } else { LOOK });
        let document = self.documents.get_mut(uri).expect("the replay has opened it");
        let mut changes = Vec::new();
        // From the last to the first, so that each finds its range where it was.
        for edit in edits.iter().rev() {
            let (start, end) =
                (position(&document.text, edit.range.start), position(&document.text, edit.range.end));
            let mut change = ContentChange::new(edit.text.clone());
            change.range = Some(Range::new(start, end));
            changes.push(change);
            document.text.replace(edit.range.clone(), &edit.text);
        }
        document.version += 1;
        let event = DidChange::new(self.id.clone(), uri, document.version, changes);
        self.tell(event)
    }

    fn suggest(&mut self, uri: &str, cursor: usize) -> Result<EngineAnswer, ReplayError> {
        let Document { text, version } = self.document(uri);
        let at = position(text, cursor);
        let request = v1::SuggestRequest::new(self.id.clone(), uri, *version, at, v1::TriggerKind::Automatic);
        let begun = Instant::now();
        let response = self.ask(request)?;
        let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        let shown = response.suggestions.into_iter().next().map(|suggestion| self.shown(suggestion));
        Ok(EngineAnswer { shown, micros })
    }

    fn accept(&mut self, id: &str) -> Result<(), ReplayError> {
        self.tell(v1::AcceptNotification::new(self.id.clone(), id))
    }

    fn reject(&mut self, id: &str, reason: RejectReason) -> Result<(), ReplayError> {
        let mut rejected = v1::RejectNotification::new(self.id.clone(), id);
        rejected.reason = Some(reason);
        self.tell(rejected)
    }
}

/// A connection to a gateway that has nothing but suggestions by this engine.
fn connect(engine: &Arc<dyn NesEngine>, now: &Arc<AtomicU64>) -> std::io::Result<Cx> {
    // What comes out must not depend on how fast the machine is.
    let parse_time = std::time::Duration::MAX;
    let options =
        NesOptions { index: false, engine: Arc::clone(engine), parse_time, ..NesOptions::default() };
    let gateway = Gateway::new(NesService::new(options), None, ProgramInfo::default());
    let (ours, theirs) = pair();
    let clock = Arc::clone(now);
    let nes_clock: nudge_gateway::NesClock = Arc::new(move || clock.load(Ordering::Relaxed));
    let options = ConnectionOptions { nes_clock: Some(nes_clock), ..ConnectionOptions::default() };
    tokio::spawn(gateway.connect(theirs, options)?.run());
    let connection = Peer::client().connect(ours)?;
    let client = connection.cx();
    tokio::spawn(connection.serve());
    Ok(client)
}

fn position(text: &Text, offset: usize) -> Position {
    let point = text.point(offset, Encoding::Utf8);
    Position::new(point.line, point.character)
}

fn said_by_nudge(meta: Option<&Map<String, Value>>) -> Map<String, Value> {
    meta.and_then(|meta| meta.get("nudge")).and_then(Value::as_object).cloned().unwrap_or_default()
}

fn refused(method: &'static str) -> impl Fn(CallError) -> ReplayError {
    move |error| ReplayError::Refused { method, error }
}
