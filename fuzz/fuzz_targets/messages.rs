//! The messages Nudge adds to ACP: what can be read is written and read again as the same, and what cannot be read is
//! explained without being quoted.
#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use nudge_wire::{
    Error, MessageBody, Notification, Request,
    document::{DidChange, DidClose, DidFocus, DidOpen, DidSave},
    error::expectation,
    inject::{InjectCapability, InjectRequest, ReplaceInjectRequest, RevokeInjectRequest, SteeringRequest},
    message::ParsedFrame,
    nes::{ClientNesCapabilities, CloseRequest, NesCapabilities, StartRequest, v1, v2},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

fuzz_target!(|line: &[u8]| {
    let Ok(text) = std::str::from_utf8(line) else { return };
    // A whole message, such as the seeds are, or only its params.
    let raw = match ParsedFrame::from_frame(text.into()) {
        ParsedFrame::Single(Ok(message)) => match message.body {
            MessageBody::Request { params, .. } | MessageBody::Notification { params, .. } => params,
            MessageBody::Response { outcome: Ok(raw) | Err(raw), .. } => Some(raw),
        },
        _ => None,
    };
    let text = raw.as_ref().map_or(text, |raw| raw.as_str());
    all(text);
    if let Ok(mut value) = serde_json::from_str::<Value>(text) {
        poison(&mut value, &mut line.iter().rev().copied().cycle());
        all(&value.to_string());
    }
});

/// Reads the text as everything there is.
fn all(text: &str) {
    request::<StartRequest>(text);
    request::<CloseRequest>(text);
    request::<v1::SuggestRequest>(text);
    request::<v2::SuggestRequest>(text);
    request::<InjectRequest>(text);
    request::<RevokeInjectRequest>(text);
    request::<ReplaceInjectRequest>(text);
    request::<SteeringRequest>(text);
    notification::<v1::AcceptNotification>(text);
    notification::<v1::RejectNotification>(text);
    notification::<v2::AcceptNotification>(text);
    notification::<v2::RejectNotification>(text);
    notification::<DidOpen>(text);
    notification::<DidChange>(text);
    notification::<DidClose>(text);
    notification::<DidSave>(text);
    notification::<DidFocus>(text);
    same::<ClientNesCapabilities>(text);
    same::<NesCapabilities>(text);
    same::<InjectCapability>(text);
    same::<Error>(text);
}

fn request<T: Request<Response: PartialEq + Debug> + PartialEq + Debug>(text: &str) {
    same::<T>(text);
    same::<T::Response>(text);
}

fn notification<T: Notification + PartialEq + Debug>(text: &str) {
    same::<T>(text);
}

/// What is read is written and read again as the same, and written again to the letter.
fn same<T: Serialize + DeserializeOwned + PartialEq + Debug>(text: &str) {
    let value: T = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            let explained = expectation(&error);
            assert!(!explained.contains(CANARY), "{explained}");
            return;
        }
    };
    let written = serde_json::to_string(&value).expect("what was read can be written");
    let again: T = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(value, again, "{written}");
    assert_eq!(serde_json::to_string(&again).expect("still writable"), written);
}

/// No word of ours, so an explanation that has it has quoted the input.
const CANARY: &str = "zqxjv";
const POISONS: [&str; 4] =
    ["zqxjv", ", expected zqxjv", "missing field `zqxjv`", "`, expected `zqxjv` at line 1"];

/// Puts the canary in place of some strings and into some names.
fn poison(value: &mut Value, knobs: &mut impl Iterator<Item = u8>) {
    let mut chosen = |one_in: u8| {
        let knob = knobs.next().unwrap_or(0);
        (knob % one_in == 0).then(|| POISONS[usize::from(knob / one_in) % POISONS.len()])
    };
    match value {
        Value::String(text) => {
            if let Some(poison) = chosen(3) {
                poison.clone_into(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| poison(item, knobs)),
        Value::Object(members) => {
            if let Some(poison) = chosen(5) {
                members.insert(poison.to_owned(), Value::from(poison));
            }
            members.values_mut().for_each(|member| poison(member, knobs));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
