//! What the turn and the mailbox promise together, apart from what messages mean.

use nudge_backend::SteerMethod;
use nudge_mailbox::{ClientId, DeliveryMode, InputDialect, MailboxMessage};
use nudge_session::{DeliveredMessages, SteerOpening};

use super::turned_mailbox::{Event, TurnedMailbox};

fn message(id: &str, mode: DeliveryMode) -> MailboxMessage<u8> {
    MailboxMessage {
        id: id.into(),
        client: ClientId(1),
        mode,
        dialect: InputDialect::Inject,
        content: 0,
        key: None,
    }
}

fn queued(id: &str) -> MailboxMessage<u8> {
    message(id, DeliveryMode::Queue)
}

fn steer(id: &str) -> MailboxMessage<u8> {
    message(id, DeliveryMode::Steer)
}

/// A mailbox whose turn was started by `a`, with nothing left to write down.
fn running() -> TurnedMailbox<u8> {
    let mut mailbox = TurnedMailbox::new(SteerMethod::Wait);
    mailbox.accept(queued("a")).expect("a queued message is always taken");
    assert_eq!(mailbox.poll(), Some(DeliveredMessages::Turn(vec![queued("a")])));
    mailbox.take_changes();
    mailbox
}

#[test]
fn a_mailbox_says_where_it_stands() {
    let stands = |mailbox: &TurnedMailbox<u8>| {
        let flags = [mailbox.is_idle(), mailbox.is_running(), mailbox.is_cancelling(), mailbox.is_held()];
        ["idle", "running", "cancelling", "held"]
            .into_iter()
            .zip(flags)
            .filter(|(_, is)| *is)
            .map(|(it, _)| it)
            .collect()
    };
    let mut mailbox = TurnedMailbox::new(SteerMethod::Wait);
    let mut seen: Vec<Vec<_>> = vec![stands(&mailbox)];
    for input in ["start", "cancel", "hold", "idle", "resume"] {
        match input {
            "start" => mailbox.handle(Event::TurnStarted),
            "cancel" => drop(mailbox.cancel()),
            "hold" => mailbox.hold(),
            "idle" => mailbox.handle(Event::Idle),
            _ => mailbox.resume(),
        }
        seen.push(stands(&mailbox));
    }
    let cancelled = vec!["running", "cancelling"];
    let held = vec!["running", "cancelling", "held"];
    assert_eq!(seen, [vec!["idle"], vec!["running"], cancelled, held, vec!["idle", "held"], vec!["idle"]]);
}

#[test]
fn what_a_steer_does_to_a_stream_can_turn_out_differently() {
    let mut mailbox = running();
    mailbox.handle(Event::StreamStarted);
    mailbox.accept(steer("b")).expect("a turn runs");
    assert_eq!(mailbox.poll(), None);
    mailbox.set_steer_method(SteerMethod::Take);
    assert_eq!(mailbox.poll(), Some(DeliveredMessages::Steer(SteerOpening::MidStream, vec![steer("b")])));
}

#[test]
fn late_news_on_an_idle_session_change_nothing() {
    let late = [
        Event::StreamStarted,
        Event::StreamFinished,
        Event::ToolStarted("t".into()),
        Event::ToolFinished("t".into()),
        Event::PermissionOpened("p".into()),
        Event::PermissionClosed("p".into()),
        Event::Paused,
        Event::Resumed,
        Event::BreakPoint,
        Event::WentOn,
        Event::Idle,
    ];
    for event in late {
        let mut mailbox = TurnedMailbox::<u8>::new(SteerMethod::Wait);
        mailbox.handle(event);
        assert_eq!(mailbox, TurnedMailbox::new(SteerMethod::Wait));
    }
}
