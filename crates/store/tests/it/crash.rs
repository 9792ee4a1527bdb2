//! A process that ends around a commit: what was committed is there, what was not is not.

use std::{
    env,
    os::unix::process::ExitStatusExt as _,
    process::{Stdio, abort},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use nudge_store::{
    CommitMoment::{self, After, Before},
    CommitObserver, open_observed,
};
use parking_lot::Mutex;

use crate::support::{Place, appends, created, entry, rerun, seqs, write};

const URL: &str = "NUDGE_STORE_TEST_URL";
/// The moment at which the process ends itself, and at which commit: `After 3`.
const END: &str = "NUDGE_STORE_TEST_END";
const ENTRIES: u64 = 6;
const SIGABRT: i32 = 6;

/// What the process does that ends. It is run by the other tests, by name, and says which entries it was told are durable.
#[tokio::test]
#[ignore = "run by the other tests of this module, in a process of its own"]
async fn child() {
    let Ok(url) = env::var(URL) else { return };
    let end = env::var(END).expect("an end is set");
    let store = open_observed(&url, Some(ends_at(end))).await.expect("it opens").store;
    let lease = created(&*store, "s").await;
    for seq in 1..=ENTRIES {
        write(&*store, &lease, appends([seq])).await.expect("written");
        println!("durable {seq}");
    }
    store.close().await.expect("closed");
}

/// Ends the process where it is, and nothing is tidied up.
fn ends_at(end: String) -> CommitObserver {
    let commits = AtomicU64::new(0);
    Arc::new(move |moment| {
        commits.fetch_add(u64::from(moment == Before), Ordering::SeqCst);
        let nth = commits.load(Ordering::SeqCst);
        if format!("{moment:?} {nth}") == end {
            abort();
        }
    })
}

struct Ran {
    aborted: bool,
    durable: Vec<u64>,
}

fn run(place: &Place, moment: CommitMoment, nth: u64) -> Ran {
    let mut command = rerun("crash::child");
    command.env(URL, place.url()).env(END, format!("{moment:?} {nth}")).stderr(Stdio::null());
    let output = command.output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let durable = text.lines().filter_map(|line| line.split_once("durable ")?.1.parse().ok()).collect();
    Ran { aborted: output.status.signal() == Some(SIGABRT), durable }
}

#[tokio::test]
async fn every_commit_is_whole_or_not_there() {
    // The lease and the session are a commit each, before the entries.
    for (moment, of_its_own) in [(Before, 0), (After, 1)] {
        for nth in 1..=ENTRIES + 2 {
            let place = Place::new();
            let ran = run(&place, moment, nth);
            assert!(ran.aborted, "{moment:?} {nth}");
            let told = nth.saturating_sub(3);
            assert_eq!(ran.durable, (1..=told).collect::<Vec<_>>(), "{moment:?} {nth}");

            let store = place.open().await;
            let commits = nth - 1 + of_its_own;
            let there = commits.saturating_sub(2);
            assert_eq!(seqs(&*store, "s").await, (1..=there).collect::<Vec<_>>(), "{moment:?} {nth}");
            assert_eq!(store.session("s").await.expect("read").is_some(), commits >= 2, "{moment:?} {nth}");
            let entries = store.transcript("s", 0, nudge_store::PageLimit::default()).await.expect("read");
            assert!(entries.iter().all(|found| *found == entry(found.seq)), "{moment:?} {nth}");
            store.release_owner("me").await.expect("freed");
        }
    }
}

#[tokio::test]
async fn every_commit_is_told_of_before_and_after() {
    let told: Arc<Mutex<Vec<CommitMoment>>> = Arc::default();
    let observer: CommitObserver = {
        let told = Arc::clone(&told);
        Arc::new(move |moment| told.lock().push(moment))
    };
    let store = open_observed(&Place::new().url(), Some(observer)).await.expect("it opens").store;
    let lease = created(&*store, "s").await;
    write(&*store, &lease, appends([1])).await.expect("written");
    assert_eq!(*told.lock(), [Before, After].repeat(3), "of the lease, the session and the entry");
}
