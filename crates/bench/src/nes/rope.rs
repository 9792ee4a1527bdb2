//! One character typed, through the service and on the bare rope.

use std::time::{Duration, Instant};

use nudge_nes::{NesOptions, NesService};
use nudge_wire::{
    RawJson, Version,
    caps::ClientInit,
    document::{ContentChange, DidChange, DidOpen},
    nes::{Position, Range, StartRequest},
};

/// The time of each change.
pub(crate) struct Times {
    pub(crate) applied: Vec<Duration>,
    pub(crate) bare: Vec<Duration>,
}

/// Types letters all over the text; every fourth letter is typed at a new place.
pub(crate) fn measure(text: &str, changes: usize) -> Times {
    let service = NesService::new(NesOptions { index: false, ..NesOptions::default() });
    let client = ClientInit::new(Version::V1, RawJson::parse("{}".to_owned()).expect("an object"));
    let connection = service.connect(&client);
    let session = connection.start(&StartRequest::default()).expect("a session starts").session_id;
    let uri = "file:///large.rs";
    connection.did_open(DidOpen::new(session.clone(), uri, "rust", 0, text));
    let mut rope = ropey::Rope::from_str(text);
    let lines = text.lines().count();
    let mut times = Times { applied: Vec::with_capacity(changes), bare: Vec::with_capacity(changes) };
    for number in 0..changes {
        let line = number / 4 * 7919 % lines;
        let column = number % 4;
        let at = Position::new(u32::try_from(line).unwrap_or(0), u32::try_from(column).unwrap_or(0));
        let mut change = ContentChange::new("x");
        change.range = Some(Range::new(at.clone(), at));
        let version = i64::try_from(number).unwrap_or(0) + 1;
        let event = DidChange::new(session.clone(), uri, version, vec![change]);
        let begun = Instant::now();
        connection.did_change(event, 0);
        times.applied.push(begun.elapsed());
        let begun = Instant::now();
        let start = rope.line_to_char(line);
        rope.insert(start + column, "x");
        times.bare.push(begun.elapsed());
    }
    times
}
