//! What the tests of a prompt are written in: events with their time, and what comes of each in words.

use std::time::Duration;

use nudge_backend::{TurnEnd, UserMessage};
use nudge_wire::{Error, RawJson};
use serde_json::json;
use tokio::time::Instant;

use super::super::{AgentReadiness, PromptAfter, PromptRun, RunAction, SteerId, SteerOutcome};

/// How long the agent of these tests may take to stop.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// What happens. Messages are named by their words, with spaces in between.
#[derive(Debug, Clone)]
pub(super) enum Event {
    Begin(&'static str),
    /// As `Begin`, while the agent is away.
    Hold(&'static str),
    Steer(&'static str),
    GoOn(&'static str),
    Interrupt,
    Cancel,
    Activity,
    ToolResult,
    /// The agent asks what goes in now.
    Asks,
    Word,
    Running,
    Idle(&'static str),
    Taken(&'static str),
    Ended(&'static str),
    Failed,
    SteerTaken(u64),
    SteerPromptRequired(u64),
    SteerTooLate(u64),
    SteerRefused(u64),
    Timeout,
    Release,
    Lost,
    NotRestored,
}

/// Holds each event, at its time in milliseconds, to what it makes the run do, in words, and to the deadline after it.
pub(super) fn check(table: &[(u64, Event, &str)]) {
    let mut run = PromptRun::new(PATIENCE);
    let start = Instant::now();
    for (at, event, expected) in table {
        let actions = handle(&mut run, event, start + Duration::from_millis(*at));
        let mut done: Vec<_> = actions.iter().map(in_words).collect();
        done.extend(run.deadline().map(|deadline| format!("by {}", (deadline - start).as_millis())));
        assert_eq!(done.join(", "), *expected, "{event:?} at {at}");
    }
}

fn handle(run: &mut PromptRun, event: &Event, now: Instant) -> Vec<RunAction> {
    match event {
        Event::Activity => run.heard_activity(),
        Event::ToolResult => run.heard_tool_result(),
        Event::Taken(id) => run.prompt_taken(Some((*id).into())),
        _ => return act(run, event, now),
    }
    Vec::new()
}

fn act(run: &mut PromptRun, event: &Event, now: Instant) -> Vec<RunAction> {
    match event {
        Event::Activity | Event::ToolResult | Event::Taken(_) => Vec::new(),
        Event::Begin(names) => run.begin(messages(names), AgentReadiness::Ready, now),
        Event::Hold(names) => run.begin(messages(names), AgentReadiness::NotYet, now),
        Event::Steer(names) => run.steer(messages(names), now),
        Event::GoOn(names) => run.go_on(messages(names), now),
        Event::Interrupt => run.interrupt(now),
        Event::Cancel => run.cancel(now),
        Event::Asks => run.asks_what_goes_in(),
        Event::Word => run.heard_word(),
        Event::Running => run.says_running(now),
        Event::Idle(reason) => run.says_idle(TurnEnd::stopped(reason), now),
        Event::Ended(reason) => run.prompt_ended(TurnEnd::stopped(reason), now),
        Event::Failed => run.prompt_ended(TurnEnd::Failed(Error::internal("failed")), now),
        Event::SteerTaken(id) => run.steer_answered(SteerId(*id), SteerOutcome::Taken, now),
        Event::SteerPromptRequired(id) => run.steer_answered(SteerId(*id), SteerOutcome::PromptRequired, now),
        Event::SteerTooLate(id) => run.steer_answered(SteerId(*id), SteerOutcome::TooLate, now),
        Event::SteerRefused(id) => run.steer_answered(SteerId(*id), SteerOutcome::Refused, now),
        Event::Timeout => run.handle_timeout(now),
        Event::Release => run.release(now),
        Event::Lost => run.lost(Error::internal("gone"), now),
        Event::NotRestored => run.not_restored(Error::internal("away")).unwrap_or_default(),
    }
}

pub(super) fn message(name: &str) -> UserMessage {
    let content = RawJson::of(&json!([{ "type": "text", "text": name }])).expect("it is plain data");
    UserMessage { id: name.into(), content, params: None }
}

fn messages(names: &str) -> Vec<UserMessage> {
    names.split_whitespace().map(message).collect()
}

fn in_words(action: &RunAction) -> String {
    match action {
        RunAction::SendPrompt { messages, after } => {
            let names: Vec<_> = messages.iter().map(name).collect();
            let after = if *after == PromptAfter::CutOff { " after cut" } else { "" };
            format!("prompt {}{after}", names.join(" "))
        }
        RunAction::SendSteer(SteerId(id), message) => format!("steer {id} {}", name(message)),
        RunAction::AnswerAsked(steers) => {
            let told = steers.iter().map(|(SteerId(id), message)| format!(" {id} {}", name(message)));
            format!("told{}", told.collect::<String>())
        }
        RunAction::SendCancel => "cancel".to_owned(),
        RunAction::CloseConnection => "close".to_owned(),
        RunAction::ReportTurnStarted => "started".to_owned(),
        RunAction::ReportStream => "stream".to_owned(),
        RunAction::EndTools => "tools".to_owned(),
        RunAction::ReportBreakPoint => "break".to_owned(),
        RunAction::EndTurn(TurnEnd::Failed(error)) => format!("over: {}", error.message),
        RunAction::EndTurn(TurnEnd::Answered(end) | TurnEnd::State(end)) => {
            format!("over: {}", end.get(&["stopReason"]).expect("it has one").as_str().trim_matches('"'))
        }
    }
}

/// What is said to an agent that was cut off for nothing has no id.
fn name(message: &UserMessage) -> &str {
    if message.id.is_empty() { "(go on)" } else { &message.id }
}
