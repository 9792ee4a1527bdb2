//! What the calls themselves promise, apart from what messages mean.

use nudge_mailbox::{
    AcceptedMessage, ClientId, DeliveryMode, InputDialect, Mailbox, MailboxChange, MailboxMessage,
    MailboxRefusal, MessageFate, MessageId, RevokedMessage, SavedMailbox,
};

fn message(id: &str, mode: DeliveryMode, dialect: InputDialect) -> MailboxMessage<u8> {
    MailboxMessage { id: id.into(), client: ClientId(1), mode, dialect, content: 0, key: None }
}

fn queued(id: &str) -> MailboxMessage<u8> {
    message(id, DeliveryMode::Queue, InputDialect::Inject)
}

fn steer(id: &str) -> MailboxMessage<u8> {
    message(id, DeliveryMode::Steer, InputDialect::Inject)
}

fn ids<const N: usize>(ids: [&str; N]) -> Vec<MessageId> {
    ids.map(MessageId::from).to_vec()
}

/// A mailbox that has given out `a`, with nothing left to write down.
fn begun() -> Mailbox<u8> {
    let mut mailbox = Mailbox::new();
    mailbox.accept(queued("a"), false).expect("a queued message is always taken");
    assert_eq!(mailbox.take_for_turn(), [queued("a")]);
    mailbox.take_changes();
    mailbox
}

#[test]
fn changes_are_told_once_and_in_order() {
    let mut mailbox = begun();
    let kept = MailboxMessage { key: Some("k".into()), ..steer("b") };
    mailbox.accept(kept.clone(), true).expect("a turn runs");
    mailbox.accept(MailboxMessage { id: "z".into(), ..kept.clone() }, true).expect("the key is known");
    mailbox
        .accept(message("c", DeliveryMode::Queue, InputDialect::PromptV1), true)
        .expect("a queued message is always taken");
    mailbox.accept(queued("d"), true).expect("a queued message is always taken");
    mailbox.replace("b", 7).expect("b waits");
    mailbox.revoke("d").expect("d waits");
    mailbox.revoke("d").expect("d is remembered");
    assert_eq!(mailbox.drop_prompts(), [message("c", DeliveryMode::Queue, InputDialect::PromptV1)]);
    assert_eq!(mailbox.take_for_turn(), [MailboxMessage { content: 7, ..kept.clone() }]);
    let expected = [
        MailboxChange::Added(kept),
        MailboxChange::Added(message("c", DeliveryMode::Queue, InputDialect::PromptV1)),
        MailboxChange::Added(queued("d")),
        MailboxChange::Replaced { id: "b".into(), content: 7 },
        MailboxChange::Revoked { id: "d".into() },
        MailboxChange::Revoked { id: "c".into() },
        MailboxChange::Delivered { ids: ids(["b"]) },
    ];
    assert_eq!(mailbox.take_changes(), expected);
    assert_eq!(mailbox.take_changes(), []);
}

#[test]
fn the_changes_add_up_to_what_is_saved() {
    let mut mailbox = Mailbox::new();
    let mut saved = SavedMailbox::default();
    for id in ["a", "b", "c", "d"] {
        let keyed = MailboxMessage { key: Some(format!("key of {id}").into()), ..queued(id) };
        mailbox.accept(keyed, false).expect("a queued message is always taken");
    }
    mailbox.take_for_turn();
    mailbox.revoke("c").expect("c waits");
    mailbox.replace("d", 7).expect("d waits");
    mailbox.take_changes().into_iter().for_each(|change| saved.apply(change));

    let waiting: Vec<_> = saved.pending.iter().map(|message| (&*message.id, message.content)).collect();
    assert_eq!(waiting, [("b", 0), ("d", 7)]);
    assert_eq!((saved.delivered.clone(), saved.revoked.clone()), (ids(["a"]), ids(["c"])));
    let keys: Vec<_> = saved.keys.iter().map(|(key, id)| (&**key, &**id)).collect();
    assert_eq!(keys, [("key of a", "a"), ("key of b", "b"), ("key of c", "c"), ("key of d", "d")]);

    let restored = Mailbox::restore(saved);
    let fates = ["a", "b", "c", "d", "e"].map(|id| restored.fate(id));
    let (waits, gone) = (Some(MessageFate::Pending), Some(MessageFate::Revoked));
    assert_eq!(fates, [Some(MessageFate::Delivered), waits, gone, waits, None]);
}

#[test]
fn a_saved_mailbox_that_contradicts_itself_delivers_nothing_twice() {
    let saved = SavedMailbox {
        pending: ["a", "b", "c", "c", "d"].map(queued).to_vec(),
        delivered: ids(["a", "b"]),
        revoked: ids(["b", "d"]),
        keys: vec![("k".into(), "a".into())],
    };
    let mut mailbox = Mailbox::restore(saved);
    assert_eq!(mailbox.pending().count(), 1);
    assert_eq!(mailbox.fate("b"), Some(MessageFate::Delivered));
    assert_eq!(mailbox.take_for_turn(), [queued("c")]);
    assert_eq!(mailbox.take_for_turn(), []);
}

#[test]
fn a_key_that_only_its_message_knows_survives_a_restart() {
    let keyed = MailboxMessage { key: Some("k".into()), ..queued("a") };
    let saved = SavedMailbox { pending: vec![keyed], ..SavedMailbox::default() };
    let mut mailbox = Mailbox::restore(saved);
    let again = MailboxMessage { key: Some("k".into()), ..queued("b") };
    assert_eq!(mailbox.accept(again, false), Ok(AcceptedMessage { id: "a".into(), fresh: false }));
}

#[test]
fn an_id_that_was_used_before_is_the_same_message() {
    let mut mailbox = begun();
    assert_eq!(mailbox.accept(queued("a"), true), Ok(AcceptedMessage { id: "a".into(), fresh: false }));
    assert_eq!(mailbox.accept(queued("b"), true), Ok(AcceptedMessage { id: "b".into(), fresh: true }));
    assert_eq!(mailbox.accept(steer("b"), true), Ok(AcceptedMessage { id: "b".into(), fresh: false }));
    assert_eq!(mailbox.pending().collect::<Vec<_>>(), [&queued("b")]);
}

#[test]
fn a_replace_keeps_everything_but_the_content() {
    let mut mailbox = begun();
    let before = MailboxMessage {
        key: Some("k".into()),
        client: ClientId(9),
        ..message("b", DeliveryMode::Steer, InputDialect::Steering)
    };
    mailbox.accept(before.clone(), true).expect("a turn runs");
    mailbox.replace("b", 7).expect("b waits");
    assert_eq!(mailbox.pending().collect::<Vec<_>>(), [&MailboxMessage { content: 7, ..before }]);
}

#[test]
fn what_starts_a_turn_is_all_the_steers_or_else_the_oldest_queued_message() {
    let mut mailbox = begun();
    for message in [queued("b"), steer("c"), queued("d"), steer("e")] {
        mailbox.accept(message, true).expect("a turn runs");
    }
    assert!(mailbox.has_steers());
    assert_eq!(mailbox.take_for_turn(), [steer("c"), steer("e")]);
    assert!(!mailbox.has_steers());
    assert_eq!(mailbox.take_steers(), []);
    assert_eq!(mailbox.take_for_turn(), [queued("b")]);
    assert_eq!(mailbox.take_for_turn(), [queued("d")]);
    mailbox.take_changes();
    assert_eq!(mailbox.take_for_turn(), []);
    assert_eq!(mailbox.take_changes(), [], "nothing was delivered, so there is nothing to write down");
}

#[test]
fn what_starts_a_turn_may_be_of_others_alone() {
    let mut mailbox = begun();
    let of = |client, message| MailboxMessage { client: ClientId(client), ..message };
    let all = [steer("b"), of(2, queued("c")), queued("d"), of(2, steer("e")), of(3, steer("f"))];
    for message in all {
        mailbox.accept(message, true).expect("a turn runs");
    }
    assert_eq!(mailbox.take_for_turn_of_others(ClientId(1)), [of(2, steer("e")), of(3, steer("f"))]);
    assert_eq!(mailbox.take_for_turn_of_others(ClientId(1)), [of(2, queued("c"))]);
    assert_eq!(mailbox.take_for_turn_of_others(ClientId(1)), []);
    assert_eq!(mailbox.pending().collect::<Vec<_>>(), [&steer("b"), &queued("d")]);
    assert_eq!(mailbox.take_for_turn(), [steer("b")]);
}

#[test]
fn a_steer_needs_a_turn_only_if_it_is_an_inject() {
    for (dialect, is_taken) in [
        (InputDialect::Inject, false),
        (InputDialect::Steering, true),
        (InputDialect::PromptV1, true),
        (InputDialect::PromptV2, true),
    ] {
        let mut mailbox = Mailbox::new();
        let accepted = mailbox.accept(message("a", DeliveryMode::Steer, dialect), false);
        let taken = AcceptedMessage { id: "a".into(), fresh: true };
        let expected = if is_taken { Ok(taken) } else { Err(MailboxRefusal::NoRunningTurn) };
        assert_eq!(accepted, expected, "{dialect:?}");
    }
}

#[test]
fn revoke_and_replace_end_with_delivery() {
    let mut mailbox = begun();
    mailbox.accept(queued("b"), true).expect("a queued message is always taken");
    assert_eq!(mailbox.revoke("b"), Ok(RevokedMessage::Now(queued("b"))));
    assert_eq!(mailbox.revoke("b"), Ok(RevokedMessage::Already));
    assert_eq!(mailbox.replace("b", 7), Err(MailboxRefusal::UnknownMessage));
    assert_eq!(mailbox.revoke("a"), Err(MailboxRefusal::AlreadyDelivered));
    assert_eq!(mailbox.replace("a", 7), Err(MailboxRefusal::AlreadyDelivered));
    assert_eq!(mailbox.revoke("c"), Err(MailboxRefusal::UnknownMessage));
    assert_eq!(mailbox.replace("c", 7), Err(MailboxRefusal::UnknownMessage));
}
