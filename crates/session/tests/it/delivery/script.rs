//! Tests as scripts: one input a line, and after `->` what comes of it.

use std::{fmt::Write as _, sync::Arc};

use nudge_backend::SteerMethod;
use nudge_mailbox::{
    ClientId, DeliveryMode, InputDialect, MailboxChange, MailboxMessage, MailboxRefusal, RevokedMessage,
    SavedMailbox,
};
use nudge_session::{DeliveredMessages, SteerOpening};

use super::turned_mailbox::{Cancelled, Event, TurnedMailbox};

/// Runs a script on a mailbox that lets streams finish, and compares every line.
#[track_caller]
pub(crate) fn check(script: &str) {
    check_with(SteerMethod::Wait, script);
}

/// Runs a script on a mailbox that interrupts streams, and compares every line.
#[track_caller]
pub(crate) fn check_interrupting(script: &str) {
    check_with(SteerMethod::Take, script);
}

#[track_caller]
fn check_with(steer_method: SteerMethod, script: &str) {
    let mut driver = Driver::new(steer_method);
    let lines: Vec<_> = script.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let expected: Vec<_> = lines.iter().map(|line| tidy(line)).collect();
    let inputs = lines.iter().map(|line| line.split("->").next().unwrap_or_default().trim());
    let actual: Vec<_> = inputs.map(|input| tidy(&format!("{input} -> {}", driver.step(input)))).collect();
    assert_eq!(actual, expected, "\n{}\n", actual.join("\n"));
}

/// A line with single spaces, and without an arrow that leads to nothing.
fn tidy(line: &str) -> String {
    let words: Vec<_> = line.split_whitespace().collect();
    words.join(" ").trim_end_matches(" ->").to_owned()
}

/// A driver that does what the mailbox asks of it: poll, commit, show.
struct Driver {
    mailbox: TurnedMailbox<String>,
    steer_method: SteerMethod,
    saved: SavedMailbox<String>,
}

impl Driver {
    fn new(steer_method: SteerMethod) -> Self {
        Self { mailbox: TurnedMailbox::new(steer_method), steer_method, saved: SavedMailbox::default() }
    }

    /// Takes one input and says what came of it.
    fn step(&mut self, input: &str) -> String {
        if let Some(lost) = input.strip_prefix("crash in ") {
            self.input(lost);
            while self.mailbox.poll().is_some() {}
            return self.step("crash");
        }
        let mut shown: Vec<_> = Vec::from_iter(self.input(input));
        while let Some(delivery) = self.mailbox.poll() {
            shown.push(tell(&delivery));
        }
        let changes = self.mailbox.take_changes();
        if input == "crash" {
            shown.extend(changes.iter().map(tell_change));
        }
        for change in changes {
            self.saved.apply(change);
        }
        shown.join(", ")
    }

    fn input(&mut self, input: &str) -> Option<String> {
        let words: Vec<_> = input.split_whitespace().collect();
        if let Some(event) = event(&words) {
            self.mailbox.handle(event);
            return None;
        }
        match words[..] {
            ["revoke", id] => Some(match self.mailbox.revoke(id) {
                Ok(RevokedMessage::Now(message)) => format!("revoked {}", name(&message)),
                Ok(RevokedMessage::Already) => "already revoked".to_owned(),
                Err(refusal) => refused(refusal),
            }),
            ["replace", id, content] => self.mailbox.replace(id, content.to_owned()).err().map(refused),
            ["cancel"] => Some(tell_cancelled(&self.mailbox.cancel())),
            ["hold" | "close"] => {
                self.mailbox.hold();
                None
            }
            ["resume"] => {
                self.mailbox.resume();
                None
            }
            ["crash"] => {
                self.mailbox = TurnedMailbox::restore(self.steer_method, self.saved.clone());
                None
            }
            ["wants-break"] => Some(if self.mailbox.wants_break() { "yes" } else { "no" }.to_owned()),
            ["pending"] => Some(names(self.mailbox.pending())),
            [method, id, ref options @ ..] => self.accept(method, id, options),
            _ => panic!("no such input: {input}"),
        }
    }

    fn accept(&mut self, method: &str, id: &str, options: &[&str]) -> Option<String> {
        let (mode, dialect) = match method {
            "queue" => (DeliveryMode::Queue, InputDialect::Inject),
            "steer" => (DeliveryMode::Steer, InputDialect::Inject),
            "steering" => (DeliveryMode::Steer, InputDialect::Steering),
            "prompt" => (DeliveryMode::Queue, InputDialect::PromptV1),
            "prompt-v2" if self.mailbox.is_idle() => (DeliveryMode::Queue, InputDialect::PromptV2),
            "prompt-v2" => (DeliveryMode::Steer, InputDialect::PromptV2),
            _ => panic!("no such method: {method}"),
        };
        let client = if options.contains(&"by-another") { ClientId(2) } else { ClientId(1) };
        let key = options.iter().find_map(|option| option.strip_prefix("key=")).map(Arc::from);
        let message = MailboxMessage { id: id.into(), client, mode, dialect, content: id.to_owned(), key };
        match self.mailbox.accept(message) {
            Ok(accepted) if accepted.fresh => None,
            Ok(accepted) => Some(format!("same as {}", accepted.id)),
            Err(refusal) => Some(refused(refusal)),
        }
    }
}

fn event(words: &[&str]) -> Option<Event> {
    Some(match *words {
        ["start"] => Event::TurnStarted,
        ["stream"] => Event::StreamStarted,
        ["stream-end"] => Event::StreamFinished,
        ["tool", id] => Event::ToolStarted(id.into()),
        ["tool-end", id] => Event::ToolFinished(id.into()),
        ["ask", id] => Event::PermissionOpened(id.into()),
        ["ask-end", id] => Event::PermissionClosed(id.into()),
        ["pause"] => Event::Paused,
        ["unpause"] => Event::Resumed,
        ["break"] => Event::BreakPoint,
        ["go-on"] => Event::WentOn,
        ["idle"] => Event::Idle,
        _ => return None,
    })
}

fn tell(delivery: &DeliveredMessages<String>) -> String {
    match delivery {
        DeliveredMessages::Turn(messages) => format!("turn {}", names(messages)),
        DeliveredMessages::Steer(SteerOpening::BreakPoint, messages) => format!("steer {}", names(messages)),
        DeliveredMessages::Steer(SteerOpening::MidStream, messages) => {
            format!("interrupt {}", names(messages))
        }
    }
}

fn tell_cancelled(cancelled: &Cancelled<String>) -> String {
    let mut told = String::new();
    if !cancelled.dropped.is_empty() {
        write!(told, "dropped {}, ", names(&cancelled.dropped)).expect("a string takes everything");
    }
    write!(told, "{} follow", cancelled.following).expect("a string takes everything");
    told
}

fn tell_change(change: &MailboxChange<String>) -> String {
    match change {
        MailboxChange::Revoked { id } => format!("dropped {id}"),
        other => panic!("a restart only drops, got {other:?}"),
    }
}

fn refused(refusal: MailboxRefusal) -> String {
    match refusal {
        MailboxRefusal::AlreadyDelivered => "refused: already delivered",
        MailboxRefusal::UnknownMessage => "refused: unknown message",
        MailboxRefusal::NoRunningTurn => "refused: no running turn",
    }
    .to_owned()
}

fn names<'a>(messages: impl IntoIterator<Item = &'a MailboxMessage<String>>) -> String {
    messages.into_iter().map(name).collect::<Vec<_>>().join(" ")
}

/// The id, and what it says if that was replaced.
fn name(message: &MailboxMessage<String>) -> String {
    if *message.content == *message.id {
        message.id.to_string()
    } else {
        format!("{}={}", message.id, message.content)
    }
}
