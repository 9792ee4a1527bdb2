//! Random sessions: whatever is said and done in whatever order, and whenever commits land, in the end clients and agent
//! have seen what they would without a disk.

mod happening;
mod reference;

use std::collections::BTreeMap;

use nudge_backend::{QuestionId, SteerMethod, UserMessage};
use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_mailbox::{ClientId, MailboxChange, MessageId};
use nudge_session::{
    AttachOptions, AttachRequest, Attendee, ClientAnswer, ClientOffers, RequestId, SessionEffect,
    SessionInput, SessionRequest, SessionStep, StoreOperation,
};
use nudge_wire::{RawJson, Version};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

use crate::driver::{Driver, plain_start};
use happening::{ANN, BOB, Happening, content, event, happening, raw, said, text_of};
use reference::{Did, Reference};

/// Run by default; `PROPTEST_CASES` asks for more.
const CASES: u32 = 4_000;
/// Comes at some time, and is shown the history.
const CAT: ClientId = ClientId(3);

/// The core and the reference, side by side, and what is seen of the core.
struct Pair {
    driver: Driver,
    reference: Reference,
    requests: usize,
    questions: u64,
    /// The numbers of messages by their ids.
    numbers: BTreeMap<MessageId, usize>,
    answers: BTreeMap<usize, String>,
    given: Vec<(&'static str, Vec<String>)>,
    joined: Vec<ClientId>,
    /// What each client was shown of what users said.
    seen: BTreeMap<ClientId, Vec<String>>,
    /// Whether the agent is at work, and whether it waits to be told to go on.
    is_running: bool,
    is_at_break: bool,
}

impl Pair {
    fn new(method: SteerMethod) -> Self {
        let mut pair = Self {
            driver: Driver::new(plain_start(method)),
            reference: Reference::new(method == SteerMethod::Take),
            requests: 0,
            questions: 0,
            numbers: BTreeMap::new(),
            answers: BTreeMap::new(),
            given: Vec::new(),
            joined: Vec::new(),
            seen: BTreeMap::new(),
            is_running: false,
            is_at_break: false,
        };
        pair.join(ANN, Version::V1);
        pair.join(BOB, Version::V2);
        pair
    }

    fn take(&mut self, happening: Happening) {
        match happening {
            Happening::Say(method) => {
                let number = self.next_request();
                self.reference.say(number, method);
                let (client, what) = said(method, &format!("said {number}"));
                self.request(number, client, what);
            }
            Happening::Revoke(back) => {
                let (request, number) = (self.next_request(), self.earlier(back));
                self.reference.revoke(request, number);
                let id = self.id_of(number);
                self.request(request, BOB, SessionRequest::Revoke { id });
            }
            Happening::Replace(back) => {
                let (request, number) = (self.next_request(), self.earlier(back));
                let text = format!("replaced by {request}");
                self.reference.replace(request, number, &text);
                let (id, content) = (self.id_of(number), content(&text));
                self.request(request, ANN, SessionRequest::Replace { id, content });
            }
            Happening::CancelRequest(back) => {
                let number = self.earlier(back);
                self.reference.cancel_request(number);
                self.step(SessionInput::CancelRequest(RequestId(number as u64)));
            }
            Happening::Cancel => {
                self.reference.cancel();
                self.step(SessionInput::Cancel);
            }
            Happening::Permit => self.permit(),
            Happening::Did(did) => self.did(did),
            Happening::CatJoins if self.seen.contains_key(&CAT) => {}
            Happening::CatJoins => self.join(CAT, Version::V2),
            Happening::Land if self.driver.is_writing() => {
                let step = self.driver.land();
                self.see(&step);
            }
            Happening::Land => {}
        }
    }

    /// The agent does something, if it can: it knows of a turn, and nothing has to be told to it first.
    fn did(&mut self, did: Did) {
        if !self.is_running
            || self.is_at_break
            || (did == Did::Ask && !self.driver.core.open_asks().is_empty())
        {
            return;
        }
        self.reference.did(did);
        match did {
            Did::Break => self.is_at_break = true,
            Did::End(_) => self.is_running = false,
            _ => {}
        }
        self.questions += u64::from(did == Did::Ask);
        self.step(SessionInput::Agent(event(did, QuestionId(self.questions))));
    }

    fn permit(&mut self) {
        let Some(open) = self.driver.core.open_asks().pop() else { return };
        self.reference.permit();
        let answer = raw(&json!({ "outcome": { "outcome": "selected", "optionId": "yes" } }));
        let answer = ClientAnswer::Answer(answer);
        self.step(SessionInput::Answered { ask: open.ask, client: BOB, answer });
    }

    fn join(&mut self, id: ClientId, version: Version) {
        let request = RequestId(1_000_000 + id.0);
        let attendee = Attendee { id, version, offers: ClientOffers::default() };
        let options = AttachOptions { wants_history: true, ..AttachOptions::default() };
        self.seen.insert(id, Vec::new());
        self.step(SessionInput::Attach(AttachRequest { request, attendee, from: 0, options }));
    }

    fn next_request(&mut self) -> usize {
        self.requests += 1;
        self.requests
    }

    /// The request that was made so many before the last.
    fn earlier(&self, back: usize) -> usize {
        self.requests.saturating_sub(back)
    }

    fn id_of(&self, number: usize) -> String {
        let known = self.numbers.iter().find(|(_, known)| **known == number);
        known.map_or("unknown", |(id, _)| id).to_owned()
    }

    fn request(&mut self, number: usize, client: ClientId, what: SessionRequest) {
        self.step(SessionInput::Request { client, request: RequestId(number as u64), what });
    }

    fn step(&mut self, input: SessionInput) {
        let step = self.driver.step(input);
        self.see(&step);
    }

    fn see(&mut self, step: &SessionStep) {
        for operation in step.commits.iter().flat_map(|commit| &commit.operations) {
            if let StoreOperation::Input(input) = operation
                && let MailboxChange::Added(message) = &input.change
            {
                let number = text_of(&message.content.content).trim_start_matches("said ").parse();
                self.numbers.insert(message.id.clone(), number.expect("it says its number"));
            }
        }
        step.effects.iter().for_each(|effect| self.see_effect(effect));
    }

    fn see_effect(&mut self, effect: &SessionEffect) {
        match effect {
            SessionEffect::Answer { request, outcome } => {
                let answer = match outcome {
                    Ok(result) => self.told(result),
                    Err(error) => error.get_reason().unwrap_or_else(|| error.message.clone()),
                };
                self.answers.insert(usize::try_from(request.0).expect("a small number"), answer);
            }
            SessionEffect::Show { update, skip } => {
                let seers: Vec<_> =
                    self.joined.iter().filter(|client| !skip.contains(client)).copied().collect();
                for client in seers {
                    self.shown(client, update);
                }
            }
            SessionEffect::Joined(joined) => {
                self.joined.push(joined.client);
                joined.missed.iter().for_each(|update| self.shown(joined.client, update));
            }
            SessionEffect::Prompt { messages, .. } => {
                assert!(!self.is_running, "the agent is prompted between turns");
                self.is_running = true;
                self.given("prompt", messages);
            }
            SessionEffect::Steer(messages) => self.given("steer", messages),
            SessionEffect::GoOn(messages) => {
                self.is_at_break = false;
                self.given("steer", messages);
            }
            _ => {}
        }
    }

    fn told(&self, result: &RawJson) -> String {
        let value: Value = result.to().expect("results are JSON");
        let text = |name: &str| value[name].as_str();
        match text("messageId") {
            Some(id) => format!("is {}", self.numbers[id]),
            None => text("stopReason").or(text("outcome")).map_or_else(|| value.to_string(), str::to_owned),
        }
    }

    fn shown(&mut self, client: ClientId, update: &IndexedUpdate) {
        if update.kind == UpdateKind::UserMessage {
            let content = update.raw.get(&["content"]).expect("messages have content");
            self.seen.entry(client).or_default().push(text_of(&content));
        }
    }

    fn given(&mut self, how: &'static str, messages: &[UserMessage]) {
        if !messages.is_empty() {
            self.given.push((how, messages.iter().map(|message| text_of(&message.content)).collect()));
        }
    }

    /// Lets all be written and every turn end, until nothing is left to do.
    fn settle(&mut self) {
        while self.driver.is_writing() || self.reference.is_running() {
            self.take(if self.driver.is_writing() {
                Happening::Land
            } else {
                Happening::Did(Did::End("end_turn"))
            });
        }
    }

    fn compare(&self) -> Result<(), TestCaseError> {
        let Reference { transcript, given, answers, .. } = &self.reference;
        prop_assert_eq!(&self.given, given);
        prop_assert_eq!(&self.answers, answers);
        prop_assert_eq!(self.driver.unanswered().count(), 0);
        let said: Vec<_> = transcript.iter().map(|(text, _)| text.clone()).collect();
        let others: Vec<_> =
            transcript.iter().filter(|(_, is_anns)| !is_anns).map(|(text, _)| text.clone()).collect();
        prop_assert_eq!(&self.seen[&ANN], &others);
        prop_assert_eq!(&self.seen[&BOB], &said);
        prop_assert!(self.seen.get(&CAT).is_none_or(|seen| *seen == said));
        let users = self.driver.disk.entries.values().filter(|update| update.kind == UpdateKind::UserMessage);
        let written: Vec<_> =
            users.map(|update| text_of(&update.raw.get(&["content"]).expect("content"))).collect();
        prop_assert_eq!(written, said);
        prop_assert!(self.driver.disk.inputs.pending.is_empty());
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(CASES),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_session_is_what_it_would_be_without_a_disk(
        method in select(vec![SteerMethod::Take, SteerMethod::Interrupt, SteerMethod::Wait]),
        happenings in vec(any::<u64>().prop_map(happening), 1..80),
    ) {
        let mut pair = Pair::new(method);
        for happening in happenings {
            pair.take(happening);
        }
        pair.settle();
        pair.compare()?;
    }
}
