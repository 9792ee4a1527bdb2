//! A turn as it goes: what the backend reports, permission, cancel, and the end.

use nudge_backend::{
    BackendEvent, Question, QuestionAnswer, QuestionId, REQUEST_PERMISSION, SteerMethod, UserMessage,
    cancelled_permission,
};
use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_mailbox::{ClientId, Event as Input, InStream, Revoked};
use nudge_peer::{CallError, RawNotification};
use nudge_store::SessionChange;
use nudge_wire::{Error, RawJson};
use serde_json::json;
use tokio::sync::oneshot;

use crate::{
    backend::ToldEnd,
    client::{Ask, Out},
    own_updates,
    permission::Permission,
    session::{
        Command,
        actor::{Actor, Asked, AtBreak, Ending, Interrupt, OpenQuestion, Stage, Turn},
        environments::FORMER,
        outbox::{Effect, Step},
    },
    shape,
};

impl Actor {
    /// Takes in what the backend does.
    pub(crate) fn event(&mut self, event: BackendEvent, step: &mut Step) {
        match event {
            BackendEvent::Update(update) => {
                self.note_title(&update, step);
                self.record(step, update, None);
            }
            BackendEvent::TurnStarted => self.began_by_itself(step),
            BackendEvent::StreamStarted => {
                if self.interrupt == Interrupt::Done {
                    self.interrupt = Interrupt::Not;
                }
                self.mailbox.handle(Input::StreamStarted);
            }
            BackendEvent::StreamFinished => self.mailbox.handle(Input::StreamFinished),
            BackendEvent::ToolStarted(id) => self.mailbox.handle(Input::ToolStarted(id)),
            BackendEvent::ToolFinished(id) => self.mailbox.handle(Input::ToolFinished(id)),
            BackendEvent::Paused => self.mailbox.handle(Input::Paused),
            BackendEvent::Resumed => self.mailbox.handle(Input::Resumed),
            BackendEvent::BreakPoint => self.break_point(step),
            BackendEvent::Question(question) => self.take_question(question, step),
            BackendEvent::QuestionWithdrawn(id) => self.question_withdrawn(id, step),
            BackendEvent::Notification(message) => {
                step.bytes += message.frame().len();
                step.effects.extend(RawNotification::from_message(message).map(Effect::Pass));
            }
            BackendEvent::Config(config) => {
                let config = Some(config.as_str().to_owned());
                let change = SessionChange { config, ..SessionChange::default() };
                step.update_row(change);
            }
            BackendEvent::TurnEnded(end) => self.turn_ended(ToldEnd::new(end), step),
            BackendEvent::Lost(error) => {
                self.permissions.clear();
                self.questions.clear();
                let title = format!("{}; it is started again", error.message);
                step.show(
                    own_updates::notice("warning", &title, &json!({ "nudge": { "agent": "gone" } })),
                    None,
                );
            }
            BackendEvent::Back { id, is_recap } => self.agent_is_back(&id, is_recap, step),
        }
    }

    /// The agent was started again. It may know the session by another id.
    fn agent_is_back(&mut self, id: &str, is_recap: bool, step: &mut Step) {
        self.set_in_stream();
        let title = if is_recap {
            "The agent is back; it will be told what was said so far"
        } else {
            "The agent is back and remembers the session"
        };
        step.show(
            own_updates::notice("info", title, &json!({ "nudge": { "agent": "back", "recap": is_recap } })),
            None,
        );
        self.know_as(id, step);
    }

    /// Notes by which id the agent knows the session.
    pub(crate) fn know_as(&mut self, id: &str, step: &mut Step) {
        if self.row.agent_session_id.as_deref() != Some(id) {
            self.row.agent_session_id = Some(id.to_owned());
            let agent_session_id = Some(Some(id.to_owned()));
            step.update_row(SessionChange { agent_session_id, ..SessionChange::default() });
        }
    }

    /// An agent may name its session itself.
    pub(crate) fn note_title(&mut self, update: &IndexedUpdate, step: &mut Step) {
        if update.kind == UpdateKind::SessionInfoUpdate
            && let Some(title) = update.raw.get(&["title"]).and_then(|title| title.to::<String>().ok())
        {
            self.row.title = Some(title.clone());
            step.update_row(SessionChange { title: Some(Some(title)), ..SessionChange::default() });
        }
    }

    /// A turn that nobody asked for.
    fn began_by_itself(&mut self, step: &mut Step) {
        self.is_prompted = true;
        self.mailbox.handle(Input::TurnStarted);
        if self.turn.is_none() {
            self.turn =
                Some(Turn { prompter: self.last_prompter.unwrap_or(FORMER), prompt: None, owner: None });
            self.record(step, own_updates::running(), None);
        }
    }

    /// The backend waits: with what may go in now, or with nothing, it goes on.
    fn break_point(&mut self, step: &mut Step) {
        self.mailbox.handle(Input::BreakPoint);
        self.at_break = AtBreak::Waits;
        self.deliver(step);
        match self.at_break {
            AtBreak::Waits if self.steers_under_way > 0 => self.at_break = AtBreak::WaitsForSteers,
            AtBreak::Waits => self.go_on(Vec::new()),
            _ => {}
        }
        self.mailbox.handle(Input::WentOn);
    }

    /// The backend goes on from its break-point.
    pub(crate) fn go_on(&mut self, messages: Vec<UserMessage>) {
        self.at_break = AtBreak::Not;
        self.backend.go_on(messages);
    }

    /// A steer that waits for a stream to end asks it to end now, where the user wants it so: once the steer is on disk.
    pub(crate) fn interrupt_later(&mut self, step: &mut Step) {
        if self.interrupt == Interrupt::Not && self.wants_interrupt() {
            self.interrupt = Interrupt::Due;
            step.effects.push(Effect::Interrupt);
        }
    }

    /// Cuts the stream off, unless there is no reason for it any more.
    pub(crate) fn interrupt_now(&mut self) {
        if self.interrupt == Interrupt::Done {
            return;
        }
        self.interrupt = Interrupt::Not;
        if self.wants_interrupt() {
            self.interrupt = Interrupt::Done;
            self.backend.interrupt();
        }
    }

    fn wants_interrupt(&self) -> bool {
        self.interrupts && self.mailbox.wants_break()
    }

    /// Reads the option that says what a steer does to a stream.
    pub(crate) fn set_in_stream(&mut self) {
        let method = self.backend.steer_method();
        self.interrupts = method == SteerMethod::Interrupt;
        let is_taken = method == SteerMethod::Take;
        self.mailbox.set_in_stream(if is_taken { InStream::Interrupt } else { InStream::Finish });
    }

    fn turn_ended(&mut self, ended: ToldEnd, step: &mut Step) {
        self.is_prompted = false;
        self.at_break = AtBreak::Not;
        self.mailbox.handle(Input::Idle);
        self.cancel_permissions();
        self.last_prompter = self.turn.as_ref().map(|turn| turn.prompter);
        let owner = self.turn.take().and_then(|turn| turn.owner);
        let told = owner.as_ref().map(|(_, asked)| asked.client.id);
        if self.ending.as_ref().is_some_and(|ending| ending.cuts_off) {
            self.record(step, interrupted(), None);
        }
        self.record(step, ended.state, told);
        step.update_row(SessionChange::default());
        if let Some((_, asked)) = owner {
            step.answer(&asked.client, asked.responder, ended.answer);
        }
        if self.ending.is_some() {
            self.end_now(step);
        }
    }

    /// The user ends the turn. What waits and is not part of it follows, and the clients are told how much that is.
    pub(crate) fn cancel(&mut self) {
        if self.mailbox.is_idle() || self.mailbox.is_cancelling() {
            return;
        }
        let cancelled = self.mailbox.cancel();
        let mut step = Step::default();
        for message in &cancelled.dropped {
            self.release(message, &mut step);
        }
        if cancelled.following > 0 {
            let count = cancelled.following;
            let what =
                if count == 1 { "1 message follows".to_owned() } else { format!("{count} messages follow") };
            let title = format!("{what} the cancelled turn; revoke what is not wanted");
            let meta = json!({ "inject": { "following": count, "pending": self.pending() } });
            step.show(own_updates::notice("info", &title, &meta), None);
        }
        // Behind the prompt that it ends, which may still wait for the disk.
        step.effects.push(Effect::Cancel);
        self.finish(step);
    }

    /// Ends the session's use, after the turn that runs.
    pub(crate) fn end(&mut self, ending: Ending) {
        if self.stage != Stage::Open {
            return;
        }
        self.ending = Some(match self.ending.take() {
            Some(before) => before.and(ending),
            None => Ending { was_held: self.mailbox.is_held(), ..ending },
        });
        self.mailbox.hold();
        if self.mailbox.is_running() {
            return self.end_turn();
        }
        let mut step = Step::default();
        self.end_now(&mut step);
        self.finish(step);
    }

    /// Cancels the turn that stands in the way of an end, unless it may end by itself. Nobody is left to be asked then.
    fn end_turn(&mut self) {
        let Some(ending) = &mut self.ending else { return };
        if ending.is_patient && self.permissions.is_empty() {
            return;
        }
        // Whoever comes back finds out why there is no more.
        ending.cuts_off |= ending.is_open && self.views.is_empty() && !self.permissions.is_empty();
        self.cancel();
    }

    fn end_now(&mut self, step: &mut Step) {
        let Some(ending) = self.ending.take() else { return };
        self.mailbox.hold();
        self.stage = Stage::Ending;
        step.is_durable = true;
        self.give_back(step);
        if ending.deleted.is_empty() {
            let closed = (!ending.is_open).then_some(true);
            step.update_row(SessionChange { closed, ..SessionChange::default() });
        } else {
            step.ops.push(nudge_store::Op::DeleteSession);
        }
        step.effects.push(Effect::Leave(ending));
    }

    /// Prompts that wait are answered, and so they are not kept.
    fn give_back(&mut self, step: &mut Step) {
        let waiting: Vec<_> = self.waiting.keys().cloned().collect();
        for id in waiting {
            if let Ok(Revoked::Now(message)) = self.mailbox.revoke(&id) {
                self.release(&message, step);
            }
        }
        self.note_changes(step);
    }

    /// The agent asks something: for permission everybody, for all else the client that prompted.
    fn take_question(&mut self, question: Question, step: &mut Step) {
        if question.is_permission() {
            self.questions.insert(question.id, OpenQuestion::Permission);
            return self.ask_permission(question, step);
        }
        self.questions.insert(question.id, OpenQuestion::Client(None));
        step.bytes += question.params.as_str().len();
        step.effects.push(Effect::AskClient(question));
    }

    /// The agent does not want an answer any more.
    fn question_withdrawn(&mut self, id: QuestionId, step: &mut Step) {
        self.questions.remove(&id);
        let Some(at) = self.permissions.iter().position(|permission| permission.question == id) else {
            return;
        };
        let permission = self.permissions.remove(at);
        self.mailbox.handle(Input::PermissionClosed(permission.id.to_string().into()));
        self.permission_closed(step);
    }

    /// Answers a question of the agent.
    pub(crate) fn answered(&mut self, question: QuestionId, answer: QuestionAnswer) {
        if self.questions.remove(&question).is_some() {
            self.backend.answer(question, answer);
        }
    }

    /// Nobody answers what is asked of everybody any more.
    pub(crate) fn cancel_permissions(&mut self) {
        for permission in std::mem::take(&mut self.permissions) {
            self.answered(permission.question, Ok(cancelled_permission()));
        }
    }

    /// Nobody has to be asked any more, unless for something else.
    fn permission_closed(&mut self, step: &mut Step) {
        if self.permissions.is_empty() && self.turn.is_some() {
            let told = self.turn.as_ref().and_then(Turn::told);
            self.record(step, own_updates::running(), told);
        }
    }

    /// Asks every client; the first answer counts.
    fn ask_permission(&mut self, question: Question, step: &mut Step) {
        self.asks += 1;
        let id = self.asks;
        step.bytes += question.params.as_str().len();
        self.mailbox.handle(Input::PermissionOpened(id.to_string().into()));
        self.permissions.push(Permission::new(id, question));
        self.record(step, own_updates::requires_action(), self.turn.as_ref().and_then(Turn::told));
        step.effects.push(Effect::Ask(id));
        if self.ending.is_some() {
            self.end_turn();
        }
    }

    /// A client will say nothing more, and so cannot answer what its turn waits for. Somebody else may: the client is told
    /// so and can go. Where the process ends with its client, the turn is ended instead, by who ends the process.
    fn cannot_answer(&mut self, client: ClientId) {
        if !self.hub.outlives_clients {
            return;
        }
        let is_its = |asked: &Asked| asked.client.id == client;
        let owner = self.turn.as_mut().and_then(|turn| turn.owner.take_if(|(_, asked)| is_its(asked)));
        let waiting = self.waiting.extract_if(|_, asked| is_its(asked));
        let what = "The turn waits for an answer of the user, and this client's input has ended. It goes on in the daemon: \
                    load the session to answer";
        for (_, asked) in waiting.chain(owner) {
            asked.answer(Err(Error::internal(what).reason("requires_action")));
        }
    }

    /// Asks everybody who is there.
    pub(crate) fn ask_all(&mut self, id: u64) {
        for at in 0..self.views.len() {
            self.ask(id, at);
        }
    }

    /// Asks the client of one view for a permission.
    pub(crate) fn ask(&mut self, id: u64, at: usize) {
        let handle = self.handle();
        let Some(permission) = self.permissions.iter_mut().find(|permission| permission.id == id) else {
            return;
        };
        let view = &mut self.views[at];
        let client = view.client.id;
        if permission.is_asked(client) {
            return;
        }
        let params = view.permission(&self.row.id, permission.version, &permission.request);
        let (answer, answered) = oneshot::channel();
        let withdrawn = permission.asked(client);
        view.client.push(Out::Ask(Ask { method: REQUEST_PERMISSION.into(), params, answer, withdrawn }));
        tokio::spawn(async move {
            if let Ok(answer) = answered.await {
                let _ = handle.send(Command::Permission { id, client, answer }).await;
            }
        });
    }

    /// The first answer is the answer; the other clients are told that it is not asked any more.
    pub(crate) fn permission_answered(
        &mut self,
        id: u64,
        client: ClientId,
        answer: Result<RawJson, CallError>,
    ) {
        let Some(at) = self.permissions.iter().position(|permission| permission.id == id) else { return };
        let version = self.permissions[at].version;
        let outcome = match answer {
            Ok(outcome) => match self.view(client) {
                Some(view) => view.permission_answer(version, outcome),
                None => outcome,
            },
            Err(CallError::Closed(_)) => {
                self.permissions[at].failed(client);
                return self.cannot_answer(client);
            }
            Err(error) => {
                tracing::warn!(client = client.0, %error, "a permission request was not answered");
                // Another client may understand the question.
                if !self.permissions[at].failed(client) {
                    return;
                }
                cancelled_permission()
            }
        };
        let permission = self.permissions.remove(at);
        self.mailbox.handle(Input::PermissionClosed(id.to_string().into()));
        let mut step = Step { is_durable: true, ..Step::default() };
        self.keep_quietly(&mut step, &own_updates::permission_answer(version, &permission.request, &outcome));
        step.effects.push(Effect::Permit { permission, by: client, answer: outcome });
        self.permission_closed(&mut step);
        self.finish(step);
    }
}

/// What is said of a turn that nobody came back to.
fn interrupted() -> IndexedUpdate {
    let text = "The turn was interrupted: it waited for an answer, and nobody was there to give it. It is not run again; \
                say how to go on.";
    own_updates::agent_message(&shape::mint("msg"), text, &json!({ "nudge": { "interrupted": true } }))
}
