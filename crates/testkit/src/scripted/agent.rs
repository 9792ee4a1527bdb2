//! The agent: what it knows, and what it does with each message.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::{Condvar, Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    Body,
    options::Options,
    output::Output,
    session::{Session, Sessions},
    shape,
};

/// The agent.
pub(super) struct Agent {
    pub(super) options: Options,
    pub(super) output: Output,
    /// Tells its ids from those of its other lives.
    pub(super) name: u32,
    die: Box<dyn Fn() + Send + Sync>,
    state: Mutex<State>,
    /// Something in the state has changed.
    changed: Condvar,
}

/// What it knows.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) sessions: Sessions,
    /// Answers of the client, by the number of the request: the text of the result, or of the error.
    pub(super) answers: HashMap<u64, Result<String, String>>,
    /// Counts requests, messages and sessions.
    count: u64,
    /// What the client said that it can do.
    pub(super) client: Value,
    is_hung: bool,
    is_dead: bool,
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// What a request is answered with.
pub(super) type Outcome = Result<Value, Value>;

impl Agent {
    pub(super) fn new(options: Options, body: Body) -> Self {
        let Body { name, output, die } = body;
        let output = Output::new(output, options.log.as_deref(), name);
        output.note("started");
        Self { options, output, name, die, state: Mutex::default(), changed: Condvar::new() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Waits for a change, or a moment.
    pub(super) fn wait(&self, state: &mut MutexGuard<'_, State>) {
        self.changed.wait_for(state, Duration::from_millis(2));
    }

    pub(super) fn is_v2(&self) -> bool {
        self.options.is_v2()
    }

    pub(super) fn is_hung(&self) -> bool {
        self.state().is_hung
    }

    pub(super) fn hang(&self) {
        self.state().is_hung = true;
        self.note("hangs");
    }

    /// Ends at once: nothing more is heard or said.
    pub(super) fn die(&self) {
        self.note("dies");
        self.state().is_dead = true;
        (self.die)();
        self.wake();
    }

    pub(super) fn is_dead(&self) -> bool {
        self.state().is_dead()
    }

    pub(super) fn note(&self, what: &str) {
        self.output.note(what);
    }

    /// Takes one line of its input.
    pub(super) fn take(self: &Arc<Self>, line: &[u8]) {
        self.output.heard(line);
        if self.is_hung() || self.is_dead() {
            return;
        }
        let Ok(frame) = serde_json::from_slice::<Frame<'_>>(line) else {
            return self.note("did not understand");
        };
        let params = frame.params.map_or("{}", RawValue::get);
        match (frame.method, frame.id) {
            (Some(method), Some(id)) => self.request(&method, id.get(), params),
            (Some(method), None) if method == "session/cancel" => self.cancel(&read(params)),
            (Some(_), None) => {}
            (None, id) => {
                let answer = match (frame.result, frame.error) {
                    (Some(result), _) => Ok(result.get().to_owned()),
                    (None, error) => Err(error.map_or("null", RawValue::get).to_owned()),
                };
                let number = id.and_then(|id| id.get().parse().ok()).unwrap_or(0);
                self.state().answers.insert(number, answer);
                self.changed.notify_all();
            }
        }
    }

    fn request(self: &Arc<Self>, method: &str, id: &str, raw: &str) {
        let params = read(raw);
        let outcome = match method {
            _ if !self.has(method) => Some(Err(shape::error(-32601, "Method not found", "scripted"))),
            "initialize" => Some(Ok(self.initialize(&params))),
            "_test/echo" => {
                self.send(&[format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{raw}}}"#)]);
                None
            }
            "_test/fail" => Some(Err(shape::failure("It failed, as asked"))),
            "authenticate" | "auth/login" if params["methodId"] != "key" => {
                Some(Err(shape::failure("No such method")))
            }
            "session/prompt" => self.prompt(id, &params).err().map(Err),
            "_session/steering" => Some(self.steering(&params)),
            "session/inject" => self.inject(id, &params).err().map(Err),
            "session/revoke_inject" | "session/replace_inject" => {
                Some(Err(shape::error(-32010, "Inject precondition failed", "already_delivered")))
            }
            "nes/start" => Some(Ok(json!({ "sessionId": "own", "_meta": { "own": shape::ODD_MARK } }))),
            "nes/suggest" => Some(Ok(shape::suggested(self.is_v2(), &params))),
            method if method.starts_with("session/") => self.lifecycle(method, id, &params),
            _ => Some(Ok(json!({ "_meta": { "own": shape::ODD_MARK } }))),
        };
        if let Some(outcome) = outcome {
            self.respond(id, outcome);
        }
    }

    fn initialize(&self, params: &Value) -> Value {
        std::thread::sleep(self.options.slow_start);
        while self.options.start_after.as_ref().is_some_and(|file| !file.exists()) {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.state().client = params["clientCapabilities"].clone();
        shape::initialize(&self.options)
    }

    /// Whether it has this method.
    fn has(&self, method: &str) -> bool {
        let (options, is_v2) = (&self.options, self.is_v2());
        match method {
            "session/load" => !is_v2 && options.has("load"),
            "session/resume" => is_v2 || options.has("resume"),
            "session/list" => is_v2 || options.has("list"),
            "session/close" => is_v2 || options.has("close"),
            "session/delete" => options.has("delete"),
            "session/fork" => options.has("fork"),
            "session/inject" | "session/revoke_inject" | "session/replace_inject" => options.has("inject"),
            "_session/steering" => options.has("steering") || options.has("steering-fails"),
            "nes/start" | "nes/suggest" | "nes/close" => options.has("nes"),
            "providers/list" | "providers/set" | "providers/disable" => options.has("providers"),
            "session/set_mode" | "authenticate" | "logout" => !is_v2,
            "auth/login" | "auth/logout" => is_v2,
            _ => matches!(
                method,
                "initialize"
                    | "session/new"
                    | "session/prompt"
                    | "session/set_config_option"
                    | "_test/echo"
                    | "_test/fail"
            ),
        }
    }

    /// Answers a request.
    pub(super) fn respond(&self, id: &str, outcome: Outcome) {
        self.send(&[shape::answer(id, outcome)]);
    }

    /// Says lines, unless it hangs.
    pub(super) fn send<B: AsRef<[u8]>>(&self, lines: &[B]) {
        self.send_with(&self.state(), lines);
    }

    /// As [`Agent::send`], for who holds the state, so that nothing happens in between.
    pub(super) fn send_with<B: AsRef<[u8]>>(&self, state: &State, lines: &[B]) {
        if !state.is_hung && !state.is_dead {
            self.output.send(lines);
        }
    }

    /// Tells of a session.
    pub(super) fn update(&self, session: &str, update: &Value) {
        self.send(&[shape::update(session, update)]);
    }

    /// Wakes who waits for a change.
    pub(super) fn wake(&self) {
        self.changed.notify_all();
    }
}

impl State {
    pub(super) fn is_dead(&self) -> bool {
        self.is_dead
    }

    pub(super) fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// A session that is open.
    pub(super) fn session(&mut self, id: &str) -> Result<&mut Session, Value> {
        let session = self.sessions.get_mut(id).filter(|session| session.is_open);
        session.ok_or_else(|| shape::error(-32002, "Resource not found", "scripted_unknown_session"))
    }
}

fn read(raw: &str) -> Value {
    serde_json::from_str(raw).unwrap_or_default()
}
