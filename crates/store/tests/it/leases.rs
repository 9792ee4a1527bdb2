//! Who may write, with several stores on one file.

use nudge_store::{HeldLease, SessionLease, Store, StoreOp};

use crate::support::{Place, appends, batch, created, lease, memory, name, seqs, session, write};

async fn acquire(store: &dyn Store, owner: &str, now: u64) -> Result<SessionLease, HeldLease> {
    store.acquire("s", owner, now, 100).await.expect("the store answers")
}

#[tokio::test]
async fn one_at_a_time() {
    let store = memory().await;
    let first = acquire(&*store, "a", 1_000).await.expect("free");
    let held = HeldLease { owner: "a".into(), epoch: first.epoch, until: 1_100 };
    assert_eq!(acquire(&*store, "b", 1_099).await, Err(held.clone()));
    assert_eq!(acquire(&*store, "a", 1_099).await, Err(held));
    let second = acquire(&*store, "b", 1_100).await.expect("it ran out");
    assert!(second.epoch > first.epoch);
}

#[tokio::test]
async fn renewing_keeps_it_and_tells_what_is_lost() {
    let store = memory().await;
    let first = acquire(&*store, "a", 1_000).await.expect("free");
    assert_eq!(store.renew(std::slice::from_ref(&first), 1_090, 100).await.expect("renewed"), []);
    assert_eq!(acquire(&*store, "b", 1_150).await.expect_err("renewed").until, 1_190);
    let second = acquire(&*store, "b", 1_190).await.expect("it ran out");
    let both = [first.clone(), second.clone()];
    assert_eq!(store.renew(&both, 1_200, 100).await.expect("renewed"), [first]);
    assert_eq!(acquire(&*store, "c", 1_299).await.expect_err("renewed").epoch, second.epoch);
}

#[tokio::test]
async fn a_lease_that_ran_out_holds_until_it_is_taken() {
    let store = memory().await;
    let old = created(&*store, "s").await;
    write(&*store, &old, appends([1])).await.expect("whatever the time");
    let new = store.acquire("s", "b", 9_999, 1).await.expect("the store answers").expect("it ran out");
    assert_eq!(name(write(&*store, &old, appends([2])).await), "Fenced");
    write(&*store, &new, appends([2])).await.expect("the new one holds");
    assert_eq!(seqs(&*store, "s").await, [1, 2]);
}

#[tokio::test]
async fn a_lease_given_back_is_free_and_worth_nothing() {
    let store = memory().await;
    let first = created(&*store, "s").await;
    store.release(first.clone()).await.expect("given back");
    assert_eq!(name(write(&*store, &first, appends([1])).await), "Fenced");
    let nobody = SessionLease { owner: String::new(), ..first.clone() };
    assert_eq!(name(write(&*store, &nobody, appends([1])).await), "Fenced");
    let second = acquire(&*store, "b", 1_000).await.expect("free");
    store.release(first).await.expect("it has no effect");
    write(&*store, &second, appends([1])).await.expect("still held");
    let third = acquire(&*store, "b", 9_999).await.expect("it ran out");
    store.release(second).await.expect("it has no effect, though the owner is the same");
    write(&*store, &third, appends([2])).await.expect("still held");
}

#[tokio::test]
async fn the_leases_of_a_dead_owner_are_free_at_once() {
    let store = memory().await;
    let mut leases = Vec::new();
    for id in ["s", "t"] {
        leases.push(store.acquire(id, "dead", 1_000, 1_000).await.expect("an answer").expect("free"));
    }
    let other = store.acquire("u", "alive", 1_000, 1_000).await.expect("an answer").expect("free");
    assert_eq!(store.release_owner("dead").await.expect("freed"), 2);
    assert_eq!(store.release_owner("dead").await.expect("freed"), 0);
    assert_eq!(store.renew(&leases, 1_000, 1_000).await.expect("an answer"), leases);
    acquire(&*store, "b", 1_001).await.expect("free");
    assert_eq!(store.renew(&[other], 1_000, 1_000).await.expect("an answer"), []);
}

#[tokio::test]
async fn a_lease_is_for_its_session() {
    let store = memory().await;
    let (one, two) = (created(&*store, "s").await, created(&*store, "t").await);
    let mixed = nudge_store::WriteBatch { session: "t".into(), lease: one.clone(), ops: appends([1]) };
    assert_eq!(name(store.commit(mixed).await), "Fenced");
    let later = SessionLease { epoch: two.epoch + 1, ..two.clone() };
    assert_eq!(name(write(&*store, &later, appends([1])).await), "Fenced");
    let other = SessionLease { owner: "b".into(), ..two };
    assert_eq!(name(write(&*store, &other, appends([1])).await), "Fenced");
}

/// Two stores on one file take the lease from each other, over and over, and write with what they hold or held.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_on_one_file() {
    const ROUNDS: u64 = 60;
    let place = Place::new();
    let first = place.open().await;
    let setup = lease(&*first, "s").await;
    write(&*first, &setup, vec![StoreOp::CreateSession(session("s"))]).await.expect("created");
    first.release(setup).await.expect("given back");
    let second = place.open().await;

    let racer = |store: std::sync::Arc<dyn Store>, owner: &'static str| async move {
        let mut taken = Vec::new();
        let mut lost = 0;
        for _ in 0..ROUNDS {
            let Ok(lease) = acquire(&*store, owner, 1_000).await else {
                tokio::task::yield_now().await;
                continue;
            };
            let next = store.last_seq("s").await.expect("read").map_or(0, |last| last + 1);
            write(&*store, &lease, appends([next])).await.expect("nobody else can have written");
            taken.push(lease.epoch);
            store.release(lease.clone()).await.expect("given back");
            lost += u64::from(write(&*store, &lease, appends([next + 1])).await.is_err());
        }
        assert_eq!(lost, taken.len() as u64, "what was given back is worth nothing");
        taken
    };
    let one = tokio::spawn(racer(first.clone(), "one"));
    let two = tokio::spawn(racer(second.clone(), "two"));
    let mut epochs = one.await.expect("it ran");
    epochs.extend(two.await.expect("it ran"));
    let count = epochs.len();
    epochs.sort_unstable();
    epochs.dedup();
    assert_eq!(epochs.len(), count, "no epoch was given twice");
    assert_eq!(seqs(&*second, "s").await, (0..count as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_other_process_is_fenced_also_in_a_group() {
    let place = Place::new();
    let (one, two) = (place.open().await, place.open().await);
    let old = created(&*one, "s").await;
    let other = created(&*one, "t").await;
    let new = two.acquire("s", "b", 9_999, 1).await.expect("an answer").expect("it ran out");
    let tickets = [(&other, 1), (&old, 1), (&other, 2), (&old, 2)]
        .map(|(lease, seq)| one.append(batch(lease, appends([seq]))));
    let mut told = Vec::new();
    for ticket in tickets {
        told.push(name(ticket.await));
    }
    assert_eq!(told, ["ok", "Fenced", "ok", "Fenced"]);
    assert_eq!(one.counts().repeated, 0);
    write(&*two, &new, appends([1])).await.expect("the new one holds");
    assert_eq!(seqs(&*one, "t").await, [1, 2]);
    assert_eq!(seqs(&*one, "s").await, [1]);
}
