//! A turn as it goes: what the agent reports, and the end.

use nudge_backend::{BackendEvent, SIGNED_OUT, TurnEnd};
use nudge_bridge::{IndexedUpdate, UpdateKind, prompt_answer, turn_ended};
use nudge_mailbox::ClientId;
use nudge_wire::{Error, RawJson};
use serde_json::json;

use crate::{
    RowChange, RunningTurn, SessionCore, TurnEvent,
    lifecycle::IdleEnding,
    outbox::OutboxAct,
    own_updates,
    turn::{BreakPoint, StreamInterrupt},
};

/// Who messages are from that were left by another process; the clients of that are gone.
pub const FORMER_CLIENT: ClientId = ClientId(0);

impl SessionCore {
    /// Takes in what the agent does.
    pub(crate) fn agent_event(&mut self, event: BackendEvent) {
        match event {
            BackendEvent::Update(update) if !update.kind.is_shown() => self.keep_quietly(update),
            BackendEvent::Update(update) => {
                self.note_title(&update);
                self.record(update, None);
            }
            BackendEvent::TurnStarted => self.began_by_itself(),
            BackendEvent::StreamStarted => self.turn_event(TurnEvent::StreamStarted),
            BackendEvent::StreamFinished => self.turn_event(TurnEvent::StreamFinished),
            BackendEvent::ToolStarted(id) => self.turn_event(TurnEvent::ToolStarted(id)),
            BackendEvent::ToolFinished(id) => self.turn_event(TurnEvent::ToolFinished(id)),
            BackendEvent::Paused => self.turn_event(TurnEvent::Paused),
            BackendEvent::Resumed => self.turn_event(TurnEvent::Resumed),
            BackendEvent::BreakPoint => self.break_point(),
            BackendEvent::Question(question) => self.take_question(question),
            BackendEvent::QuestionWithdrawn(id) => self.question_withdrawn(id),
            BackendEvent::Notification(message) => {
                self.draft.bytes += message.frame().len();
                self.draft.acts.push(OutboxAct::Notify(message));
            }
            BackendEvent::Config(config) => {
                self.update_row(RowChange { config: Some(config), ..RowChange::default() });
            }
            BackendEvent::TurnEnded(end) => self.turn_ended(end),
            BackendEvent::Lost(error) => self.agent_lost(&error),
            BackendEvent::Back { id, is_recap, was_lost } => self.agent_is_back(&id, is_recap, was_lost),
        }
    }

    fn turn_event(&mut self, event: TurnEvent) {
        if let Some(turn) = &mut self.turn {
            turn.handle(event);
        }
    }

    /// An agent may name its session itself.
    pub(crate) fn note_title(&mut self, update: &IndexedUpdate) {
        if update.kind == UpdateKind::SessionInfoUpdate
            && let Some(title) = update.raw.get(&["title"]).and_then(|title| title.to::<String>().ok())
        {
            self.title = Some(title.clone());
            self.update_row(RowChange { title: Some(title), ..RowChange::default() });
        }
    }

    /// A turn that nobody asked for. If one waits for the disk to begin, this is not it.
    fn began_by_itself(&mut self) {
        match &self.turn {
            Some(turn) if !turn.is_prompted() => return,
            Some(_) => {}
            None => {
                let number = self.next_turn();
                self.turn = Some(RunningTurn::starting(number, self.last_prompter.unwrap_or(FORMER_CLIENT)));
                self.record(own_updates::running(), None);
            }
        }
        self.turn_event(TurnEvent::Started);
    }

    /// The agent waits: with what may go in now, or with nothing, it goes on.
    fn break_point(&mut self) {
        let Some(turn) = &mut self.turn else { return self.go_on(Vec::new()) };
        turn.handle(TurnEvent::BreakPoint);
        turn.break_point = BreakPoint::Waits;
        self.deliver();
        let Some(turn) = &mut self.turn else { return };
        turn.handle(TurnEvent::WentOn);
        match turn.break_point {
            BreakPoint::Waits if turn.steers_under_way > 0 => turn.break_point = BreakPoint::WaitsForSteers,
            BreakPoint::Waits => self.go_on(Vec::new()),
            _ => {}
        }
    }

    /// A steer that waits for a stream to end asks it to end now, where the user wants it so: once the steer is on disk.
    pub(crate) fn interrupt_later(&mut self) {
        let is_wanted = self.wants_interrupt();
        if let Some(turn) =
            self.turn.as_mut().filter(|turn| is_wanted && turn.interrupt == StreamInterrupt::Not)
        {
            turn.interrupt = StreamInterrupt::Due;
            self.draft.acts.push(OutboxAct::Interrupt);
        }
    }

    fn turn_ended(&mut self, end: TurnEnd) {
        self.end_user_questions_of_turn();
        if self.turn.as_ref().is_some_and(|turn| !turn.is_prompted()) {
            // One that the agent began by itself, before it knows of the one that waits for the disk.
            return;
        }
        let (state, answer) = turn_end_update(end);
        let is_signed_out = |error: &&Error| error.get_reason().as_deref() == Some(SIGNED_OUT);
        let signed_out = answer.as_ref().err().filter(is_signed_out).cloned();
        let turn = self.turn.take();
        self.last_prompter = turn.as_ref().map(|turn| turn.prompter);
        let prompt = turn.and_then(|turn| turn.unanswered);
        if self.lifecycle.ending.as_ref().is_some_and(|ending| ending.cuts_off) {
            let id = self.ids.message();
            self.record(own_updates::interrupted(&id, NOBODY_CAME), None);
        }
        self.record(state, prompt.as_ref().map(|prompt| prompt.client));
        self.update_row(RowChange::default());
        if let Some(prompt) = prompt {
            self.answer(prompt.request, answer);
        }
        if let (Some(error), Some(prompter)) = (signed_out, self.last_prompter) {
            self.wait_for_sign_in(prompter, &error);
        }
        self.end_now();
    }

    /// A client is not signed in: what waits of it stays, and would only fail. If it waits for an answer to a prompt it is told
    /// so, and can send it again.
    fn wait_for_sign_in(&mut self, client: ClientId, error: &Error) {
        self.delivery.signed_out = Some(client);
        for (id, prompt) in
            self.unanswered.extract_if(.., |_, prompt| prompt.client == client).collect::<Vec<_>>()
        {
            self.delivery.mailbox.forget(&id);
            // If that cannot be written, its sender is refused all the same.
            self.draft.in_doubt.accepted.push(id);
            self.answer(prompt.request, Err(error.clone()));
        }
    }

    /// The agent is gone. It is started again.
    fn agent_lost(&mut self, error: &Error) {
        let was_asked = self.questions.needs_user();
        self.forget_questions();
        if was_asked {
            self.user_is_free();
        }
        let title = format!("{}; it is started again", error.message);
        let meta = json!({ "nudge": { "agent": "gone" } });
        self.show(own_updates::notice("warning", &title, &meta), None);
    }

    /// The agent was started again, or the session has gone to another process of it. It may know the session by another id.
    fn agent_is_back(&mut self, id: &str, is_recap: bool, was_lost: bool) {
        let (title, agent) = match (was_lost, is_recap) {
            (true, true) => ("The agent is back; it will be told what was said so far", "back"),
            (true, false) => ("The agent is back and remembers the session", "back"),
            (false, true) => (
                "The session goes on in another process of the agent, which will be told what was said so far",
                "moved",
            ),
            (false, false) => ("The session goes on in another process of the agent", "moved"),
        };
        let meta = json!({ "nudge": { "agent": agent, "recap": is_recap } });
        self.show(own_updates::notice("info", title, &meta), None);
        if self.agent_session_id.as_deref() != Some(id) {
            self.agent_session_id = Some(id.to_owned());
            let agent_session_id = Some(id.to_owned());
            self.update_row(RowChange { agent_session_id, ..RowChange::default() });
        }
    }

    /// The agent has ended for good. An end that waits for its turn does not come about.
    pub(crate) fn agent_ended(&mut self) {
        let error = Error::internal("The agent has failed. Load the session again");
        self.refuse_unanswered(&error);
        for request in self.lifecycle.ending.take().iter().flat_map(IdleEnding::waiting) {
            self.answer_now(request, Err(error.clone()));
        }
        self.leave(nudge_backend::BackendParting::Leave, Vec::new());
    }
}

/// Why a turn has no end that nobody came back to.
const NOBODY_CAME: &str = "it waited for an answer, and nobody was there to give it";

/// How a turn ended, in the words of both versions: the `state_update` that says so, and the answer to a prompt of version 1
/// that waits for the end.
fn turn_end_update(end: TurnEnd) -> (IndexedUpdate, Result<RawJson, Error>) {
    let told = |raw| IndexedUpdate::new(UpdateKind::StateUpdate, raw);
    match end {
        TurnEnd::Answered(result) => (told(turn_ended(&result)), Ok(result)),
        TurnEnd::State(state) => {
            let failed = |error: RawJson| error.to().unwrap_or_else(|_| Error::internal("The turn failed"));
            let answer = prompt_answer(&state).map_err(failed);
            (told(state), answer)
        }
        TurnEnd::Failed(error) => (own_updates::failed(&error), Err(error)),
    }
}
