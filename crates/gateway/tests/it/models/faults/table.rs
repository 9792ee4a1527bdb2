//! The faults.

use std::{fmt, time::Duration};

use nudge_stage::ModelReply;
use serde_json::json;

use crate::models::{
    Dialect,
    dialect::{ANTHROPIC, CHAT},
};

/// A fault of a provider. It comes when the gate `now` is opened.
pub(super) struct Fault {
    pub(super) name: &'static str,
    pub(super) reply: fn(Dialect) -> ModelReply,
    pub(super) effect: FaultEffect,
    /// Whether it is said so in two dialects alone.
    is_raw: bool,
}

/// What comes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultEffect {
    /// The turn fails at once, for one of these reasons.
    Fails(&'static [&'static str]),
    /// The turn fails at once, for this reason, and it is said when it will work again.
    FailsUntil(&'static str, Duration),
    /// It is waited, and then answered.
    Pauses,
    /// The turn ends as if nothing were wrong, but the user is told this.
    Tells(&'static str),
    /// The turn ends as if nothing were wrong.
    Answers,
    /// Nothing, for minutes.
    Stalls,
}

/// What errors of the stand-in say and users are not told.
pub(super) const SECRET_WORDS: &str = "planted words";

const fn fault(name: &'static str, reply: fn(Dialect) -> ModelReply, effect: FaultEffect) -> Fault {
    Fault { name, reply, effect, is_raw: false }
}

const fn raw(name: &'static str, reply: fn(Dialect) -> ModelReply, effect: FaultEffect) -> Fault {
    Fault { is_raw: true, ..fault(name, reply, effect) }
}

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "Retry-After of a second",
        |_| refused(429, "Too many requests.").retry_after(1),
        FaultEffect::Pauses,
    ),
    fault(
        "Retry-After of days",
        |_| refused(429, "Too many requests.").retry_after(200_000),
        FaultEffect::FailsUntil("rate_limited", Duration::from_secs(200_000)),
    ),
    fault("500 once", |_| refused(500, "Oh."), FaultEffect::Pauses),
    fault("overloaded once", |_| refused(529, "Oh."), FaultEffect::Pauses),
    fault(
        "cut before the first word",
        |_| ModelReply::empty().and_gate("now").and_cut(),
        FaultEffect::Pauses,
    ),
    fault(
        "an error before the first word",
        |_| ModelReply::chunks([""]).and_gate("now").and_error(503, said("Oh.")),
        FaultEffect::Pauses,
    ),
    fault(
        "429 in mid-stream",
        |_| begun().and_error(429, said("Too many requests.")),
        // Some have no code for it within a stream.
        FaultEffect::Fails(&["rate_limited", "network"]),
    ),
    fault("500 in mid-stream", |_| begun().and_error(500, said("Oh.")), FaultEffect::Fails(&["network"])),
    fault("cut in mid-stream", |_| begun().and_cut(), FaultEffect::Fails(&["network"])),
    fault("stalled", |_| begun(), FaultEffect::Stalls),
    fault("stalled before the first word", |_| ModelReply::empty().and_gate("now"), FaultEffect::Stalls),
    fault(
        "garbled",
        |_| begun().and_raw(format!("data: {{\"{SECRET_WORDS}\n\n")),
        FaultEffect::Fails(&["malformed"]),
    ),
    raw(
        "closed after half a tool call",
        |dialect| begun().and_raw(half_call(dialect)).and_cut(),
        FaultEffect::Fails(&["network"]),
    ),
    fault("wrong key", |_| refused(401, "No such key."), FaultEffect::Fails(&["auth"])),
    fault("wrong model", |_| refused(404, "The model is not found."), FaultEffect::Fails(&["unknown_model"])),
    fault(
        "context overflow",
        |_| {
            refused(
                400,
                "The prompt is too long. The input token count exceeds the maximum number of tokens.",
            )
        },
        FaultEffect::Fails(&["context_overflow"]),
    ),
    fault("refused", |_| refused(400, "No."), FaultEffect::Fails(&["malformed"])),
    raw(
        "quota for hours",
        |_| refused(429, "You exceeded your current quota.").retry_after(7300),
        FaultEffect::FailsUntil("quota", Duration::from_secs(7300)),
    ),
    raw("quota", |_| refused(429, "You exceeded your current quota."), FaultEffect::Fails(&["quota"])),
    fault(
        "an answer without content",
        |_| ModelReply::empty().and_gate("now"),
        FaultEffect::Tells("gave no answer"),
    ),
    raw("two tool calls with one id", |dialect| begun().and_raw(twin_calls(dialect)), FaultEffect::Answers),
    fault(
        "a tool that is not there, and one with half its input",
        |_| begun().and_call("read", json!({ "path": 7 })).and_call("list", json!([])),
        FaultEffect::Answers,
    ),
];

impl Fault {
    pub(super) fn is_in(&self, dialect: Dialect) -> bool {
        !self.is_raw || [CHAT, ANTHROPIC].contains(&dialect)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

fn said(message: &str) -> String {
    format!("{message} These are {SECRET_WORDS}.")
}

/// An error in place of an answer.
fn refused(status: u16, message: &str) -> ModelReply {
    ModelReply::empty().and_gate("now").and_error(status, said(message))
}

/// An answer of which the beginning is there.
fn begun() -> ModelReply {
    ModelReply::chunks(["Half "]).and_gate("now")
}

fn half_call(dialect: Dialect) -> String {
    if dialect == CHAT {
        let function = json!({ "name": "list", "arguments": "{\"pa" });
        return chunk(&json!([{ "index": 0, "id": "call_x", "type": "function", "function": function }]));
    }
    let input = json!({ "type": "input_json_delta", "partial_json": "{\"pa" });
    block_start("call_x", 7) + &event(&json!({ "type": "content_block_delta", "index": 7, "delta": input }))
}

fn twin_calls(dialect: Dialect) -> String {
    if dialect == CHAT {
        let function = json!({ "name": "list", "arguments": "{}" });
        let call =
            |index: u64| json!({ "index": index, "id": "call_x", "type": "function", "function": function });
        return chunk(&json!([call(0), call(1)]));
    }
    let call = |index| {
        block_start("call_x", index) + &event(&json!({ "type": "content_block_stop", "index": index }))
    };
    call(7) + &call(8)
}

fn chunk(calls: &serde_json::Value) -> String {
    let choice = json!({ "index": 0, "delta": { "tool_calls": calls }, "finish_reason": null });
    format!("data: {}\n\n", json!({ "id": "x", "object": "chat.completion.chunk", "choices": [choice] }))
}

fn block_start(id: &str, index: u64) -> String {
    let block = json!({ "type": "tool_use", "id": id, "name": "list", "input": {} });
    event(&json!({ "type": "content_block_start", "index": index, "content_block": block }))
}

fn event(data: &serde_json::Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}
