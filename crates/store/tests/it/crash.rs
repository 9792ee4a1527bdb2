//! A process that is killed around a commit: what was committed is there, what was not is not.

use std::{env, fs, os::unix::process::ExitStatusExt as _, process::Stdio};

use nudge_store::open;

use crate::support::{Place, appends, created, entry, rerun, seqs, write};

const URL: &str = "NUDGE_STORE_TEST_URL";
const ENTRIES: u64 = 6;

/// What the killed process does. It is run by the other tests, by name, and says which entries it was told are durable.
#[tokio::test]
#[ignore = "run by the other tests of this module, in a process of its own"]
async fn child() {
    let Ok(url) = env::var(URL) else { return };
    let store = open(&url).await.expect("it opens").store;
    let lease = created(&*store, "s").await;
    for seq in 1..=ENTRIES {
        write(&*store, &lease, appends([seq])).await.expect("written");
        println!("durable {seq}");
    }
    store.close().await.expect("closed");
}

struct Ran {
    killed: bool,
    durable: Vec<u64>,
}

fn run(place: &Place, failpoint: Option<&str>) -> Ran {
    let mut command = rerun("crash::child");
    command.env(URL, place.url());
    command.env("NUDGE_FAILPOINT_LOG", place.dir.path().join("hits")).stderr(Stdio::null());
    if let Some(failpoint) = failpoint {
        command.env("NUDGE_FAILPOINT", failpoint);
    }
    let output = command.output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let durable = text.lines().filter_map(|line| line.split_once("durable ")?.1.parse().ok()).collect();
    Ran { killed: output.status.signal() == Some(9), durable }
}

#[tokio::test]
async fn every_commit_is_whole_or_not_there() {
    // The lease and the session are a commit each, before the entries.
    for (point, of_its_own) in [("store.commit.before", 0), ("store.commit.after", 1)] {
        for nth in 1..=ENTRIES + 2 {
            let place = Place::new();
            let ran = run(&place, Some(&format!("{point}:{nth}")));
            assert!(ran.killed, "{point}:{nth}");
            let told = nth.saturating_sub(3);
            assert_eq!(ran.durable, (1..=told).collect::<Vec<_>>(), "{point}:{nth}");

            let store = place.open().await;
            let commits = nth - 1 + of_its_own;
            let there = commits.saturating_sub(2);
            assert_eq!(seqs(&*store, "s").await, (1..=there).collect::<Vec<_>>(), "{point}:{nth}");
            assert_eq!(store.session("s").await.expect("read").is_some(), commits >= 2, "{point}:{nth}");
            let entries = store.transcript("s", 0, nudge_store::Limit::default()).await.expect("read");
            assert!(entries.iter().all(|found| *found == entry(found.seq)), "{point}:{nth}");
            store.release_owner("me").await.expect("freed");
        }
    }
}

#[test]
fn hits_are_logged() {
    let place = Place::new();
    let ran = run(&place, None);
    assert!(!ran.killed);
    assert_eq!(ran.durable.len() as u64, ENTRIES);
    let hits = fs::read_to_string(place.dir.path().join("hits")).expect("the log is there");
    let pair = "store.commit.before\nstore.commit.after\n";
    assert_eq!(hits, pair.repeat(usize::try_from(ENTRIES).expect("few") + 2));
}
