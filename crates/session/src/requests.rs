//! What users say: prompts, injects and the other dialects, and what is done to them while they wait.

use std::sync::Arc;

use nudge_backend::UserMessage;
use nudge_mailbox::{
    ClientId, DeliveryMode, InputDialect, MailboxMessage, MailboxRefusal, MessageFate, MessageId,
    RevokedMessage,
};
use nudge_wire::{Error, RawJson, Version, inject::ErrorReason};

use crate::{
    AttachRequest, InputContent, RequestId, RowChange, RunningTurn, SessionCore, SessionRequest,
    SteerOpening, answers,
    outbox::OutboxAct,
    own_updates,
    turn::{BreakPoint, UnansweredPrompt},
};

/// Messages that may wait in one session.
const MOST_PENDING: usize = 1024;
/// Bytes of messages that may wait in one session, unless it is a single one.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// The longest idempotency key, in bytes.
const LONGEST_KEY: usize = 256;

impl SessionCore {
    /// A client joins in its place among all that is shown.
    pub(crate) fn attach(&mut self, attach: AttachRequest) {
        match self.lifecycle.refusal() {
            Some(error) => self.answer_now(attach.request, Err(error)),
            None => self.draft.acts.push(OutboxAct::Join(attach)),
        }
    }

    pub(crate) fn request(&mut self, client: ClientId, request: RequestId, what: SessionRequest) {
        if let Some(error) = self.lifecycle.refusal() {
            return self.answer_now(request, Err(error));
        }
        let Some(version) = self.attendance.get(client).map(|attendee| attendee.version) else {
            return self.answer_now(request, Err(answers::unknown_session()));
        };
        let asker = UnansweredPrompt { request, client, version };
        match what {
            SessionRequest::Prompt { body, key } => self.prompt(asker, body, key),
            SessionRequest::Inject { mode, content, key } => self.inject(&asker, mode, content, key),
            SessionRequest::Steering { content, prompt_required } => {
                self.steering(&asker, content, prompt_required);
            }
            SessionRequest::Revoke { id } => self.revoke(request, &id),
            SessionRequest::Replace { id, content } => self.replace(request, &id, content),
            SessionRequest::SetOption { option, config, answer } => {
                self.update_row(RowChange { config: Some(config), ..RowChange::default() });
                self.draft.is_durable = true;
                self.draft.acts.push(OutboxAct::SetOption(option));
                self.answer(request, Ok(answer));
            }
            SessionRequest::Refused(error) => self.answer(request, Err(error)),
        }
    }

    /// `session/prompt`: starts a turn, or waits for the one that runs as the version says.
    fn prompt(&mut self, asker: UnansweredPrompt, body: InputContent, key: Option<String>) {
        let (mode, dialect) = match asker.version {
            Version::V1 => (DeliveryMode::Queue, InputDialect::PromptV1),
            Version::V2 if self.turn.is_none() => (DeliveryMode::Queue, InputDialect::PromptV2),
            Version::V2 => (DeliveryMode::Steer, InputDialect::PromptV2),
        };
        match self.accept(asker.client, mode, dialect, body, key) {
            Ok(id) if self.delivery.mailbox.fate(&id) == Some(MessageFate::Pending) => {
                let before = self.unanswered.insert(id, asker);
                self.superseded(before);
            }
            Ok(id) => self.asked_again(&id, asker),
            Err(error) => self.answer(asker.request, Err(error)),
        }
    }

    /// The same prompt once more, under the same key, after it was delivered or taken back.
    fn asked_again(&mut self, id: &MessageId, asker: UnansweredPrompt) {
        let turn = self.turn.as_mut().filter(|turn| turn.prompt.as_ref() == Some(id));
        match turn {
            Some(turn) if asker.version == Version::V1 => {
                let before = turn.unanswered.replace(asker);
                self.superseded(before);
            }
            _ => self.answer(asker.request, Ok(answers::prompted_before(asker.version, id))),
        }
    }

    /// An earlier request for the same prompt, whose sender has asked again.
    fn superseded(&mut self, before: Option<UnansweredPrompt>) {
        if let Some(before) = before {
            let error = Error::invalid_request("The prompt was sent again under the same key");
            self.answer_now(before.request, Err(error));
        }
    }

    /// `$/cancel_request` on a prompt is about that prompt and nothing else: it is taken back, or its turn is ended.
    pub(crate) fn cancel_request(&mut self, request: RequestId) {
        let waiting = self.unanswered.iter().find(|(_, prompt)| prompt.request == request);
        if let Some(id) = waiting.map(|(id, _)| Arc::clone(id)) {
            return self.take_back(&id);
        }
        let owner = self.turn.as_ref().and_then(|turn| turn.unanswered.as_ref());
        if owner.is_some_and(|prompt| prompt.request == request) {
            self.cancel();
        }
    }

    /// Takes a prompt back that waits.
    pub(crate) fn take_back(&mut self, id: &str) {
        if let Ok(RevokedMessage::Now(message)) = self.delivery.mailbox.revoke(id) {
            self.release(&message);
        }
    }

    /// `session/inject`.
    fn inject(
        &mut self,
        asker: &UnansweredPrompt,
        mode: DeliveryMode,
        content: RawJson,
        key: Option<String>,
    ) {
        let body = InputContent { content, params: None };
        let accepted = self.accept(asker.client, mode, InputDialect::Inject, body, key);
        self.answer(asker.request, accepted.map(|id| answers::message_id(&id)));
    }

    /// `_session/steering`.
    fn steering(&mut self, asker: &UnansweredPrompt, content: RawJson, prompt_required: bool) {
        let is_idle = self.turn.is_none();
        if is_idle && prompt_required {
            return self.answer(asker.request, Ok(answers::prompt_required()));
        }
        let (mode, outcome) =
            if is_idle { (DeliveryMode::Queue, "startedNewTurn") } else { (DeliveryMode::Steer, "injected") };
        let body = InputContent { content, params: None };
        let accepted = self.accept(asker.client, mode, InputDialect::Steering, body, None);
        self.answer(asker.request, accepted.map(|_| answers::steered(outcome)));
    }

    /// `session/revoke_inject`.
    fn revoke(&mut self, request: RequestId, id: &str) {
        let outcome = match self.delivery.mailbox.revoke(id) {
            Ok(RevokedMessage::Now(message)) => {
                self.release(&message);
                Ok(answers::empty())
            }
            Ok(RevokedMessage::Already) => Ok(answers::empty()),
            Err(refusal) => Err(refused(refusal, Some(id))),
        };
        self.answer(request, outcome);
    }

    /// `session/replace_inject`. The params of a prompt say something else then, and do not go with it.
    fn replace(&mut self, request: RequestId, id: &str, content: RawJson) {
        let replaced = self.delivery.mailbox.replace(id, InputContent { content, params: None });
        let outcome = replaced.map(|()| answers::message_id(id));
        self.answer(request, outcome.map_err(|refusal| refused(refusal, Some(id))));
    }

    fn accept(
        &mut self,
        client: ClientId,
        mode: DeliveryMode,
        dialect: InputDialect,
        content: InputContent,
        key: Option<String>,
    ) -> Result<MessageId, Error> {
        // Whoever says something wants to know whether it goes on.
        self.delivery.signed_out = None;
        self.check_room(&content, key.as_deref())?;
        let message = MailboxMessage {
            id: self.ids.message(),
            client,
            mode,
            dialect,
            content,
            key: key.map(Into::into),
        };
        let accepted = self.delivery.mailbox.accept(message, self.turn.is_some());
        accepted.map(|accepted| accepted.id).map_err(|refusal| refused(refusal, None))
    }

    /// Whether a message can be taken in now.
    fn check_room(&self, body: &InputContent, key: Option<&str>) -> Result<(), Error> {
        if key.is_some_and(|key| key.len() > LONGEST_KEY) {
            return Err(Error::invalid_params(format!(
                "Invalid params: an idempotency key has at most {LONGEST_KEY} bytes"
            )));
        }
        if self.lifecycle.ending.is_some() {
            let what = "The session is being closed. Load it to go on";
            return Err(Error::invalid_request(what).reason("session_closing"));
        }
        let waiting = self.delivery.mailbox.pending().map(|message| message.content.content.as_str().len());
        let (count, bytes) = waiting.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size));
        if count >= MOST_PENDING || (count > 0 && bytes + body.content.as_str().len() > MOST_BYTES) {
            let what = "Too much waits already. Revoke some of it, or wait until it is delivered";
            return Err(Error::invalid_request(what).reason("too_many_pending"));
        }
        Ok(())
    }

    /// A prompt that waits is answered as cancelled: it will not be delivered.
    pub(crate) fn release(&mut self, message: &MailboxMessage<InputContent>) {
        if let Some(prompt) = self.unanswered.remove(&message.id) {
            // If that cannot be written, its sender is refused like the others.
            self.draft.in_doubt.accepted.push(Arc::clone(&message.id));
            let outcome = match prompt.version {
                Version::V1 => Ok(answers::stopped("cancelled")),
                Version::V2 => Err(Error::cancelled()),
            };
            self.answer(prompt.request, outcome);
        }
    }

    /// Messages of the user begin a turn.
    pub(crate) fn begin_turn(&mut self, messages: Vec<MailboxMessage<InputContent>>) {
        let Some(first) = messages.first() else { return };
        let (number, prompter) = (self.next_turn(), first.client);
        self.give_title(&first.content.content.clone());
        let mut turn = RunningTurn::starting(number, prompter);
        let messages = self.tell(messages, Some(&mut turn));
        self.record(own_updates::running(), turn.prompting_client());
        self.turn = Some(turn);
        self.draft.acts.push(OutboxAct::Prompt { turn: number, messages, prompter });
    }

    /// Messages of the user go into the turn that runs.
    pub(crate) fn steer(&mut self, opening: SteerOpening, messages: Vec<MailboxMessage<InputContent>>) {
        let messages = self.tell(messages, None);
        let Some(turn) = &mut self.turn else { return };
        let act = match opening {
            SteerOpening::BreakPoint => {
                turn.break_point = BreakPoint::GoesOn;
                OutboxAct::GoOn(messages)
            }
            SteerOpening::MidStream => {
                turn.steers_under_way += 1;
                OutboxAct::Steer { turn: turn.number, messages }
            }
        };
        self.draft.acts.push(act);
    }

    /// Writes messages of the user into the transcript and shows them, each to those who have not shown it themselves.
    fn tell(
        &mut self,
        messages: Vec<MailboxMessage<InputContent>>,
        mut turn: Option<&mut RunningTurn>,
    ) -> Vec<UserMessage> {
        let mut told = Vec::new();
        for MailboxMessage { id, client, dialect, content: InputContent { content, params }, .. } in messages
        {
            self.draft.in_doubt.delivered.push((Arc::clone(&id), client));
            let prompt = self.unanswered.remove(&id);
            // Who has sent it again shows it as well; who sent it first may be gone since.
            let asker = prompt.as_ref().filter(|prompt| prompt.version == Version::V1);
            let sender = asker.map_or(client, |prompt| prompt.client);
            self.draft.in_doubt.accepted.extend(prompt.is_some().then(|| Arc::clone(&id)));
            if let (InputDialect::PromptV1, Some(turn)) = (dialect, &mut turn) {
                turn.prompt = Some(Arc::clone(&id));
            }
            match (dialect, prompt, &mut turn) {
                // A client of version 2 may have sent it again that was first sent by one of version 1.
                (InputDialect::PromptV1, Some(prompt), Some(turn)) if prompt.version == Version::V1 => {
                    turn.unanswered = Some(prompt);
                }
                (_, Some(prompt), _) => self.answer(prompt.request, Ok(answers::message_id(&id))),
                _ => {}
            }
            let shows_it_itself = matches!(dialect, InputDialect::PromptV1 | InputDialect::Steering);
            let but = shows_it_itself.then_some(sender);
            self.record(own_updates::user_message(&id, &content), but);
            told.push(UserMessage { id, content, params });
        }
        told
    }

    /// A session is called after what was said first.
    fn give_title(&mut self, content: &RawJson) {
        if self.title.is_none()
            && let Some(title) = answers::title(content)
        {
            self.draft.acts.push(OutboxAct::Title(title.clone()));
            if self.agent.wants_title {
                let at = answers::rfc3339(self.now.unix_millis);
                self.show(own_updates::session_info(Some(&title), &at), None);
            }
            self.update_row(RowChange { title: Some(title), ..RowChange::default() });
        }
    }
}

fn refused(refusal: MailboxRefusal, id: Option<&str>) -> Error {
    let reason = match refusal {
        MailboxRefusal::AlreadyDelivered => ErrorReason::AlreadyDelivered,
        MailboxRefusal::UnknownMessage => ErrorReason::UnknownMessageId,
        MailboxRefusal::NoRunningTurn => ErrorReason::NoRunningTurn,
    };
    reason.error(id)
}
