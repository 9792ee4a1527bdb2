//! What users say: prompts, injects and the other dialects, and what is done to them while they wait.

use std::sync::Arc;

use nudge_agent::UserMessage;
use nudge_mailbox::{ClientId, Delivery, Dialect, Message, Mode, Refusal, Revoked};
use nudge_peer::Responder;
use nudge_store::SessionChange;
use nudge_wire::{
    Error, RawJson, Version,
    inject::{ErrorReason, Mode as WireMode},
};
use serde_json::json;

use crate::{
    client::Client,
    session::{
        actor::{Actor, Turn},
        outbox::{Effect, Step},
    },
    shape,
    update::Update,
};

/// Messages that may wait in one session.
const MOST_PENDING: usize = 1024;

impl Actor {
    /// `session/prompt`: starts a turn, or waits for the one that runs as the version says.
    pub(crate) fn prompt(
        &mut self,
        client: &Arc<Client>,
        content: &[RawJson],
        key: Option<String>,
        responder: Responder,
    ) {
        let (mode, dialect) = match client.version {
            Version::V1 => (Mode::Queue, Dialect::PromptV1),
            Version::V2 if self.mailbox.is_idle() => (Mode::Queue, Dialect::PromptV2),
            Version::V2 => (Mode::Steer, Dialect::PromptV2),
        };
        let accepted = self.accept(client.id, mode, dialect, content, key);
        match accepted {
            Ok((id, true)) => {
                if client.version == Version::V1 {
                    self.cancel_with(&responder);
                }
                self.waiting.insert(id, (Arc::clone(client), responder));
                self.finish(Step::default());
            }
            Ok((id, false)) => {
                self.answer_after(client, responder, Ok(shape::prompted_before(client.version, &id)));
            }
            Err(error) => self.answer_after(client, responder, Err(error)),
        }
    }

    /// `$/cancel_request` on a prompt of version 1 is a cancel of its turn.
    fn cancel_with(&self, responder: &Responder) {
        let (token, handle) = (responder.cancellation(), self.handle());
        tokio::spawn(async move {
            token.cancelled().await;
            let _ = handle.send(super::Command::Cancel).await;
        });
    }

    /// `session/inject`.
    pub(crate) fn inject(
        &mut self,
        client: &Arc<Client>,
        mode: &WireMode,
        content: &[RawJson],
        key: Option<String>,
        responder: Responder,
    ) {
        let _cooperative = responder.cancellation();
        let accepted = match mode {
            WireMode::Queue => self.accept(client.id, Mode::Queue, Dialect::Inject, content, key),
            WireMode::Steer => self.accept(client.id, Mode::Steer, Dialect::Inject, content, key),
            WireMode::Other(_) => Err(ErrorReason::ModeNotSupported.error(None)),
        };
        self.answer_after(client, responder, accepted.map(|(id, _)| shape::message_id(&id)));
    }

    /// `_session/steering`.
    pub(crate) fn steering(
        &mut self,
        client: &Arc<Client>,
        content: &[RawJson],
        prompt_required: bool,
        responder: Responder,
    ) {
        let is_idle = self.mailbox.is_idle();
        if is_idle && prompt_required {
            let outcome = json!({ "outcome": "promptRequired", "reason": "noRunningTurn" });
            return self.answer_after(client, responder, Ok(shape::raw(&outcome)));
        }
        let (mode, outcome) =
            if is_idle { (Mode::Queue, "startedNewTurn") } else { (Mode::Steer, "injected") };
        let accepted = self.accept(client.id, mode, Dialect::Steering, content, None);
        let outcome = accepted.map(|_| shape::raw(&json!({ "outcome": outcome })));
        self.answer_after(client, responder, outcome);
    }

    /// `session/revoke_inject`.
    pub(crate) fn revoke(&mut self, client: &Arc<Client>, id: &str, responder: Responder) {
        let mut step = Step::default();
        let outcome = match self.mailbox.revoke(id) {
            Ok(Revoked::Now(message)) => {
                self.release(&message, &mut step);
                Ok(shape::empty())
            }
            Ok(Revoked::Already) => Ok(shape::empty()),
            Err(refusal) => Err(refused(refusal, Some(id))),
        };
        step.answer(client, responder, outcome);
        self.finish(step);
    }

    /// `session/replace_inject`.
    pub(crate) fn replace(
        &mut self,
        client: &Arc<Client>,
        id: &str,
        content: &[RawJson],
        responder: Responder,
    ) {
        let outcome = shape::check_content(content).and_then(|content| {
            let replaced = self.mailbox.replace(id, content);
            replaced.map_err(|refusal| refused(refusal, Some(id)))
        });
        self.answer_after(client, responder, outcome.map(|()| shape::message_id(id)));
    }

    fn accept(
        &mut self,
        client: ClientId,
        mode: Mode,
        dialect: Dialect,
        content: &[RawJson],
        key: Option<String>,
    ) -> Result<(Arc<str>, bool), Error> {
        let content = shape::check_content(content)?;
        if self.ending.is_some() {
            return Err(Error::invalid_request("The session is being closed. Load it to go on"));
        }
        if self.mailbox.pending().nth(MOST_PENDING - 1).is_some() {
            let what = format!(
                "{MOST_PENDING} messages wait already. Revoke some, or wait for them to be delivered"
            );
            return Err(Error::invalid_request(what).reason("too_many_pending"));
        }
        let id = shape::mint("msg");
        let message = Message { id, client, mode, dialect, content, key: key.map(Into::into) };
        let accepted = self.mailbox.accept(message).map_err(|refusal| refused(refusal, None))?;
        Ok((accepted.id, accepted.fresh))
    }

    /// Answers once all that the request changed is on disk.
    fn answer_after(&mut self, client: &Arc<Client>, responder: Responder, outcome: Result<RawJson, Error>) {
        let mut step = Step::default();
        step.answer(client, responder, outcome);
        self.finish(step);
    }

    /// A prompt that waits is answered as cancelled: it will not be delivered.
    pub(crate) fn release(&mut self, message: &Message<RawJson>, step: &mut Step) {
        if let Some((client, responder)) = self.waiting.remove(&message.id) {
            let outcome = match client.version {
                Version::V1 => Ok(shape::stopped("cancelled")),
                Version::V2 => Err(Error::cancelled()),
            };
            step.answer(&client, responder, outcome);
        }
    }

    /// Gives out what may be delivered now, and notes it together with all else the mailbox did.
    pub(crate) fn deliver(&mut self, step: &mut Step) {
        let mut delivered = Vec::new();
        while let Some(delivery) = self.mailbox.poll() {
            delivered.push(delivery);
        }
        self.note_changes(step);
        for delivery in delivered {
            match delivery {
                Delivery::Turn(messages) => self.begin_turn(messages, step),
                Delivery::Steer { messages, .. } => self.steer(messages, step),
            }
        }
        self.interrupt();
    }

    fn begin_turn(&mut self, messages: Vec<Message<RawJson>>, step: &mut Step) {
        let Some(first) = messages.first() else { return };
        let mut turn = Turn { prompter: first.client, owner: None };
        self.give_title(&first.content, step);
        let messages = self.tell(messages, step, Some(&mut turn));
        self.record(step, Update::running(), turn.told());
        self.turn = Some(turn);
        step.effects.push(Effect::Prompt(messages));
    }

    fn steer(&mut self, messages: Vec<Message<RawJson>>, step: &mut Step) {
        let messages = self.tell(messages, step, None);
        if let Some(reply) = self.at_break.take() {
            step.effects.push(Effect::GoOn(reply, messages));
        }
    }

    /// Writes messages of the user into the transcript and shows them, each to those who have not shown it themselves.
    fn tell(
        &mut self,
        messages: Vec<Message<RawJson>>,
        step: &mut Step,
        mut turn: Option<&mut Turn>,
    ) -> Vec<UserMessage> {
        let mut told = Vec::new();
        for Message { id, client, dialect, content, .. } in messages {
            match (dialect, self.waiting.remove(&id), &mut turn) {
                (Dialect::PromptV1, Some(waiting), Some(turn)) => turn.owner = Some(waiting),
                (_, Some((client, responder)), _) => {
                    step.answer(&client, responder, Ok(shape::message_id(&id)));
                }
                _ => {}
            }
            let shows_it_itself = matches!(dialect, Dialect::PromptV1 | Dialect::Steering);
            let but = shows_it_itself.then_some(client);
            self.record(step, Update::user_message(&id, &content), but);
            told.push(UserMessage { id: id.to_string(), content });
        }
        told
    }

    /// A session is called after what was said first.
    fn give_title(&mut self, content: &RawJson, step: &mut Step) {
        if self.row.title.is_none()
            && let Some(title) = shape::title(content)
        {
            self.row.title = Some(title.clone());
            let at = crate::time::written(crate::time::now());
            step.show(Update::info(Some(&title), &at), None);
            step.update_row(SessionChange { title: Some(Some(title)), ..SessionChange::default() });
        }
    }
}

fn refused(refusal: Refusal, id: Option<&str>) -> Error {
    let reason = match refusal {
        Refusal::AlreadyDelivered => ErrorReason::AlreadyDelivered,
        Refusal::UnknownMessage => ErrorReason::UnknownMessageId,
        Refusal::NoRunningTurn => ErrorReason::NoRunningTurn,
    };
    reason.error(id)
}
