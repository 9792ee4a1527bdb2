//! The bugs that are planted: mistakes that somebody could make, each of another kind.

/// A mistake, and where it is made.
#[derive(Debug)]
pub(super) struct Bug {
    /// What goes wrong.
    pub(super) name: &'static str,
    pub(super) file: &'static str,
    /// Occurs once in the file.
    pub(super) find: &'static str,
    pub(super) put: &'static str,
}

const fn bug(name: &'static str, file: &'static str, find: &'static str, put: &'static str) -> Bug {
    Bug { name, file, find, put }
}

const ACT: &str = "crates/session/src/act.rs";
const AGENT_EVENT: &str = "crates/session/src/agent_event.rs";
const CORE: &str = "crates/session/src/core.rs";
const LIFECYCLE: &str = "crates/session/src/lifecycle.rs";
const USER_QUESTIONS: &str = "crates/session/src/user_questions.rs";
const REQUESTS: &str = "crates/session/src/requests.rs";
const STALL: &str = "crates/session/src/stall.rs";
const TRANSCRIPT: &str = "crates/session/src/transcript.rs";
const TURN: &str = "crates/session/src/turn.rs";
const MAILBOX: &str = "crates/mailbox/src/mailbox.rs";
const MESSAGE: &str = "crates/mailbox/src/message.rs";

pub(super) const BUGS: &[Bug] = &[
    bug(
        "an inject is answered before it is on disk",
        REQUESTS,
        "self.answer(asker.request, accepted.map(|id| answers::message_id(&id)));",
        "self.answer_now(asker.request, accepted.map(|id| answers::message_id(&id)));",
    ),
    bug(
        "what changes in the mailbox waits for no disk",
        CORE,
        "self.draft.is_durable |= !changes.is_empty();",
        "",
    ),
    bug(
        "the agent's words overtake the user's",
        CORE,
        "if let Some(acts) = self.outbox.follow(acts) {\n            self.act_all(acts);\n        }",
        "self.act_all(acts);",
    ),
    bug(
        "a stream is cut off for a steer that is not on disk",
        AGENT_EVENT,
        "self.draft.acts.push(OutboxAct::Interrupt);",
        "self.step.effects.push(crate::SessionEffect::Interrupt);",
    ),
    bug(
        "a stream is cut off again and again",
        ACT,
        "turn.interrupt = StreamInterrupt::Sent;",
        "turn.interrupt = StreamInterrupt::Not;",
    ),
    bug("that the agent went on is forgotten", AGENT_EVENT, "turn.handle(TurnEvent::WentOn);", ""),
    bug(
        "the agent is told twice to go on",
        AGENT_EVENT,
        "BreakPoint::Waits => self.go_on(Vec::new()),",
        "BreakPoint::Waits | BreakPoint::GoesOn => self.go_on(Vec::new()),",
    ),
    bug("an agent at a break-point is forgotten", ACT, "if is_waited_for {", "if false && is_waited_for {"),
    bug(
        "a steer goes in while the user is asked",
        TURN,
        "is_asked || self.is_cancelled || self.is_paused",
        "(false && is_asked) || self.is_cancelled || self.is_paused",
    ),
    bug(
        "a steer goes into a turn that is cancelled",
        TURN,
        "is_asked || self.is_cancelled || self.is_paused",
        "is_asked || self.is_paused",
    ),
    bug(
        "queued messages come before steers",
        MAILBOX,
        "if self.steers.is_empty() {",
        "if !self.queue.is_empty() || self.steers.is_empty() {",
    ),
    bug(
        "a revoke succeeds after the delivery",
        MAILBOX,
        "MessageFate::Delivered => Err(MailboxRefusal::AlreadyDelivered),",
        "MessageFate::Delivered => Ok(RevokedMessage::Already),",
    ),
    bug(
        "a replacement is not written down",
        MAILBOX,
        "self.changes.push(MailboxChange::Replaced { id: message.id.clone(), content });",
        "drop(content);",
    ),
    bug(
        "a replaced prompt goes with its old params",
        REQUESTS,
        "let replaced = self.delivery.mailbox.replace(id, InputContent { content, params: None });",
        "let params = self.delivery.mailbox.pending().find(|m| &*m.id == id).and_then(|m| m.content.params.clone());\n        \
         let replaced = self.delivery.mailbox.replace(id, InputContent { content, params });",
    ),
    bug(
        "a cancel drops injects too",
        MAILBOX,
        "self.drop_waiting(InputDialect::ends_with_cancel)",
        "self.drop_waiting(|_| true)",
    ),
    bug(
        "the key of a revoked inject is free again",
        MESSAGE,
        "pub(crate) fn frees_key(self) -> bool {\n        matches!(self, Self::PromptV1 | Self::PromptV2)",
        "pub(crate) fn frees_key(self) -> bool {\n        true",
    ),
    bug(
        "a prompt is echoed to its sender",
        REQUESTS,
        "matches!(dialect, InputDialect::PromptV1 | InputDialect::Steering)",
        "matches!(dialect, InputDialect::Steering)",
    ),
    bug(
        "a client that joins is shown again what it has read",
        TRANSCRIPT,
        "filter(|(seq, update)| *seq >= from && update.kind.is_replayed());",
        "filter(|(_, update)| update.kind.is_replayed());",
    ),
    bug(
        "a client that joins misses what is not on disk",
        TRANSCRIPT,
        "filter(|(seq, update)| *seq >= from && update.kind.is_replayed());",
        "filter(|(seq, update)| *seq > from && update.kind.is_replayed());",
    ),
    bug(
        "a permission that is answered stays open at the others",
        USER_QUESTIONS,
        "self.withdraw(permission, Some(by));",
        "let _ = by;",
    ),
    bug("what waited before a restart is not held", CORE, "is_held: start.is_held, ..", "is_held: false, .."),
    bug(
        "a close is told before it is on disk",
        LIFECYCLE,
        "self.draft.acts.push(OutboxAct::Leave(ending));",
        "self.leave(ending.parting(), ending.waiting());",
    ),
    bug(
        "what is there is written again after a full disk",
        STALL,
        ".filter(|(seq, _)| !there.contains(seq));",
        ".filter(|_| true);",
    ),
    bug(
        "what was refused comes back after a full disk",
        STALL,
        "mailbox.forget(id);",
        "let _ = (id, &mut mailbox);",
    ),
    bug(
        "a request that waits for a full disk is never answered",
        STALL,
        "for request in act.requests() {\n                self.answer_now(request, Err(error.clone()));\n            }",
        "",
    ),
];
