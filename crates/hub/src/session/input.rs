//! What users say: prompts, injects and the other dialects, and what is done to them while they wait.

use std::sync::Arc;

use nudge_backend::{PromptParams, UserMessage};
use nudge_mailbox::{Delivery, Dialect, Fate, Message, MessageId, Mode, Refusal, Revoked};
use nudge_peer::{CancellationToken, Responder};
use nudge_store::SessionChange;
use nudge_wire::{
    Error, RawJson, Version,
    inject::{ErrorReason, Mode as WireMode},
};
use serde_json::json;

use crate::{
    client::Client,
    own_updates,
    session::{
        Prompt,
        actor::{Actor, Asked, AtBreak, Turn},
        outbox::{Effect, Step},
    },
    shape,
};

/// Messages that may wait in one session.
const MOST_PENDING: usize = 1024;
/// Bytes of messages that may wait in one session, unless it is a single one.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// The longest idempotency key, in bytes.
const LONGEST_KEY: usize = 256;

impl Actor {
    /// `session/prompt`: starts a turn, or waits for the one that runs as the version says.
    pub(crate) fn prompt(&mut self, client: &Arc<Client>, prompt: Prompt, responder: Responder) {
        let Prompt { content, key, params } = prompt;
        let (mode, dialect) = match client.version {
            Version::V1 => (Mode::Queue, Dialect::PromptV1),
            Version::V2 if self.mailbox.is_idle() => (Mode::Queue, Dialect::PromptV2),
            Version::V2 => (Mode::Steer, Dialect::PromptV2),
        };
        let accepted = self.accept(client, mode, dialect, &content, key);
        match accepted {
            Ok((id, is_fresh)) => {
                if let Some(params) = params.filter(|_| is_fresh) {
                    let params = PromptParams { version: client.version, raw: params };
                    self.params.insert(Arc::clone(&id), params);
                }
                let asked = self.watch(client, &id, responder);
                if is_fresh || self.mailbox.fate(&id) == Some(Fate::Pending) {
                    let before = self.waiting.insert(id, asked);
                    superseded(before);
                    self.finish(Step::default());
                } else {
                    self.asked_again(&id, asked);
                }
            }
            Err(error) => self.answer_after(client, responder, Err(error)),
        }
    }

    /// The same prompt once more, under the same key, after it was delivered.
    fn asked_again(&mut self, id: &MessageId, asked: Asked) {
        let is_v1 = asked.client.version == Version::V1;
        match &mut self.turn {
            Some(turn) if turn.prompt.as_ref() == Some(id) && is_v1 => {
                let before = turn.owner.replace((id.clone(), asked));
                superseded(before.map(|(_, before)| before));
            }
            _ => {
                let Asked { client, responder, .. } = asked;
                self.answer_after(&client, responder, Ok(shape::prompted_before(client.version, id)));
            }
        }
    }

    /// `$/cancel_request` on a prompt is about that prompt and nothing else. A connection that ends says nothing.
    fn watch(&self, client: &Arc<Client>, id: &MessageId, responder: Responder) -> Asked {
        let (token, handle, id) = (responder.cancellation(), self.handle(), id.clone());
        let answered = CancellationToken::new();
        let watched = answered.clone().drop_guard();
        let asker = Arc::clone(client);
        tokio::spawn(async move {
            tokio::select! {
                () = answered.cancelled() => return,
                () = token.cancelled() => {}
            }
            if !asker.is_gone() {
                let _ = handle.send(super::Command::CancelPrompt(id)).await;
            }
        });
        Asked { client: Arc::clone(client), responder, _watched: watched }
    }

    /// Takes a prompt back that waits, or ends the turn it began.
    pub(crate) fn cancel_prompt(&mut self, id: &MessageId) {
        if self.mailbox.fate(id) == Some(Fate::Pending) {
            let mut step = Step::default();
            if let Ok(Revoked::Now(message)) = self.mailbox.revoke(id) {
                self.release(&message, &mut step);
            }
            self.finish(step);
        } else if self
            .turn
            .as_ref()
            .is_some_and(|turn| turn.owner.as_ref().is_some_and(|(owner, _)| owner == id))
        {
            self.cancel();
        }
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
        let accepted = match mode {
            WireMode::Queue => self.accept(client, Mode::Queue, Dialect::Inject, content, key),
            WireMode::Steer => self.accept(client, Mode::Steer, Dialect::Inject, content, key),
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
        let accepted = self.accept(client, mode, Dialect::Steering, content, None);
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
        let outcome = shape::check_content(client.version, content, |kind| self.backend.takes(kind))
            .and_then(|content| {
                let replaced = self.mailbox.replace(id, content);
                replaced.map_err(|refusal| refused(refusal, Some(id)))
            });
        self.answer_after(client, responder, outcome.map(|()| shape::message_id(id)));
    }

    fn accept(
        &mut self,
        client: &Client,
        mode: Mode,
        dialect: Dialect,
        content: &[RawJson],
        key: Option<String>,
    ) -> Result<(Arc<str>, bool), Error> {
        let content = shape::check_content(client.version, content, |kind| self.backend.takes(kind))?;
        if key.as_ref().is_some_and(|key| key.len() > LONGEST_KEY) {
            return Err(Error::invalid_params(format!(
                "Invalid params: an idempotency key has at most {LONGEST_KEY} bytes"
            )));
        }
        if self.ending.is_some() {
            let what = "The session is being closed. Load it to go on";
            return Err(Error::invalid_request(what).reason("session_closing"));
        }
        let waiting = self.mailbox.pending().map(|message| message.content.as_str().len());
        let (count, bytes) = waiting.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size));
        if count >= MOST_PENDING || (count > 0 && bytes + content.as_str().len() > MOST_BYTES) {
            let what = "Too much waits already. Revoke some of it, or wait until it is delivered";
            return Err(Error::invalid_request(what).reason("too_many_pending"));
        }
        let id = shape::mint("msg");
        let message = Message { id, client: client.id, mode, dialect, content, key: key.map(Into::into) };
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
        self.params.remove(&message.id);
        if let Some(asked) = self.waiting.remove(&message.id) {
            let outcome = match asked.client.version {
                Version::V1 => Ok(shape::stopped("cancelled")),
                Version::V2 => Err(Error::cancelled()),
            };
            step.answer(&asked.client, asked.responder, outcome);
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
        self.interrupt_later(step);
    }

    fn begin_turn(&mut self, messages: Vec<Message<RawJson>>, step: &mut Step) {
        let Some(first) = messages.first() else { return };
        let mut turn = Turn { prompter: first.client, prompt: None, owner: None };
        self.environments.serve(first.client);
        self.forget_environments();
        self.give_title(&first.content, step);
        let messages = self.tell(messages, step, Some(&mut turn));
        self.record(step, own_updates::running(), turn.told());
        self.turn = Some(turn);
        step.effects.push(Effect::Prompt(messages));
    }

    fn steer(&mut self, messages: Vec<Message<RawJson>>, step: &mut Step) {
        let messages = self.tell(messages, step, None);
        if self.at_break == AtBreak::Waits {
            self.at_break = AtBreak::GoesOn;
            return step.effects.push(Effect::GoOn(messages));
        }
        self.steers_under_way += 1;
        step.effects.push(Effect::Steer(messages));
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
            step.in_doubt.delivered.push((id.clone(), client));
            let asked = self.waiting.remove(&id);
            step.in_doubt.accepted.extend(asked.is_some().then(|| id.clone()));
            match (dialect, asked, &mut turn) {
                // A client of version 2 may have sent it again that was first sent by one of version 1.
                (Dialect::PromptV1, Some(asked), Some(turn)) if asked.client.version == Version::V1 => {
                    turn.prompt = Some(id.clone());
                    turn.owner = Some((id.clone(), asked));
                }
                (_, Some(asked), _) => {
                    step.answer(&asked.client, asked.responder, Ok(shape::message_id(&id)));
                }
                _ => {}
            }
            let shows_it_itself = matches!(dialect, Dialect::PromptV1 | Dialect::Steering);
            let but = shows_it_itself.then_some(client);
            self.record(step, own_updates::user_message(&id, &content), but);
            let params = self.params.remove(&id);
            told.push(UserMessage { id, content, params });
        }
        told
    }

    /// A session is called after what was said first.
    fn give_title(&mut self, content: &RawJson, step: &mut Step) {
        if self.row.title.is_none()
            && let Some(title) = shape::title(content)
        {
            step.effects.push(Effect::Titled(title.clone()));
            if self.backend.wants_title() {
                let at = crate::time::written(crate::time::now());
                step.show(own_updates::session_info(Some(&title), &at), None);
            }
            step.update_row(SessionChange { title: Some(Some(title)), ..SessionChange::default() });
        }
    }
}

/// An earlier request for the same prompt, whose sender has asked again.
fn superseded(before: Option<Asked>) {
    if let Some(before) = before {
        before.answer(Err(Error::invalid_request("The prompt was sent again under the same key")));
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
