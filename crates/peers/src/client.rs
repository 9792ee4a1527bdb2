//! The client's side of a connection in plain pipes and JSON. It waits for what is to come and keeps all that came.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

use crate::tee::{Record, Side, seconds_now};

/// How long is waited for what ought to come soon, on a machine that is busy.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// What is done with requests for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// They are allowed, once.
    Allow,
    /// They are left open until [`Client::allow`].
    Hold,
    /// They are allowed, and forms are filled in with the choices that are named for that.
    AllowAndFill,
}

/// A client of one program. The program and what is in its process group end with it.
#[derive(Debug)]
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
    /// Every frame of both directions, as it was.
    pub record: Vec<Record>,
    /// The params of every notification, with its method.
    pub notifications: Vec<(String, Value)>,
    /// Every request that came.
    pub requests: Vec<Value>,
    /// Lines that are not JSON.
    pub junk: Vec<String>,
    responses: HashMap<u64, Value>,
    answered: HashSet<String>,
    /// What is done with requests for permission.
    pub policy: Policy,
    /// Whether the program has closed its output, as far as was read.
    pub is_gone: bool,
}

impl Client {
    /// Starts the program, whose standard error goes to the file `errors`.
    pub fn start(mut command: Command, errors: &Path) -> Result<Self> {
        let errors = File::options().create(true).append(true).open(errors)?;
        let shown = command.get_program().to_owned();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", shown.display()))?;
        let output = child.stdout.take().context("standard output is piped")?;
        let (sender, lines) = channel();
        thread::spawn(move || {
            let lines = BufReader::new(output).split(b'\n').map_while(Result::ok);
            for line in lines {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            input: child.stdin.take(),
            child,
            lines,
            next: 0,
            record: Vec::new(),
            notifications: Vec::new(),
            requests: Vec::new(),
            junk: Vec::new(),
            responses: HashMap::new(),
            answered: HashSet::new(),
            policy: Policy::Allow,
            is_gone: false,
        })
    }

    /// Sends a request; gives its id.
    pub fn send(&mut self, method: &str, params: &Value) -> Result<u64> {
        self.next += 1;
        let id = self.next;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string())?;
        Ok(id)
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: &Value) -> Result<()> {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string())
    }

    /// Sends a line as it is.
    pub fn write(&mut self, line: &str) -> Result<()> {
        self.record.push(Record { at: seconds_now(), to: Side::Agent, line: line.to_owned() });
        let input = self.input.as_mut().context("the input was closed")?;
        let written = input.write_all(format!("{line}\n").as_bytes()).and_then(|()| input.flush());
        written.context("the program does not read any more")
    }

    /// Sends a request and waits for its result; an error is an error.
    pub fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        let id = self.send(method, params)?;
        self.result(id, PATIENCE).with_context(|| format!("{method} failed"))
    }

    /// Waits for the response with this id; gives all of it.
    pub fn response(&mut self, id: u64, patience: Duration) -> Result<Value> {
        self.until("the response", patience, |client| client.responses.get(&id).cloned())
    }

    /// The response with this id, if it came already.
    pub fn response_now(&self, id: u64) -> Option<&Value> {
        self.responses.get(&id)
    }

    /// Waits for the result of the request with this id; an error is an error.
    pub fn result(&mut self, id: u64, patience: Duration) -> Result<Value> {
        let response = self.response(id, patience)?;
        match response.get("error") {
            Some(error) => Err(anyhow!("error {}", shortened(&error.to_string()))),
            None => Ok(response["result"].clone()),
        }
    }

    /// Takes what comes until `found` finds what it looks for.
    pub fn until<T>(
        &mut self,
        what: &str,
        patience: Duration,
        mut found: impl FnMut(&mut Self) -> Option<T>,
    ) -> Result<T> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(found) = found(self) {
                return Ok(found);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                bail!("{what} did not come within {} s", patience.as_secs());
            }
            // Not only lines are looked for: files and the provider's requests change without one.
            match self.lines.recv_timeout(left.min(Duration::from_millis(20))) {
                Ok(line) => self.take(line)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.is_gone = true;
                    let ended = self.child.try_wait().ok().flatten();
                    let status = ended.map_or_else(String::new, |status| format!(" ({status})"));
                    bail!("the program ended{status} before {what} came");
                }
            }
        }
    }

    /// Takes what comes for this long: to see that something does not.
    pub fn linger(&mut self, time: Duration) -> Result<()> {
        let deadline = Instant::now() + time;
        self.until("the end of a pause", time + PATIENCE, |_| (Instant::now() >= deadline).then_some(()))
    }

    /// The requests for permission that are open.
    pub fn open_permissions(&self) -> Vec<Value> {
        let is_open = |request: &&Value| {
            request["method"] == "session/request_permission" && !self.answered.contains(&key(request))
        };
        self.requests.iter().filter(is_open).cloned().collect()
    }

    /// Allows what a request for permission asks for, once.
    pub fn allow(&mut self, request: &Value) -> Result<()> {
        let options = request["params"]["options"].as_array().cloned().unwrap_or_default();
        let once = options.iter().find(|option| option["kind"] == "allow_once").or_else(|| options.first());
        let option = once.context("a request for permission has options")?["optionId"].clone();
        let outcome = json!({ "outcome": { "outcome": "selected", "optionId": option } });
        self.answer(request, "result", &outcome)
    }

    /// Answers a request of the other side.
    pub fn answer(&mut self, request: &Value, member: &str, value: &Value) -> Result<()> {
        self.answered.insert(key(request));
        self.write(&json!({ "jsonrpc": "2.0", "id": request["id"], member: value }).to_string())
    }

    /// Closes the program's input, and waits for its end.
    pub fn finish(&mut self, patience: Duration) -> Result<()> {
        self.input = None;
        self.until("the program's end", patience, |client| client.child.try_wait().ok().flatten().map(drop))
    }

    fn take(&mut self, line: String) -> Result<()> {
        let message: Option<Value> = serde_json::from_str(&line).ok();
        self.record.push(Record { at: seconds_now(), to: Side::Client, line: line.clone() });
        let Some(message) = message.filter(Value::is_object) else {
            self.junk.push(line);
            return Ok(());
        };
        let method = message["method"].as_str().map(str::to_owned);
        match (method, message.get("id").cloned()) {
            (Some(method), Some(_)) => {
                self.requests.push(message.clone());
                self.serve(&method, &message)?;
            }
            (Some(method), None) => self.notifications.push((method, message["params"].clone())),
            (None, Some(id)) => {
                if let Some(id) = id.as_u64()
                    && self.responses.insert(id, message).is_some()
                {
                    bail!("the request {id} was answered twice");
                }
            }
            (None, None) => self.junk.push(line),
        }
        Ok(())
    }

    fn serve(&mut self, method: &str, request: &Value) -> Result<()> {
        match method {
            "session/request_permission" if self.policy != Policy::Hold => self.allow(request),
            "elicitation/create" if self.policy == Policy::AllowAndFill => {
                let content = filled_in(&request["params"]["requestedSchema"]);
                self.answer(request, "result", &json!({ "action": "accept", "content": content }))
            }
            "session/request_permission" => Ok(()),
            // Some agents do it although they were told that this client has no files to write.
            "fs/write_text_file" => self.answer(request, "result", &json!({})),
            _ => self.answer(request, "error", &json!({ "code": -32601, "message": "Method not found" })),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// An answer to a form: for each field that is required or has it, the choice that is named for that.
fn filled_in(schema: &Value) -> Value {
    let fields = schema["properties"].as_object().into_iter().flatten();
    let chosen = fields.filter_map(|(name, field)| {
        let one = choice(field);
        let value = match (one, field["items"].is_object()) {
            (Some(choice), _) => choice,
            (None, true) => json!([choice(&field["items"])?]),
            (None, false) => return None,
        };
        Some((name.clone(), value))
    });
    Value::Object(chosen.collect())
}

/// The choice that is meant to be chosen, or the first.
fn choice(field: &Value) -> Option<Value> {
    let lists = ["oneOf", "anyOf", "enum"].into_iter().filter_map(|name| field[name].as_array());
    let choices: Vec<Value> = lists.flatten().map(|one| one.get("const").unwrap_or(one).clone()).collect();
    let meant = choices.iter().find(|one| one.as_str().is_some_and(|text| text.contains("peers-chosen")));
    meant.or_else(|| choices.first()).cloned()
}

fn key(request: &Value) -> String {
    request["id"].to_string()
}

/// At most this much of a message is shown.
pub fn shortened(text: &str) -> String {
    const SHOWN: usize = 300;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
