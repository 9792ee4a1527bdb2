//! A session of another agent as a backend.

use nudge_backend::{
    AgentQuestion, Backend, BackendEvent, BackendFuture, BackendParting, OptionChange, OptionPlan,
    PassThrough, QuestionAnswer, QuestionId, SteerMethod, UserMessage,
};
use nudge_bridge::{IndexedUpdate, MethodCall};
use nudge_peer::PassedMessage;
use nudge_wire::{
    ClientContext, Environment, Error, RawJson, RequestOrigin, Version, caps::ElicitationModes,
};
use tokio::time::Instant;

use super::AdaptedSession;
use crate::{SteerTier, calls::OpenCalls, open_requests::RequestPurpose, prompt_run::AgentReadiness};

impl Backend for AdaptedSession {
    fn next(&mut self) -> BackendFuture<'_, Option<BackendEvent>> {
        Box::pin(async { Some(self.next_event().await) })
    }

    fn try_next(&mut self) -> Option<BackendEvent> {
        while self.ready.is_empty() {
            let incoming = self.link.as_mut()?.inbox.try_recv().ok()?;
            self.hear(incoming.message);
        }
        self.ready.pop_front()
    }

    /// The environment is that of the agent's process.
    fn prompt(&mut self, messages: Vec<UserMessage>, client: ClientContext) {
        self.prompter = client.connection;
        let now = Instant::now();
        self.go_where_it_runs(&client);
        let may_replay = self.replay.is_some_and(|replay| now < replay.over_at());
        let is_ready = self.link.is_some() && !may_replay;
        let readiness = if is_ready { AgentReadiness::Ready } else { AgentReadiness::NotYet };
        self.calls = OpenCalls::default();
        self.turn_so_far = None;
        // What was not heard of a turn that the agent had by itself is not about this one.
        self.ready.retain(|event| !event.is_of_turn());
        let actions = self.run.begin(messages, readiness, now);
        self.act(actions);
        if self.link.is_none() {
            self.begin_taking_up();
        }
    }

    fn steer(&mut self, messages: Vec<UserMessage>) {
        let actions = self.run.steer(messages, Instant::now());
        self.act(actions);
    }

    fn go_on(&mut self, messages: Vec<UserMessage>) {
        let actions = self.run.go_on(messages, Instant::now());
        self.act(actions);
    }

    fn interrupt(&mut self) {
        let actions = self.run.interrupt(Instant::now());
        self.act(actions);
    }

    fn cancel(&mut self) {
        let actions = self.run.cancel(Instant::now());
        self.act(actions);
    }

    fn answer(&mut self, question: QuestionId, answer: QuestionAnswer) {
        let answer = self.qwen_steers.answered(question, answer);
        self.questions.answer(question, answer);
    }

    fn serve(&mut self, question: AgentQuestion, environment: Option<Environment>) {
        // The agent may not want it any more.
        if let Some(responder) = self.questions.take(question.id) {
            self.served.serve(question, responder, environment);
        }
    }

    /// Only the agent knows its options.
    fn plan_option(&mut self, call: &MethodCall, origin: Option<RequestOrigin>) -> Result<OptionPlan, Error> {
        let purpose = origin.map(RequestPurpose::Client);
        Ok(OptionPlan::Ask(Box::pin(self.request(purpose, &call.method, &call.params))))
    }

    /// None is planned.
    fn set_option(&mut self, _: &OptionChange) {}

    fn forget_options(&mut self) {}

    fn option_answered(&mut self, call: &MethodCall, answer: &RawJson) {
        self.option_was_set(&call.method, &call.params, answer);
    }

    fn steer_method(&self) -> SteerMethod {
        match self.standing.tier {
            SteerTier::Cancel => SteerMethod::Interrupt,
            _ => SteerMethod::Take,
        }
    }

    fn version(&self) -> Version {
        self.standing.version
    }

    fn opened(&self, id: Option<&str>, meta: &RawJson) -> RawJson {
        self.standing.opened(id, meta)
    }

    fn standing(&self) -> Vec<IndexedUpdate> {
        self.standing.updates()
    }

    fn takes(&self, content: &str) -> bool {
        self.standing.takes(content)
    }

    /// The agent names its sessions itself.
    fn wants_title(&self) -> bool {
        false
    }

    fn has_own_tools(&self) -> bool {
        false
    }

    fn elicitation_modes(&self) -> ElicitationModes {
        self.agent.elicitation_modes()
    }

    fn end(&mut self, parting: BackendParting) -> BackendFuture<'_, ()> {
        Box::pin(async move {
            match parting {
                BackendParting::Leave => {}
                BackendParting::Close => self.part("session/close").await,
                BackendParting::Delete => self.part("session/delete").await,
            }
        })
    }
}

impl PassThrough<PassedMessage> for AdaptedSession {
    fn pass(&mut self, message: PassedMessage) -> Result<(), PassedMessage> {
        self.pass_in_order(message);
        Ok(())
    }
}
