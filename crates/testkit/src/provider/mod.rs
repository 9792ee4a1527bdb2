//! A model provider that costs nothing: a real HTTP server that says what a test tells it to.
//!
//! ```no_run
//! # async fn test() {
//! use nudge_testkit::{PATIENCE, provider::{Provider, Reply}};
//! use serde_json::json;
//!
//! let provider = Provider::start().await;
//! provider.on("write it down").reply(
//!     Reply::call("write_file|Write", json!({"path": "note.txt", "content": "hi"}))
//!         .or_call("shell|Bash", json!({"command": "echo hi > note.txt"})),
//! );
//! provider.on("write it down").after_tool_result().reply(Reply::text("It is written."));
//! provider.on("slow").reply(Reply::stall("One moment", "later").and_text(", and on."));
//!
//! // Point an agent at `provider.url()` and let it talk.
//! provider.wait_for(|seen| seen.last_user().contains("slow"), PATIENCE).await;
//! provider.gate("later").reached().await;
//! provider.gate("later").open();
//! # }
//! ```
//!
//! It speaks `OpenAI` chat completions and responses (base address: `url()` and `/v1`), Anthropic messages and Gemini (base
//! address: `url()`), as streams and at once. Without rules it repeats what the user says. With rules, what no rule is for
//! gets a short harmless text, or an empty value of the schema if the answer has to be JSON.

mod body;
mod conversation;
mod dialect;
mod gate;
mod play;
mod reply;
mod rule;
mod script;
mod seen;
mod server;

use std::{
    collections::HashMap,
    fmt, io,
    net::{SocketAddr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{oneshot, watch};

pub use conversation::{Call, Message, Role, Tool, ToolResult};
pub use gate::Gate;
pub use reply::{Finish, Reply};
pub use rule::Rule;
pub use script::ScriptError;
pub use seen::{Dialect, Header, Outcome, Seen};

use play::Play;
use rule::Scripted;

/// A provider that runs until it is dropped.
pub struct Provider {
    shared: Arc<Shared>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Provider {
    /// Starts one on a free port of this machine.
    #[expect(clippy::unused_async, reason = "reads like everything else that is started in a test")]
    pub async fn start() -> Self {
        Self::start_blocking()
    }

    /// Starts one on a free port of this machine, for tests that do not await.
    pub fn start_blocking() -> Self {
        Self::listen("127.0.0.1:0".parse().expect("an address")).expect("a free port can be had")
    }

    /// Starts one at this address.
    pub fn listen(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let (stop, stopped) = oneshot::channel();
        let thread = server::start(listener, Arc::clone(&shared), stopped);
        Ok(Self { shared, address, stop: Some(stop), thread: Some(thread) })
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
    pub fn on(&self, text: impl Into<String>) -> Rule {
        Rule::new(Arc::clone(&self.shared), Some(text.into()))
    }

    /// Begins a rule for any request; see [`Rule::when`].
    pub fn on_any(&self) -> Rule {
        Rule::new(Arc::clone(&self.shared), None)
    }

    /// What is answered where no rule fits.
    pub fn otherwise(&self, reply: Reply) {
        lock(&self.shared.script).otherwise = Some(reply);
    }

    /// Adds the rules of a script: TOML, or JSON if it begins with a brace.
    pub fn add_script(&self, script: &str) -> Result<(), ScriptError> {
        script::add(self, script)
    }

    /// The gate of this name, at which replies wait that name it.
    pub fn gate(&self, name: &str) -> Gate {
        self.shared.gate(name)
    }

    /// All requests to the model so far.
    pub fn requests(&self) -> Vec<Seen> {
        lock(&self.shared.seen).clone()
    }

    /// All other requests so far (lists of models, counts of tokens, telemetry): method and path.
    pub fn asides(&self) -> Vec<String> {
        lock(&self.shared.asides).clone()
    }

    /// The first request, of those that came already and those to come, that `test` accepts.
    ///
    /// It is asked again when the [`Outcome`] of a request changes. Panics after `patience`, with a list of what came.
    pub async fn wait_for(&self, test: impl Fn(&Seen) -> bool, patience: Duration) -> Seen {
        let mut changes = self.shared.changes.subscribe();
        let find = async {
            loop {
                changes.mark_unchanged();
                let found = lock(&self.shared.seen).iter().find(|seen| test(seen)).cloned();
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

impl Drop for Provider {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "provider at {}", self.url())?;
        self.requests().iter().try_for_each(|seen| writeln!(f, "{}", seen.summary()))
    }
}

/// What the provider and its server have in common.
#[derive(Default)]
struct Shared {
    script: Mutex<Script>,
    seen: Mutex<Vec<Seen>>,
    asides: Mutex<Vec<String>>,
    gates: Mutex<HashMap<String, Gate>>,
    calls: AtomicUsize,
    changes: watch::Sender<()>,
}

#[derive(Default)]
struct Script {
    rules: Vec<Scripted>,
    otherwise: Option<Reply>,
}

impl Shared {
    fn add(&self, rule: Scripted) {
        lock(&self.script).rules.push(rule);
    }

    fn gate(&self, name: &str) -> Gate {
        lock(&self.gates).entry(name.to_owned()).or_insert_with(Gate::new).clone()
    }

    fn aside(&self, what: String) {
        lock(&self.asides).push(what);
    }

    /// Keeps a request; returns its place.
    fn record(&self, mut seen: Seen) -> usize {
        let mut all = lock(&self.seen);
        let index = all.len();
        seen.index = index;
        all.push(seen);
        drop(all);
        self.changes.send_replace(());
        index
    }

    fn note(&self, index: usize, outcome: Outcome) {
        if let Some(seen) = lock(&self.seen).get_mut(index) {
            seen.outcome = outcome;
        }
        self.changes.send_replace(());
    }

    /// What to answer, and the name of the rule that says so.
    fn choose(&self, seen: &Seen) -> (Play, Option<String>) {
        let call_id = || format!("call_{}", self.calls.fetch_add(1, Ordering::Relaxed));
        let mut script = lock(&self.script);
        for rule in &mut script.rules {
            if let Some(play) = rule.offer(seen).and_then(|reply| Play::new(reply, seen, call_id)) {
                rule.use_up();
                return (play, Some(rule.name()));
            }
        }
        let otherwise = script.otherwise.as_ref().and_then(|reply| Play::new(reply.clone(), seen, call_id));
        let play = otherwise.or_else(|| Play::new(harmless(seen, script.rules.is_empty()), seen, call_id));
        (play.expect("a reply without tools fits every request"), None)
    }
}

/// What is said where nobody has said what to say.
fn harmless(seen: &Seen, is_echo: bool) -> Reply {
    match seen.wanted_schema() {
        Some(schema) => Reply::text(dialect::example(schema).to_string()),
        None if is_echo => Reply::text(format!("You said: {}", seen.last_user())),
        None => Reply::text("All right."),
    }
}

/// A test that panics in a predicate has failed already; its lock is as good as before.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}
