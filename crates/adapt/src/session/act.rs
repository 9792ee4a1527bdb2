//! What is done towards the agent and the session's owner, one action at a time.

use nudge_backend::{AgentQuestion, BackendEvent, TurnEnd, UserMessage};
use nudge_wire::RawJson;
use tokio::time::Instant;

use super::AdaptedSession;
use crate::{
    SteerTier,
    calls::OpenCalls,
    goose_steers,
    prompt_run::{PromptAfter, RunAction, SteerId, SteerOutcome},
    qwen_steers, recap, say,
    turn_so_far::TurnSoFar,
};

impl AdaptedSession {
    /// Does what the state of the prompt asks for, in order.
    pub(super) fn act(&mut self, actions: Vec<RunAction>) {
        for action in actions {
            match action {
                RunAction::SendPrompt { messages, after } => self.send_prompt(&messages, after),
                RunAction::SendSteer(id, message) => self.send_steer(id, &message),
                RunAction::AnswerAsked(steers) => self.answer_asked(&steers),
                RunAction::SendCancel => self.send_cancel(),
                RunAction::CloseConnection => self.close_connection(),
                RunAction::ReportTurnStarted => self.ready.push_back(BackendEvent::TurnStarted),
                RunAction::ReportStream => self.ready.push_back(BackendEvent::StreamStarted),
                RunAction::EndTools => self.end_tools(),
                RunAction::ReportBreakPoint => self.ready.push_back(BackendEvent::BreakPoint),
                RunAction::EndTurn(end) => self.end_turn(end),
            }
        }
    }

    /// The agent is there, and has nothing more to say of the past.
    pub(super) fn release(&mut self) {
        let actions = self.run.release(Instant::now());
        self.act(actions);
    }

    fn send_prompt(&mut self, messages: &[UserMessage], after: PromptAfter) {
        let Some(link) = &self.link else { return };
        let version = link.running.init.version;
        let recap = self.untold_recap.take().map(|conversation| recap::recap_prompt(&conversation, messages));
        let is_cut_off = after == PromptAfter::CutOff;
        let recap = recap.or_else(|| self.turn_so_far.as_ref().filter(|_| is_cut_off).map(TurnSoFar::tell));
        if link.running.forgets {
            self.turn_so_far.get_or_insert_default().ask(messages);
        }
        self.echo.note_text(recap.as_deref().unwrap_or_default());
        for message in messages {
            self.echo.note_prompt(&message.content);
        }
        let params = say::prompt(&self.id, version, recap, messages);
        let (asked, noted) = link
            .running
            .routes
            .requests
            .send(self.purpose(), || link.running.cx.request_raw("session/prompt", Some(&params)));
        self.calls.prompt(asked.in_order());
        self.prompt = Some(noted);
        self.ready.push_back(BackendEvent::StreamStarted);
    }

    fn send_steer(&mut self, id: SteerId, message: &UserMessage) {
        let Some(link) = &self.link else { return };
        if link.running.tier == SteerTier::Goose {
            return self.send_goose_steer(id, message);
        }
        self.echo.note_prompt(&message.content);
        let (method, params) = say::steer(link.running.tier, &self.id, &message.content);
        self.calls.steer(id, link.running.request_for(Some(self.purpose()), method, &params));
    }

    fn send_goose_steer(&mut self, id: SteerId, message: &UserMessage) {
        let Some(link) = &self.link else { return };
        let session = RawJson::of(&*self.id).expect("a string is JSON");
        match self.goose_steers.params(&session, &message.content) {
            Some(params) => {
                self.echo.note_prompt(&message.content);
                let purpose = Some(self.purpose());
                self.calls.steer(id, link.running.request_for(purpose, goose_steers::STEER, &params));
            }
            // It has not said what it runs: it is cut off.
            None => self.steer_ends(id, SteerOutcome::Refused),
        }
    }

    /// Tells the agent, which has asked, what goes in.
    fn answer_asked(&mut self, steers: &[(SteerId, UserMessage)]) {
        let asked = self.qwen_steers.take(Instant::now());
        let asked = asked.filter(|(question, _)| self.questions.is_open(question.id));
        let outcome = match asked {
            Some((question, _)) if steers.is_empty() => return self.ask_client_what_goes_in(question),
            Some((question, true)) => {
                let contents: Vec<_> = steers.iter().map(|(_, message)| &message.content).collect();
                self.questions.answer(question.id, Ok(qwen_steers::messages(&contents)));
                SteerOutcome::Taken
            }
            Some((question, false)) => {
                self.questions.answer(question.id, Ok(qwen_steers::messages(&[])));
                SteerOutcome::Refused
            }
            None => SteerOutcome::Refused,
        };
        for (id, _) in steers {
            self.steer_ends(*id, outcome);
        }
    }

    /// A client of that agent's own may keep messages itself.
    pub(super) fn ask_client_what_goes_in(&mut self, question: AgentQuestion) {
        if self.qwen_steers.passes(question.id) {
            self.ready.push_back(BackendEvent::Question(question));
        } else {
            self.questions.answer(question.id, Ok(qwen_steers::messages(&[])));
        }
    }

    /// What became of a steer is known.
    pub(super) fn steer_ends(&mut self, id: SteerId, outcome: SteerOutcome) {
        let actions = self.run.steer_answered(id, outcome, Instant::now());
        self.act(actions);
    }

    fn send_cancel(&mut self) {
        let Some(link) = &self.link else { return };
        let id = RawJson::of(&*self.id).expect("a string is JSON");
        // Ahead of the answers that a cancel gives to open questions.
        link.running.cx.notify_now("session/cancel", Some(&RawJson::object(&[("sessionId", &id)])));
    }

    fn close_connection(&mut self) {
        tracing::error!(agent = self.agent.name(), "the agent does not stop; it is ended");
        if let Some(link) = &self.link {
            link.running.cx.close();
        }
    }

    fn end_tools(&mut self) {
        self.ready.extend(self.tools.end().into_iter().map(BackendEvent::ToolFinished));
    }

    fn end_turn(&mut self, end: TurnEnd) {
        self.calls = OpenCalls::default();
        self.goose_steers.left_over();
        if let Some((question, _)) = self.qwen_steers.take(Instant::now()) {
            self.questions.answer(question.id, Ok(qwen_steers::messages(&[])));
        }
        self.prompt = None;
        self.turn_so_far = None;
        self.replay = None;
        self.ready.push_back(BackendEvent::TurnEnded(end));
    }
}
