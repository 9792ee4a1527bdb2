//! Nothing grows without limit, and limits do not lead to a standstill.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use nudge_peer::{CallError, Child, Closed, Connect, Cx, Limits, Peer, pair};
use nudge_testkit::{PATIENCE, example, memory, peak_memory};
use nudge_wire::Request;
use serde::{Deserialize, Serialize};
use tokio::{io::AsyncWriteExt, time::timeout};

use crate::{
    messages::{Echo, Note, Wait, echo, note},
    script::open,
};

const MIB: usize = 1024 * 1024;

/// Asks for a request back before the answer.
#[derive(Debug, Serialize, Deserialize)]
struct AskBack {
    body: String,
}

impl Request for AskBack {
    const METHOD: &'static str = "test/ask_back";
    type Response = Echo;
}

#[tokio::test]
async fn a_flood_at_a_slow_handler_makes_the_sender_wait() {
    const COUNT: u64 = 100_000;
    let connection = Peer::client().connect(Child::new(example("nudge-peer", "peer_fixture"))).unwrap();
    connection
        .run_until(async |cx| {
            cx.request(echo("warm")).await.unwrap();
            let pid = children_of_this_test();
            let before = pid.and_then(memory);
            let began = Instant::now();
            let text = "x".repeat(150);
            for _ in 0..COUNT {
                cx.notify(note(text.as_str())).await.unwrap();
            }
            let sending = began.elapsed();
            let handled: u64 = cx.request_raw("test/count", None).await.unwrap().to().unwrap();
            assert_eq!(handled, COUNT);
            // What the sender did not wait for is what fits into the queues and the pipe, far less than the whole.
            assert!(
                sending > began.elapsed() / 2,
                "the sender was done after {sending:?} of {:?}",
                began.elapsed()
            );
            if let (Some(pid), Some(before)) = (pid, before) {
                let grown = peak_memory(pid).unwrap().saturating_sub(before);
                eprintln!("the receiver grew by {} KiB at its peak", grown / 1024);
                assert!(grown < 64 * MIB, "the receiver grew by {grown} bytes");
            }
        })
        .await;
}

/// The fixture started by the thread of this test, if `/proc` tells.
fn children_of_this_test() -> Option<u32> {
    let list = std::fs::read_to_string("/proc/thread-self/children").ok()?;
    list.split_whitespace().next()?.parse().ok()
}

/// Both sides send requests with large bodies as fast as they can, and every handler awaits a request of its own.
async fn cross_fire(near: impl Connect, far: Option<nudge_peer::Transport>, count: usize) {
    let answering = |peer: Peer| {
        peer.on_request(|request: Echo, _| async move { Ok(request) }).on_request_beside(
            |request: AskBack, cx| async move {
                cx.request(Echo { body: request.body }).await.map_err(Into::into)
            },
        )
    };
    let fire = async move |cx: Cx| {
        let body = "z".repeat(MIB);
        let answers = join_all((0..count).map(|_| cx.request(AskBack { body: body.clone() }))).await;
        for answer in answers {
            assert_eq!(answer.unwrap().body.len(), MIB);
        }
    };
    let left = answering(Peer::client()).connect(near).unwrap();
    let right = far.map(|far| answering(Peer::agent()).connect(far).unwrap());
    let (left_cx, right_cx) = (left.cx(), right.as_ref().map(nudge_peer::Connection::cx));
    let left = tokio::spawn(left.serve());
    let right = right.map(|right| tokio::spawn(right.serve()));
    let both = async {
        match right_cx {
            Some(right_cx) => drop(tokio::join!(fire(left_cx), fire(right_cx))),
            None => fire(left_cx).await,
        }
    };
    timeout(PATIENCE * 2, both).await.expect("no deadlock");
    left.abort();
    if let Some(right) = right {
        right.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cross_fire_in_memory_finishes() {
    let (near, far) = pair();
    cross_fire(near, Some(far), 50).await;
}

#[tokio::test]
async fn cross_fire_with_a_process_finishes() {
    cross_fire(Child::new(example("nudge-peer", "peer_fixture")), None, 50).await;
}

#[tokio::test]
async fn reading_stops_while_the_handler_is_slow_and_nobody_waits() {
    let limits = Limits { inbound_soft: 64 * 1024, ..Limits::default() };
    let peer = Peer::agent().limits(limits).on_notification(|_: Note, _| std::future::pending());
    let (connection, mut far) = open(peer);
    let served = tokio::spawn(connection.serve());
    let written = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&written);
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"test/note\",\"params\":{{\"text\":\"{}\"}}}}\n",
        "x".repeat(900)
    );
    let flood = async move {
        loop {
            far.write_all(line.as_bytes()).await.unwrap();
            count.fetch_add(line.len(), Ordering::Relaxed);
        }
    };
    assert!(timeout(Duration::from_secs(1), flood).await.is_err());
    let written = written.load(Ordering::Relaxed);
    assert!(written < 512 * 1024, "{written} bytes were taken in");
    assert!(!served.is_finished(), "a slow handler is no reason to hang up");
    served.abort();
}

#[tokio::test]
async fn reading_past_the_soft_limit_ends_at_the_hard_one_and_says_why() {
    let limits = Limits {
        inbound_soft: 64 * 1024,
        inbound_hard: 256 * 1024,
        stall: Duration::from_millis(10),
        ..Limits::default()
    };
    let peer = Peer::agent().limits(limits).on_notification(|_: Note, _| std::future::pending());
    let (connection, mut far) = open(peer);
    let cx = connection.cx();
    let served = tokio::spawn(connection.serve());
    // Somebody waits for a response that never comes.
    let waiting = cx.request(echo("x"));
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"test/note\",\"params\":{{\"text\":\"{}\"}}}}\n",
        "x".repeat(900)
    );
    let flood = async { while far.write_all(line.as_bytes()).await.is_ok() {} };
    let (ended, ()) = timeout(PATIENCE, async { tokio::join!(served, flood) }).await.expect("it ends");
    let Err(Closed::InboundFull { limit, .. }) = ended.unwrap() else { panic!("it ends for this reason") };
    assert_eq!(limit, 256 * 1024);
    let Err(CallError::Closed(why)) = waiting.await else { panic!("whoever waited is told") };
    assert!(why.to_string().contains("raise `Limits::inbound_hard`"), "{why}");
}

#[tokio::test]
async fn a_reader_that_does_not_read_makes_sending_wait() {
    let limits = Limits { outbound_soft: 64 * 1024, ..Limits::default() };
    let (connection, far) = open(Peer::client().limits(limits));
    let cx = connection.cx();
    let served = tokio::spawn(connection.serve());
    let mut sent = 0;
    while timeout(Duration::from_millis(200), cx.notify(note("x".repeat(1000)))).await.is_ok() {
        sent += 1000;
        assert!(sent < MIB, "sending never waits");
    }
    assert!(sent > 64 * 1024);
    drop(far);
    assert!(cx.notify(note("x".repeat(MIB))).await.is_err(), "whoever waits for room learns of the end");
    let _ = served.await;
}

#[tokio::test]
async fn handlers_beside_the_queue_are_limited_in_number() {
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (now, peak) = (Arc::clone(&running), Arc::clone(&most));
    let peer = Peer::agent().limits(Limits { max_beside: 8, ..Limits::default() }).on_request_beside(
        move |_: Wait, _| {
            let (now, peak) = (Arc::clone(&now), Arc::clone(&peak));
            async move {
                peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(1)).await;
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(echo("done"))
            }
        },
    );
    let (near, far) = pair();
    let served = tokio::spawn(peer.serve(far));
    Peer::client()
        .connect(near)
        .unwrap()
        .run_until(async |cx| {
            for answer in join_all((0..200).map(|_| cx.request(Wait {}))).await {
                answer.unwrap();
            }
        })
        .await;
    served.await.unwrap().unwrap();
    assert_eq!(most.load(Ordering::SeqCst), 8);
}

#[tokio::test]
async fn a_response_over_the_limit_fails_its_caller_at_once() {
    let limits = Limits { max_message: 2000, ..Limits::default() };
    let (near, far) = pair();
    tokio::spawn(Peer::agent().on_request(|request: Echo, _| async move { Ok(request) }).serve(far));
    Peer::client()
        .limits(limits)
        .connect(near)
        .unwrap()
        .run_until(async |cx| {
            let Err(CallError::TooLong { length, limit: 2000 }) = cx.request(echo("x".repeat(5000))).await
            else {
                panic!("the caller learns that its answer was too long")
            };
            assert!(length > 5000);
            assert_eq!(cx.request(echo("short")).await.unwrap().body, "short");
        })
        .await;
}
