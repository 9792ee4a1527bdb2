//! The faults an agent is taken through: of its model's server, of a tool's server, of its own process.

use std::time::Duration;

use nudge_stage::{ModelReply, ProviderDialect};
use serde_json::json;

use super::half_call::half_call;

/// How long is waited for any sign, unless a fault says otherwise.
pub const CAP: Duration = Duration::from_mins(1);
/// Where silence is the fault itself, all of this time goes by with most agents.
const SILENCE_CAP: Duration = Duration::from_secs(30);
/// What the model says before it fails in mid-stream.
pub(crate) const HALF: &str = "Half ";
/// The tool whose server dies when it is called.
pub(crate) const FRAIL_TOOL: &str = "fall_over";

/// One fault.
#[derive(Clone, Copy)]
pub struct AgentFault {
    /// What it is called, in the tests of the built-in agent too.
    pub name: &'static str,
    /// What happens, for the page.
    pub what: &'static str,
    /// Whether it goes on until the user has seen what comes of it; if not, it comes once and the next request is answered.
    pub lasts: bool,
    /// How long is waited for any sign.
    pub cap: Duration,
    /// Whether it belongs to the short form, for which silence takes too long.
    pub is_quick: bool,
    /// Whether the model says a word before it.
    pub(crate) begins: bool,
    pub(crate) strike: FaultStrike,
}

/// What does it.
#[derive(Clone, Copy)]
pub(crate) enum FaultStrike {
    /// The model's server answers this.
    Reply(fn(&FaultyAnswer<'_>) -> ModelReply),
    /// The same, and the answer stands still for ever.
    Stall(fn(&FaultyAnswer<'_>) -> ModelReply),
    /// The model's server goes away.
    Vanish,
    /// The server of a tool dies while it is called.
    ToolServerDies,
    /// The agent's process is killed in mid-answer.
    AgentDies,
}

/// What a faulty answer depends on.
pub(crate) struct FaultyAnswer<'a> {
    pub(crate) dialect: ProviderDialect,
    /// Where it waits until the fault is to strike.
    pub(crate) gate: &'a str,
    /// The name of the tool by which commands are run.
    pub(crate) shell: &'a str,
}

/// An error in place of an answer.
fn refused(answer: &FaultyAnswer<'_>, status: u16, message: &str) -> ModelReply {
    nothing(answer).and_error(status, message)
}

/// An answer of which the beginning is there.
fn half(answer: &FaultyAnswer<'_>) -> ModelReply {
    ModelReply::chunks([HALF]).and_gate(answer.gate)
}

/// An answer of which nothing is there.
fn nothing(answer: &FaultyAnswer<'_>) -> ModelReply {
    ModelReply::empty().and_gate(answer.gate)
}

const fn once(name: &'static str, what: &'static str, strike: FaultStrike) -> AgentFault {
    AgentFault { name, what, lasts: false, cap: CAP, is_quick: false, begins: false, strike }
}

const fn lasting(name: &'static str, what: &'static str, strike: FaultStrike) -> AgentFault {
    AgentFault { lasts: true, ..once(name, what, strike) }
}

/// The same in the short form too.
const fn quick(fault: AgentFault) -> AgentFault {
    AgentFault { is_quick: true, ..fault }
}

/// A fault of an answer that has begun.
const fn begun(fault: AgentFault) -> AgentFault {
    AgentFault { begins: true, ..fault }
}

const fn silent(fault: AgentFault) -> AgentFault {
    AgentFault { cap: SILENCE_CAP, ..fault }
}

use FaultStrike::{AgentDies, Reply, Stall, ToolServerDies, Vanish};

/// All of them, in the order of the page.
pub const FAULTS: &[AgentFault] = &[
    quick(lasting("connection refused", "nobody listens where the model's server was", Vanish)),
    silent(lasting(
        "stalled before the first word",
        "the request is taken and nothing comes back",
        Stall(nothing),
    )),
    silent(begun(lasting("stalled", "the answer stops after a word", Stall(half)))),
    once(
        "cut before the first word",
        "the connection breaks before the status",
        Reply(|answer| nothing(answer).and_cut()),
    ),
    quick(begun(once(
        "cut in mid-stream",
        "the connection breaks after a word",
        Reply(|answer| half(answer).and_cut()),
    ))),
    once("500 once", "an internal error, and then all is well", Reply(|answer| refused(answer, 500, "Oh."))),
    quick(lasting(
        "500 again and again",
        "an internal error each time",
        Reply(|answer| refused(answer, 500, "Oh.")),
    )),
    once("overloaded once", "529, and then all is well", Reply(|answer| refused(answer, 529, "Overloaded."))),
    quick(once(
        "Retry-After of a second",
        "429 that says to wait a second",
        Reply(|answer| refused(answer, 429, "Too many requests.").retry_after(1)),
    )),
    lasting(
        "429 again and again",
        "429 that does not say how long to wait",
        Reply(|answer| refused(answer, 429, "Too many requests.")),
    ),
    quick(lasting(
        "Retry-After of days",
        "429 that says to wait 200,000 seconds",
        Reply(|answer| refused(answer, 429, "Too many requests.").retry_after(200_000)),
    )),
    lasting(
        "quota",
        "429 that speaks of the account's quota",
        Reply(|answer| refused(answer, 429, "You exceeded your current quota.")),
    ),
    lasting(
        "quota for hours",
        "the same, to wait 7,300 seconds",
        Reply(|answer| refused(answer, 429, "You exceeded your current quota.").retry_after(7300)),
    ),
    quick(lasting("wrong key", "401", Reply(|answer| refused(answer, 401, "No such key.")))),
    lasting("wrong model", "404", Reply(|answer| refused(answer, 404, "The model is not found."))),
    quick(lasting(
        "context overflow",
        "400 that says that the prompt is too long",
        Reply(|answer| {
            refused(
                answer,
                400,
                "The prompt is too long. The input token count exceeds the maximum number of tokens.",
            )
        }),
    )),
    lasting("refused", "400 that says nothing of use", Reply(|answer| refused(answer, 400, "No."))),
    once(
        "an error before the first word",
        "200, and then 503 within the stream",
        Reply(|answer| ModelReply::chunks([""]).and_gate(answer.gate).and_error(503, "Oh.")),
    ),
    begun(once(
        "429 in mid-stream",
        "a word, and then 429 within the stream",
        Reply(|answer| half(answer).and_error(429, "Too many requests.")),
    )),
    begun(once(
        "500 in mid-stream",
        "a word, and then 500 within the stream",
        Reply(|answer| half(answer).and_error(500, "Oh.")),
    )),
    quick(begun(once(
        "garbled",
        "a word, and then an event that is no JSON",
        Reply(|answer| half(answer).and_raw("data: {\"garbled\n\n")),
    ))),
    begun(once(
        "closed after half a tool call",
        "the connection breaks within the arguments of a call",
        Reply(|answer| half(answer).and_raw(half_call(answer.dialect, answer.shell)).and_cut()),
    )),
    quick(lasting(
        "an answer without content",
        "an answer that is complete and says nothing",
        Reply(nothing),
    )),
    begun(once(
        "two tool calls with one id",
        "two calls of the agent's own tool for commands, with the same id",
        Reply(|answer| {
            let (shell, input) = (answer.shell, json!({ "command": "true", "cmd": "true" }));
            half(answer).and_call_as("call_x", shell, input.clone()).and_call_as("call_x", shell, input)
        }),
    )),
    begun(once(
        "a tool that is not there, and one with half its input",
        "two calls that cannot be run",
        Reply(|answer| {
            let wrong = json!({ "command": 7, "cmd": 7 });
            half(answer).and_call_as("call_x", "no_such_tool", json!({})).and_call_as(
                "call_y",
                answer.shell,
                wrong,
            )
        }),
    )),
    once("a tool's server dies", "an MCP server exits while one of its tools is called", ToolServerDies),
    quick(begun(once("the agent dies", "the agent's own process is killed in mid-answer", AgentDies))),
];

/// The fault of this name.
pub fn named(name: &str) -> Option<&'static AgentFault> {
    FAULTS.iter().find(|fault| fault.name == name)
}
