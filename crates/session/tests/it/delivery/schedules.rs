//! Random schedules: the mailbox and the naive reference say the same, whatever happens in whatever order.

use std::sync::Arc;

use nudge_backend::SteerMethod;
use nudge_mailbox::{ClientId, DeliveryMode, InputDialect, MailboxMessage, RevokedMessage, SavedMailbox};
use nudge_session::DeliveredMessages;
use proptest::{collection::vec, prelude::*, sample::select};

use crate::choices::Choices;

use super::{
    naive::Naive,
    turned_mailbox::{Event, TurnedMailbox},
};

/// How many ids there are; a few messages of a schedule share one.
const IDS: u8 = 12;
/// Run by default; `PROPTEST_CASES` asks for more.
const CASES: u32 = 20_000;

#[derive(Debug, Clone)]
enum Step {
    Accept { id: u8, client: u64, mode: DeliveryMode, dialect: InputDialect, key: Option<u8> },
    Revoke(u8),
    Replace(u8, u8),
    Did(Event),
    Cancel,
    Hold,
    Resume,
    Poll,
    Commit,
    Crash,
}

fn id(number: u8) -> Arc<str> {
    format!("message {number}").into()
}

fn step(number: u64) -> Step {
    let mut choices = Choices(number);
    match choices.below(100) {
        0..20 => Step::Poll,
        20..30 => Step::Commit,
        30..54 => accept(&mut choices),
        54..82 => Step::Did(event(&mut choices)),
        82..88 => Step::Revoke(choices.small(IDS)),
        88..93 => Step::Replace(choices.small(IDS), choices.small(9)),
        93..95 => Step::Cancel,
        95 => Step::Hold,
        96..98 => Step::Resume,
        _ => Step::Crash,
    }
}

fn accept(choices: &mut Choices) -> Step {
    use InputDialect::{Inject, PromptV1, PromptV2, Steering};
    Step::Accept {
        id: choices.small(IDS),
        client: choices.below(2),
        mode: choices.of([DeliveryMode::Queue, DeliveryMode::Steer]),
        dialect: choices.of([Inject, Inject, Inject, Steering, PromptV1, PromptV2]),
        key: choices.of([None, None, None, None, None, None, None, Some(0), Some(1), Some(2)]),
    }
}

fn event(choices: &mut Choices) -> Event {
    let tool = choices.of(["t", "u"]);
    match choices.below(28) {
        0 => Event::TurnStarted,
        1..5 => Event::StreamStarted,
        5..8 => Event::StreamFinished,
        8..10 => Event::ToolStarted(tool.into()),
        10..14 => Event::ToolFinished(tool.into()),
        14 => Event::PermissionOpened("permission".into()),
        15..18 => Event::PermissionClosed("permission".into()),
        18 => Event::Paused,
        19..21 => Event::Resumed,
        21..25 => Event::BreakPoint,
        25 => Event::WentOn,
        _ => Event::Idle,
    }
}

/// Both, side by side, and what is committed.
struct Pair {
    steer_method: SteerMethod,
    mailbox: TurnedMailbox<u8>,
    naive: Naive,
    saved: SavedMailbox<u8>,
    /// What was polled and is not committed yet.
    polled: Vec<Arc<str>>,
}

impl Pair {
    fn new(steer_method: SteerMethod) -> Self {
        let (mailbox, naive) = (TurnedMailbox::new(steer_method), Naive::new(steer_method));
        Self { steer_method, mailbox, naive, saved: SavedMailbox::default(), polled: Vec::new() }
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Accept { id: number, client, mode, dialect, key } => {
                let key = key.map(|key| format!("key {key}").into());
                let message = MailboxMessage {
                    id: id(number),
                    client: ClientId(client),
                    mode,
                    dialect,
                    content: 0,
                    key,
                };
                let accepted = self.mailbox.accept(message.clone());
                let accepted = accepted.map(|accepted| (accepted.id, accepted.fresh));
                prop_assert_eq!(accepted, self.naive.accept(message));
            }
            Step::Revoke(number) => {
                let revoked = self.mailbox.revoke(&id(number)).map(|revoked| match revoked {
                    RevokedMessage::Now(message) => message.id == id(number),
                    RevokedMessage::Already => false,
                });
                prop_assert_eq!(revoked, self.naive.revoke(&id(number)));
            }
            Step::Replace(number, content) => {
                let replaced = self.mailbox.replace(&id(number), content);
                prop_assert_eq!(replaced, self.naive.replace(&id(number), content));
            }
            Step::Did(event) => {
                self.mailbox.handle(event.clone());
                self.naive.handle(event);
            }
            Step::Cancel => {
                let cancelled = self.mailbox.cancel();
                let dropped = cancelled.dropped.into_iter().map(|message| message.id).collect();
                prop_assert_eq!((dropped, cancelled.following), self.naive.cancel());
            }
            Step::Hold => {
                self.mailbox.hold();
                self.naive.hold();
            }
            Step::Resume => {
                self.mailbox.resume();
                self.naive.resume();
            }
            Step::Poll => self.poll()?,
            Step::Commit => self.commit()?,
            Step::Crash => self.crash(),
        }
        Ok(())
    }

    fn poll(&mut self) -> Result<(), TestCaseError> {
        let delivery = self.mailbox.poll();
        prop_assert_eq!(&delivery, &self.naive.poll());
        if let Some(DeliveredMessages::Turn(messages) | DeliveredMessages::Steer(_, messages)) = delivery {
            self.polled.extend(messages.into_iter().map(|message| message.id));
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), TestCaseError> {
        let known = self.saved.delivered.len();
        self.mailbox.take_changes().into_iter().for_each(|change| self.saved.apply(change));
        self.naive.commit();
        prop_assert_eq!(&self.saved.delivered[known..], &self.polled[..]);
        self.polled.clear();
        let (mut waiting, mut expected) = (self.saved.pending.clone(), self.naive.pending());
        waiting.sort_by(|one, other| one.id.cmp(&other.id));
        expected.sort_by(|one, other| one.id.cmp(&other.id));
        prop_assert_eq!(waiting, expected);
        Ok(())
    }

    fn crash(&mut self) {
        self.mailbox = TurnedMailbox::restore(self.steer_method, self.saved.clone());
        self.naive.crash();
        self.polled.clear();
    }

    /// Whatever can be asked is answered alike.
    fn compare(&self) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.mailbox.pending().cloned().collect::<Vec<_>>(), self.naive.pending());
        prop_assert_eq!(self.mailbox.is_running(), self.naive.is_running());
        prop_assert_eq!(self.mailbox.is_idle(), !self.naive.is_running());
        prop_assert_eq!(self.mailbox.is_cancelling(), self.naive.is_cancelling());
        prop_assert_eq!(self.mailbox.is_held(), self.naive.is_held());
        prop_assert_eq!(self.mailbox.wants_break(), self.naive.wants_break());
        for id in (0..IDS).map(id) {
            prop_assert_eq!(self.mailbox.fate(&id), self.naive.fate(&id));
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(CASES),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_mailbox_does_what_the_log_says(
        steer_method in select(vec![SteerMethod::Take, SteerMethod::Wait]),
        steps in vec(any::<u64>().prop_map(step), 1..60),
    ) {
        let mut pair = Pair::new(steer_method);
        for step in steps {
            pair.step(step)?;
            pair.compare()?;
        }
    }
}
