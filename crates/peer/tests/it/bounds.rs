//! Nothing grows without limit, and limits do not lead to a standstill.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use nudge_peer::{
    CallError, ChildProgram, Connect, ConnectionClosed, ConnectionLimits, Cx, Peer, Transport, pair,
};
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

/// Connections in memory: messages as they are, and as lines in a stream that takes a part of them at a time.
fn ways() -> [(Transport, Transport); 2] {
    let end = |stream| {
        let (reader, writer) = tokio::io::split(stream);
        Transport::new(reader, writer)
    };
    let (near, far): (tokio::io::DuplexStream, _) = tokio::io::duplex(256 * 1024);
    [pair(), (end(near), end(far))]
}

#[tokio::test]
async fn a_flood_at_a_slow_handler_makes_the_sender_wait() {
    const COUNT: u64 = 100_000;
    let connection =
        Peer::client().connect(ChildProgram::new(example("nudge-peer", "peer_fixture"))).unwrap();
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
    for (near, far) in ways() {
        cross_fire_in_memory_finishes_over(near, far).await;
    }
}

async fn cross_fire_in_memory_finishes_over(near: Transport, far: Transport) {
    cross_fire(near, Some(far), 50).await;
}

#[tokio::test]
async fn cross_fire_with_a_process_finishes() {
    cross_fire(ChildProgram::new(example("nudge-peer", "peer_fixture")), None, 50).await;
}

#[tokio::test]
async fn reading_stops_while_the_handler_is_slow_and_nobody_waits() {
    let limits = ConnectionLimits { inbound_soft: 64 * 1024, ..ConnectionLimits::default() };
    let peer = Peer::agent().limits(limits).on_notification(|_: Note, _| std::future::pending());
    let (connection, mut far) = open(peer);
    let served = tokio::spawn(connection.serve());
    let written = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&written);
    let line = line(900);
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
async fn a_queue_that_never_moves_is_given_up_and_says_why() {
    let limits = ConnectionLimits {
        inbound_soft: 64 * 1024,
        inbound_hard: 256 * 1024,
        stall: Duration::from_millis(10),
        give_up: Duration::from_millis(300),
        ..ConnectionLimits::default()
    };
    let peer = Peer::agent().limits(limits).on_notification(|_: Note, _| std::future::pending());
    let (connection, mut far) = open(peer);
    let cx = connection.cx();
    let served = tokio::spawn(connection.serve());
    // Somebody waits for a response that never comes.
    let waiting = cx.request(echo("x"));
    let flood = async { while far.write_all(line(900).as_bytes()).await.is_ok() {} };
    let (ended, ()) = timeout(PATIENCE, async { tokio::join!(served, flood) }).await.expect("it ends");
    let Err(ConnectionClosed::InboundFull { limit, held }) = ended.unwrap() else {
        panic!("it ends for this reason")
    };
    assert_eq!(limit, 256 * 1024);
    assert!(held < 512 * 1024, "{held}");
    let Err(CallError::Closed(why)) = waiting.await else { panic!("whoever waited is told") };
    assert!(why.to_string().contains("nothing has moved for too long"), "{why}");
}

/// A notification of about `size` bytes.
fn line(size: usize) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"test/note\",\"params\":{{\"text\":\"{}\"}}}}\n",
        "x".repeat(size)
    )
}

#[tokio::test]
async fn a_slow_handler_is_no_reason_to_end_while_somebody_waits() {
    let limits = ConnectionLimits {
        inbound_soft: 16 * 1024,
        inbound_hard: 64 * 1024,
        stall: Duration::from_millis(2),
        give_up: Duration::from_millis(500),
        ..ConnectionLimits::default()
    };
    let handled = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&handled);
    let peer = Peer::agent().limits(limits).on_notification(move |_: Note, _| {
        let count = Arc::clone(&count);
        async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            count.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    });
    let (connection, mut far) = open(peer);
    let cx = connection.cx();
    let served = tokio::spawn(connection.serve());
    let _waiting = cx.request(echo("a prompt that takes long"));
    for _ in 0..400 {
        far.write_all(line(900).as_bytes()).await.expect("the connection lives");
    }
    while handled.load(Ordering::Relaxed) < 400 {
        assert!(!served.is_finished(), "it was ended");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    served.abort();
}

#[tokio::test]
async fn a_large_message_beside_the_queue_does_not_stop_the_reading() {
    let limits = ConnectionLimits { inbound_soft: 16 * 1024, ..ConnectionLimits::default() };
    let peer = Peer::agent().limits(limits).on_request_beside(|_: Echo, _| async {
        std::future::pending::<()>().await;
        Ok(echo("never"))
    });
    let mut script = crate::script::Script::new(peer);
    let large = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{{"body":"{}"}}}}"#,
        "x".repeat(MIB)
    );
    script.send(&[&large]).await;
    script.send(&[r#"{"jsonrpc":"2.0","id":2,"method":"no/such"}"#]).await;
    script.expect_error(serde_json::json!(2), -32601).await;
    script.send(&[r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#]).await;
    script.expect_error(serde_json::json!(1), -32800).await;
    script.end().await.unwrap();
}

#[tokio::test]
async fn frames_larger_than_the_queue_go_one_at_a_time() {
    for (near, far) in ways() {
        frames_larger_than_the_queue_go_one_at_a_time_over(near, far).await;
    }
}

async fn frames_larger_than_the_queue_go_one_at_a_time_over(near: Transport, far: Transport) {
    let limits =
        ConnectionLimits { outbound_soft: MIB, outbound_hard: 8 * MIB, ..ConnectionLimits::default() };
    let agent = Peer::agent().on_notification(|_: Note, _| async { Ok(()) });
    let served = tokio::spawn(agent.serve(far));
    let client = Peer::client().limits(limits).connect(near).unwrap();
    client
        .run_until(async |cx| {
            let sends = (0..20).map(|_| cx.notify(note("x".repeat(3 * MIB))));
            for sent in join_all(sends).await {
                sent.expect("a peer that reads is no reason to end");
            }
        })
        .await;
    served.await.unwrap().unwrap();
}

/// Both sides answer every note with a note until each has seen enough; nobody awaits anything.
#[tokio::test]
async fn notes_against_notes_do_not_come_to_a_standstill() {
    for (near, far) in ways() {
        notes_against_notes_do_not_come_to_a_standstill_over(near, far).await;
    }
}

async fn notes_against_notes_do_not_come_to_a_standstill_over(near: Transport, far: Transport) {
    const COUNT: usize = 400;
    let limits = ConnectionLimits {
        inbound_soft: 64 * 1024,
        inbound_hard: 64 * MIB,
        outbound_soft: 64 * 1024,
        stall: Duration::from_millis(2),
        ..ConnectionLimits::default()
    };
    let answering = |seen: &Arc<AtomicUsize>| {
        let seen = Arc::clone(seen);
        Peer::agent().limits(limits.clone()).on_notification(move |note: Note, cx| {
            let seen = Arc::clone(&seen);
            async move {
                if seen.fetch_add(1, Ordering::SeqCst) < COUNT {
                    cx.notify(note).await?;
                }
                Ok(())
            }
        })
    };
    let (left_seen, right_seen) = (Arc::default(), Arc::default());
    let left = answering(&left_seen).connect(near).unwrap();
    let right = answering(&right_seen).connect(far).unwrap();
    let (left_cx, right_cx) = (left.cx(), right.cx());
    let (left, right) = (tokio::spawn(left.serve()), tokio::spawn(right.serve()));
    let fire = async |cx: Cx| {
        for _ in 0..COUNT {
            cx.notify(note("x".repeat(10 * 1024))).await.unwrap();
        }
    };
    let all = async {
        tokio::join!(fire(left_cx), fire(right_cx));
        while left_seen.load(Ordering::SeqCst) < 2 * COUNT || right_seen.load(Ordering::SeqCst) < 2 * COUNT {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, all).await.expect("no standstill");
    left.abort();
    right.abort();
}

#[tokio::test]
async fn answers_do_not_wait_behind_requests() {
    for (near, far) in ways() {
        answers_do_not_wait_behind_requests_over(near, far).await;
    }
}

async fn answers_do_not_wait_behind_requests_over(near: Transport, far: Transport) {
    // Far more in flight than the queues hold, in both directions, answered in order.
    let limits = ConnectionLimits {
        inbound_soft: 256 * 1024,
        inbound_hard: MIB,
        outbound_soft: 256 * 1024,
        ..ConnectionLimits::default()
    };
    let peer =
        || Peer::agent().limits(limits.clone()).on_request(|request: Echo, _| async move { Ok(request) });
    let (left, right) = (peer().connect(near).unwrap(), peer().connect(far).unwrap());
    let (left_cx, right_cx) = (left.cx(), right.cx());
    let (left, right) = (tokio::spawn(left.serve()), tokio::spawn(right.serve()));
    let fire = async |cx: Cx| {
        let body = "z".repeat(64 * 1024);
        for answer in join_all((0..200).map(|_| cx.request(echo(body.as_str())))).await {
            answer.unwrap();
        }
    };
    timeout(PATIENCE, async { tokio::join!(fire(left_cx), fire(right_cx)) }).await.expect("no deadlock");
    left.abort();
    right.abort();
}

#[tokio::test]
async fn a_peer_that_asks_and_never_reads_is_slowed_down_and_not_cut_off() {
    let limits =
        ConnectionLimits { inbound_soft: 64 * 1024, outbound_soft: 64 * 1024, ..ConnectionLimits::default() };
    let (connection, mut far) = open(Peer::agent().limits(limits));
    let served = tokio::spawn(connection.serve());
    let written = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&written);
    let flood = async {
        for id in 0.. {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"no/such/method\"}}\n");
            far.write_all(line.as_bytes()).await.unwrap();
            count.fetch_add(line.len(), Ordering::Relaxed);
        }
    };
    assert!(timeout(Duration::from_secs(1), flood).await.is_err());
    assert!(written.load(Ordering::Relaxed) < 2 * MIB);
    assert!(!served.is_finished());
    served.abort();
}

#[tokio::test]
async fn a_reader_that_does_not_read_makes_sending_wait() {
    let limits = ConnectionLimits { outbound_soft: 64 * 1024, ..ConnectionLimits::default() };
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
    for (near, far) in ways() {
        handlers_beside_the_queue_are_limited_in_number_over(near, far).await;
    }
}

async fn handlers_beside_the_queue_are_limited_in_number_over(near: Transport, far: Transport) {
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (now, peak) = (Arc::clone(&running), Arc::clone(&most));
    let peer = Peer::agent()
        .limits(ConnectionLimits { max_beside: 8, ..ConnectionLimits::default() })
        .on_request_beside(move |_: Wait, _| {
            let (now, peak) = (Arc::clone(&now), Arc::clone(&peak));
            async move {
                peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(1)).await;
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(echo("done"))
            }
        });
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
    for (near, far) in ways() {
        a_response_over_the_limit_fails_its_caller_at_once_over(near, far).await;
    }
}

async fn a_response_over_the_limit_fails_its_caller_at_once_over(near: Transport, far: Transport) {
    let limits = ConnectionLimits { max_message: 2000, ..ConnectionLimits::default() };
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
