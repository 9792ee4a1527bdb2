//! An agent that keeps the contract of a backend and nothing more: what it does next is anybody's guess.

use std::collections::VecDeque;

use nudge_backend::{AgentQuestion, BackendEvent, QuestionId, REQUEST_PERMISSION, TurnEnd};
use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_wire::{Error, RawJson, Version};
use serde_json::json;

/// What an agent does, with one tool and one permission request at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Did {
    /// Begins a turn by itself.
    Start,
    Stream,
    StreamEnd,
    Tool,
    ToolEnd,
    Pause,
    Resume,
    Break,
    Ask,
    Withdraw,
    Say,
    End,
    /// Dies: the session hears of it, of the end of its turn, and that it is back.
    Die,
    Lost,
    Failed,
    Back,
}

/// What the agent is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// A turn is decided on, of which the agent does not know yet.
    Starting,
    Busy,
    Streaming,
    AtBreak,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and all combinations occur")]
pub(super) struct AgentTurn {
    pub(super) phase: Phase,
    pub(super) has_tool: bool,
    pub(super) is_paused: bool,
    /// The agent was told to end it.
    pub(super) is_cancelled: bool,
    /// The user has ended it.
    pub(super) is_unwanted: bool,
    /// The stream that runs was cut off.
    pub(super) is_interrupted: bool,
    /// The prompt of version 1 that began it: it is answered at its end.
    pub(super) prompt: Option<u8>,
    /// The agent began it by itself.
    pub(super) is_own: bool,
}

impl AgentTurn {
    pub(super) const fn new(phase: Phase) -> Self {
        Self {
            phase,
            has_tool: false,
            is_paused: false,
            is_cancelled: false,
            is_unwanted: false,
            is_interrupted: false,
            prompt: None,
            is_own: false,
        }
    }

    fn take(&mut self, did: Did) {
        match did {
            Did::Stream => (self.phase, self.is_interrupted) = (Phase::Streaming, false),
            Did::StreamEnd if self.phase == Phase::Streaming => self.phase = Phase::Busy,
            Did::Tool => self.has_tool = true,
            Did::ToolEnd => self.has_tool = false,
            Did::Pause => self.is_paused = true,
            Did::Resume => self.is_paused = false,
            Did::Break => self.phase = Phase::AtBreak,
            _ => {}
        }
    }
}

/// The agent as it is, and as the session has heard of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Agent {
    pub(super) turn: Option<AgentTurn>,
    asks: Option<QuestionId>,
    asked: u64,
    /// How many words of it were heard.
    words: u64,
    /// What the session has not heard of yet.
    pub(super) unheard: VecDeque<Did>,
    /// The turn as the session must see it.
    pub(super) heard: Option<AgentTurn>,
    /// The question that the session has to answer.
    pub(super) question: Option<QuestionId>,
    /// Break-points that the agent waits at to be told to go on.
    pub(super) waits: u8,
    /// Break-points that it does not wait at any more, and may be told so all the same.
    pub(super) gave_up: u8,
}

impl Agent {
    /// Whether it can do this now.
    pub(super) fn can(&self, did: Did) -> bool {
        let Some(turn) = &self.turn else { return matches!(did, Did::Start | Did::Die | Did::Say) };
        let is_working = turn.phase != Phase::AtBreak;
        match did {
            Did::Stream => turn.phase == Phase::Busy && !turn.is_cancelled,
            Did::Tool => is_working && !turn.has_tool && !turn.is_cancelled,
            Did::ToolEnd => turn.has_tool,
            Did::StreamEnd | Did::Pause => turn.phase == Phase::Streaming && !turn.is_paused,
            Did::Resume => turn.is_paused,
            Did::Break => turn.phase == Phase::Busy,
            Did::Ask => self.asks.is_none() && self.question.is_none() && !turn.is_cancelled,
            Did::Withdraw => self.asks.is_some(),
            Did::End => is_working || turn.is_cancelled,
            Did::Die | Did::Say => true,
            Did::Start | Did::Lost | Did::Failed | Did::Back => false,
        }
    }

    /// Does it; the session hears of it later.
    pub(super) fn does(&mut self, did: Did) {
        match did {
            Did::Start => self.turn = Some(AgentTurn { is_own: true, ..AgentTurn::new(Phase::Busy) }),
            Did::Ask => {
                self.asked += 1;
                self.asks = Some(QuestionId(self.asked));
            }
            Did::Withdraw => self.asks = None,
            Did::End => (self.turn, self.asks) = (None, None),
            Did::Die => return self.dies(),
            _ => {}
        }
        if let Some(turn) = &mut self.turn {
            turn.take(did);
        }
        self.unheard.push_back(did);
    }

    fn dies(&mut self) {
        let failed = self.turn.take().map(|_| Did::Failed);
        self.asks = None;
        self.unheard.extend([Did::Lost].into_iter().chain(failed).chain([Did::Back]));
    }

    /// The session hears of the oldest thing it did.
    pub(super) fn heard(&mut self) -> Option<BackendEvent> {
        let did = self.unheard.pop_front()?;
        match did {
            Did::Start => drop(self.heard.get_or_insert(AgentTurn::new(Phase::Busy))),
            Did::Ask => self.question = Some(QuestionId(self.asked)),
            Did::Break => self.waits += 1,
            Did::Say => self.words += 1,
            Did::End | Did::Failed => {
                // A turn that it does not know of yet has not ended.
                self.heard.take_if(|turn| turn.phase != Phase::Starting);
                self.gives_up();
            }
            Did::Lost => {
                self.question = None;
                self.gives_up();
            }
            _ => {}
        }
        let event = self.event(did);
        if did == Did::Withdraw {
            self.question = None;
        }
        if let Some(turn) = self.heard.as_mut().filter(|turn| turn.phase != Phase::Starting) {
            turn.take(did);
        }
        event
    }

    fn gives_up(&mut self) {
        self.gave_up += std::mem::take(&mut self.waits);
    }

    fn event(&self, did: Did) -> Option<BackendEvent> {
        Some(match did {
            Did::Start => BackendEvent::TurnStarted,
            Did::Stream => BackendEvent::StreamStarted,
            Did::StreamEnd => BackendEvent::StreamFinished,
            Did::Tool => BackendEvent::ToolStarted("t".into()),
            Did::ToolEnd => BackendEvent::ToolFinished("t".into()),
            Did::Pause => BackendEvent::Paused,
            Did::Resume => BackendEvent::Resumed,
            Did::Break => BackendEvent::BreakPoint,
            Did::Ask => BackendEvent::Question(question(self.question?)),
            Did::Withdraw => BackendEvent::QuestionWithdrawn(QuestionId(self.asked)),
            Did::Say => BackendEvent::Update(word(self.words)),
            Did::End => BackendEvent::TurnEnded(TurnEnd::stopped("end_turn")),
            Did::Failed => BackendEvent::TurnEnded(TurnEnd::Failed(Error::internal("gone"))),
            Did::Lost => BackendEvent::Lost(Error::internal("gone")),
            Did::Back => BackendEvent::Back { id: "s".into(), is_recap: false, was_lost: true },
            Did::Die => return None,
        })
    }

    /// What it does cannot be kept: the session ends its turn, and forgets one that is not begun.
    pub(super) fn abandoned(&mut self) {
        self.heard.take_if(|turn| turn.phase == Phase::Starting);
        if let Some(turn) = &mut self.heard {
            // Who waits for its end is told that there is none.
            (turn.is_unwanted, turn.prompt) = (true, None);
        }
    }

    /// The session answers a question; whether it was open.
    pub(super) fn answered(&mut self, id: QuestionId) -> bool {
        self.asks.take_if(|asks| *asks == id);
        self.question.take_if(|question| *question == id).is_some()
    }

    /// The session lets it go on from a break-point; whether it stood or had stood at one.
    pub(super) fn goes_on(&mut self) -> bool {
        for turn in self.turn.iter_mut().chain(&mut self.heard) {
            if turn.phase == Phase::AtBreak {
                turn.phase = Phase::Busy;
            }
        }
        let owed = if self.waits > 0 { &mut self.waits } else { &mut self.gave_up };
        let was_owed = *owed > 0;
        *owed = owed.saturating_sub(1);
        was_owed
    }
}

fn question(id: QuestionId) -> AgentQuestion {
    let params = RawJson::written("{\"toolCall\":{\"toolCallId\":\"t\"}}");
    AgentQuestion { id, version: Version::V1, method: REQUEST_PERMISSION.into(), params }
}

fn word(number: u64) -> IndexedUpdate {
    let kind = UpdateKind::AgentMessageChunk;
    let raw = json!({ "sessionUpdate": kind.name(), "messageId": "a", "content": number });
    IndexedUpdate::new(kind, RawJson::of(&raw).expect("it is plain data")).of_message("a")
}
