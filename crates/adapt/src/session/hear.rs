//! What the agent says, and what it tells of its turn.

use nudge_backend::{AgentQuestion, BackendEvent, REQUEST_PERMISSION, TurnEnd};
use nudge_bridge::{IndexedUpdate, UpdateKind, UpdateSpeaker};
use nudge_peer::{CallError, UnhandledMessage};
use nudge_wire::{Version, inject::ErrorReason};
use tokio::time::Instant;

use super::AdaptedSession;
use crate::{
    SteerTier,
    calls::{AgentAnswer, AnsweredCall},
    prompt_run::SteerOutcome,
    qwen_steers,
    routed::RoutedMessage,
    tool_calls::{ToolCallChange, is_word},
};

impl AdaptedSession {
    /// Takes what the agent says.
    pub(super) fn hear(&mut self, message: RoutedMessage) {
        match message {
            RoutedMessage::Update(update) => self.hear_update(update),
            RoutedMessage::Other(UnhandledMessage::Notification(note)) => {
                self.ready.push_back(BackendEvent::Notification(note.message().clone()));
            }
            RoutedMessage::Other(UnhandledMessage::Request(request)) => {
                if !self.run.is_idle() && &**request.method() == REQUEST_PERMISSION {
                    self.run.heard_activity();
                    let change = request.params().and_then(|params| self.tools.asked_for(params));
                    self.ready.extend(change.map(ToolCallChange::into_event));
                }
                let is_for_steers = &**request.method() == qwen_steers::DRAIN;
                let question = self.questions.ask(self.standing.version, request);
                if is_for_steers {
                    return self.hear_what_goes_in(question);
                }
                self.ready.push_back(BackendEvent::Question(question));
            }
        }
    }

    /// The agent asks what the user has said meanwhile.
    fn hear_what_goes_in(&mut self, question: AgentQuestion) {
        let actions = self.run.asks_what_goes_in();
        if !self.run.is_asked() {
            return self.ask_client_what_goes_in(question);
        }
        if let Some(earlier) = self.qwen_steers.ask(question, Instant::now()) {
            self.questions.answer(earlier, Ok(qwen_steers::messages(&[])));
        }
        self.act(actions);
    }

    fn hear_update(&mut self, update: IndexedUpdate) {
        if update.kind == UpdateKind::StateUpdate && self.standing.version == Version::V2 {
            return self.hear_state(&update);
        }
        if self.standing.tier == SteerTier::Goose
            && let Some(steer) = self.goose_steers.hear(&update)
        {
            self.steer_ends(steer, SteerOutcome::Taken);
        }
        if update.kind.speaker() == UpdateSpeaker::User && self.is_known(&update) {
            return;
        }
        let is_under_way = self.run.is_under_way();
        if is_under_way {
            self.hear_work(&update);
        }
        match &mut self.replay {
            Some(replay) if !is_under_way && !update.kind.is_state() => replay.goes_on(Instant::now()),
            _ => self.show(update),
        }
    }

    /// Whether the agent repeats what the user said, now or in a replay.
    fn is_known(&mut self, update: &IndexedUpdate) -> bool {
        let name = self.run.message_id();
        let is_named = name.is_some() && update.message_id.as_ref() == name;
        is_named || self.replay.is_some() || self.echo.is_repeated(&update.raw)
    }

    /// What an update tells of the agent's work on its prompt.
    fn hear_work(&mut self, update: &IndexedUpdate) {
        if let Some(turn_so_far) = &mut self.turn_so_far {
            turn_so_far.hear(update);
        }
        let change = self.tools.take(update);
        if matches!(change, Some(ToolCallChange::Finished(_))) {
            self.run.heard_tool_result();
        }
        self.ready.extend(change.map(ToolCallChange::into_event));
        if is_word(update) {
            let actions = self.run.heard_word();
            self.act(actions);
        } else if !update.kind.is_state() {
            self.run.heard_activity();
        }
    }

    /// The states of a session are told by its owner; the agent's word for the end of its turn is what counts here.
    fn hear_state(&mut self, update: &IndexedUpdate) {
        let state = update.raw.get(&["state"]).and_then(|state| state.to::<String>().ok());
        let now = Instant::now();
        let actions = match state.as_deref() {
            Some("running") => self.run.says_running(now),
            Some("idle") => self.run.says_idle(TurnEnd::State(update.raw.clone()), now),
            _ => return,
        };
        self.act(actions);
    }

    pub(super) fn hear_answer(&mut self, answered: AnsweredCall) {
        let now = Instant::now();
        if let (AnsweredCall::Prompt(_), Some(prompt)) = (&answered, &self.prompt) {
            prompt.answered();
        }
        let actions = match answered {
            AnsweredCall::Prompt(Ok(result)) if self.standing.version == Version::V2 => {
                let id = result.get(&["messageId"]).and_then(|id| id.to::<String>().ok());
                return self.run.prompt_taken(id.map(Into::into));
            }
            AnsweredCall::Prompt(Ok(result)) => self.run.prompt_ended(TurnEnd::Answered(result), now),
            // What became of the agent is told by its inbox, behind what it has said.
            AnsweredCall::Prompt(Err(CallError::Closed(_))) => return,
            AnsweredCall::Prompt(Err(error)) => self.run.prompt_ended(TurnEnd::Failed(error.into()), now),
            AnsweredCall::Steer(id, answer) if self.standing.tier == SteerTier::Goose => {
                let has_ended = self.run.has_ended();
                if let Some(outcome) = self.goose_steers.answered(id, &answer, has_ended) {
                    self.steer_ends(id, outcome);
                }
                return;
            }
            AnsweredCall::Steer(id, answer) => self.run.steer_answered(id, self.outcome(&answer), now),
        };
        self.act(actions);
        if self.run.has_ended() {
            for id in self.goose_steers.left_over() {
                self.steer_ends(id, SteerOutcome::PromptRequired);
            }
        }
    }

    /// What an agent made of a steer.
    fn outcome(&self, answer: &AgentAnswer) -> SteerOutcome {
        let outcome = match answer {
            Ok(result) => result.get(&["outcome"]).and_then(|outcome| outcome.to::<String>().ok()),
            Err(CallError::Rpc(error))
                if error.get_reason().as_deref() == Some(ErrorReason::NoRunningTurn.as_str()) =>
            {
                return SteerOutcome::TooLate;
            }
            Err(_) => Some("failed".to_owned()),
        };
        match outcome.as_deref() {
            Some("promptRequired") => SteerOutcome::PromptRequired,
            Some("failed" | "rejected") => {
                let agent = self.agent.name();
                tracing::info!(agent, "the agent did not take a steer; it is prompted with it");
                SteerOutcome::Refused
            }
            _ => SteerOutcome::Taken,
        }
    }
}
