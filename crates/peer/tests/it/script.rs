//! The other end of a connection, played line by line.

use nudge_peer::{Connection, ConnectionClosed, Peer, Transport};
use nudge_testkit::PATIENCE;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    task::JoinHandle,
    time::timeout,
};

/// A scripted other end. A test that leaves a message unread fails in [`Script::end`].
pub(crate) struct Script {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    input: WriteHalf<DuplexStream>,
    served: JoinHandle<Result<(), ConnectionClosed>>,
}

/// A connection and the raw bytes on its other side.
pub(crate) fn open<S>(peer: Peer<S>) -> (Connection, DuplexStream) {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(near);
    (peer.connect(Transport::new(reader, writer)).expect("memory can be opened"), far)
}

impl Script {
    pub(crate) fn new<S>(peer: Peer<S>) -> Self {
        let (connection, far) = open(peer);
        Self::over(connection, far)
    }

    pub(crate) fn over(connection: Connection, far: DuplexStream) -> Self {
        let (output, input) = tokio::io::split(far);
        let served = tokio::spawn(connection.serve());
        Self { lines: BufReader::new(output).lines(), input, served }
    }

    /// Sends lines as they are.
    pub(crate) async fn send(&mut self, lines: &[&str]) {
        for line in lines {
            self.input.write_all(format!("{line}\n").as_bytes()).await.expect("the connection reads");
        }
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Value {
        let line = timeout(PATIENCE, self.lines.next_line()).await.expect("a message comes in time");
        let line = line.expect("reading works").expect("the connection is open");
        serde_json::from_str(&line).expect("the connection writes JSON")
    }

    /// Expects exactly this message next.
    pub(crate) async fn expect(&mut self, message: Value) {
        assert_eq!(self.next().await, message);
    }

    /// Expects an error response next.
    pub(crate) async fn expect_error(&mut self, id: Value, code: i64) {
        let message = self.next().await;
        assert_eq!((&message["id"], message["error"]["code"].as_i64()), (&id, Some(code)), "{message}");
    }

    /// The raw input.
    pub(crate) fn input_mut(&mut self) -> &mut WriteHalf<DuplexStream> {
        &mut self.input
    }

    /// Closes this end; nothing may have been left unread. Gives how the connection ended.
    pub(crate) async fn end(mut self) -> Result<(), ConnectionClosed> {
        self.input.shutdown().await.expect("memory can be closed");
        let rest = timeout(PATIENCE, self.lines.next_line()).await.expect("the end comes in time");
        assert_eq!(rest.expect("reading works"), None, "a message was left unhandled");
        self.served.await.expect("the connection does not panic")
    }
}
