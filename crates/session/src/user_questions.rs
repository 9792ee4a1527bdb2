//! What the agent asks the user: for permission, for which every client is asked, or by a form or a page, which one client
//! shows. It waits until somebody can answer.

use std::collections::VecDeque;

use nudge_backend::{
    AgentQuestion, CREATE_ELICITATION, QuestionId, REQUEST_PERMISSION, cancelled_permission,
    check_elicitation_answer,
};
use nudge_bridge::{ToV1, ToV2};
use nudge_mailbox::ClientId;
use nudge_wire::{Error, RawJson, Version};

use crate::{
    AskId, Attendee, ClientAnswer, FORMER_CLIENT, OpenAsk, SessionCore, SessionEffect,
    outbox::OutboxAct,
    own_updates,
    questions::{Progress, UnansweredQuestions},
};

/// Pages that are remembered until the agent says that they are done with.
const MOST_PAGES: usize = 64;
/// The longest name of a page that is remembered, in bytes.
const LONGEST_PAGE_NAME: usize = 1024;

/// A question to the user that is open. Who is asked may change; the first answer counts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct OpenUserQuestion {
    pub(crate) ask: AskId,
    pub(crate) question: AgentQuestion,
    /// Who is being asked, and in which version the answer will come: of a form or a page never more than one.
    asked: Vec<(ClientId, Version)>,
    /// Those who will say nothing more. They are not asked again before they join anew.
    silent: Vec<ClientId>,
    /// Whether the turn that runs waits for it.
    holds_turn: bool,
}

/// The pages that clients were asked to show.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct ShownPages(VecDeque<(String, ClientId)>);

impl ShownPages {
    fn note(&mut self, page: String, client: ClientId) {
        self.0.retain(|(known, _)| *known != page);
        if self.0.len() == MOST_PAGES {
            self.0.pop_front();
        }
        if page.len() <= LONGEST_PAGE_NAME {
            self.0.push_back((page, client));
        }
    }

    /// The client that was asked to show this page. It is done with.
    fn take(&mut self, page: &str) -> Option<ClientId> {
        let at = self.0.iter().position(|(known, _)| known == page)?;
        self.0.remove(at).map(|(_, client)| client)
    }

    /// Nobody is to be told of what this client has shown any more.
    pub(crate) fn forget(&mut self, client: ClientId) {
        self.0.retain(|(_, shown_by)| *shown_by != client);
    }
}

impl UnansweredQuestions {
    /// Whether the turn waits for the user.
    pub(crate) fn needs_user(&self) -> bool {
        self.of_user.iter().any(|open| open.holds_turn)
    }

    /// How long the questions to the user are that are open.
    pub(crate) fn user_question_bytes(&self) -> usize {
        self.of_user.iter().map(|open| open.question.params.as_str().len()).sum()
    }

    fn user_question_at(&self, ask: AskId) -> Option<usize> {
        self.of_user.iter().position(|open| open.ask == ask)
    }
}

impl SessionCore {
    /// What the session waits for the user to decide or fill in.
    pub fn open_asks(&self) -> Vec<OpenAsk> {
        let asks = self.questions.of_user.iter().map(|open| {
            let AgentQuestion { version, params, .. } = &open.question;
            let method = if open.question.is_permission() { REQUEST_PERMISSION } else { CREATE_ELICITATION };
            OpenAsk { ask: open.ask, version: *version, method, params: params.clone() }
        });
        asks.collect()
    }

    /// Whether the user is asked this, and somebody can be waited for who answers: forms and pages are shown by clients that
    /// have named them, and no others.
    pub(crate) fn may_ask_user(&self, question: &AgentQuestion) -> bool {
        let AgentQuestion { method, params, .. } = question;
        let is_shown = || {
            let is_able = |client: &Attendee| client.offers.has(method, params);
            self.agent.elicitation.has(method, params) || self.attendance.iter().any(is_able)
        };
        question.is_permission() || question.is_form() && is_shown()
    }

    pub(crate) fn take_user_question(&mut self, question: AgentQuestion) {
        let (ask, id) = (self.questions.next_ask(), question.id);
        let holds_turn = question.is_permission() || self.turn.is_some();
        let open = OpenUserQuestion { ask, question, asked: Vec::new(), silent: Vec::new(), holds_turn };
        self.questions.open.insert(id, Progress::OfUser);
        self.questions.of_user.push(open);
        if holds_turn {
            let told = self.turn.as_ref().and_then(crate::RunningTurn::prompting_client);
            self.record(own_updates::requires_action(), told);
        }
        self.draft.acts.push(OutboxAct::AskUser(ask));
        self.end_turn_of_ending();
    }

    /// The agent does not want the user asked any more.
    pub(crate) fn user_question_withdrawn(&mut self, id: QuestionId) {
        let of_user = &mut self.questions.of_user;
        if let Some(at) = of_user.iter().position(|open| open.question.id == id) {
            let open = of_user.remove(at);
            self.withdraw(&open, None);
            self.user_is_free_of(&open);
        }
    }

    pub(crate) fn forget_user_questions(&mut self) {
        for open in std::mem::take(&mut self.questions.of_user) {
            self.withdraw(&open, None);
        }
    }

    /// Those who are asked are not any more, but for one.
    pub(crate) fn withdraw(&mut self, open: &OpenUserQuestion, but: Option<ClientId>) {
        let asked = open.asked.iter().map(|(client, _)| *client).filter(|client| Some(*client) != but);
        let withdrawn = asked.map(|client| SessionEffect::WithdrawAsk { ask: open.ask, client });
        self.step.effects.extend(withdrawn);
    }

    /// Nobody answers what the user is asked any more: the turn is cancelled, or cannot be kept.
    pub(crate) fn cancel_user_questions(&mut self) {
        for open in std::mem::take(&mut self.questions.of_user) {
            self.withdraw(&open, None);
            let answer = open.question.cancelled().unwrap_or_else(cancelled_permission);
            self.answer_agent(open.question.id, Ok(answer));
        }
    }

    /// The turn is over: what it was to be permitted is nothing any more. A form may be filled in later; the next turn does not
    /// wait for it.
    pub(crate) fn end_user_questions_of_turn(&mut self) {
        let of_user = std::mem::take(&mut self.questions.of_user);
        let (permissions, mut forms): (Vec<_>, Vec<_>) =
            of_user.into_iter().partition(|open| open.question.is_permission());
        for form in &mut forms {
            form.holds_turn = false;
        }
        self.questions.of_user = permissions;
        self.cancel_user_questions();
        self.questions.of_user = forms;
    }

    /// The turn does not wait for this any more, if it did.
    fn user_is_free_of(&mut self, open: &OpenUserQuestion) {
        if open.holds_turn {
            self.user_is_free();
        }
    }

    /// The user does not have to do anything any more, unless something else is asked.
    pub(crate) fn user_is_free(&mut self) {
        if !self.questions.needs_user()
            && let Some(turn) = &self.turn
        {
            let told = turn.prompting_client();
            self.record(own_updates::running(), told);
        }
    }

    /// Asks for permission everybody who is there, and for all else the client that prompted or anybody who shows it. If
    /// nobody does, it waits.
    pub(crate) fn ask_user(&mut self, ask: AskId) {
        let Some(at) = self.questions.user_question_at(ask) else { return };
        let clients: Vec<_> = if self.questions.of_user[at].question.is_permission() {
            self.attendance.iter().map(|attendee| (attendee.id, attendee.version)).collect()
        } else {
            self.who_shows(&self.questions.of_user[at]).into_iter().collect()
        };
        for (client, version) in clients {
            self.ask_user_at(at, client, version);
        }
    }

    /// Who is to show a form or a page that nobody is asked to show yet.
    fn who_shows(&self, open: &OpenUserQuestion) -> Option<(ClientId, Version)> {
        let AgentQuestion { method, params, .. } = &open.question;
        let is_able =
            |client: &&Attendee| client.offers.has(method, params) && !open.silent.contains(&client.id);
        let prompter = self.prompter().filter(is_able);
        let client = prompter.or_else(|| self.attendance.iter().find(is_able));
        client.filter(|_| open.asked.is_empty()).map(|client| (client.id, client.version))
    }

    /// Asks a client that joins for all that is open and that it can answer.
    pub(crate) fn ask_for_all(&mut self, client: ClientId, version: Version) {
        for at in 0..self.questions.of_user.len() {
            let open = &self.questions.of_user[at];
            if open.question.is_permission() || self.who_shows(open).is_some_and(|(able, _)| able == client) {
                self.ask_user_at(at, client, version);
            }
        }
    }

    fn ask_user_at(&mut self, at: usize, client: ClientId, version: Version) {
        let open = &mut self.questions.of_user[at];
        if open.asked.iter().any(|(asked, _)| *asked == client) {
            return;
        }
        open.asked.push((client, version));
        let (ask, question) = (open.ask, open.question.clone());
        if let Some(page) = page_of(&question) {
            self.questions.pages.note(page, client);
        }
        self.step.effects.push(SessionEffect::Ask { ask, client, question });
    }

    /// A client is not asked any more: it has left, or joins anew. Gives the forms that nobody shows because of
    /// that.
    pub(crate) fn withdraw_from(&mut self, client: ClientId) -> Vec<AskId> {
        let mut unasked = Vec::new();
        for open in &mut self.questions.of_user {
            open.silent.retain(|silent| *silent != client);
            let before = open.asked.len();
            open.asked.retain(|(asked, _)| *asked != client);
            if open.asked.len() < before {
                self.step.effects.push(SessionEffect::WithdrawAsk { ask: open.ask, client });
                unasked.extend((!open.question.is_permission()).then_some(open.ask));
            }
        }
        unasked
    }

    /// What comes back from a client that was asked on behalf of the user, or from elsewhere.
    pub(crate) fn user_answered(&mut self, ask: AskId, client: ClientId, answer: ClientAnswer) {
        let Some(at) = self.questions.user_question_at(ask) else { return };
        if self.questions.of_user[at].question.is_permission() {
            self.permission_answered(at, client, answer);
        } else {
            self.form_answered(at, client, answer);
        }
    }

    fn permission_answered(&mut self, at: usize, client: ClientId, answer: ClientAnswer) {
        let permission = &mut self.questions.of_user[at];
        let answered_in =
            permission.asked.iter().find(|(asked, _)| *asked == client).map(|(_, version)| *version);
        let answer = match answer {
            ClientAnswer::Answer(answer) => between(answered_in, permission.question.version, answer),
            ClientAnswer::Gone => {
                permission.asked.retain(|(asked, _)| *asked != client);
                return self.cannot_answer(client);
            }
            ClientAnswer::Refused(_) => {
                permission.asked.retain(|(asked, _)| *asked != client);
                // Another client may understand the question; one that is not asked any more decides nothing.
                if answered_in.is_none() || !permission.asked.is_empty() {
                    return;
                }
                cancelled_permission()
            }
        };
        let permission = self.questions.of_user.remove(at);
        let AgentQuestion { version, params, .. } = &permission.question;
        self.draft.is_durable = true;
        self.keep_quietly(own_updates::permission_answer(*version, params, &answer));
        self.draft.acts.push(OutboxAct::Permit { permission, by: client, answer });
        self.user_is_free();
    }

    /// An answer that is on disk goes to the agent, and the other clients are told that they are not asked any more.
    pub(crate) fn permit(&mut self, permission: &OpenUserQuestion, by: ClientId, answer: RawJson) {
        self.withdraw(permission, Some(by));
        self.answer_agent(permission.question.id, Ok(answer));
    }

    /// A form is answered by the one client that is asked, or elsewhere, by somebody who is not attached.
    fn form_answered(&mut self, at: usize, client: ClientId, answer: ClientAnswer) {
        let form = &mut self.questions.of_user[at];
        let is_asked = form.asked.iter().any(|(asked, _)| *asked == client);
        if !is_asked && client != FORMER_CLIENT {
            return;
        }
        let answer = match answer {
            ClientAnswer::Answer(answer) => {
                let checked = check_elicitation_answer(&form.question.params, &answer);
                let wrong = checked.map_err(|wrong| Error::internal(wrong.to_string()));
                wrong.map(|()| answer).map_err(|wrong| wrong.reason("invalid_answer"))
            }
            ClientAnswer::Refused(error) => Err(error),
            ClientAnswer::Gone => {
                let (ask, holds_turn) = (form.ask, form.holds_turn);
                form.asked.clear();
                form.silent.push(client);
                if holds_turn {
                    self.cannot_answer(client);
                }
                return self.ask_user(ask);
            }
        };
        let form = self.questions.of_user.remove(at);
        self.withdraw(&form, Some(client));
        self.answer_agent(form.question.id, answer);
        self.user_is_free_of(&form);
    }

    /// A client will say nothing more, and so cannot answer what its turn waits for. Somebody else may: the client is told
    /// so and can go. Where the process ends with its client, the turn is ended instead, by who ends the process.
    fn cannot_answer(&mut self, client: ClientId) {
        if !self.outlives_clients {
            return;
        }
        let unanswered = self.turn.as_mut().map(|turn| &mut turn.unanswered);
        let owner = unanswered.and_then(|prompt| prompt.take_if(|prompt| prompt.client == client));
        let waiting = self.unanswered.extract_if(.., |_, prompt| prompt.client == client);
        let requests: Vec<_> =
            waiting.map(|(_, prompt)| prompt).chain(owner).map(|prompt| prompt.request).collect();
        let what = "The turn waits for an answer of the user, and this client's input has ended. It goes on in the daemon: \
                    load the session to answer";
        for request in requests {
            self.answer_now(request, Err(Error::internal(what).reason("requires_action")));
        }
    }

    /// The client that is to be told that this page is done with: the one that was asked to show it, if it is there.
    pub(crate) fn who_showed(&mut self, page: &str) -> Option<ClientId> {
        let client = self.questions.pages.take(page)?;
        self.attendance.get(client).map(|attendee| attendee.id)
    }
}

/// What a page is called that the user is to visit.
fn page_of(question: &AgentQuestion) -> Option<String> {
    let word = |name: &str| question.params.get(&[name]).and_then(|word| word.to::<String>().ok());
    word("elicitationId").filter(|_| question.is_form() && word("mode").as_deref() == Some("url"))
}

/// An answer of a client of one version for an agent of another.
fn between(from: Option<Version>, to: Version, answer: RawJson) -> RawJson {
    match (to, from) {
        (Version::V2, Some(Version::V1)) => ToV1::permission_answer(&answer),
        (Version::V1, Some(Version::V2)) => ToV2::permission_answer(&answer),
        _ => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_is_given_as_the_agent_reads_it() {
        let answer =
            RawJson::of(&json!({ "outcome": { "outcome": "selected", "optionId": "yes" } })).unwrap();
        let (to_v2, to_v1) = (ToV1::permission_answer(&answer), ToV2::permission_answer(&answer));
        assert_eq!(between(Some(Version::V1), Version::V2, answer.clone()), to_v2);
        assert_eq!(between(Some(Version::V2), Version::V1, answer.clone()), to_v1);
        assert_eq!(between(Some(Version::V1), Version::V1, answer.clone()), answer);
        assert_eq!(between(None, Version::V1, answer.clone()), answer);
    }
}
