//! A recorded frame, and what makes it the same as another.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::tee::{Record, Side};

/// The method of an answer that nobody asked for.
pub(super) const NOTHING: &str = "nothing";

/// A frame of a record.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) to: Side,
    /// Of a request or notification; for a response that of its request.
    pub(super) method: String,
    pub(super) is_response: bool,
    /// Params, result or error, as they were.
    pub(super) payload: String,
    /// Whether it came while a session was being loaded.
    pub(super) is_replay: bool,
    /// Whether the very same was said before, on the same side.
    pub(super) is_repeated: bool,
}

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Frame {
    /// Everything but the id, byte for byte.
    pub(super) fn bytes(&self) -> String {
        format!("{} {} {}", self.is_response, self.method, self.payload)
    }

    /// Everything but the id, with members in any order.
    pub(super) fn meaning(&self) -> String {
        let sorted = sorted(&self.value());
        format!("{} {} {sorted}", self.is_response, self.method)
    }

    /// As [`Frame::meaning`], without the id of the session.
    pub(super) fn meaning_in_any_session(&self) -> String {
        let mut value = self.value();
        if let Some(session) = value.get_mut("sessionId") {
            *session = Value::Null;
        }
        format!("{} {} {}", self.is_response, self.method, sorted(&value))
    }

    pub(super) fn value(&self) -> Value {
        serde_json::from_str(&self.payload).unwrap_or(Value::Null)
    }

    /// The kind of the update, if it is one.
    pub(super) fn update(&self) -> Option<String> {
        let payload: Value = serde_json::from_str(&self.payload).ok()?;
        (self.method == "session/update")
            .then(|| payload["update"]["sessionUpdate"].as_str().map(str::to_owned))?
    }

    /// What it is, for people.
    pub(super) fn kind(&self) -> String {
        let update = self.update().map_or_else(String::new, |kind| format!(" {kind}"));
        let answer = if self.is_response { "answer to " } else { "" };
        format!("{answer}{}{update}", self.method)
    }
}

/// The frames of one side. Lines that are not JSON have no place in it.
pub(super) fn all(records: &[Record]) -> Vec<Frame> {
    let mut asked: HashMap<(bool, String), String> = HashMap::new();
    let mut said = HashSet::new();
    let mut loading = 0_usize;
    let mut frames = Vec::new();
    for record in records {
        let Ok(raw) = serde_json::from_str::<Raw<'_>>(&record.line) else { continue };
        let to_agent = record.to == Side::Agent;
        let id = raw.id.map(|id| id.get().to_owned());
        let is_response = raw.method.is_none();
        let method = match (raw.method, id) {
            (Some(method), Some(id)) => {
                asked.insert((to_agent, id), method.clone());
                method
            }
            (Some(method), None) => method,
            (None, Some(id)) => asked.remove(&(!to_agent, id)).unwrap_or_else(|| NOTHING.to_owned()),
            (None, None) => NOTHING.to_owned(),
        };
        let is_load = matches!(method.as_str(), "session/load" | "session/resume");
        if is_load && !is_response {
            loading += 1;
        }
        let payload = raw.params.or(raw.result).or(raw.error).map_or("null", RawValue::get).to_owned();
        let is_replay = loading > 0 && !to_agent && !is_response;
        let is_repeated = !said.insert((to_agent, method.clone(), payload.clone()));
        frames.push(Frame { to: record.to, method, is_response, payload, is_replay, is_repeated });
        if is_load && is_response {
            loading = loading.saturating_sub(1);
        }
    }
    frames
}

/// The value with the members of every object in the order of their names.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|one, other| one.0.cmp(other.0));
            members.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect()
        }
        other => other.clone(),
    }
}
