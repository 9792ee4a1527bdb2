//! A connection that nobody says anything on holds little memory, whatever was said on it before.

use std::{alloc::System, os::unix::net::UnixStream, process::Command, time::Duration};

use nudge_peer::{Connect, Cx, DescriptorTransport, Peer, pair};
use nudge_testkit::PATIENCE;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::time::{Instant, timeout};

use crate::messages::{Echo, Note, echo, note};

/// What a connection may hold.
const BOUND: usize = 8 * 1024;

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What is allocated is counted for a whole process, so nothing else may run in it.
#[test]
fn an_idle_connection_holds_little() {
    let program = std::env::current_exe().expect("a test knows its own path");
    for case in ["idle::in_memory", "idle::over_sockets"] {
        let output = Command::new(&program)
            .args(["--exact", case, "--ignored", "--nocapture"])
            .output()
            .expect("the test can be started");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}

#[tokio::test]
#[ignore = "measures its own process; `an_idle_connection_holds_little` runs it"]
async fn in_memory() {
    measure(300, pair).await;
}

#[tokio::test]
#[ignore = "measures its own process; `an_idle_connection_holds_little` runs it"]
async fn over_sockets() {
    measure(100, || {
        let end = |stream: UnixStream| {
            DescriptorTransport::new(stream.try_clone().unwrap().into(), stream.into()).open().unwrap()
        };
        let (near, far) = UnixStream::pair().unwrap();
        (end(near), end(far))
    })
    .await;
}

/// Opens `count` pairs of connections, has something said on all, and waits until each connection holds little.
async fn measure<A: Connect, B: Connect>(count: usize, open: impl Fn() -> (A, B)) {
    // What is needed once is there before it is measured.
    let mut held = vec![busy(open()).await];
    let before = used();
    for _ in 0..count {
        held.push(busy(open()).await);
    }
    let began = Instant::now();
    loop {
        let each = used().saturating_sub(before) / count / 2;
        eprintln!("{each} bytes for each of {} connections after {:?}", 2 * count, began.elapsed());
        if each < BOUND {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{each} bytes for each connection, the bound is {BOUND}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    for cx in held {
        assert_eq!(cx.request(echo("still there")).await.unwrap().body, "still there");
    }
}

/// A connection on which much and large things have been said.
async fn busy((near, far): (impl Connect, impl Connect)) -> Cx {
    let agent = Peer::agent()
        .on_request(|request: Echo, _| async move { Ok(request) })
        .on_notification(|_: Note, _| async { Ok(()) });
    let agent = agent.connect(far).unwrap();
    let client = Peer::client().connect(near).unwrap();
    let cx = client.cx();
    tokio::spawn(agent.serve());
    tokio::spawn(client.serve());
    for _ in 0..200 {
        cx.notify(note("x".repeat(20))).await.unwrap();
    }
    let answer = timeout(PATIENCE, cx.request(echo("x".repeat(100_000)))).await.expect("an answer comes");
    assert_eq!(answer.unwrap().body.len(), 100_000);
    cx
}

fn used() -> usize {
    let stats = COUNTING.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}
