//! A session over the interface that editors use, in the same process.

use std::{collections::HashMap, sync::Arc, time::Instant};

use nudge_nes::{Connection, Engine, Options, Service, SettingValue};
use nudge_text::{Edit, Edits, Encoding, Point, Text};
use nudge_wire::{
    RawJson, Request, Version,
    caps::ClientInit,
    document::{ContentChange, DidChange, DidFocus, DidOpen},
    nes::{Position, PositionEncoding, Range, RejectReason, v1},
};
use serde_json::{Map, Value};

use crate::{
    Error,
    driver::{Answer, Driver, Shown},
    run::Level,
};

/// How much of a document is on the screen, in lines above and below the cursor.
const SCREEN: usize = 25;
/// A pause to look around, and one between two keys, in milliseconds.
const LOOK: u64 = 1000;
const KEY: u64 = 150;

/// One NES session of a client that shows edits only and counts in bytes. Nothing is shared with other sessions, and time
/// is what the events make of it, so that the same events have the same answers.
pub(crate) struct Session {
    connection: Connection,
    id: String,
    documents: HashMap<String, Document>,
    now: u64,
}

struct Document {
    text: Text,
    version: i64,
}

impl Session {
    pub(crate) fn start(engine: &Arc<dyn Engine>, level: Level) -> Result<Self, Error> {
        // What comes out must not depend on how fast the machine is.
        let parse_time = std::time::Duration::MAX;
        let options = Options { index: false, engine: Arc::clone(engine), parse_time, ..Options::default() };
        let params = RawJson::parse("{}".to_owned()).expect("an empty object");
        let client = ClientInit::new(Version::V1, params)
            .with_position_encodings(&[PositionEncoding::Utf8])
            .expect("the params are an object");
        let connection = Service::new(options).connect(&client);
        let start = connection.start(&v1::StartRequest::default());
        let id = start.map_err(refused(v1::StartRequest::METHOD))?.session_id;
        connection
            .set_config_option(&id, "eagerness", &SettingValue::Id(level.name().to_owned()))
            .map_err(refused("session/set_config_option"))?;
        Ok(Self { connection, id, documents: HashMap::new(), now: LOOK })
    }

    fn document(&self, uri: &str) -> &Document {
        self.documents.get(uri).expect("the replay has opened it")
    }

    fn shown(&self, suggestion: v1::Suggestion) -> Shown {
        let id = suggestion.id().to_owned();
        let v1::Suggestion::Edit(edit) = suggestion else {
            return Shown::not_an_edit(id);
        };
        let Some(document) = self.documents.get(&edit.uri) else { return Shown::not_an_edit(id) };
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
        Shown {
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

impl Driver for Session {
    fn open(&mut self, uri: &str, language: &str, text: &str) -> Result<(), Error> {
        self.connection.did_open(DidOpen::new(self.id.clone(), uri, language, 1, text));
        self.documents.insert(uri.to_owned(), Document { text: Text::new(text), version: 1 });
        Ok(())
    }

    fn focus(&mut self, uri: &str, cursor: usize) -> Result<(), Error> {
        self.now += LOOK;
        let Document { text, version } = self.document(uri);
        let line = text.line_of(cursor);
        let from = text.line_start(line.saturating_sub(SCREEN));
        let to = text.line_end((line + SCREEN).min(text.line_count() - 1));
        let visible = Range::new(position(text, from), position(text, to));
        let event = DidFocus::new(self.id.clone(), uri, *version, position(text, cursor), visible);
        self.connection.did_focus(event);
        Ok(())
    }

    fn change(&mut self, uri: &str, edits: &[Edit]) -> Result<(), Error> {
        let is_key = matches!(edits, [edit] if edit.range.is_empty() && edit.text.chars().count() == 1);
        self.now += if is_key { KEY } else { LOOK };
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
        self.connection.did_change(event, self.now);
        Ok(())
    }

    fn suggest(&mut self, uri: &str, cursor: usize) -> Result<Answer, Error> {
        let Document { text, version } = self.document(uri);
        let at = position(text, cursor);
        let request = v1::SuggestRequest::new(self.id.clone(), uri, *version, at, v1::TriggerKind::Automatic);
        let begun = Instant::now();
        let response = self.connection.suggest(request, self.now).and_then(nudge_nes::Pending::run);
        let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        let response = v1::SuggestResponse::from(response.map_err(refused(v1::SuggestRequest::METHOD))?);
        let shown = response.suggestions.into_iter().next().map(|suggestion| self.shown(suggestion));
        Ok(Answer { shown, micros })
    }

    fn accept(&mut self, id: &str) -> Result<(), Error> {
        self.connection.accept(&self.id, id);
        Ok(())
    }

    fn reject(&mut self, id: &str, reason: RejectReason) -> Result<(), Error> {
        self.connection.reject(&self.id, id, Some(&reason));
        Ok(())
    }
}

fn position(text: &Text, offset: usize) -> Position {
    let point = text.point(offset, Encoding::Utf8);
    Position::new(point.line, point.character)
}

fn said_by_nudge(meta: Option<&Map<String, Value>>) -> Map<String, Value> {
    meta.and_then(|meta| meta.get("nudge")).and_then(Value::as_object).cloned().unwrap_or_default()
}

fn refused(method: &'static str) -> impl Fn(nudge_wire::Error) -> Error {
    move |error| Error::Refused { method, error }
}
