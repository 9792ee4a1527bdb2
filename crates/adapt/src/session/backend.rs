//! A session of another agent as a backend.

use nudge_backend::{
    Backend, BackendEvent, BackendFuture, Parting, QuestionAnswer, QuestionId, SteerMethod, TurnEnd,
    UserMessage,
};
use nudge_bridge::IndexedUpdate;
use nudge_wire::{Environment, RawJson, Version};
use tokio::time::Instant;

use super::Session;
use crate::{
    Tier,
    say::{go_on, steer},
    turn::Turn,
};

impl Backend for Session {
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
    fn prompt(&mut self, messages: Vec<UserMessage>, _: Option<Environment>) {
        self.turn = Some(Turn::default());
        let may_replay = self.replay.is_some_and(|replay| Instant::now() < replay.over_at());
        match &self.link {
            Some(_) if !may_replay => self.send_prompt(messages),
            Some(_) => self.waiting = Some(messages),
            None => {
                self.waiting = Some(messages);
                self.begin_taking_up();
            }
        }
    }

    fn steer(&mut self, messages: Vec<UserMessage>) {
        let (Some(turn), Some(link)) = (&mut self.turn, &self.link) else {
            // The turn was ended meanwhile: they go with the next prompt.
            return self.debts.extend(messages);
        };
        if let Some(waiting) = &mut self.waiting {
            return waiting.extend(messages);
        }
        if !turn.is_running() {
            turn.owed.extend(messages);
            return self.settle();
        }
        for message in messages {
            self.echo.said(&message.content);
            let (method, params) = steer(link.running.tier, &self.id, &message.content);
            let answer = link.running.cx.request_raw(method, Some(&params));
            turn.steered(async move { (message, answer.await) });
        }
    }

    fn go_on(&mut self, messages: Vec<UserMessage>) {
        let is_at_break = self.turn.as_mut().is_some_and(|turn| std::mem::take(&mut turn.is_at_break));
        let Some(turn) = self.turn.as_ref().filter(|_| is_at_break) else {
            // The agent was lost meanwhile.
            return self.steer(messages);
        };
        let was_cut_off = turn.was_cut_off();
        if turn.is_running() {
            // It has gone on by itself meanwhile.
            self.steer(messages);
        } else if !messages.is_empty() {
            self.send_prompt(messages);
        } else if was_cut_off && !turn.is_cancelled {
            self.send_prompt(vec![go_on()]);
        } else {
            self.finish();
        }
    }

    fn interrupt(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if turn.is_cancelled || turn.is_interrupted || !turn.is_running() {
            return;
        }
        turn.is_interrupted = true;
        if turn.has_spoken {
            self.stop();
        } else if self.waiting.is_none() {
            turn.deadline = Some(Instant::now() + turn.patience());
        }
    }

    fn cancel(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        turn.is_cancelled = true;
        if let Some(messages) = self.waiting.take() {
            self.debts.extend(messages);
            return self.ended(TurnEnd::cancelled());
        }
        if turn.is_running() {
            turn.is_told = false;
            turn.deadline = Some(Instant::now() + self.agent.patience());
            self.stop();
        }
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
