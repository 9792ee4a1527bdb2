//! What is written is there, also after opening again.

use nudge_store::{InputState, MAX_SEQ, PageLimit, SessionChange, SessionRow, Store, StoreOp};

use crate::support::{
    Place, appends, batch, created, entry, input, lease, memory, name, replace, seqs, session, set, write,
};

async fn fill(store: &dyn Store) {
    let lease = created(store, "s").await;
    write(store, &lease, appends(0..200)).await.expect("entries");
    let inputs = ["a", "b", "c"].into_iter().zip(0..).map(|(id, seq)| StoreOp::AddInput(input(id, seq)));
    write(store, &lease, inputs.collect()).await.expect("inputs");
    let change = vec![
        set("a", InputState::Delivered),
        replace("b", "[1]"),
        set("c", InputState::Revoked),
        StoreOp::UpdateSession(SessionChange {
            title: Some(None),
            updated_at: Some(300),
            ..SessionChange::default()
        }),
        StoreOp::UpdateSession(SessionChange { closed: Some(true), ..SessionChange::default() }),
    ];
    write(store, &lease, change).await.expect("changes");
}

async fn check(store: &dyn Store) {
    let expected = SessionRow { title: None, updated_at: 300, closed: true, ..session("s") };
    assert_eq!(store.session("s").await.expect("read"), Some(expected));
    assert_eq!(store.session("S").await.expect("read"), None);
    let entries = store.transcript("s", 0, PageLimit::default()).await.expect("read");
    assert_eq!(entries, (0..200).map(entry).collect::<Vec<_>>());
    assert_eq!(store.last_seq("s").await.expect("read"), Some(199));
    assert_eq!(store.last_seq("other").await.expect("read"), None);
    let inputs = store.inputs("s").await.expect("read");
    let told: Vec<_> =
        inputs.iter().map(|input| (&*input.id, input.state, input.content.as_deref())).collect();
    let expected = [
        ("a", InputState::Delivered, None),
        ("b", InputState::Pending, Some("[1]")),
        ("c", InputState::Revoked, None),
    ];
    assert_eq!(told, expected);
    assert_eq!(inputs[1].client, u64::MAX);
    assert_eq!(inputs[1].key.as_deref(), Some("key of b"));
}

#[tokio::test]
async fn in_memory() {
    let store = memory().await;
    fill(&*store).await;
    check(&*store).await;
}

#[tokio::test]
async fn in_a_file_and_after_opening_again() {
    let place = Place::new();
    let store = place.open().await;
    fill(&*store).await;
    check(&*store).await;
    store.close().await.expect("it closes");
    check(&*place.open().await).await;
}

#[tokio::test]
async fn memories_are_apart() {
    let (one, two) = (memory().await, memory().await);
    created(&*one, "s").await;
    assert_eq!(two.session("s").await.expect("read"), None);
}

#[tokio::test]
async fn pages_of_a_transcript() {
    let store = memory().await;
    let lease = created(&*store, "s").await;
    let other = created(&*store, "t").await;
    write(&*store, &other, appends([0, MAX_SEQ])).await.expect("entries");
    write(&*store, &lease, appends([1, 2, 5, 8, MAX_SEQ])).await.expect("entries");
    let size = entry(1).frame.len();
    for (from, rows, bytes, expected) in [
        (0, 100, usize::MAX, vec![1, 2, 5, 8, MAX_SEQ]),
        (2, 2, usize::MAX, vec![2, 5]),
        (3, 100, 2 * size, vec![5, 8]),
        (3, 100, 2 * size - 1, vec![5, 8]),
        (3, 100, 2 * size + 1, vec![5, 8, MAX_SEQ]),
        (3, 100, 0, vec![5]),
        (MAX_SEQ, 100, usize::MAX, vec![MAX_SEQ]),
        (MAX_SEQ + 1, 100, usize::MAX, vec![]),
        (0, 0, usize::MAX, vec![]),
    ] {
        let page = store.transcript("s", from, PageLimit { rows, bytes }).await.expect("read");
        let seqs: Vec<u64> = page.iter().map(|entry| entry.seq).collect();
        assert_eq!(seqs, expected, "from {from}, {rows} rows, {bytes} bytes");
    }
}

#[tokio::test]
async fn what_cannot_be_written() {
    let store = memory().await;
    let created = created(&*store, "s").await;
    write(&*store, &created, appends([5])).await.expect("an entry");
    write(&*store, &created, vec![StoreOp::AddInput(input("a", 0)), StoreOp::AddInput(input("b", 1))])
        .await
        .expect("inputs");
    write(&*store, &created, vec![set("a", InputState::Revoked)]).await.expect("a revoke");
    let nowhere = lease(&*store, "nowhere").await;
    let before = (store.inputs("s").await.expect("read"), seqs(&*store, "s").await);
    for (lease, ops, expected) in [
        (&created, appends([5]), "SeqOrder"),
        (&created, appends([4]), "SeqOrder"),
        (&created, appends([6, 6]), "SeqOrder"),
        (&created, appends([6, MAX_SEQ + 1]), "SeqTooLarge"),
        (&created, vec![StoreOp::CreateSession(session("s"))], "SessionExists"),
        (&created, vec![StoreOp::Append(entry(6)), StoreOp::AddInput(input("a", 9))], "InputExists"),
        (&created, vec![StoreOp::Append(entry(6)), set("a", InputState::Delivered)], "InputNotPending"),
        (&created, vec![set("b", InputState::Pending)], "InputNotPending"),
        (&created, vec![set("z", InputState::Revoked)], "InputNotPending"),
        (&created, vec![replace("a", "[]")], "InputNotPending"),
        (&created, vec![set("c", InputState::Revoked), StoreOp::AddInput(input("c", 9))], "InputNotPending"),
        (&created, vec![StoreOp::CopyTranscript { from: "s".into(), up_to: 9 }], "SeqOrder"),
        (&nowhere, appends([1]), "NoSession"),
        (&nowhere, vec![StoreOp::UpdateSession(SessionChange::default())], "NoSession"),
        (&nowhere, vec![StoreOp::DeleteSession], "NoSession"),
        (&nowhere, vec![StoreOp::AddInput(input("a", 0))], "NoSession"),
    ] {
        let told = format!("{ops:?}");
        assert_eq!(name(write(&*store, lease, ops).await), expected, "{told}");
    }
    assert_eq!((store.inputs("s").await.expect("read"), seqs(&*store, "s").await), before);
}

#[tokio::test]
async fn a_fork_has_the_transcript_and_no_inputs() {
    let store = memory().await;
    let parent = created(&*store, "parent").await;
    let mut ops = appends([1, 2, 3, 7]);
    ops.push(StoreOp::AddInput(input("a", 0)));
    write(&*store, &parent, ops).await.expect("filled");
    let child = lease(&*store, "child").await;
    let fork = vec![
        StoreOp::CreateSession(SessionRow { parent: Some("parent".into()), ..session("child") }),
        StoreOp::CopyTranscript { from: "parent".into(), up_to: 3 },
        StoreOp::Append(entry(4)),
    ];
    write(&*store, &child, fork).await.expect("forked");
    assert_eq!(seqs(&*store, "child").await, [1, 2, 3, 4]);
    let copied = store.transcript("child", 3, PageLimit::default()).await.expect("read");
    assert_eq!(copied[0], entry(3));
    assert_eq!(store.inputs("child").await.expect("read"), []);
    assert_eq!(seqs(&*store, "parent").await, [1, 2, 3, 7]);

    let orphan = lease(&*store, "orphan").await;
    let fork = vec![
        StoreOp::CreateSession(session("orphan")),
        StoreOp::CopyTranscript { from: "none".into(), up_to: 3 },
    ];
    assert_eq!(name(write(&*store, &orphan, fork).await), "NoSession");
    assert_eq!(store.session("orphan").await.expect("read"), None);
}

#[tokio::test]
async fn a_deleted_session_leaves_nothing() {
    let store = memory().await;
    let lease = created(&*store, "s").await;
    let mut ops = appends(0..100);
    ops.extend([StoreOp::AddInput(input("a", 0)), StoreOp::DeleteSession]);
    let deleted = store.commit(batch(&lease, ops));
    let late = store.commit(batch(&lease, appends([100])));
    deleted.await.expect("deleted");
    assert_eq!(name(late.await), "Fenced");
    assert_eq!(store.session("s").await.expect("read"), None);
    assert!(seqs(&*store, "s").await.is_empty());

    let again = created(&*store, "s").await;
    assert_ne!(again.epoch, lease.epoch);
    assert!(seqs(&*store, "s").await.is_empty());
    assert_eq!(store.inputs("s").await.expect("read"), []);
}

#[tokio::test]
async fn a_closed_store_says_so() {
    let store = memory().await;
    let lease = created(&*store, "s").await;
    let last = store.append(batch(&lease, appends([1])));
    store.close().await.expect("it closes");
    store.close().await.expect("it is closed");
    last.await.expect("what was taken in is written");
    assert_eq!(name(write(&*store, &lease, appends([2])).await), "Closed");
    assert_eq!(name(store.session("s").await.map(drop)), "Closed");
}
