//! A session without a disk, an outbox or ids: every input is carried through at once.

use std::collections::BTreeMap;

/// By which method something is said. Prompts of version 1 and `Steering` are of one client, all else of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    PromptV1,
    PromptV2,
    Queue,
    Steer,
    Steering,
}

/// What an agent does in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Did {
    Stream,
    StreamEnd,
    Tool(u8),
    ToolEnd(u8),
    Pause,
    Unpause,
    Ask,
    Break,
    End(&'static str),
}

/// A message, known by its number, which is that of its request too.
#[derive(Debug, Clone)]
struct Said {
    number: usize,
    method: Method,
    is_steer: bool,
    text: String,
}

impl Said {
    fn is_prompt(&self) -> bool {
        matches!(self.method, Method::PromptV1 | Method::PromptV2)
    }
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and all combinations occur")]
struct RunningTurn {
    is_streaming: bool,
    tools: Vec<u8>,
    is_paused: bool,
    is_asking: bool,
    is_cancelled: bool,
    /// The prompt that is answered with its end.
    owner: Option<usize>,
}

impl RunningTurn {
    fn is_open(&self) -> bool {
        self.tools.is_empty() && !self.is_paused && !self.is_asking && !self.is_cancelled
    }
}

/// The reference.
#[derive(Debug, Default)]
pub(super) struct Reference {
    /// Whether the agent takes steers while it works.
    takes: bool,
    turn: Option<RunningTurn>,
    waiting: Vec<Said>,
    accepted: Vec<usize>,
    revoked: Vec<usize>,
    /// What users said, in the order of its delivery, and whether the client of version 1 has shown it itself.
    pub(super) transcript: Vec<(String, bool)>,
    /// What the agent was given, together as it was.
    pub(super) given: Vec<(&'static str, Vec<String>)>,
    /// What became of every request.
    pub(super) answers: BTreeMap<usize, String>,
}

impl Reference {
    /// A session whose agent may take steers while it works.
    pub(super) fn new(takes: bool) -> Self {
        Self { takes, ..Self::default() }
    }

    pub(super) fn is_running(&self) -> bool {
        self.turn.is_some()
    }

    pub(super) fn say(&mut self, number: usize, method: Method) {
        let is_running = self.turn.is_some();
        let answer = match method {
            Method::Steer if !is_running => return self.answer(number, "no_running_turn"),
            Method::Queue | Method::Steer => Some(format!("is {number}")),
            Method::Steering if is_running => Some("injected".to_owned()),
            Method::Steering => Some("startedNewTurn".to_owned()),
            Method::PromptV1 | Method::PromptV2 => None,
        };
        let is_steer = match method {
            Method::PromptV1 | Method::Queue => false,
            Method::PromptV2 | Method::Steer | Method::Steering => is_running,
        };
        self.accepted.push(number);
        self.waiting.push(Said { number, method, is_steer, text: format!("said {number}") });
        if let Some(answer) = answer {
            self.answer(number, &answer);
        }
        self.deliver();
    }

    pub(super) fn revoke(&mut self, request: usize, number: usize) {
        if let Some(at) = self.waiting.iter().position(|said| said.number == number) {
            let said = self.waiting.remove(at);
            self.drop_said(&said);
            self.answer(request, "{}");
        } else if self.revoked.contains(&number) {
            self.answer(request, "{}");
        } else {
            self.too_late(request, number);
        }
    }

    pub(super) fn replace(&mut self, request: usize, number: usize, text: &str) {
        match self.waiting.iter_mut().find(|said| said.number == number) {
            Some(said) => {
                text.clone_into(&mut said.text);
                self.answer(request, &format!("is {number}"));
            }
            None if self.revoked.contains(&number) => self.answer(request, "unknown_message_id"),
            None => self.too_late(request, number),
        }
    }

    /// It was delivered, or there never was one.
    fn too_late(&mut self, request: usize, number: usize) {
        let is_known = self.accepted.contains(&number);
        self.answer(request, if is_known { "already_delivered" } else { "unknown_message_id" });
    }

    pub(super) fn cancel(&mut self) {
        let Some(turn) = self.turn.as_mut().filter(|turn| !turn.is_cancelled) else { return };
        turn.is_cancelled = true;
        let (dropped, kept): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(Said::is_prompt);
        self.waiting = kept;
        for said in &dropped {
            self.drop_said(said);
        }
    }

    /// `$/cancel_request` of a message.
    pub(super) fn cancel_request(&mut self, number: usize) {
        let waits = |said: &Said| said.number == number && said.is_prompt();
        if let Some(at) = self.waiting.iter().position(waits) {
            let said = self.waiting.remove(at);
            self.drop_said(&said);
        } else if self.turn.as_ref().is_some_and(|turn| turn.owner == Some(number)) {
            self.cancel();
        }
    }

    pub(super) fn permit(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.is_asking = false;
        }
        self.deliver();
    }

    pub(super) fn did(&mut self, did: Did) {
        let Some(turn) = &mut self.turn else { return };
        match did {
            Did::Stream => turn.is_streaming = true,
            Did::StreamEnd => turn.is_streaming = false,
            Did::Tool(tool) => turn.tools.push(tool),
            Did::ToolEnd(tool) => turn.tools.retain(|running| *running != tool),
            Did::Pause => turn.is_paused = true,
            Did::Unpause => turn.is_paused = false,
            Did::Ask => turn.is_asking = true,
            Did::Break => {
                turn.is_streaming = false;
                if turn.is_open() {
                    self.steer();
                }
            }
            Did::End(reason) => {
                let owner = turn.owner;
                self.turn = None;
                if let Some(owner) = owner {
                    self.answer(owner, reason);
                }
            }
        }
        self.deliver();
    }

    fn deliver(&mut self) {
        match &self.turn {
            None => self.begin_turn(),
            Some(turn) if self.takes && turn.is_streaming && turn.is_open() => self.steer(),
            Some(_) => {}
        }
    }

    /// All the steers that wait begin a turn, or else the oldest of the others does.
    fn begin_turn(&mut self) {
        let mut messages = self.take_steers();
        if messages.is_empty() && !self.waiting.is_empty() {
            messages.push(self.waiting.remove(0));
        }
        if messages.is_empty() {
            return;
        }
        let owner = messages.iter().find(|said| said.method == Method::PromptV1).map(|said| said.number);
        self.turn = Some(RunningTurn { owner, ..RunningTurn::default() });
        self.give("prompt", messages);
    }

    fn steer(&mut self) {
        let messages = self.take_steers();
        if let Some(turn) = self.turn.as_mut().filter(|_| !messages.is_empty()) {
            turn.is_streaming = false;
            self.give("steer", messages);
        }
    }

    fn take_steers(&mut self) -> Vec<Said> {
        let (steers, kept) = self.waiting.drain(..).partition(|said| said.is_steer);
        self.waiting = kept;
        steers
    }

    fn give(&mut self, how: &'static str, messages: Vec<Said>) {
        for said in &messages {
            let is_shown = matches!(said.method, Method::PromptV1 | Method::Steering);
            self.transcript.push((said.text.clone(), is_shown));
            if said.method == Method::PromptV2 {
                self.answer(said.number, &format!("is {}", said.number));
            }
        }
        self.given.push((how, messages.into_iter().map(|said| said.text).collect()));
    }

    fn drop_said(&mut self, said: &Said) {
        self.revoked.push(said.number);
        match said.method {
            Method::PromptV1 => self.answer(said.number, "cancelled"),
            Method::PromptV2 => self.answer(said.number, "Request cancelled"),
            Method::Queue | Method::Steer | Method::Steering => {}
        }
    }

    fn answer(&mut self, request: usize, answer: &str) {
        let before = self.answers.insert(request, answer.to_owned());
        assert_eq!(before, None, "request {request} is answered twice by the reference");
    }
}
