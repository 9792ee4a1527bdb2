//! Several processes on one file.

use std::{env, process::Stdio};

use nudge_store::{Store, open};

use crate::support::{Place, appends, created, rerun, seqs, write};

const URL: &str = "NUDGE_STORE_TEST_URL";
const OWNER: &str = "NUDGE_STORE_TEST_OWNER";
const ENTRIES: usize = 25;

/// Takes the lease, writes the next entry, gives the lease back, until it has written its share.
#[tokio::test]
#[ignore = "run by the other test of this module, in processes of its own"]
async fn child() {
    let (Ok(url), Ok(owner)) = (env::var(URL), env::var(OWNER)) else { return };
    let store = open(&url).await.expect("it opens").store;
    let mut written = 0;
    while written < ENTRIES {
        written += usize::from(turn(&*store, &owner).await);
    }
    store.close().await.expect("closed");
}

async fn turn(store: &dyn Store, owner: &str) -> bool {
    let taken = store.acquire("s", owner, 1_000, 1_000_000).await.expect("an answer");
    let Ok(lease) = taken else { return false };
    let next = store.last_seq("s").await.expect("read").map_or(0, |last| last + 1);
    write(store, &lease, appends([next])).await.expect("nobody else can have written");
    store.release(lease).await.expect("given back");
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_file_can_be_opened_by_many_at_once() {
    for _ in 0..10 {
        let place = Place::new();
        let opening: Vec<_> = (0..8)
            .map(|_| {
                let url = place.url();
                tokio::spawn(async move { open(&url).await })
            })
            .collect();
        let mut stores = Vec::new();
        for one in opening {
            stores.push(one.await.expect("it ran").expect("it opens").store);
        }
        created(&*stores[0], "s").await;
        for store in &stores {
            assert!(store.session("s").await.expect("read").is_some());
        }
    }
}

/// The last one to close tidies the file up, while others open it again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opening_and_closing_beside_each_other() {
    let place = Place::new();
    let coming_and_going = |name: usize, url: String| async move {
        for round in 0..15 {
            let store = open(&url).await.expect("it opens").store;
            let id = format!("{name} {round}");
            created(&*store, &id).await;
            assert!(store.session(&id).await.expect("read").is_some());
            if round % 2 == 0 {
                store.close().await.expect("closed");
            }
        }
    };
    let tasks: Vec<_> = (0..4).map(|name| tokio::spawn(coming_and_going(name, place.url()))).collect();
    for task in tasks {
        task.await.expect("it ran");
    }
    let store = place.open().await;
    for (name, round) in (0..4).flat_map(|name| (0..15).map(move |round| (name, round))) {
        let kept = store.session(&format!("{name} {round}")).await.expect("read");
        assert!(kept.is_some(), "{name} {round}");
    }
}

#[tokio::test]
async fn they_take_turns() {
    let place = Place::new();
    let store = place.open().await;
    let lease = created(&*store, "s").await;
    store.release(lease).await.expect("given back");
    let children: Vec<_> = ["one", "two", "three"]
        .map(|owner| {
            let mut command = rerun("processes::child");
            command.env(URL, place.url()).env(OWNER, owner).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().expect("it starts")
        })
        .into_iter()
        .map(|child| child.wait_with_output().expect("it ends"))
        .collect();
    for ended in &children {
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    }
    assert_eq!(seqs(&*store, "s").await, (0..3 * ENTRIES as u64).collect::<Vec<_>>());
}
