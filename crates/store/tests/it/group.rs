//! Batches that share a transaction.

use nudge_store::{InputState, SessionChange, SessionFilter, StoreOp};

use crate::support::{
    Place, appends, batch, created, entry, input, lease, memory, name, seqs, session, set, write,
};

#[tokio::test]
async fn what_waits_goes_together() {
    let place = Place::new();
    let store = place.open().await;
    let mut leases = Vec::new();
    for n in 0..80 {
        leases.push(created(&*store, &format!("s{n}")).await);
    }
    let before = store.counts();
    let tickets: Vec<_> = (0..10)
        .flat_map(|seq| leases.iter().map(move |lease| (lease, seq)))
        .map(|(lease, seq)| store.append(batch(lease, appends([seq]))))
        .collect();
    for ticket in tickets {
        ticket.await.expect("written");
    }
    let after = store.counts();
    assert_eq!(after.batches - before.batches, 800);
    assert!(after.transactions - before.transactions < 200, "{after:?} {before:?}");
    for lease in &leases {
        assert_eq!(seqs(&*store, &lease.session).await, (0..10).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn who_waits_for_all_waits_for_what_came_before() {
    let place = Place::new();
    let store = place.open().await;
    let lease = created(&*store, "s").await;
    let tickets: Vec<_> = (0..200).map(|seq| store.append(batch(&lease, appends([seq])))).collect();
    store.settle().await.expect("settled");
    assert_eq!(seqs(&*place.open().await, "s").await.len(), 200);
    for ticket in tickets {
        ticket.await.expect("written");
    }
}

/// In one group, batches of two sessions alternate; those of `bad` cannot be written for one reason or another.
#[tokio::test]
async fn a_failing_batch_fails_alone() {
    let place = Place::new();
    let store = place.open().await;
    let good = created(&*store, "good").await;
    let bad = created(&*store, "bad").await;
    write(&*store, &bad, vec![StoreOp::AddInput(input("a", 0)), StoreOp::Append(entry(5))])
        .await
        .expect("set up");
    let touch =
        || StoreOp::UpdateSession(SessionChange { updated_at: Some(9_000), ..SessionChange::default() });
    let work = [
        (&good, appends([1]), "ok"),
        (&bad, vec![touch(), StoreOp::AddInput(input("b", 1)), StoreOp::Append(entry(5))], "SeqOrder"),
        (&good, vec![StoreOp::AddInput(input("a", 0))], "ok"),
        (
            &bad,
            vec![touch(), StoreOp::AddInput(input("b", 1)), StoreOp::AddInput(input("a", 2))],
            "InputExists",
        ),
        (&good, vec![set("a", InputState::Delivered), StoreOp::Append(entry(2))], "ok"),
        (&bad, vec![set("a", InputState::Revoked), set("a", InputState::Delivered)], "InputNotPending"),
        (&bad, vec![StoreOp::CreateSession(session("bad"))], "SessionExists"),
        (&good, appends([3]), "ok"),
        (&bad, appends([6]), "ok"),
    ];
    let tickets: Vec<_> =
        work.iter().map(|(lease, ops, _)| store.append(batch(lease, ops.clone()))).collect();
    for (ticket, (_, ops, expected)) in tickets.into_iter().zip(&work) {
        assert_eq!(name(ticket.await), *expected, "{ops:?}");
    }
    assert!(store.counts().repeated > 0, "they were in one group");
    assert_eq!(store.counts().refused, 4);
    assert_eq!(seqs(&*store, "good").await, [1, 2, 3]);
    assert_eq!(seqs(&*store, "bad").await, [5, 6]);
    let inputs = store.inputs("bad").await.expect("read");
    assert_eq!(inputs, [input("a", 0)]);
    let page = store.sessions(&SessionFilter::default(), None, 10).await.expect("a page");
    assert!(page.sessions.iter().all(|session| session.updated_at == 200));
}

#[tokio::test]
async fn order_is_that_of_the_calls_whatever_the_urgency() {
    let store = memory().await;
    let lease = created(&*store, "s").await;
    let mut last = None;
    for seq in 0..200 {
        let batch = batch(&lease, appends([seq]));
        last = Some(if seq % 7 == 0 { store.commit(batch) } else { store.append(batch) });
    }
    last.expect("there were some").await.expect("written");
    assert_eq!(seqs(&*store, "s").await, (0..200).collect::<Vec<_>>());
}

/// What is added, replaced and delivered in one group ends as if each had been alone.
#[tokio::test]
async fn a_life_in_one_group() {
    let store = memory().await;
    let lease = created(&*store, "s").await;
    let tickets = [
        vec![StoreOp::AddInput(input("a", 0))],
        vec![StoreOp::ReplaceInput { id: "a".into(), content: "[2]".into() }],
        vec![set("a", InputState::Delivered)],
        vec![
            StoreOp::AddInput(input("b", 1)),
            StoreOp::ReplaceInput { id: "b".into(), content: "[3]".into() },
        ],
        vec![StoreOp::DeleteSession],
        vec![StoreOp::AddInput(input("c", 2))],
    ]
    .map(|ops| store.append(batch(&lease, ops)));
    let mut told = Vec::new();
    for ticket in tickets {
        told.push(name(ticket.await));
    }
    assert_eq!(told, ["ok", "ok", "ok", "ok", "ok", "Fenced"]);
    assert_eq!(store.session("s").await.expect("read"), None);
}

#[tokio::test]
async fn a_fork_has_what_was_written_just_before() {
    let store = memory().await;
    let parent = created(&*store, "parent").await;
    let child = lease(&*store, "child").await;
    let fork = vec![
        StoreOp::CreateSession(session("child")),
        StoreOp::CopyTranscript { from: "parent".into(), up_to: 9 },
    ];
    let tickets = [
        store.append(batch(&parent, appends([1, 2]))),
        store.append(batch(&child, fork)),
        store.append(batch(&child, appends([3]))),
        store.append(batch(&parent, appends([5]))),
    ];
    for ticket in tickets {
        ticket.await.expect("written");
    }
    assert_eq!(seqs(&*store, "child").await, [1, 2, 3]);
    assert_eq!(seqs(&*store, "parent").await, [1, 2, 5]);
}
