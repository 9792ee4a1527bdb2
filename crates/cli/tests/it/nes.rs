//! Next edit suggestions as an editor sees them: every method, in both versions, over real pipes.

use nudge_testkit::Process;
use serde_json::{Value, json};

use crate::nudge_with;

mod documents;
mod editing;
mod hostile;
mod kinds;
mod lifecycle;
mod superseded;
mod trust;

pub(crate) const URI: &str = "file:///w/src/lib.rs";

/// An editor that speaks in raw messages.
pub(crate) struct Editor {
    process: Process,
    next: u64,
    pub(crate) version: u64,
    pub(crate) initialized: Value,
    pub(crate) session: String,
}

impl Editor {
    /// An editor that has begun a session.
    pub(crate) fn new(version: u64) -> Self {
        Self::with(version, &json!({}), &json!({}))
    }

    /// One with these capabilities that starts a session with this.
    pub(crate) fn with(version: u64, capabilities: &Value, start: &Value) -> Self {
        Self::with_env(version, capabilities, start, &[("NUDGE_DATA", "")])
    }

    pub(crate) fn with_env(version: u64, capabilities: &Value, start: &Value, env: &[(&str, &str)]) -> Self {
        let process = nudge_with(&["acp"], env);
        let mut editor = Self { process, next: 0, version, initialized: Value::Null, session: String::new() };
        let member = if version == 1 { "clientCapabilities" } else { "capabilities" };
        let mut params = json!({"protocolVersion": version, member: capabilities});
        if version == 2 {
            params["info"] = json!({"name": "test", "version": "1"});
        }
        editor.initialized = editor.request("initialize", &params)["result"].clone();
        editor.session = editor.start(start);
        editor
    }

    /// Begins another session.
    pub(crate) fn start(&mut self, params: &Value) -> String {
        let response = self.request("nes/start", params);
        response["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
    }

    /// Sends a request without waiting; gives its id.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.process.line(request.to_string());
        self.next
    }

    pub(crate) fn receive(&mut self) -> Value {
        self.process.next_json().expect("an answer")
    }

    /// Sends a request and gives its response.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let response = self.receive();
        assert_eq!(response["id"], id, "{response}");
        response
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.process.line(message.to_string());
    }

    /// An event about a document: `members` and what all events have.
    pub(crate) fn event(&mut self, name: &str, uri: &str, members: &Value) {
        let mut params = json!({"sessionId": self.session, "uri": uri});
        params.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        self.notify(&format!("document/{name}"), &params);
    }

    pub(crate) fn open(&mut self, uri: &str, version: i64, text: &str) {
        self.event("didOpen", uri, &json!({"languageId": "rust", "version": version, "text": text}));
    }

    pub(crate) fn change(&mut self, uri: &str, version: i64, changes: &Value) {
        self.event("didChange", uri, &json!({"version": version, "contentChanges": changes}));
    }

    /// The params of a request for suggestions.
    pub(crate) fn ask(&self, uri: &str, version: i64, position: &Value) -> Value {
        json!({
            "sessionId": self.session, "uri": uri, "version": version,
            "position": position, "triggerKind": "automatic",
        })
    }

    /// The suggestions at a place.
    pub(crate) fn suggest(&mut self, uri: &str, version: i64, position: &Value) -> Vec<Value> {
        let ask = self.ask(uri, version, position);
        let response = self.request("nes/suggest", &ask);
        let suggestions = response["result"]["suggestions"].as_array();
        suggestions.unwrap_or_else(|| panic!("{response}")).clone()
    }

    /// What the version calls the id of a suggestion.
    pub(crate) fn id_member(&self) -> &'static str {
        if self.version == 1 { "id" } else { "suggestionId" }
    }

    /// `nes/accept` or `nes/reject`.
    pub(crate) fn feedback(&mut self, method: &str, suggestion: &Value, members: &Value) {
        let name = self.id_member();
        let mut params = json!({"sessionId": self.session, name: suggestion[name]});
        params.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        self.notify(method, &params);
    }

    /// Ends it; nothing may be left unread, and nothing may have gone wrong.
    pub(crate) fn finish(self) -> String {
        let (status, rest, errors) = self.process.finish();
        assert!(status.success() && rest.is_empty(), "{status} {rest:?} {errors}");
        assert!(!errors.contains("panicked"), "{errors}");
        errors
    }
}

pub(crate) fn position(line: usize, character: usize) -> Value {
    json!({"line": line, "character": character})
}

/// One change of a range, given by line and character of start and end.
pub(crate) fn piece(range: (usize, usize, usize, usize), text: &str) -> Value {
    let (start, end) = (position(range.0, range.1), position(range.2, range.3));
    json!([{"range": {"start": start, "end": end}, "text": text}])
}

/// The code and `data.reason` of an error.
pub(crate) fn failure(response: &Value) -> (i64, &str) {
    let error = &response["error"];
    (
        error["code"].as_i64().unwrap_or_else(|| panic!("{response}")),
        error["data"]["reason"].as_str().unwrap_or(""),
    )
}

/// A text with lines that end with `\n`, and positions counted in an encoding.
pub(crate) struct Text {
    pub(crate) content: String,
    pub(crate) encoding: &'static str,
}

impl Text {
    fn width(&self, text: &str) -> usize {
        match self.encoding {
            "utf-8" => text.len(),
            "utf-16" => text.encode_utf16().count(),
            _ => text.chars().count(),
        }
    }

    /// The position of the `nth` time `what` occurs.
    pub(crate) fn find(&self, what: &str, nth: usize) -> Value {
        let at = self.content.match_indices(what).nth(nth).expect("it is in the text").0;
        let start = self.content[..at].rfind('\n').map_or(0, |at| at + 1);
        position(self.content[..at].matches('\n').count(), self.width(&self.content[start..at]))
    }

    /// The position behind the `nth` time `what` occurs.
    pub(crate) fn find_end(&self, what: &str, nth: usize) -> Value {
        let mut position = self.find(what, nth);
        position["character"] = json!(position["character"].as_u64().unwrap() + self.width(what) as u64);
        position
    }

    /// The offset of a position that must be exact.
    pub(crate) fn offset(&self, position: &Value) -> usize {
        let (line, character) = (number(&position["line"]), number(&position["character"]));
        let start: usize = self.content.split_inclusive('\n').take(line).map(str::len).sum();
        let rest = &self.content[start..];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let ends = line.char_indices().map(|(at, _)| at).chain([line.len()]);
        let mut exact = ends.filter(|at| self.width(&line[..*at]) == character);
        start + exact.next().unwrap_or_else(|| panic!("{position} is no place in {line:?}"))
    }

    /// The text after edits, which must be sorted and apart.
    pub(crate) fn apply(&self, edits: &[Value]) -> String {
        let mut after = String::new();
        let mut done = 0;
        for edit in edits {
            let (start, end) = (self.offset(&edit["range"]["start"]), self.offset(&edit["range"]["end"]));
            assert!(done <= start && start <= end, "{edits:?}");
            after.push_str(&self.content[done..start]);
            after.push_str(edit["newText"].as_str().expect("a text"));
            done = end;
        }
        after + &self.content[done..]
    }
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().expect("a number")).expect("a small number")
}
