//! What the calls themselves promise, apart from what messages mean.

use nudge_mailbox::{
    Accepted, Change, ClientId, Delivery, Dialect, Event, Fate, InStream, Mailbox, Message, MessageId, Mode,
    Saved,
};

fn message(id: &str, mode: Mode, dialect: Dialect) -> Message<u8> {
    Message { id: id.into(), client: ClientId(1), mode, dialect, content: 0, key: None }
}

fn queued(id: &str) -> Message<u8> {
    message(id, Mode::Queue, Dialect::Inject)
}

fn steer(id: &str) -> Message<u8> {
    message(id, Mode::Steer, Dialect::Inject)
}

fn ids<const N: usize>(ids: [&str; N]) -> Vec<MessageId> {
    ids.map(MessageId::from).to_vec()
}

/// A mailbox whose turn was started by `a`, with nothing left to write down.
fn running() -> Mailbox<u8> {
    let mut mailbox = Mailbox::new(InStream::Finish);
    mailbox.accept(queued("a")).expect("a queued message is always taken");
    assert_eq!(mailbox.poll(), Some(Delivery::Turn(vec![queued("a")])));
    mailbox.take_changes();
    mailbox
}

#[test]
fn changes_are_told_once_and_in_order() {
    let mut mailbox = running();
    let kept = Message { key: Some("k".into()), ..steer("b") };
    mailbox.accept(kept.clone()).expect("a turn runs");
    mailbox.accept(Message { id: "z".into(), ..kept.clone() }).expect("the key is known");
    mailbox.accept(message("c", Mode::Queue, Dialect::PromptV1)).expect("a queued message is always taken");
    mailbox.accept(queued("d")).expect("a queued message is always taken");
    mailbox.replace("b", 7).expect("b waits");
    mailbox.revoke("d").expect("d waits");
    mailbox.revoke("d").expect("d is remembered");
    mailbox.cancel();
    mailbox.handle(Event::Idle);
    assert_eq!(mailbox.poll(), Some(Delivery::Turn(vec![Message { content: 7, ..kept.clone() }])));
    let expected = [
        Change::Added(kept),
        Change::Added(message("c", Mode::Queue, Dialect::PromptV1)),
        Change::Added(queued("d")),
        Change::Replaced { id: "b".into(), content: 7 },
        Change::Revoked { id: "d".into() },
        Change::Revoked { id: "c".into() },
        Change::Delivered { ids: ids(["b"]) },
    ];
    assert_eq!(mailbox.take_changes(), expected);
    assert_eq!(mailbox.take_changes(), []);
}

#[test]
fn the_changes_add_up_to_what_is_saved() {
    let mut mailbox = Mailbox::new(InStream::Finish);
    let mut saved = Saved::default();
    for id in ["a", "b", "c", "d"] {
        let keyed = Message { key: Some(format!("key of {id}").into()), ..queued(id) };
        mailbox.accept(keyed).expect("a queued message is always taken");
    }
    mailbox.poll();
    mailbox.revoke("c").expect("c waits");
    mailbox.replace("d", 7).expect("d waits");
    mailbox.take_changes().into_iter().for_each(|change| saved.apply(change));

    let waiting: Vec<_> = saved.pending.iter().map(|message| (&*message.id, message.content)).collect();
    assert_eq!(waiting, [("b", 0), ("d", 7)]);
    assert_eq!((saved.delivered.clone(), saved.revoked.clone()), (ids(["a"]), ids(["c"])));
    let keys: Vec<_> = saved.keys.iter().map(|(key, id)| (&**key, &**id)).collect();
    assert_eq!(keys, [("key of a", "a"), ("key of b", "b"), ("key of c", "c"), ("key of d", "d")]);

    let restored = Mailbox::restore(InStream::Finish, saved);
    let fates = ["a", "b", "c", "d", "e"].map(|id| restored.fate(id));
    let (waits, gone) = (Some(Fate::Pending), Some(Fate::Revoked));
    assert_eq!(fates, [Some(Fate::Delivered), waits, gone, waits, None]);
}

#[test]
fn a_saved_mailbox_that_contradicts_itself_delivers_nothing_twice() {
    let saved = Saved {
        pending: ["a", "b", "c", "c", "d"].map(queued).to_vec(),
        delivered: ids(["a", "b"]),
        revoked: ids(["b", "d"]),
        keys: vec![("k".into(), "a".into())],
    };
    let mut mailbox = Mailbox::restore(InStream::Finish, saved);
    assert_eq!(mailbox.pending().count(), 1);
    assert_eq!(mailbox.fate("b"), Some(Fate::Delivered));
    mailbox.resume();
    assert_eq!(mailbox.poll(), Some(Delivery::Turn(vec![queued("c")])));
    mailbox.handle(Event::Idle);
    assert_eq!(mailbox.poll(), None);
}

#[test]
fn a_key_that_only_its_message_knows_survives_a_restart() {
    let keyed = Message { key: Some("k".into()), ..queued("a") };
    let saved = Saved { pending: vec![keyed], ..Saved::default() };
    let mut mailbox = Mailbox::restore(InStream::Finish, saved);
    let again = Message { key: Some("k".into()), ..queued("b") };
    assert_eq!(mailbox.accept(again), Ok(Accepted { id: "a".into(), fresh: false }));
}

#[test]
fn an_id_that_was_used_before_is_the_same_message() {
    let mut mailbox = running();
    assert_eq!(mailbox.accept(queued("a")), Ok(Accepted { id: "a".into(), fresh: false }));
    assert_eq!(mailbox.accept(queued("b")), Ok(Accepted { id: "b".into(), fresh: true }));
    assert_eq!(mailbox.accept(steer("b")), Ok(Accepted { id: "b".into(), fresh: false }));
    assert_eq!(mailbox.pending().collect::<Vec<_>>(), [&queued("b")]);
}

#[test]
fn a_mailbox_says_where_it_stands() {
    let stands = |mailbox: &Mailbox<u8>| {
        let flags = [mailbox.is_idle(), mailbox.is_running(), mailbox.is_cancelling(), mailbox.is_held()];
        ["idle", "running", "cancelling", "held"]
            .into_iter()
            .zip(flags)
            .filter(|(_, is)| *is)
            .map(|(it, _)| it)
            .collect()
    };
    let mut mailbox = Mailbox::new(InStream::Finish);
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
    mailbox.set_in_stream(InStream::Interrupt);
    assert_eq!(mailbox.poll(), Some(Delivery::Steer { messages: vec![steer("b")], interrupt: true }));
}

#[test]
fn a_replace_keeps_everything_but_the_content() {
    let mut mailbox = running();
    let before = Message {
        key: Some("k".into()),
        client: ClientId(9),
        ..message("b", Mode::Steer, Dialect::Steering)
    };
    mailbox.accept(before.clone()).expect("a turn runs");
    mailbox.replace("b", 7).expect("b waits");
    assert_eq!(mailbox.pending().collect::<Vec<_>>(), [&Message { content: 7, ..before }]);
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
        let mut mailbox = Mailbox::<u8>::new(InStream::Finish);
        mailbox.handle(event);
        assert_eq!(mailbox, Mailbox::new(InStream::Finish));
    }
}
