//! The provider: what it is told to say, and what it was asked.

use std::{
    collections::HashMap,
    fmt, io,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    net::TcpSocket,
    sync::{oneshot, watch},
};

use crate::{
    ExchangeOutcome, ModelReply, OfferedModel, ReplyGate, ReplyRule, ScriptError, SeenRequest, dialect,
    play::PlayedReply, rule::ScriptedReply, script, server,
};

/// Any that is free, on this machine alone.
const FREE_PORT: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));
/// How many may connect at once.
const BACKLOG: u32 = 1024;

/// A provider that runs until it is dropped.
pub struct StageProvider {
    shared: Arc<ProviderShared>,
    address: SocketAddr,
    /// Its port, if it is not there yet.
    reserved: Option<TcpSocket>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl StageProvider {
    /// Starts one on a free port of this machine.
    #[expect(clippy::unused_async, reason = "reads like everything else that is started in a test")]
    pub async fn start() -> Self {
        Self::start_blocking()
    }

    /// Starts one on a free port of this machine, for tests that do not await.
    pub fn start_blocking() -> Self {
        Self::listen(FREE_PORT).expect("a free port can be had")
    }

    /// Starts one at this address.
    pub fn listen(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let (address, shared) = (listener.local_addr()?, Arc::new(ProviderShared::default()));
        let mut provider = Self { shared, address, reserved: None, stop: None, thread: None };
        provider.serve(listener);
        Ok(provider)
    }

    /// One that has an address and is not there yet: who connects is refused, and nobody else can have its port.
    pub fn absent() -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(FREE_PORT)?;
        let address = socket.local_addr()?;
        let shared = Arc::new(ProviderShared::default());
        Ok(Self { shared, address, reserved: Some(socket), stop: None, thread: None })
    }

    /// Starts one that was absent. To be called in a runtime of tokio.
    ///
    /// # Panics
    ///
    /// If it is there already.
    pub fn appear(&mut self) -> io::Result<()> {
        let socket = self.reserved.take().expect("it is there already");
        self.serve(socket.listen(BACKLOG)?.into_std()?);
        Ok(())
    }

    /// Goes away, and keeps its address: what is under way breaks off, and who connects is refused. Nothing if it is away already.
    pub fn vanish(&mut self) -> io::Result<()> {
        self.stop_serving();
        if self.reserved.is_none() {
            let socket = TcpSocket::new_v4()?;
            // Connections that have just ended still hold the port.
            socket.set_reuseaddr(true)?;
            socket.bind(self.address)?;
            self.reserved = Some(socket);
        }
        Ok(())
    }

    /// Is there again after it has gone away. Nothing if it is there.
    pub fn come_back(&mut self) -> io::Result<()> {
        if self.reserved.is_some() {
            self.serve(TcpListener::bind(self.address)?);
            self.reserved = None;
        }
        Ok(())
    }

    fn stop_serving(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    fn serve(&mut self, listener: TcpListener) {
        let (stop, stopped) = oneshot::channel();
        self.thread = Some(server::start(listener, Arc::clone(&self.shared), stopped));
        self.stop = Some(stop);
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Begins a rule for requests in whose last message of the user there is `text`.
    pub fn on(&self, text: impl Into<String>) -> ReplyRule {
        ReplyRule::new(Arc::clone(&self.shared), Some(text.into()))
    }

    /// Begins a rule for any request; see [`ReplyRule::when`].
    pub fn on_any(&self) -> ReplyRule {
        ReplyRule::new(Arc::clone(&self.shared), None)
    }

    /// What is answered where no rule fits.
    pub fn otherwise(&self, reply: ModelReply) {
        self.shared.script.lock().otherwise = Some(reply);
    }

    /// Adds the rules of a script: TOML, or JSON if it begins with a brace.
    pub fn add_script(&self, script: &str) -> Result<(), ScriptError> {
        script::add(self, script)
    }

    /// The models that it says it has, instead of one `fake-model`.
    pub fn offer(&self, models: impl IntoIterator<Item = OfferedModel>) {
        *self.shared.models.lock() = models.into_iter().collect();
    }

    /// The secret by which requests to Bedrock have to be signed, where they have no bearer's key.
    pub fn sign_with(&self, secret: impl Into<String>) {
        *self.shared.aws_secret.lock() = Some(secret.into());
    }

    /// The gate of this name, at which replies wait that name it.
    pub fn gate(&self, name: &str) -> ReplyGate {
        self.shared.gate(name)
    }

    /// All requests to the model so far.
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.shared.seen.lock().clone()
    }

    /// All other requests so far (lists of models, counts of tokens, telemetry): method and path.
    pub fn asides(&self) -> Vec<String> {
        self.shared.asides.lock().clone()
    }

    /// The first request, of those that came already and those to come, that `test` accepts.
    ///
    /// It is asked again when the [`ExchangeOutcome`] of a request changes. Panics after `patience`, with a list of what came.
    pub async fn wait_for(&self, test: impl Fn(&SeenRequest) -> bool, patience: Duration) -> SeenRequest {
        let mut changes = self.shared.changes.subscribe();
        let find = async {
            loop {
                changes.mark_unchanged();
                let found = self.shared.seen.lock().iter().find(|seen| test(seen)).cloned();
                if let Some(found) = found {
                    return found;
                }
                changes.changed().await.expect("the provider holds the sender");
            }
        };
        let found = tokio::time::timeout(patience, find).await;
        found.unwrap_or_else(|_| panic!("no such request came within {patience:?}, but:\n{self:?}"))
    }
}

impl Drop for StageProvider {
    fn drop(&mut self) {
        self.stop_serving();
    }
}

impl fmt::Debug for StageProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "provider at {}", self.url())?;
        self.requests().iter().try_for_each(|seen| writeln!(f, "{}", seen.summary()))
    }
}

/// What the provider and its server have in common.
#[derive(Default)]
pub(crate) struct ProviderShared {
    script: Mutex<Script>,
    seen: Mutex<Vec<SeenRequest>>,
    asides: Mutex<Vec<String>>,
    gates: Mutex<HashMap<String, ReplyGate>>,
    calls: AtomicUsize,
    changes: watch::Sender<()>,
    models: Mutex<Vec<OfferedModel>>,
    aws_secret: Mutex<Option<String>>,
}

#[derive(Default)]
struct Script {
    rules: Vec<ScriptedReply>,
    otherwise: Option<ModelReply>,
}

impl ProviderShared {
    pub(crate) fn add(&self, rule: ScriptedReply) {
        self.script.lock().rules.push(rule);
    }

    pub(crate) fn gate(&self, name: &str) -> ReplyGate {
        self.gates.lock().entry(name.to_owned()).or_insert_with(ReplyGate::new).clone()
    }

    pub(crate) fn aside(&self, what: String) {
        self.asides.lock().push(what);
    }

    /// The models that there are.
    pub(crate) fn models(&self) -> Vec<OfferedModel> {
        let models = self.models.lock().clone();
        if models.is_empty() { vec![OfferedModel::new("fake-model")] } else { models }
    }

    pub(crate) fn aws_secret(&self) -> Option<String> {
        self.aws_secret.lock().clone()
    }

    /// Keeps a request; returns its place.
    pub(crate) fn record(&self, mut seen: SeenRequest) -> usize {
        let mut all = self.seen.lock();
        let index = all.len();
        seen.index = index;
        all.push(seen);
        drop(all);
        self.changes.send_replace(());
        index
    }

    pub(crate) fn note(&self, index: usize, outcome: ExchangeOutcome) {
        if let Some(seen) = self.seen.lock().get_mut(index) {
            seen.outcome = outcome;
        }
        self.changes.send_replace(());
    }

    /// What to answer, and the name of the rule that says so.
    pub(crate) fn choose(&self, seen: &SeenRequest) -> (PlayedReply, Option<String>) {
        let call_id = || format!("call_{}", self.calls.fetch_add(1, Ordering::Relaxed));
        let mut script = self.script.lock();
        for rule in &mut script.rules {
            if let Some(play) = rule.offer(seen).and_then(|reply| PlayedReply::new(reply, seen, call_id)) {
                rule.use_up();
                return (play, Some(rule.name()));
            }
        }
        let otherwise =
            script.otherwise.as_ref().and_then(|reply| PlayedReply::new(reply.clone(), seen, call_id));
        let play =
            otherwise.or_else(|| PlayedReply::new(harmless(seen, script.rules.is_empty()), seen, call_id));
        (play.expect("a reply without tools fits every request"), None)
    }
}

/// What is said where nobody has said what to say.
fn harmless(seen: &SeenRequest, is_echo: bool) -> ModelReply {
    match seen.wanted_schema() {
        Some(schema) => ModelReply::text(dialect::example(schema).to_string()),
        None if is_echo => ModelReply::text(format!("You said: {}", seen.last_user())),
        None => ModelReply::text("All right."),
    }
}
