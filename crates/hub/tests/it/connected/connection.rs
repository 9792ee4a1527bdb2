//! A connection of a client in memory, served as the program serves one.

use nudge_gateway::{ConnectionAgent, ConnectionOptions, Gateway, NesProvider, ProgramInfo};
use nudge_hub::{Environment, Hub};
use nudge_nes::NesService;
use nudge_peer::Transport;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf},
    sync::mpsc,
    task::JoinHandle,
    time::timeout,
};

use super::PATIENCE;

/// Bytes that are on their way to a client that does not read.
const ROOM: usize = 64 * 1024;

/// The client's end. It reads when the test does; when it is dropped, the client is gone.
pub(crate) struct Connection {
    reader: BufReader<ReadHalf<DuplexStream>>,
    line: Vec<u8>,
    lines: mpsc::UnboundedSender<Vec<u8>>,
    serving: JoinHandle<()>,
}

impl Connection {
    /// To a hub that ends with it, as a process without a daemon does.
    pub(crate) fn alone(hub: Hub, agent: Option<ConnectionAgent>) -> Self {
        Self::new(hub, agent, None, true)
    }

    pub(super) fn shared(hub: Hub, agent: Option<ConnectionAgent>, environment: Option<Environment>) -> Self {
        Self::new(hub, agent, environment, false)
    }

    fn new(
        hub: Hub,
        agent: Option<ConnectionAgent>,
        environment: Option<Environment>,
        is_alone: bool,
    ) -> Self {
        let (ours, theirs) = tokio::io::duplex(ROOM);
        let (reader, writer) = tokio::io::split(ours);
        let (lines, said) = mpsc::unbounded_channel();
        tokio::spawn(write_all(writer, said));
        let nes = if agent.is_some() { NesProvider::Agent } else { NesProvider::Nudge };
        let options = ConnectionOptions { agent, environment, nes, ..ConnectionOptions::default() };
        let serving = tokio::spawn(serve(hub, theirs, options, is_alone));
        Self { reader: BufReader::new(reader), line: Vec::new(), lines, serving }
    }

    /// Says a line.
    pub(crate) fn line(&self, line: impl AsRef<[u8]>) {
        // That nobody listens any more shows when nothing comes back.
        let _ = self.lines.send([line.as_ref(), b"\n"].concat());
    }

    /// The next line; `None` at the end.
    pub(crate) async fn next_line(&mut self) -> Option<String> {
        let read = timeout(PATIENCE, self.reader.read_until(b'\n', &mut self.line)).await;
        let read = read.unwrap_or_else(|_| panic!("nothing more is said"));
        if read.is_err() || !self.line.ends_with(b"\n") {
            return None;
        }
        let mut line = std::mem::take(&mut self.line);
        line.pop();
        Some(String::from_utf8(line).expect("what is said is text"))
    }

    /// Ends at once, as when the process at the other end is killed.
    pub(crate) async fn vanish(self) {
        self.serving.abort();
        let _ = self.serving.await;
    }

    /// Says nothing more, hears the rest, and waits for the end.
    pub(crate) async fn finish(self) -> Vec<String> {
        let Self { mut reader, lines, serving, .. } = self;
        drop(lines);
        let mut rest = String::new();
        let read = tokio::io::AsyncReadExt::read_to_string(&mut reader, &mut rest);
        timeout(PATIENCE, read).await.expect("it does not end").expect("what is said is text");
        timeout(PATIENCE, serving).await.expect("it does not end").expect("nothing panics");
        rest.lines().map(str::to_owned).collect()
    }
}

async fn write_all(mut writer: WriteHalf<DuplexStream>, mut lines: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if writer.write_all(&line).await.is_err() {
            return;
        }
    }
    let _ = writer.shutdown().await;
}

/// Serves a connection to its end.
async fn serve(hub: Hub, stream: DuplexStream, options: ConnectionOptions, is_alone: bool) {
    let nes = NesService::new(nudge_nes::NesOptions { index: false, ..Default::default() });
    let program = ProgramInfo { version: "test".to_owned(), ..ProgramInfo::default() };
    let gateway = Gateway::new(nes, Some(hub.clone()), program);
    let (reader, writer) = tokio::io::split(stream);
    let connection =
        gateway.connect(Transport::new(reader, writer), options).expect("memory can be connected");
    let cx = connection.cx();
    let end = async {
        if is_alone {
            cx.input_ended().await;
            hub.end(true).await;
        }
    };
    // How it ended is seen by the client.
    let _ = tokio::join!(connection.run(), end);
}
