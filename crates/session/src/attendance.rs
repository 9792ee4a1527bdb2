//! Who is attached to a session, and what each can do for its agent.

use nudge_mailbox::ClientId;
use nudge_wire::{
    RawJson, Version,
    caps::{ClientInit, ElicitationModes},
};

/// What a client does for an agent: files and terminals in version 1, forms and pages in both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ClientOffers {
    /// `fs/read_text_file`.
    pub read: bool,
    /// `fs/write_text_file`.
    pub write: bool,
    /// `terminal/*`.
    pub terminal: bool,
    /// `elicitation/*`.
    pub elicitation: ElicitationModes,
}

impl ClientOffers {
    /// What a client offers that has said this in `initialize`.
    pub fn of(init: &ClientInit) -> Self {
        let elicitation = init.elicitation_modes();
        if init.version != Version::V1 {
            return Self { elicitation, ..Self::default() };
        }
        let is = |path: &[&str]| {
            let path = [&["clientCapabilities"], path].concat();
            init.params.get(&path).is_some_and(|value| value.as_str() == "true")
        };
        Self {
            read: is(&["fs", "readTextFile"]),
            write: is(&["fs", "writeTextFile"]),
            terminal: is(&["terminal"]),
            elicitation,
        }
    }

    /// Whether a request of the agent under this method will be understood.
    pub fn has(self, method: &str, params: &RawJson) -> bool {
        match method {
            "fs/read_text_file" => self.read,
            "fs/write_text_file" => self.write,
            _ if is_elicitation(method) => self.elicitation.has(method, params),
            _ => self.terminal && method.starts_with("terminal/"),
        }
    }
}

/// Whether a request asks the user to fill in a form or to visit a page.
pub(crate) fn is_elicitation(method: &str) -> bool {
    method.starts_with("elicitation/")
}

/// A client as its sessions see it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Attendee {
    /// Which connection it is.
    pub id: ClientId,
    /// The version it speaks.
    pub version: Version,
    /// What it does for an agent.
    pub offers: ClientOffers,
}

/// The clients of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Attendance {
    /// Each with the number of the first entry that it has not been shown when it joined.
    clients: Vec<(Attendee, u64)>,
    /// Whether a client has joined. What an adapted agent says before is kept for the first.
    pub(crate) has_been_seen: bool,
}

impl Attendance {
    /// A client joins, or joins anew; it has been shown what comes before `from`.
    pub(crate) fn join(&mut self, attendee: Attendee, from: u64) {
        self.leave(attendee.id);
        self.clients.push((attendee, from));
        self.has_been_seen = true;
    }

    pub(crate) fn leave(&mut self, client: ClientId) {
        self.clients.retain(|(attendee, _)| attendee.id != client);
    }

    pub(crate) fn get(&self, client: ClientId) -> Option<&Attendee> {
        self.iter().find(|attendee| attendee.id == client)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Attendee> {
        self.clients.iter().map(|(attendee, _)| attendee)
    }

    /// Those who have been shown the entry of this number when they joined.
    pub(crate) fn have_seen(&self, seq: u64) -> impl Iterator<Item = ClientId> {
        let have_seen = self.clients.iter().filter(move |(_, from)| seq < *from);
        have_seen.map(|(attendee, _)| attendee.id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nudge_wire::RawJson;
    use serde_json::{Value, json};

    const METHODS: [&str; 5] =
        ["fs/read_text_file", "fs/write_text_file", "terminal/create", "elicitation/create", "other"];

    #[track_caller]
    fn check(version: Version, params: &Value, expected: [bool; 5]) {
        let init = ClientInit::new(version, RawJson::of(params).expect("plain data"));
        let asked = RawJson::of(&json!({ "mode": "form" })).expect("plain data");
        assert_eq!(METHODS.map(|method| ClientOffers::of(&init).has(method, &asked)), expected, "{params}");
    }

    #[test]
    fn a_client_offers_what_it_says() {
        let v1 = |capabilities: Value| json!({ "clientCapabilities": capabilities });
        check(Version::V1, &v1(json!({})), [false; 5]);
        check(
            Version::V1,
            &v1(json!({ "fs": { "readTextFile": true } })),
            [true, false, false, false, false],
        );
        check(
            Version::V1,
            &v1(json!({ "fs": { "writeTextFile": true } })),
            [false, true, false, false, false],
        );
        check(Version::V1, &v1(json!({ "terminal": true })), [false, false, true, false, false]);
        check(Version::V1, &v1(json!({ "elicitation": { "form": {} } })), [false, false, false, true, false]);
        // Version 2 has neither files nor terminals of the client.
        check(Version::V2, &v1(json!({ "terminal": true, "fs": { "readTextFile": true } })), [false; 5]);
        let forms = json!({ "capabilities": { "elicitation": { "form": {} } } });
        check(Version::V2, &forms, [false, false, false, true, false]);
        let pages = json!({ "capabilities": { "elicitation": { "url": {} } } });
        check(Version::V2, &pages, [false; 5]);
    }
}
