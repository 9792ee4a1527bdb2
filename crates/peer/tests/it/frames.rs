//! A transport of messages whose socket comes and goes, and the pair in memory.

use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use nudge_peer::{
    ConnectionClosed, ConnectionLimits, Cx, FrameTransport, OutgoingFrames, Peer, Transport, pair,
};
use nudge_testkit::PATIENCE;
use nudge_wire::frame::FramePiece;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::messages::{Echo, echo, note};

const KIB: usize = 1024;

/// A transport that keeps what it has taken until the other side says that it has it.
#[derive(Clone, Default)]
struct Resuming(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    max_message: usize,
    incoming: VecDeque<Bytes>,
    /// Taken and not acknowledged.
    ring: VecDeque<Bytes>,
    /// How many of the ring the socket has; `None` while there is no socket.
    on_socket: Option<usize>,
    closed: Option<String>,
    waiting: Vec<Waker>,
}

impl State {
    fn put_on_socket(&mut self) {
        if let Some(sent) = &mut self.on_socket {
            *sent = self.ring.len();
        }
    }
}

impl Resuming {
    const RING: usize = 64 * KIB;

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.0.lock();
        let changed = change(&mut state);
        state.waiting.drain(..).for_each(Waker::wake);
        changed
    }

    /// The other side says something.
    fn say(&self, message: &str) {
        self.change(|state| state.incoming.push_back(Bytes::copy_from_slice(message.as_bytes())));
    }

    /// There is a new socket; the other side has what was acknowledged, and no more.
    fn connect(&self) {
        self.change(|state| state.on_socket = Some(0));
    }

    fn lose_socket(&self) {
        self.change(|state| state.on_socket = None);
    }

    /// Reads what is on the socket and acknowledges it.
    fn read(&self) -> Vec<Value> {
        self.change(|state| {
            let count = state.on_socket.replace(0).expect("there is a socket");
            state.ring.drain(..count).map(|frame| serde_json::from_slice(&frame).unwrap()).collect()
        })
    }

    /// Waits until the connection has nothing more to do.
    async fn settle() {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
}

impl FrameTransport for Resuming {
    fn set_max_message(&mut self, max: usize) {
        self.0.lock().max_message = max;
    }

    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        deliver: &mut dyn FnMut(FramePiece),
    ) -> Poll<Result<(), ConnectionClosed>> {
        let mut state = self.0.lock();
        let Some(message) = state.incoming.pop_front() else {
            state.waiting.push(cx.waker().clone());
            return Poll::Pending;
        };
        FramePiece::of_message(message, state.max_message).into_iter().for_each(deliver);
        Poll::Ready(Ok(()))
    }

    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        frames: &mut OutgoingFrames,
    ) -> Poll<Result<(), ConnectionClosed>> {
        let mut state = self.0.lock();
        let held: usize = state.ring.iter().map(Bytes::len).sum();
        state.put_on_socket();
        if held >= Self::RING {
            state.waiting.push(cx.waker().clone());
            return Poll::Pending;
        }
        state.ring.extend(frames.pop_frame());
        Poll::Ready(Ok(()))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionClosed>> {
        let mut state = self.0.lock();
        state.waiting.push(cx.waker().clone());
        state.put_on_socket();
        if state.on_socket.is_some() { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn poll_close(&mut self, _: &mut Context<'_>, why: &ConnectionClosed) -> Poll<()> {
        self.0.lock().closed = Some(why.to_string());
        Poll::Ready(())
    }
}

fn open(limits: ConnectionLimits) -> (Resuming, Cx, tokio::task::JoinHandle<Result<(), ConnectionClosed>>) {
    let peer = Peer::agent().limits(limits).on_request(|request: Echo, _| async move { Ok(request) });
    let transport = Resuming::default();
    let connection = peer.connect(Transport::of_frames(transport.clone())).unwrap();
    let cx = connection.cx();
    (transport, cx, tokio::spawn(connection.serve()))
}

fn request(id: usize, body: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "test/echo", "params": { "body": body } }).to_string()
}

fn ids(messages: &[Value]) -> Vec<u64> {
    messages.iter().map(|message| message["id"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn a_connection_outlives_its_socket() {
    let (transport, _cx, served) = open(ConnectionLimits::default());
    transport.connect();
    (0..3).for_each(|id| transport.say(&request(id, "x")));
    Resuming::settle().await;
    assert_eq!(ids(&transport.read()), [0, 1, 2]);
    // These reach the socket, which is lost before the other side has read them.
    (3..6).for_each(|id| transport.say(&request(id, "x")));
    Resuming::settle().await;
    transport.lose_socket();
    transport.say(&request(6, "said before the socket was lost"));
    Resuming::settle().await;
    assert!(!served.is_finished());
    transport.connect();
    Resuming::settle().await;
    assert_eq!(ids(&transport.read()), [3, 4, 5, 6], "nothing is lost, nothing comes twice");
    served.abort();
}

#[tokio::test]
async fn without_a_socket_sending_waits_once_the_ring_is_full() {
    let (transport, cx, served) = open(ConnectionLimits {
        outbound_soft: 64 * KIB,
        outbound_hard: 512 * KIB,
        ..ConnectionLimits::default()
    });
    let mut sent = 0;
    while timeout(Duration::from_millis(200), cx.notify(note("x".repeat(KIB)))).await.is_ok() {
        sent += 1;
        assert!(sent < 200, "sending never waits");
    }
    transport.connect();
    let mut received = 0;
    for _ in 0..sent {
        Resuming::settle().await;
        received += transport.read().len();
    }
    assert_eq!(received, sent);
    served.abort();
}

#[tokio::test]
async fn a_message_that_is_too_long_is_answered_and_one_of_many_lines_is_read() {
    let (transport, cx, served) = open(ConnectionLimits { max_message: KIB, ..ConnectionLimits::default() });
    transport.connect();
    transport.say(&request(1, &"x".repeat(2 * KIB)));
    transport.say(
        &serde_json::to_string_pretty(&json!({
            "jsonrpc": "2.0", "id": 2, "method": "test/echo", "params": { "body": "pretty" },
        }))
        .unwrap(),
    );
    transport.say("\n");
    Resuming::settle().await;
    let answers = transport.read();
    assert_eq!(ids(&answers), [1, 2]);
    assert_eq!(answers[0]["error"]["code"], -32600);
    assert_eq!(answers[1]["result"]["body"], "pretty");
    cx.close();
    served.await.unwrap().unwrap();
    assert_eq!(transport.0.lock().closed.as_deref(), Some("the connection was closed"));
}

#[tokio::test]
async fn a_pair_in_memory_is_bounded() {
    let (near, far) = pair();
    let limits = ConnectionLimits { outbound_soft: 64 * KIB, ..ConnectionLimits::default() };
    let connection = Peer::client().limits(limits).connect(near).unwrap();
    let cx = connection.cx();
    let served = tokio::spawn(connection.serve());
    let mut sent = 0;
    while timeout(Duration::from_millis(200), cx.notify(note("x".repeat(KIB)))).await.is_ok() {
        sent += 1;
        assert!(sent < KIB, "sending never waits");
    }
    let answering = Peer::agent().on_request(|request: Echo, _| async move { Ok(request) });
    let other = tokio::spawn(answering.serve(far));
    let answer = timeout(PATIENCE, cx.request(echo("behind them"))).await.expect("what waits moves on");
    assert_eq!(answer.unwrap().body, "behind them");
    cx.close();
    served.await.unwrap().unwrap();
    other.await.unwrap().unwrap();
}

#[tokio::test]
async fn what_was_said_in_memory_is_heard_after_its_sender_is_gone() {
    let (near, far) = pair();
    let peer = Peer::client().connect(near).unwrap();
    peer.run_until(async |cx| cx.notify(note("last words")).await.unwrap()).await;
    let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let agent = Peer::agent().on_notification(move |note: crate::messages::Note, _| {
        sender.send(note.text).unwrap();
        async { Ok(()) }
    });
    agent.serve(far).await.unwrap();
    assert_eq!(heard.try_recv().unwrap(), "last words");
}
