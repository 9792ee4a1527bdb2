//! A connection of a client in memory, served as the program serves one.

use std::sync::{Arc, OnceLock};

use nudge_adapt::{AdaptedSource, Agent, Lane, Listening, merged};
use nudge_hub::{Edge, Environment, Hub, Source};
use nudge_peer::{Closed, Cx, InOrder, Peer, RawRequest, Transport, Unhandled};
use nudge_wire::{Error, RawJson, Version, caps::ClientInit};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf},
    sync::mpsc,
    task::JoinHandle,
    time::timeout,
};

use super::{PATIENCE, RunBy};

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
    pub(crate) fn alone(hub: Hub, by: RunBy) -> Self {
        Self::new(hub, by, None, true)
    }

    pub(super) fn shared(hub: Hub, by: RunBy, environment: Option<Environment>) -> Self {
        Self::new(hub, by, environment, false)
    }

    fn new(hub: Hub, by: RunBy, environment: Option<Environment>, is_alone: bool) -> Self {
        let (ours, theirs) = tokio::io::duplex(ROOM);
        let (reader, writer) = tokio::io::split(ours);
        let (lines, said) = mpsc::unbounded_channel();
        tokio::spawn(write_all(writer, said));
        let desk = Arc::new(Desk {
            hub,
            by,
            environment,
            cx: OnceLock::new(),
            edge: Mutex::default(),
            behind: Mutex::default(),
        });
        let serving = tokio::spawn(serve(desk, theirs, is_alone));
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
async fn serve(desk: Arc<Desk>, stream: DuplexStream, is_alone: bool) {
    let (reader, writer) = tokio::io::split(stream);
    let at_unknown = Arc::clone(&desk);
    let peer = Peer::agent().on_unknown(move |message, _: InOrder| {
        let desk = Arc::clone(&at_unknown);
        async move { desk.take(message).await }
    });
    let connection = peer.connect(Transport::new(reader, writer)).expect("memory can be connected");
    let cx = connection.cx();
    let _ = desk.cx.set(cx.clone());
    let end = async {
        if is_alone {
            cx.input_ended().await;
            desk.hub.end(true).await;
        }
    };
    // How it ended is seen by the client.
    let _ = tokio::join!(connection.serve(), end);
    desk.edge.lock().take();
    desk.behind.lock().take();
}

/// What a process knows of a connection.
struct Desk {
    hub: Hub,
    by: RunBy,
    environment: Option<Environment>,
    cx: OnceLock<Cx>,
    edge: Mutex<Option<Arc<Edge>>>,
    behind: Mutex<Option<Behind>>,
}

/// The adapted agent behind a connection.
#[derive(Clone)]
struct Behind {
    lane: Arc<Lane>,
    _listening: Arc<Listening>,
}

impl Desk {
    async fn take(&self, message: Unhandled) -> Result<(), Closed> {
        let message = match message {
            Unhandled::Request(request) if &**request.method() == "initialize" => {
                return self.initialize(request).await;
            }
            Unhandled::Request(request) if request.method().starts_with("_nudge/") => {
                return self.control(request).await;
            }
            other => other,
        };
        let edge = self.edge.lock().clone();
        let Some(message) = edge.expect("a client greets first").handle(message).await else { return Ok(()) };
        let behind = self.behind.lock().clone();
        match behind {
            Some(behind) => {
                behind.lane.push(message).await;
                Ok(())
            }
            None => message.refuse().await,
        }
    }

    /// What a terminal asks.
    async fn control(&self, request: RawRequest) -> Result<(), Closed> {
        let result = match &**request.method() {
            "_nudge/status" => Ok(json!({ "sessions": self.hub.status().await.sessions })),
            "_nudge/settle" => self.hub.settle().await.map(|()| json!({})),
            "_nudge/questions" => Ok(json!({ "questions": self.hub.questions().await })),
            "_nudge/answer" => {
                self.hub.answer(request.params()).await.map(|answered| json!({ "answered": answered }))
            }
            other => Err(Error::method_not_found(other)),
        };
        request.respond(result).await
    }

    async fn initialize(&self, request: RawRequest) -> Result<(), Closed> {
        let params = request.params().cloned().expect("a greeting says something");
        let asked = params.get(&["protocolVersion"]).and_then(|version| version.to::<Value>().ok());
        let version = Version::negotiate(asked.as_ref());
        let init = nudge_bridge::client_init(version, params);
        let answer = self.greet(version, &init).await;
        request.respond(answer).await
    }

    async fn greet(&self, version: Version, init: &ClientInit) -> Result<RawJson, Error> {
        let (agent, answer): (Option<Source>, _) = match &self.by {
            RunBy::BuiltIn => (None, plain(version)),
            RunBy::Source(source) => (Some(Arc::clone(source)), plain(version)),
            RunBy::Adapted(make) => {
                let agent = make(init);
                let answer = self.listen(version, &agent).await?;
                (Some(Arc::new(AdaptedSource::new(agent))), answer)
            }
        };
        let cx = self.cx.get().expect("it is set when the connection is").clone();
        let edge = self.hub.connect(cx, init, self.environment.clone(), agent, None);
        *self.edge.lock() = Some(Arc::new(edge));
        Ok(answer)
    }

    async fn listen(&self, version: Version, agent: &Arc<Agent>) -> Result<RawJson, Error> {
        let init = agent.init().await?;
        let cx = self.cx.get().expect("it is set when the connection is").clone();
        let listening = Arc::new(agent.listen(version, cx));
        let lane = Arc::new(Lane::new(Arc::clone(agent), version));
        *self.behind.lock() = Some(Behind { lane, _listening: listening });
        Ok(merged(&init, version, "test").result)
    }
}

fn plain(version: Version) -> RawJson {
    RawJson::of(&json!({ "protocolVersion": version.number() })).expect("it is plain data")
}
