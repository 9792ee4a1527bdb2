//! A turn: the script is played, command by command.

use std::{collections::VecDeque, path::Path, sync::Arc, time::Instant};

use serde_json::{Value, json};

use super::{
    agent::Agent,
    script::{Command, Until},
    session::keep,
    shape,
};

/// Frames of a flood that are written at once.
const FLOOD: usize = 64;

/// Plays one turn.
pub(super) struct Player {
    agent: Arc<Agent>,
    session: String,
    /// The id of the prompt's request.
    request: String,
    /// The message that it is saying.
    message: Option<String>,
    answers: usize,
    has_failed: bool,
}

impl Player {
    pub(super) fn new(agent: &Arc<Agent>, session: &str, request: &str) -> Self {
        Self {
            agent: Arc::clone(agent),
            session: session.to_owned(),
            request: request.to_owned(),
            message: None,
            answers: 1,
            has_failed: false,
        }
    }

    pub(super) fn play(mut self, script: Vec<Command>) {
        let mut ahead = VecDeque::from(script);
        while !self.agent.is_dead() {
            for steered in self.steers().into_iter().rev() {
                ahead.push_front(steered);
            }
            match ahead.pop_front().filter(|_| !self.is_cancelled() && !self.has_failed) {
                Some(command) => self.perform(command),
                None if self.finish() => return,
                None => {}
            }
        }
    }

    fn steers(&self) -> Vec<Command> {
        let mut state = self.agent.state();
        let turn = state.session(&self.session).ok().and_then(|session| session.turn.as_mut());
        turn.map(|turn| std::mem::take(&mut turn.steers)).unwrap_or_default()
    }

    /// Whether the user has ended the turn, or the session.
    fn is_cancelled(&self) -> bool {
        let mut state = self.agent.state();
        let is_dead = state.is_dead();
        let turn = state.session(&self.session).ok().and_then(|session| session.turn.as_ref());
        is_dead || turn.is_none_or(|turn| turn.is_cancelled)
    }

    /// Ends the turn, unless there is something to be played still.
    fn finish(&self) -> bool {
        let mut state = self.agent.state();
        let session = state.session(&self.session).ok();
        let turn = session.as_ref().and_then(|session| session.turn.as_ref());
        let is_cancelled = turn.is_none_or(|turn| turn.is_cancelled);
        let has_more = turn.is_some_and(|turn| !turn.steers.is_empty());
        if has_more && !is_cancelled && !self.has_failed {
            return false;
        }
        if let Some(session) = session {
            session.turn = None;
            keep(self.agent.options.memory.as_deref(), &self.session, Some(session));
        }
        let frames = self.end(if is_cancelled { "cancelled" } else { "end_turn" });
        self.agent.send_with(&state, &frames);
        true
    }

    /// What says that the turn is over.
    fn end(&self, reason: &str) -> Vec<String> {
        let error = shape::failure("The turn failed, as asked");
        if !self.agent.is_v2() {
            let answer = json!({ "stopReason": reason, "_meta": { "own": shape::ODD_MARK } });
            let outcome = if self.has_failed { Err(error) } else { Ok(answer) };
            return vec![shape::answer(&self.request, outcome); self.answers];
        }
        let again = shape::answer(&self.request, Ok(json!({ "messageId": "again" })));
        let mut frames = vec![again; self.answers - 1];
        let mut idle = shape::state("idle", Some(if self.has_failed { "error" } else { reason }));
        if self.has_failed {
            idle["error"] = error;
        }
        frames.push(shape::update(&self.session, &idle));
        frames
    }

    fn perform(&mut self, command: Command) {
        match command {
            Command::Say(text) => self.say(&text),
            Command::Wait(until) => self.wait(&until, false),
            Command::Deaf(until) => {
                self.agent.note("deaf");
                self.wait(&until, true);
            }
            Command::Tool(id, until) => self.tool(&id, &until),
            Command::Ask(id, more) => self.ask_permission(&id, &more),
            Command::Read(path) => self.read(&path),
            Command::Write(path, text) => self.write(&path, &text),
            Command::Terminal(command) => self.terminal(&command),
            Command::Extension { is_global } => {
                let answer = self.ask("_test/ask", &self.extension(is_global));
                self.say(&format!("ext: {}", told(answer)));
            }
            Command::Stray { is_global, method } => {
                let answer = self.ask(&method, &shape::stray(is_global));
                let error: Value =
                    serde_json::from_str(&answer.unwrap_or_else(|error| error)).unwrap_or_default();
                self.say(&format!("{method}: {}", error["code"]));
            }
            Command::Note { is_global } => {
                let params = self.extension(is_global);
                let note = json!({ "jsonrpc": "2.0", "method": "_test/note", "params": params });
                self.agent.send(&[shape::text(&note)]);
            }
            Command::Recall => self.recall(),
            Command::Die => {
                self.agent.die();
            }
            Command::Hang => {
                self.agent.hang();
                loop {
                    std::thread::park();
                }
            }
            Command::Flood(count, size) => self.flood(count, size),
            Command::Updates(count, update) => self.updates(count, &update),
            Command::Garbage => self.garbage(),
            Command::Twice => self.answers = 2,
            Command::Unknown => self.agent.send(&[
                r#"{"jsonrpc":"2.0","id":987654,"result":{}}"#,
                r#"{"jsonrpc":"2.0","id":"nobody","error":{"code":1,"message":"nobody asked"}}"#,
            ]),
            Command::Odd => self.agent.send(&[shape::odd(&self.session)]),
            Command::Plan => self.update(&shape::plan(self.agent.is_v2())),
            Command::Mode(mode) => self.switch(&mode),
            Command::Form(mode) => self.form(&mode),
            Command::Rude => self.be_rude(),
            Command::Fail => self.has_failed = true,
        }
    }

    fn update(&self, update: &Value) {
        self.agent.update(&self.session, update);
    }

    fn say(&mut self, text: &str) {
        let mut state = self.agent.state();
        let count = state.next();
        let id = self.message.get_or_insert_with(|| format!("a-{}-{count}", self.agent.name));
        if let Ok(session) = state.session(&self.session) {
            session.say(id, text);
        }
        let chunk = shape::chunk(self.agent.is_v2(), false, id, text);
        drop(state);
        self.update(&chunk);
    }

    fn recall(&mut self) {
        let told = self.agent.state().session(&self.session).map(|session| session.told.join("|"));
        self.say(&told.unwrap_or_default());
    }

    /// Waits, but not any more once the user has ended the turn, unless it is deaf.
    fn wait(&self, until: &Until, is_deaf: bool) {
        let began = Instant::now();
        let cwd = self.agent.state().session(&self.session).map(|session| session.cwd.clone());
        let is_over = || match until {
            Until::Passed(time) => began.elapsed() >= *time,
            Until::Exists(path) => Path::new(cwd.as_deref().unwrap_or_default()).join(path).exists(),
        };
        while !is_over() && (is_deaf || !self.is_cancelled()) {
            self.agent.wait(&mut self.agent.state());
        }
    }

    fn tool(&mut self, id: &str, until: &Until) {
        self.message = None;
        let is_v2 = self.agent.is_v2();
        self.update(&shape::tool(is_v2, id, "pending"));
        self.update(&shape::tool(is_v2, id, "in_progress"));
        self.wait(until, false);
        let status = if self.is_cancelled() { shape::stopped(is_v2) } else { "completed" };
        self.update(&shape::tool(is_v2, id, status));
        if self.agent.options.has("drains") && !self.is_cancelled() {
            self.drain();
        }
    }

    /// Asks what the user has said meanwhile.
    fn drain(&self) {
        let answer = self.ask("craft/drainMidTurnQueue", &json!({ "sessionId": self.session }));
        let answer: Value = serde_json::from_str(&answer.unwrap_or_default()).unwrap_or_default();
        for item in answer["items"].as_array().into_iter().flatten() {
            self.agent.drained(&self.session, &item["content"]);
        }
    }

    fn ask_permission(&mut self, id: &str, more: &str) {
        self.message = None;
        let is_v2 = self.agent.is_v2();
        self.update(&shape::tool(is_v2, id, "pending"));
        let params = shape::permission(is_v2, &self.session, id, more);
        let answer = self.ask("session/request_permission", &params);
        let answer: Value = serde_json::from_str(&answer.unwrap_or_default()).unwrap_or_default();
        let outcome = &answer["outcome"];
        let is_allowed = outcome["optionId"] == "yes";
        self.update(&shape::tool(is_v2, id, if is_allowed { "completed" } else { "failed" }));
        let words = ["outcome", "optionId"].map(|member| outcome[member].as_str().unwrap_or_default());
        self.say(format!("{id}: {}", words.join(" ")).trim());
    }

    fn read(&mut self, path: &str) {
        let params = json!({ "sessionId": self.session, "path": path });
        self.serve("read", &["fs", "readTextFile"], "fs/read_text_file", &params, "content");
    }

    fn write(&mut self, path: &str, text: &str) {
        let params = json!({ "sessionId": self.session, "path": path, "content": text });
        self.serve("write", &["fs", "writeTextFile"], "fs/write_text_file", &params, "none");
    }

    fn terminal(&mut self, command: &str) {
        let args = ["-c", command];
        let params = json!({ "sessionId": self.session, "command": "sh", "args": args });
        let Some(created) = self.offered("term", &["terminal"], "terminal/create", &params) else { return };
        let params = json!({ "sessionId": self.session, "terminalId": created["terminalId"] });
        let ask = |method: &str| {
            let answer = self.ask(method, &params).unwrap_or_default();
            serde_json::from_str::<Value>(&answer).unwrap_or_default()
        };
        let exit = ask("terminal/wait_for_exit");
        let output = ask("terminal/output");
        ask("terminal/release");
        let output = output["output"].as_str().unwrap_or("nothing").trim_end();
        self.say(&format!("term: {output} ({})", exit["exitCode"]));
    }

    /// Asks the client for something, and says what member of the answer says.
    fn serve(&mut self, name: &str, offer: &[&str], method: &str, params: &Value, member: &str) {
        if let Some(answer) = self.offered(name, offer, method, params) {
            self.say(&format!("{name}: {}", answer[member].as_str().unwrap_or("done")));
        }
    }

    /// Asks the client for something that it said it can do; says why there is no answer.
    fn offered(&mut self, name: &str, offer: &[&str], method: &str, params: &Value) -> Option<Value> {
        let is_offered = {
            let state = self.agent.state();
            offer.iter().fold(&state.client, |client, member| &client[*member]) == true
        };
        if !is_offered && !self.agent.options.has("bold") {
            self.say(&format!("{name}: not offered"));
            return None;
        }
        match self.ask(method, params) {
            Ok(answer) => serde_json::from_str(&answer).ok(),
            Err(error) => {
                let error: Value = serde_json::from_str(&error).unwrap_or_default();
                self.say(&format!("{name}: error {}", error["code"]));
                None
            }
        }
    }

    /// Asks the client; gives the text of the result, or of the error.
    fn ask(&self, method: &str, params: &Value) -> Result<String, String> {
        let mut state = self.agent.state();
        let number = state.next();
        drop(state);
        let request = json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params });
        self.agent.send(&[shape::text(&request)]);
        loop {
            if let Some(answer) = self.agent.state().answers.remove(&number) {
                return answer;
            }
            if self.is_cancelled() {
                return Err("null".to_owned());
            }
            self.agent.wait(&mut self.agent.state());
        }
    }

    /// Has a form filled in, or a page visited.
    fn form(&mut self, mode: &str) {
        let answer = self.ask("elicitation/create", &shape::elicitation(&self.session, mode));
        if mode == "url" {
            let params = json!({ "elicitationId": shape::PAGE });
            let note = json!({ "jsonrpc": "2.0", "method": "elicitation/complete", "params": params });
            self.agent.send(&[shape::text(&note)]);
        }
        self.say(&format!("form: {}", told(answer)));
    }

    fn extension(&self, is_global: bool) -> Value {
        let mut params =
            json!({ "unknown": { "deep": shape::ODD_MARK }, "_meta": { "own": shape::ODD_MARK } });
        if !is_global {
            params["sessionId"] = json!(self.session);
        }
        params
    }

    fn be_rude(&mut self) {
        let titled = |what: &str| json!(format!("{what} {}", shape::RUDE));
        self.update(&json!({ "sessionUpdate": "session_info_update", "title": titled("title") }));
        let mut tool = shape::tool(self.agent.is_v2(), "rude", "pending");
        tool["title"] = titled("tool");
        self.update(&tool);
        self.say(&format!("said {}", shape::RUDE));
    }

    fn flood(&mut self, count: usize, size: usize) {
        let text = "x".repeat(size);
        let chunk = shape::chunk(self.agent.is_v2(), false, "flood", &text);
        self.repeat(count, &chunk);
    }

    fn updates(&mut self, count: usize, update: &str) {
        let update = serde_json::from_str(update).expect("a script says what it means");
        self.repeat(count, &update);
    }

    fn repeat(&mut self, count: usize, update: &Value) {
        let frame = shape::update(&self.session, update);
        let mut left = count;
        while left > 0 && !self.is_cancelled() {
            let lines = vec![frame.as_str(); left.min(FLOOD)];
            // Not with the state held: nobody may read this, and the agent hears on.
            self.agent.output.send(&lines);
            left -= lines.len();
        }
    }

    fn garbage(&self) {
        self.agent.send(&[
            &b"{\"jsonrpc\": oops"[..],
            b"\xff\xfe{\"jsonrpc\":\"2.0\"}",
            b"",
            b"42",
            b"[]",
            b"a line for people",
        ]);
    }

    fn switch(&self, mode: &str) {
        let mut state = self.agent.state();
        let Ok(session) = state.session(&self.session) else { return };
        mode.clone_into(&mut session.mode);
        let update = shape::mode(self.agent.is_v2(), session);
        drop(state);
        self.update(&update);
    }
}

fn told(answer: Result<String, String>) -> String {
    answer.unwrap_or_else(|error| format!("error {error}"))
}
