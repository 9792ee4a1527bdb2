//! Lines read as JSON-RPC: nothing panics, nothing is lost, nothing of a bad line is repeated.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nudge_wire::{
    Id, Message, MessageBody, RawJson, Version,
    caps::{AgentInit, ClientInit},
    mask,
    message::{InvalidMessage, ParsedFrame},
    write,
};
use serde_json::{Value, value::RawValue};

fuzz_target!(|line: &[u8]| {
    match ParsedFrame::from_bytes(line.to_vec().into()) {
        ParsedFrame::Single(taken) => check(&taken, line.len()),
        ParsedFrame::Batch(entries) => {
            assert!(!entries.is_empty());
            entries.iter().for_each(|entry| check(entry, line.len()));
        }
    }
    if let Ok(text) = std::str::from_utf8(line) {
        mask::text(text);
        if let Some(masked) = mask::json(text) {
            serde_json::from_str::<&RawValue>(&masked).expect("what is masked is JSON");
            assert_eq!(without_strings(&masked), without_strings(text));
        }
    }
});

/// What is left of valid JSON without the insides of its strings.
fn without_strings(json: &str) -> String {
    let mut chars = json.chars();
    let mut left = String::new();
    while let Some(next) = chars.next() {
        left.push(next);
        if next == '"' {
            while let Some(inside) = chars.next().filter(|inside| *inside != '"') {
                if inside == '\\' {
                    chars.next();
                }
            }
        }
    }
    left
}

fn check(taken: &Result<Message, InvalidMessage>, length: usize) {
    match taken {
        Ok(message) => {
            check_body(message);
            check_against_tree(message);
            check_other_id(message);
            check_rewritten(message);
        }
        Err(invalid) => check_error(invalid, length),
    }
}

fn parse(frame: Vec<u8>) -> Message {
    match ParsedFrame::from_bytes(frame.into()) {
        ParsedFrame::Single(Ok(message)) => message,
        other => panic!("not a message any more: {other:?}"),
    }
}

/// Every part that is kept as JSON is JSON, and initialisation can be read from it.
fn check_body(message: &Message) {
    let raw = match &message.body {
        MessageBody::Request { params, .. } | MessageBody::Notification { params, .. } => params.as_ref(),
        MessageBody::Response { outcome, .. } => outcome.as_ref().ok(),
    };
    if let MessageBody::Response { outcome: Err(error), .. } = &message.body {
        RawJson::parse(error.as_str().to_owned()).expect("an error is JSON");
    }
    if let Some(raw) = raw {
        RawJson::parse(raw.as_str().to_owned()).expect("params and results are JSON");
        for version in [Version::V1, Version::V2] {
            check_client(&ClientInit::new(version, raw.clone()));
            check_agent(&AgentInit::new(version, raw.clone()));
        }
    }
}

/// What a client offers is found again where it is written.
fn check_client(init: &ClientInit) {
    let encodings = init.position_encodings();
    if let Ok(written) = init.clone().with_position_encodings(&encodings) {
        assert_eq!(written.position_encodings(), encodings);
        RawJson::parse(written.params.as_str().to_owned()).expect("still JSON");
    }
    if let Some(nes) = init.nes()
        && let Ok(written) = init.clone().with_nes(&nes)
    {
        assert_eq!(written.nes(), Some(nes));
    }
}

/// What an agent offers is found again where it is written.
fn check_agent(init: &AgentInit) {
    if let Some(nes) = init.nes()
        && let Ok(written) = init.clone().with_nes(&nes)
    {
        assert_eq!(written.nes(), Some(nes));
    }
    if let Some(inject) = init.inject()
        && let Ok(written) = init.clone().with_inject(&inject)
    {
        assert_eq!(written.inject(), Some(inject));
    }
    if let Some(encoding) = init.position_encoding()
        && let Ok(written) = init.clone().with_position_encoding(&encoding)
    {
        assert_eq!(written.position_encoding(), Some(encoding));
    }
    if let Ok(written) = init.clone().with_steering(!init.steering()) {
        assert_ne!(written.steering(), init.steering());
        RawJson::parse(written.result.as_str().to_owned()).expect("still JSON");
    }
}

/// A parser that builds a tree finds the same, where it can read the message at all.
fn check_against_tree(message: &Message) {
    let Ok(tree) = serde_json::from_str::<Value>(message.frame()) else { return };
    assert_eq!(tree.get("method").and_then(Value::as_str), message.method().map(AsRef::as_ref));
    let same = |member: &str, raw: &RawJson| {
        assert_eq!(
            tree.get(member),
            Some(&raw.to::<Value>().expect("part of a readable message")),
            "{member}"
        );
    };
    match &message.body {
        MessageBody::Request { params: Some(params), .. }
        | MessageBody::Notification { params: Some(params), .. } => {
            same("params", params);
        }
        MessageBody::Request { .. } | MessageBody::Notification { .. } => {
            assert!(tree.get("params").is_none_or(Value::is_null));
        }
        MessageBody::Response { outcome: Ok(result), .. } => same("result", result),
        MessageBody::Response { outcome: Err(error), .. } => same("error", error),
    }
}

/// Another id changes the id and nothing else.
fn check_other_id(message: &Message) {
    let new = Id::from(7_000_000_007);
    let old = match &message.body {
        MessageBody::Request { id, .. } | MessageBody::Response { id, .. } => id,
        MessageBody::Notification { .. } => &new,
    };
    assert!(message.frame_with_id(old) == *message.frame().as_bytes(), "the same id is the same frame");
    assert_same(message, &parse(message.frame_with_id(&new)), Some(&new));
}

/// A message put together anew from its parts says the same, on one line.
fn check_rewritten(message: &Message) {
    let frame = match &message.body {
        MessageBody::Request { id, method, params } => write::raw_call(Some(id), method, params.as_ref()),
        MessageBody::Notification { method, params } => write::raw_call(None, method, params.as_ref()),
        MessageBody::Response { id, outcome } => write::raw_response(id, outcome.as_ref()),
    };
    assert!(!frame.contains(&b'\n') && !frame.contains(&b'\r'), "a frame is one line");
    if !message.frame().contains(['\n', '\r']) {
        assert_same(message, &parse(frame), None);
    }
}

/// Asserts that two messages say the same, `b` under the id `id` if it is given.
fn assert_same(a: &Message, b: &Message, new_id: Option<&Id>) {
    match (&a.body, &b.body) {
        (
            MessageBody::Request { id, method, params },
            MessageBody::Request { id: b_id, method: b_method, params: b_params },
        ) => {
            assert_eq!(new_id.unwrap_or(id), b_id);
            assert_eq!((method, params), (b_method, b_params));
        }
        (
            MessageBody::Notification { method, params },
            MessageBody::Notification { method: b_method, params: b_params },
        ) => {
            assert_eq!((method, params), (b_method, b_params));
        }
        (MessageBody::Response { id, outcome }, MessageBody::Response { id: b_id, outcome: b_outcome }) => {
            assert_eq!(new_id.unwrap_or(id), b_id);
            assert_eq!(outcome, b_outcome);
        }
        _ => panic!("{a:?} became {b:?}"),
    }
}

/// Everything an error may say, with `#` for a number.
const SENTENCES: &[&str] = &[
    "Parse error: the line is not valid UTF-#",
    "Parse error: the JSON ends early, after # bytes",
    "Parse error: not JSON at column #",
    "Invalid request: a message must be an object",
    "Invalid request: a batch must hold at least one message",
    "Invalid request: a batch may hold at most # messages",
    "Invalid request: the member `jsonrpc` appears twice",
    "Invalid request: the member `id` appears twice",
    "Invalid request: the member `method` appears twice",
    "Invalid request: the member `params` appears twice",
    "Invalid request: the member `result` appears twice",
    "Invalid request: the member `error` appears twice",
    "Invalid request: `id` must be a number, a string or null",
    "Invalid request: `id` is longer than # bytes",
    "Invalid request: `jsonrpc` must be \"#.#\"",
    "Invalid request: `method` must be a string",
    "Invalid request: `params` must be an object or an array",
    "Invalid request: a message with `method` must have neither `result` nor `error`",
    "Invalid request: neither `method` nor `result` nor `error` is there",
    "Invalid request: a response must have an `id`",
];

/// An error is one of a few sentences, and its numbers are about the length of the line: nothing of the line itself.
fn check_error(invalid: &InvalidMessage, length: usize) {
    assert!(invalid.error.data.is_none());
    let message = &invalid.error.message;
    let mut sentence = String::new();
    for part in message.split_inclusive(|c: char| c.is_ascii_digit()) {
        match part.strip_suffix(|c: char| c.is_ascii_digit()) {
            Some("") if sentence.ends_with('#') => {}
            Some(text) => sentence.extend([text, "#"]),
            None => sentence.push_str(part),
        }
    }
    assert!(SENTENCES.contains(&sentence.as_str()), "{message}");
    let numbers =
        message.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse::<usize>().ok());
    let bound = length.max(nudge_wire::message::MAX_BATCH) + 1;
    assert!(numbers.max().unwrap_or(0) <= bound, "{message}");
}
