//! `nudge lsp` as editors meet it: a real process, framed messages, real documents.

mod bad_input;
mod daemon;
mod encodings;
mod feedback;
mod life;
mod out_of_step;
mod rename;
mod shapes;

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
};

use nudge_testkit::PATIENCE;
use serde_json::{Value, json};

/// The file that most sessions are about.
const FILE: &str = "file:///project/a.rs";

/// `total` is declared and used three times.
const PROGRAM: &str =
    "fn main() {\n    let total = 1;\n    print(total);\n    let more = total + 2;\n    keep(total);\n}\n";

/// An editor with one document.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    asked: i64,
    version: i64,
    /// What came besides answers.
    seen: Vec<Value>,
}

impl Editor {
    /// Starts the server, in a process of its own.
    fn start() -> Self {
        Self::start_with(&["--no-daemon"], &[("NUDGE_DATA", "")])
    }

    fn start_with(args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nudge"));
        command.arg("lsp").args(args).env_remove("NUDGE_DAEMON").envs(env.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        let output = BufReader::new(child.stdout.take().expect("it has an output"));
        let (sender, messages) = channel();
        thread::spawn(move || {
            let mut output = output;
            while let Some(message) = read_message(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { input: child.stdin.take(), child, messages, asked: 0, version: 0, seen: Vec::new() }
    }

    /// Starts the server and introduces the editor.
    fn new(initialize: &Value) -> Self {
        let mut editor = Self::start();
        editor.initialize(initialize);
        editor
    }

    fn initialize(&mut self, params: &Value) -> Value {
        let answer = self.ask("initialize", params);
        self.note("initialized", &json!({}));
        answer["result"].clone()
    }

    /// Writes bytes as they are; whether the program reads them.
    fn raw(&mut self, bytes: &[u8]) -> bool {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes).and_then(|()| input.flush()).is_ok()
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        assert!(self.raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()), "it reads");
    }

    fn note(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and gives its id.
    fn begin(&mut self, method: &str, params: &Value) -> i64 {
        self.asked += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }));
        self.asked
    }

    /// The next message; `None` at the end.
    fn next(&mut self) -> Option<Value> {
        match self.messages.recv_timeout(PATIENCE) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing came for {PATIENCE:?}"),
        }
    }

    /// The answer to a request. What else comes is kept, and requests of the server are granted.
    fn answer(&mut self, id: i64) -> Value {
        loop {
            let message = self.next().expect("the server goes on");
            if message.get("method").is_none() && message["id"] == id {
                return message;
            }
            if message.get("method").is_some() && message.get("id").is_some() {
                let result = json!({ "applied": true, "success": true });
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
            }
            self.seen.push(message);
        }
    }

    /// The answer to one of several requests, whichever is answered first.
    fn take(&mut self, id: i64) -> Value {
        match self.seen.iter().position(|seen| seen["id"] == id && seen.get("method").is_none()) {
            Some(at) => self.seen.remove(at),
            None => self.answer(id),
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    fn result(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    fn open(&mut self, uri: &str, text: &str) {
        self.version = 1;
        let document = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": text });
        self.note("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    /// Puts `text` in the place of a part of a line.
    fn change(&mut self, line: u32, part: std::ops::Range<u32>, text: &str) {
        self.version += 1;
        let at = |character: u32| json!({ "line": line, "character": character });
        let change = json!({ "range": { "start": at(part.start), "end": at(part.end) }, "text": text });
        let document = json!({ "uri": FILE, "version": self.version });
        let params = json!({ "textDocument": document, "contentChanges": [change] });
        self.note("textDocument/didChange", &params);
    }

    /// Opens the program and renames its variable, a keystroke at a time.
    fn rename(&mut self) {
        self.open(FILE, PROGRAM);
        self.change(1, 8..13, "");
        for (at, char) in (8..).zip(["s", "u", "m"]) {
            self.change(1, at..at, char);
        }
    }

    /// Asks `nudge/suggest` at a place, manually, so that it waits for the line.
    fn suggest(&mut self, line: u32, character: u32) -> Value {
        let document = json!({ "uri": FILE, "version": self.version });
        let position = json!({ "line": line, "character": character });
        let params = json!({ "textDocument": document, "position": position, "trigger": "manual" });
        self.result("nudge/suggest", &params)
    }

    /// Says goodbye and gives the exit status.
    fn leave(mut self) -> ExitStatus {
        self.result("shutdown", &Value::Null);
        self.note("exit", &Value::Null);
        self.child.wait().expect("a child can be waited for")
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_message(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        output.read_line(&mut line).ok().filter(|read| *read > 0)?;
        match line.trim().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().expect("a length is a number"),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).expect("a body is JSON"))
}

/// Where the edits of a suggestion begin, and what they put there.
fn places(suggestion: &Value) -> Vec<(u64, u64, &str)> {
    let place = |edit: &'static str| move |value: &Value| value["range"]["start"][edit].as_u64().unwrap();
    let edits = suggestion["edits"].as_array().expect("an edit suggestion has edits");
    let text = |edit: &'_ Value| (place("line")(edit), place("character")(edit));
    edits.iter().map(|edit| (text(edit).0, text(edit).1, edit["newText"].as_str().unwrap())).collect()
}

/// The three uses of the variable.
const USES: [(u64, u64, &str); 3] = [(2, 10, "sum"), (3, 15, "sum"), (4, 9, "sum")];
