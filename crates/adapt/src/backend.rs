//! A session of another agent as a backend.

use nudge_backend::{
    Backend, BackendEvent, BackendFuture, Parting, QuestionAnswer, QuestionId, SteerMethod, UserMessage,
};
use nudge_bridge::IndexedUpdate;
use nudge_wire::{Environment, RawJson, Version};

use crate::{Session, Tier};

impl Backend for Session {
    fn next(&mut self) -> BackendFuture<'_, Option<BackendEvent>> {
        Box::pin(async { Some(self.next_event().await) })
    }

    fn try_next(&mut self) -> Option<BackendEvent> {
        self.try_next_event()
    }

    /// The environment is that of the agent's process.
    fn prompt(&mut self, messages: Vec<UserMessage>, _: Option<Environment>) {
        self.begin_turn(messages);
    }

    fn steer(&mut self, messages: Vec<UserMessage>) {
        self.give_steers(messages);
    }

    fn go_on(&mut self, messages: Vec<UserMessage>) {
        self.leave_break(messages);
    }

    fn interrupt(&mut self) {
        self.cut_off();
    }

    fn cancel(&mut self) {
        self.cancel_turn();
    }

    fn answer(&mut self, question: QuestionId, answer: QuestionAnswer) {
        self.questions.answer(question, answer);
    }

    fn steer_method(&self) -> SteerMethod {
        match self.standing.tier {
            Tier::Cancel => SteerMethod::Interrupt,
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

    fn end(&mut self, parting: Parting) -> BackendFuture<'_, ()> {
        Box::pin(async move {
            match parting {
                Parting::Leave => {}
                Parting::Close => self.part("session/close").await,
                Parting::Delete => self.part("session/delete").await,
            }
        })
    }
}
