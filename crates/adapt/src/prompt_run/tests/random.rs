//! Whatever happens, and in whatever order: no message is lost, and every turn ends once.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use nudge_backend::{TurnEnd, UserMessage};
use nudge_wire::Error;
use proptest::prelude::*;
use tokio::time::Instant;

use super::{
    super::{AgentReadiness, PromptRun, RunAction, SteerId, SteerOutcome, stage::PromptStage},
    bench::{PATIENCE, message},
};

/// What may happen, if it can.
#[derive(Debug, Clone, Copy)]
enum Wish {
    Begin,
    Steer,
    GoOn { with_message: bool },
    Interrupt,
    Cancel,
    Activity,
    ToolResult,
    Asks,
    Word,
    Running,
    Idle,
    Taken,
    Ended { is_cancelled: bool },
    Failed,
    SteerAnswered(SteerOutcome),
    Timeout,
    Lost,
    Back,
    NotRestored,
}

fn wish() -> impl Strategy<Value = Wish> {
    let outcome = prop_oneof![
        Just(SteerOutcome::Taken),
        Just(SteerOutcome::PromptRequired),
        Just(SteerOutcome::Refused)
    ];
    prop_oneof![
        4 => Just(Wish::Begin),
        3 => Just(Wish::Steer),
        4 => any::<bool>().prop_map(|with_message| Wish::GoOn { with_message }),
        2 => Just(Wish::Interrupt),
        1 => Just(Wish::Cancel),
        1 => Just(Wish::Activity),
        1 => Just(Wish::ToolResult),
        2 => Just(Wish::Asks),
        2 => Just(Wish::Word),
        2 => Just(Wish::Running),
        2 => Just(Wish::Idle),
        1 => Just(Wish::Taken),
        3 => any::<bool>().prop_map(|is_cancelled| Wish::Ended { is_cancelled }),
        1 => Just(Wish::Failed),
        3 => outcome.prop_map(Wish::SteerAnswered),
        3 => Just(Wish::Timeout),
        1 => Just(Wish::Lost),
        3 => Just(Wish::Back),
        1 => Just(Wish::NotRestored),
    ]
}

/// Why a cancel was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    Steer,
    User,
}

/// A run, and what its owner and its agent can know.
struct Witness {
    run: PromptRun,
    now: Instant,
    is_agent_there: bool,
    /// A turn was begun by the owner or by the agent, and has not ended.
    turn: Option<TurnBy>,
    is_agent_working: bool,
    /// A break-point was reported, and its owner has not gone on.
    is_break_open: bool,
    cancels: BTreeSet<Reason>,
    given: u32,
    in_agents_hands: BTreeSet<Arc<str>>,
    steers: Vec<(SteerId, UserMessage)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnBy {
    Owner,
    Agent,
}

impl Witness {
    fn new() -> Self {
        Self {
            run: PromptRun::new(PATIENCE),
            now: Instant::now(),
            is_agent_there: true,
            turn: None,
            is_agent_working: false,
            is_break_open: false,
            cancels: BTreeSet::new(),
            given: 0,
            in_agents_hands: BTreeSet::new(),
            steers: Vec::new(),
        }
    }

    fn say(&mut self) -> Vec<UserMessage> {
        self.given += 1;
        vec![message(&self.given.to_string())]
    }

    /// Lets it happen if it can, and holds what comes of it to what has to hold.
    fn happen(&mut self, wish: Wish) {
        let now = self.now;
        let actions = match wish {
            Wish::Begin if self.turn != Some(TurnBy::Owner) => self.begin(),
            Wish::Steer => {
                let messages = self.say();
                self.run.steer(messages, now)
            }
            Wish::GoOn { with_message } => {
                let messages = if with_message { self.say() } else { Vec::new() };
                self.is_break_open = false;
                self.run.go_on(messages, now)
            }
            Wish::Interrupt => self.run.interrupt(now),
            Wish::Cancel => self.run.cancel(now),
            Wish::Timeout => self.run.handle_timeout(now),
            Wish::Lost if self.is_agent_there => self.lose(),
            Wish::Back if !self.is_agent_there => {
                self.is_agent_there = true;
                self.run.release(now)
            }
            Wish::NotRestored if !self.is_agent_there => {
                self.run.not_restored(Error::internal("away")).unwrap_or_default()
            }
            _ if self.is_agent_there => self.agent(wish),
            _ => Vec::new(),
        };
        let is_users = match wish {
            Wish::Cancel => true,
            Wish::Running => actions.contains(&RunAction::SendCancel),
            _ => false,
        };
        let reason = if is_users { Reason::User } else { Reason::Steer };
        self.see(&actions, reason);
        self.check_messages();
    }

    fn begin(&mut self) -> Vec<RunAction> {
        let messages = self.say();
        let readiness = if self.is_agent_there { AgentReadiness::Ready } else { AgentReadiness::NotYet };
        self.turn = Some(TurnBy::Owner);
        // What the agent began by itself is told from the prompt by what it says.
        self.is_agent_working = false;
        self.is_break_open = false;
        self.run.begin(messages, readiness, self.now)
    }

    fn lose(&mut self) -> Vec<RunAction> {
        self.is_agent_there = false;
        self.is_agent_working = false;
        self.is_break_open = false;
        self.steers.clear();
        self.run.lost(Error::internal("gone"), self.now)
    }

    fn agent(&mut self, wish: Wish) -> Vec<RunAction> {
        let now = self.now;
        match wish {
            Wish::Activity => self.run.heard_activity(),
            Wish::ToolResult => self.run.heard_tool_result(),
            Wish::Asks if self.is_agent_working => return self.run.asks_what_goes_in(),
            Wish::Word => return self.run.heard_word(),
            Wish::Taken => self.run.prompt_taken(Some("id".into())),
            Wish::Running => {
                let actions = self.run.says_running(now);
                if actions.contains(&RunAction::ReportStream) {
                    self.is_agent_working = true;
                    self.cancels.clear();
                }
                return actions;
            }
            Wish::Idle => {
                let actions = self.run.says_idle(TurnEnd::stopped("end_turn"), now);
                self.is_agent_working &= actions.is_empty();
                return actions;
            }
            Wish::Ended { is_cancelled } if self.is_agent_working => {
                self.is_agent_working = false;
                let reason = if is_cancelled { "cancelled" } else { "end_turn" };
                return self.run.prompt_ended(TurnEnd::stopped(reason), now);
            }
            Wish::Failed if self.is_agent_working => {
                self.is_agent_working = false;
                return self.run.prompt_ended(TurnEnd::Failed(Error::internal("failed")), now);
            }
            Wish::SteerAnswered(outcome) if !self.steers.is_empty() => {
                let (id, message) = self.steers.remove(0);
                if outcome == SteerOutcome::Taken {
                    self.in_agents_hands.insert(message.id);
                }
                return self.run.steer_answered(id, outcome, now);
            }
            _ => {}
        }
        Vec::new()
    }

    fn see(&mut self, actions: &[RunAction], reason: Reason) {
        for action in actions {
            match action {
                RunAction::SendPrompt { messages, .. } => {
                    assert!(!self.is_agent_working, "a prompt while one runs");
                    assert!(self.is_agent_there, "a prompt to nobody");
                    assert!(self.turn.is_some(), "a prompt between turns");
                    self.is_agent_working = true;
                    self.cancels.clear();
                    let names = messages.iter().map(|message| Arc::clone(&message.id));
                    self.in_agents_hands.extend(names.filter(|name| !name.is_empty()));
                }
                RunAction::SendSteer(id, message) => self.steers.push((*id, message.clone())),
                RunAction::AnswerAsked(steers) => {
                    assert!(self.is_agent_working, "an answer to nobody");
                    self.steers.extend(steers.iter().cloned());
                }
                RunAction::SendCancel => {
                    assert!(self.is_agent_working, "a cancel of nothing");
                    assert!(self.cancels.insert(reason), "a second cancel for the same reason");
                }
                RunAction::ReportTurnStarted => {
                    assert_eq!(self.turn.replace(TurnBy::Agent), None, "a turn within a turn");
                }
                RunAction::EndTurn(_) => {
                    assert!(self.turn.take().is_some(), "a turn ended twice");
                    assert!(self.run.is_idle(), "a turn that has ended goes on");
                    self.steers.clear();
                }
                RunAction::ReportBreakPoint => {
                    assert!(!self.is_agent_working || self.run.is_asked(), "a break-point of a stream");
                    assert!(!self.is_break_open, "a break-point at a break-point");
                    self.is_break_open = true;
                }
                RunAction::CloseConnection => assert!(self.is_agent_working, "it does nothing"),
                RunAction::ReportStream | RunAction::EndTools => {}
            }
        }
        assert_eq!(self.turn.is_none(), self.run.is_idle());
    }

    /// Every message is in one place: here, or in the agent's hands.
    fn check_messages(&self) {
        let PromptRun { stage, undelivered, .. } = &self.run;
        let (here, steers): (Vec<&UserMessage>, Vec<_>) = match stage {
            PromptStage::Idle => (Vec::new(), Vec::new()),
            PromptStage::Held(held) => (held.messages.iter().collect(), Vec::new()),
            PromptStage::Working(work, _) | PromptStage::Ended(work, _) => {
                (work.next_prompt.iter().collect(), work.steers.iter().map(|(_, message)| message).collect())
            }
        };
        let kept: Vec<_> = undelivered.iter().chain(here).chain(steers).map(|message| &*message.id).collect();
        for number in 1..=self.given {
            let name = number.to_string();
            let times = kept.iter().filter(|kept| **kept == name).count();
            assert!(times <= 1, "message {name} is in {times} places");
            assert!(times == 1 || self.in_agents_hands.contains(&*name), "message {name} is lost");
        }
    }

    /// The user cancels, the agent does as it is told, and its owner too.
    fn end(&mut self) {
        self.happen(Wish::Back);
        self.happen(Wish::Cancel);
        while !self.steers.is_empty() {
            self.happen(Wish::SteerAnswered(SteerOutcome::PromptRequired));
        }
        self.happen(Wish::Ended { is_cancelled: true });
        self.happen(Wish::GoOn { with_message: false });
        assert_eq!(self.turn, None, "a cancelled turn goes on: {:?}", self.run);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_message_is_lost_and_every_turn_ends_once(
        wishes in prop::collection::vec((wish(), 0_u64..3000), 1..80),
    ) {
        let mut witness = Witness::new();
        for (wish, pause) in wishes {
            witness.now += Duration::from_millis(pause);
            witness.happen(wish);
        }
        witness.end();
        witness.happen(Wish::Begin);
        prop_assert_eq!(witness.run.undelivered.len(), 0);
        let handed: BTreeSet<_> = (1..=witness.given).map(|number| Arc::from(number.to_string())).collect();
        prop_assert_eq!(&witness.in_agents_hands, &handed, "the next prompt takes all that was left");
    }
}
