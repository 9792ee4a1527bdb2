//! Tests as scripts: one input a line, and after `->` what comes of it.

use std::collections::BTreeMap;

use nudge_backend::QuestionId;
use nudge_mailbox::{ClientId, MessageId};
use nudge_session::{AskId, Moment, RequestId, SessionCommit, SessionEffect, SessionStep, StoreOperation};
use nudge_wire::{Error, RawJson};

use super::{tell, words};
use crate::driver::{Driver, plain_start};

/// Runs a script and compares every line. Its first line says what is given: how the agent is steered, who is there, and
/// by `turn` that the first of them has prompted with `a` and the agent is at it.
#[track_caller]
pub(crate) fn check(script: &str) {
    let lines = unfolded(script);
    let mut play = Play::new(lines.first().map_or("", |line| line.as_str()));
    let inputs = lines.iter().map(|line| line.split("->").next().unwrap_or_default().trim());
    let told = inputs.enumerate().map(|(at, input)| {
        let told = if at == 0 { Vec::new() } else { play.line(input) };
        tidy(&format!("{input} -> {}", told.join(", ")))
    });
    let actual: Vec<_> = told.collect();
    let expected: Vec<_> = lines.iter().map(|line| tidy(line)).collect();
    assert_eq!(actual, expected, "\n=====\n{}\n=====\n", actual.join("\n"));
}

/// One line for each input: what follows a comma or stands in brackets goes on.
fn unfolded(script: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let is_open = |last: &str| last.matches('(').count() > last.matches(')').count();
        match lines.last_mut().filter(|last| last.ends_with(',') || is_open(last)) {
            Some(last) => {
                last.push(' ');
                last.push_str(line);
            }
            None => lines.push(line.to_owned()),
        }
    }
    lines
}

/// A line with single spaces, and without an arrow that leads to nothing.
fn tidy(line: &str) -> String {
    let words: Vec<_> = line.split_whitespace().collect();
    words.join(" ").trim_end_matches(" ->").to_owned()
}

/// A driver, and the names that a script has for what is in it.
pub(super) struct Play {
    pub(super) driver: Driver,
    /// Messages by what they said first.
    pub(super) messages: Vec<(MessageId, String)>,
    pub(super) requests: Vec<String>,
    pub(super) questions: Vec<String>,
    pub(super) asks: BTreeMap<String, AskId>,
}

impl Play {
    fn new(given: &str) -> Self {
        let given: Vec<_> = given.split_whitespace().collect();
        assert_eq!(given.first(), Some(&"given"), "a script begins with what is given");
        let (method, given) = words::steer_method(&given[1..]);
        let mut start = plain_start(method);
        let clients: Vec<_> = given.iter().filter(|word| !words::set_up(&mut start, word)).collect();
        let (messages, requests, questions) = (Vec::new(), Vec::new(), Vec::new());
        let driver = Driver::new(start);
        let mut play = Self { driver, messages, requests, questions, asks: BTreeMap::new() };
        for client in clients.iter().filter(|word| **word != &"turn") {
            play.line(&format!("{client} joins new"));
        }
        if clients.contains(&&"turn") {
            play.line(&format!("{} prompts a", clients[0]));
            play.line("disk");
        }
        play
    }

    /// What comes of one line; several inputs of a line, parted by `+`, share a step.
    fn line(&mut self, line: &str) -> Vec<String> {
        let words: Vec<_> = line.split_whitespace().collect();
        match words[..] {
            ["disk", ..] if !self.driver.is_writing() => vec!["nothing is under way".to_owned()],
            ["disk"] => {
                let step = self.driver.land();
                self.tell(&step)
            }
            ["disk", "full", ref written @ ..] => {
                let written = written.iter().map(|word| *word == "written").collect();
                let step = self.driver.fail(Error::internal("no room"), true, written);
                self.tell(&step)
            }
            ["disk", "broken"] => {
                let step = self.driver.fail(Error::internal("broken"), false, Vec::new());
                self.tell(&step)
            }
            ["recover"] => {
                let (commit, step) = self.driver.recover();
                [vec![self.tell_commit(&commit)], self.tell(&step)].concat()
            }
            ["crash"] => {
                let operations = self.driver.crash();
                let commit = SessionCommit { operations, is_durable: true, at: 0 };
                Vec::from_iter((!commit.operations.is_empty()).then(|| self.tell_commit(&commit)))
            }
            ["wait", time] => {
                let seconds = time.trim_end_matches('s').parse().expect("a number of seconds");
                let step = self.driver.wait(std::time::Duration::from_secs(seconds));
                self.tell(&step)
            }
            ["many", count, ref how @ ..] => {
                self.many(count.parse().expect("a number"), how.contains(&"landed"));
                Vec::new()
            }
            ["queue", count] => {
                self.queue(count.parse().expect("a number"));
                Vec::new()
            }
            ["long", size, unit, ref what @ ..] => {
                self.long(words::bytes(size, unit), what);
                Vec::new()
            }
            ["measure", ..] => vec![self.measure(line.trim_start_matches("measure "))],
            ["forget", "before", seq] => {
                self.driver.core.forget_entries(seq.parse().expect("a number"));
                Vec::new()
            }
            [question] if question.ends_with('?') => vec![self.look(question)],
            _ => {
                let inputs = line.split('+').map(|input| words::input(self, input.trim()));
                let inputs: Vec<_> = inputs.collect();
                let step = self.driver.step_of(inputs);
                self.tell(&step)
            }
        }
    }

    /// The agent says so many words, each in a step of its own.
    fn many(&mut self, count: usize, is_landed: bool) {
        for _ in 0..count {
            let says = words::input(self, "says word");
            self.driver.step(says);
            if is_landed {
                self.driver.land();
            }
        }
    }

    /// So many messages wait, each on disk.
    fn queue(&mut self, count: usize) {
        for _ in 0..count {
            let queues = words::input(self, "ann queues more");
            self.driver.step(queues);
            self.driver.land();
        }
    }

    /// The agent says something of which one part is so long.
    fn long(&mut self, bytes: usize, what: &[&str]) {
        let long = "x".repeat(bytes);
        let input = match what {
            [] => format!("says {long}"),
            ["call-id"] => format!("calls {long}"),
            ["message-id"] => format!("says hi of={long}"),
            ["notification"] => format!("notifies {long}"),
            _ => panic!("nothing has such a part: {what:?}"),
        };
        let input = words::input(self, &input);
        self.driver.step(input);
    }

    /// From which length on a step with these inputs is to be finished before more of the agent is heard.
    fn measure(&mut self, inputs: &str) -> String {
        let mut core = self.driver.core.clone();
        for input in inputs.split('+') {
            core.handle(words::input(self, input.trim()), Moment::default());
        }
        if core.wants_finish(usize::MAX) {
            return "at once".to_owned();
        }
        let longest = (0..1024).rev().find(|bytes| core.wants_finish(*bytes));
        longest.map_or("never".to_owned(), |bytes| format!("{bytes} bytes"))
    }

    /// How things stand.
    fn look(&self, question: &str) -> String {
        let core = &self.driver.core;
        let heard = |is_heard: bool| if is_heard { "yes" } else { "no" }.to_owned();
        if let Some(name) = question.strip_prefix("knows-") {
            let at = CLIENTS.iter().position(|known| *known == name.trim_end_matches('?'));
            return heard(core.knows_client(ClientId(at.expect("a client") as u64)));
        }
        match question {
            "state?" => format!("{:?}", core.state()),
            "pending?" => tell::pending(self, core.pending_on_disk()),
            "unanswered?" => {
                let names = self.driver.unanswered().map(|request| self.request(request));
                names.collect::<Vec<_>>().join(" ")
            }
            "asks?" => {
                let names = core.open_asks().into_iter().map(|ask| tell::name_in(&ask.params));
                names.collect::<Vec<_>>().join(" ")
            }
            "shown?" => core.shown().to_string(),
            "hears-agent?" => heard(core.hears_agent()),
            "hears-clients?" => heard(core.hears_clients()),
            "deadline?" => core.deadline().map_or("none".to_owned(), |at| format!("{}s", at.as_secs())),
            other => panic!("no such question: {other}"),
        }
    }

    fn tell(&mut self, step: &SessionStep) -> Vec<String> {
        let commits: Vec<_> = step.commits.iter().map(|commit| self.tell_commit(commit)).collect();
        for effect in &step.effects {
            if let SessionEffect::Ask { ask, question, .. } = effect {
                self.asks.insert(tell::name_in(&question.params), *ask);
            }
        }
        // What waits is not told in scripts: it is what `pending?` shows.
        let (pending, rest): (Vec<_>, Vec<_>) =
            step.effects.iter().partition(|effect| matches!(effect, SessionEffect::TellPending(_)));
        if let Some(SessionEffect::TellPending(pending)) = pending.last() {
            assert_eq!(pending, self.driver.core.pending_on_disk(), "clients are told what waits");
        }
        let effects = rest.into_iter().map(|effect| tell::effect(self, effect));
        commits.into_iter().chain(effects).collect()
    }

    fn tell_commit(&mut self, commit: &SessionCommit) -> String {
        for operation in &commit.operations {
            if let StoreOperation::Input(input) = operation {
                self.name_message(&input.change);
            }
        }
        let told: Vec<_> = commit.operations.iter().map(|it| tell::operation(self, it)).collect();
        format!("{}({})", if commit.is_durable { "save" } else { "note" }, told.join(" "))
    }

    fn name_message(&mut self, change: &nudge_mailbox::MailboxChange<nudge_session::InputContent>) {
        if let nudge_mailbox::MailboxChange::Added(message) = change {
            self.messages.push((message.id.clone(), tell::text_of(&message.content.content)));
        }
    }

    /// Names a request that is made.
    pub(super) fn new_request(&mut self, name: &str) -> RequestId {
        self.requests.push(name.to_owned());
        RequestId(self.requests.len() as u64 - 1)
    }

    pub(super) fn new_question(&mut self, name: &str) -> QuestionId {
        self.questions.push(name.to_owned());
        QuestionId(self.questions.len() as u64 - 1)
    }

    pub(super) fn request(&self, id: RequestId) -> String {
        self.requests[usize::try_from(id.0).expect("a small number")].clone()
    }

    pub(super) fn question(&self, id: QuestionId) -> String {
        self.questions[usize::try_from(id.0).expect("a small number")].clone()
    }

    /// The last message that said this first. One that nobody has said is named by itself.
    pub(super) fn message_id(&self, name: &str) -> String {
        let known = self.messages.iter().rev().find(|(_, known)| known == name);
        known.map_or(name, |(id, _)| id).to_owned()
    }

    pub(super) fn message(&self, id: &str) -> String {
        let known = self.messages.iter().find(|(known, _)| **known == *id);
        known.map_or(id, |(_, name)| name).to_owned()
    }
}

/// What users say, and what is JSON for short.
pub(super) fn json(value: &serde_json::Value) -> RawJson {
    RawJson::of(value).expect("plain data with string keys is JSON")
}

/// The clients of all scripts, by name.
pub(super) const CLIENTS: [&str; 6] = ["former", "ann", "bob", "cat", "dan", "eve"];

pub(super) fn client_name(id: ClientId) -> &'static str {
    CLIENTS[usize::try_from(id.0).expect("a small number")]
}
