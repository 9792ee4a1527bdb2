//! What the agent asks: of everybody a permission, of one client all else.

use std::{collections::BTreeMap, sync::Arc};

use nudge_backend::{
    AgentQuestion, CREATE_ELICITATION, QuestionId, REQUEST_PERMISSION, cancelled_form, cancelled_permission,
    is_file_or_terminal, is_last_word, nobody_answers,
};
use nudge_bridge::{ToV1, ToV2};
use nudge_mailbox::ClientId;
use nudge_wire::{Error, RawJson, Version};

use crate::{
    AskId, Attendee, ClientAnswer, OpenAsk, SessionCore, SessionEffect, attendance::is_elicitation,
    outbox::OutboxAct, own_updates,
};

/// A permission request that is open. Every client is asked, and the first answer counts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct OpenPermission {
    pub(crate) ask: AskId,
    pub(crate) question: AgentQuestion,
    /// Who is being asked, and in which version the answer will come.
    asked: Vec<(ClientId, Version)>,
}

/// What becomes of a question of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Progress {
    /// One of the permissions, or its answer is on its way to the disk.
    Permission,
    /// It waits for its place; then somebody is asked.
    Undecided {
        /// Whether everybody was told that the user has to do something.
        is_form: bool,
    },
    /// A client is asked.
    Asked(AskedOne),
}

impl Progress {
    /// Whether the turn waits for the user to fill it in.
    fn is_form(&self) -> bool {
        matches!(self, Self::Undecided { is_form: true } | Self::Asked(AskedOne { form: Some(_), .. }))
    }
}

/// A question that one client is asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct AskedOne {
    ask: AskId,
    client: ClientId,
    method: Arc<str>,
    /// The version of the params, and the params, if it is a form, which somebody else may fill in.
    form: Option<(Version, RawJson)>,
    /// It is done even if nobody waits for its answer any more.
    is_last_word: bool,
}

/// The questions of the agent that have no answer yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct UnansweredQuestions {
    permissions: Vec<OpenPermission>,
    open: BTreeMap<QuestionId, Progress>,
    /// How many there have been.
    count: u64,
}

impl UnansweredQuestions {
    /// Whether the user is asked for permission.
    pub(crate) fn has_permissions(&self) -> bool {
        !self.permissions.is_empty()
    }

    /// Whether the user is asked for anything.
    pub(crate) fn needs_user(&self) -> bool {
        self.has_permissions() || self.open.values().any(Progress::is_form)
    }

    /// How long the permission requests are that are open.
    pub(crate) fn permission_bytes(&self) -> usize {
        self.permissions.iter().map(|permission| permission.question.params.as_str().len()).sum()
    }

    /// The forms and pages that are open, or about to be.
    fn form_ids(&self) -> Vec<QuestionId> {
        let forms = self.open.iter().filter(|(_, progress)| progress.is_form());
        forms.map(|(id, _)| *id).collect()
    }

    fn forms(&self) -> impl Iterator<Item = (AskId, &(Version, RawJson))> {
        self.open.values().filter_map(|progress| match progress {
            Progress::Asked(AskedOne { ask, form: Some(form), .. }) => Some((*ask, form)),
            _ => None,
        })
    }

    fn next_ask(&mut self) -> AskId {
        self.count += 1;
        AskId(self.count)
    }

    fn permission_at(&self, ask: AskId) -> Option<usize> {
        self.permissions.iter().position(|permission| permission.ask == ask)
    }

    /// The question that one client is asked as this.
    fn asked_as(&self, ask: AskId) -> Option<QuestionId> {
        let is_it = |progress: &Progress| matches!(progress, Progress::Asked(asked) if asked.ask == ask);
        self.open.iter().find(|(_, progress)| is_it(progress)).map(|(id, _)| *id)
    }
}

impl SessionCore {
    /// What the session waits for the user to decide or fill in.
    pub fn open_asks(&self) -> Vec<OpenAsk> {
        let permissions = self.questions.permissions.iter().map(|permission| {
            let AgentQuestion { version, params, .. } = &permission.question;
            let (method, params) = (REQUEST_PERMISSION, params.clone());
            OpenAsk { ask: permission.ask, version: *version, method, params }
        });
        let forms = self.questions.forms().map(|(ask, (version, params))| {
            let params = params.clone();
            OpenAsk { ask, version: *version, method: CREATE_ELICITATION, params }
        });
        permissions.chain(forms).collect()
    }

    /// The agent asks something: for permission everybody, for all else the client that prompted.
    pub(crate) fn take_question(&mut self, question: AgentQuestion) {
        self.draft.bytes += question.params.as_str().len();
        if question.is_permission() {
            return self.take_permission(question);
        }
        let is_form = question.is_form() && self.who_answers(&question.method).is_some();
        self.questions.open.insert(question.id, Progress::Undecided { is_form });
        if is_form && let Some(turn) = &self.turn {
            let told = turn.prompting_client();
            self.record(own_updates::requires_action(), told);
        }
        self.draft.acts.push(OutboxAct::AskOne(question));
    }

    fn take_permission(&mut self, question: AgentQuestion) {
        self.questions.open.insert(question.id, Progress::Permission);
        let ask = self.questions.next_ask();
        self.questions.permissions.push(OpenPermission { ask, question, asked: Vec::new() });
        let told = self.turn.as_ref().and_then(crate::RunningTurn::prompting_client);
        self.record(own_updates::requires_action(), told);
        self.draft.acts.push(OutboxAct::AskEveryone(ask));
        self.end_turn_of_ending();
    }

    /// The agent does not want an answer any more.
    pub(crate) fn question_withdrawn(&mut self, id: QuestionId) {
        let was_form = self.questions.open.get(&id).is_some_and(Progress::is_form);
        self.forget_question(id);
        if was_form {
            self.user_is_free();
        }
        let permissions = &mut self.questions.permissions;
        if let Some(at) = permissions.iter().position(|permission| permission.question.id == id) {
            let permission = permissions.remove(at);
            self.withdraw_permission(&permission, None);
            self.user_is_free();
        }
    }

    /// The agent is gone, and with it all it has asked.
    pub(crate) fn forget_questions(&mut self) {
        let permissions = std::mem::take(&mut self.questions.permissions);
        for permission in &permissions {
            self.withdraw_permission(permission, None);
        }
        let open: Vec<_> = self.questions.open.keys().copied().collect();
        for id in open {
            self.forget_question(id);
        }
    }

    /// Whoever is asked it is not any more.
    pub(crate) fn forget_question(&mut self, id: QuestionId) {
        if let Some(Progress::Asked(asked)) = self.questions.open.remove(&id)
            && !asked.is_last_word
        {
            self.step.effects.push(SessionEffect::WithdrawAsk { ask: asked.ask, client: asked.client });
        }
    }

    /// Those who are asked for a permission are not any more, but for one.
    pub(crate) fn withdraw_permission(&mut self, permission: &OpenPermission, but: Option<ClientId>) {
        let asked = permission.asked.iter().map(|(client, _)| *client).filter(|client| Some(*client) != but);
        let withdrawn = asked.map(|client| SessionEffect::WithdrawAsk { ask: permission.ask, client });
        self.step.effects.extend(withdrawn);
    }

    /// Gives the agent an answer, if it waits for it.
    pub(crate) fn answer_agent(&mut self, id: QuestionId, answer: Result<RawJson, Error>) {
        if self.questions.open.remove(&id).is_some() {
            self.step.effects.push(SessionEffect::AnswerAgent(id, answer));
        }
    }

    /// Nobody answers what is asked of everybody any more.
    pub(crate) fn cancel_permissions(&mut self) {
        for permission in std::mem::take(&mut self.questions.permissions) {
            self.withdraw_permission(&permission, None);
            self.answer_agent(permission.question.id, Ok(cancelled_permission()));
        }
    }

    /// Nobody fills in what the agent asks for any more: the turn is cancelled.
    pub(crate) fn cancel_forms(&mut self) {
        for id in self.questions.form_ids() {
            if let Some(Progress::Asked(asked)) = self.questions.open.get(&id) {
                let withdrawn = SessionEffect::WithdrawAsk { ask: asked.ask, client: asked.client };
                self.step.effects.push(withdrawn);
            }
            self.answer_agent(id, Ok(cancelled_form()));
        }
    }

    /// Answers what the agent asks and nobody will: what was asked of everybody, and what nobody was asked yet.
    pub(crate) fn cancel_questions(&mut self) {
        self.cancel_permissions();
        let open: Vec<_> = self.questions.open.iter().map(|(id, progress)| (*id, progress.clone())).collect();
        for (id, progress) in open {
            match progress {
                Progress::Permission => self.answer_agent(id, Ok(cancelled_permission())),
                Progress::Undecided { .. } => self.answer_agent(id, Err(nobody_answers("this request"))),
                Progress::Asked(_) => {}
            }
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

    /// Asks everybody who is there.
    pub(crate) fn ask_everyone(&mut self, ask: AskId) {
        let clients: Vec<_> =
            self.attendance.iter().map(|attendee| (attendee.id, attendee.version)).collect();
        for (client, version) in clients {
            self.ask_permission(ask, client, version);
        }
    }

    /// Asks a client that joins for all that is open.
    pub(crate) fn ask_for_all(&mut self, client: ClientId, version: Version) {
        let open: Vec<_> = self.questions.permissions.iter().map(|permission| permission.ask).collect();
        for ask in open {
            self.ask_permission(ask, client, version);
        }
    }

    fn ask_permission(&mut self, ask: AskId, client: ClientId, version: Version) {
        let Some(at) = self.questions.permission_at(ask) else { return };
        let permission = &mut self.questions.permissions[at];
        if permission.asked.iter().all(|(asked, _)| *asked != client) {
            permission.asked.push((client, version));
            let question = permission.question.clone();
            self.step.effects.push(SessionEffect::Ask { ask, client, question });
        }
    }

    /// A client is not asked for a permission any more: it has left, or joins anew.
    pub(crate) fn withdraw_from(&mut self, client: ClientId) {
        for permission in &mut self.questions.permissions {
            let before = permission.asked.len();
            permission.asked.retain(|(asked, _)| *asked != client);
            if permission.asked.len() < before {
                self.step.effects.push(SessionEffect::WithdrawAsk { ask: permission.ask, client });
            }
        }
    }

    /// Asks the client that prompted, if it can answer. Files and terminals come else from Nudge, or from an agent that has its
    /// own; forms from anybody who offers them; all else from anybody.
    pub(crate) fn ask_one(&mut self, question: AgentQuestion) {
        let id = question.id;
        if !self.questions.open.contains_key(&id) {
            // It was withdrawn while it waited for its place.
            return;
        }
        let is_served = is_file_or_terminal(&question.method);
        match self.who_answers(&question.method) {
            Some(client) => self.ask_client(client, question),
            None if is_served && !self.agent.has_own_tools => {
                self.questions.open.remove(&id);
                self.step.effects.push(SessionEffect::Serve(question));
            }
            None if is_elicitation(&question.method) => {
                let was_form = self.questions.open.get(&id).is_some_and(Progress::is_form);
                self.answer_agent(id, Err(Error::method_not_found(&question.method)));
                if was_form {
                    self.user_is_free();
                }
            }
            None => self.answer_agent(id, Err(nobody_answers(&question.method))),
        }
    }

    fn who_answers(&self, method: &str) -> Option<ClientId> {
        let is_served = is_file_or_terminal(method);
        let is_able =
            |client: &&Attendee| !(is_served || is_elicitation(method)) || client.offers.has(method);
        let prompter = self.turn.as_ref().map(|turn| turn.prompter).or(self.last_prompter);
        // Somebody who looks can answer as well as the one who prompted.
        let client = match prompter.and_then(|prompter| self.attendance.get(prompter)) {
            None if is_served && self.agent.has_own_tools => None,
            None if is_served => self.attendance.iter().next().filter(is_able),
            Some(prompter) if is_served || is_able(&prompter) => Some(prompter).filter(is_able),
            _ => self.attendance.iter().find(is_able),
        };
        client.map(|client| client.id)
    }

    fn ask_client(&mut self, client: ClientId, question: AgentQuestion) {
        let ask = self.questions.next_ask();
        let form = question.is_form().then(|| (question.version, question.params.clone()));
        let is_last_word = is_last_word(&question.method);
        let method = Arc::clone(&question.method);
        let asked = AskedOne { ask, client, method, form, is_last_word };
        self.questions.open.insert(question.id, Progress::Asked(asked));
        self.step.effects.push(SessionEffect::Ask { ask, client, question });
    }

    /// What comes back from a client. The first answer is the answer.
    pub(crate) fn answered(&mut self, ask: AskId, client: ClientId, answer: ClientAnswer) {
        match (self.questions.permission_at(ask), self.questions.asked_as(ask)) {
            (Some(at), _) => self.permission_answered(at, client, answer),
            (None, Some(question)) => self.asked_answered(question, client, answer),
            (None, None) => {}
        }
    }

    fn asked_answered(&mut self, question: QuestionId, client: ClientId, answer: ClientAnswer) {
        let Some(Progress::Asked(asked)) = self.questions.open.get(&question) else { return };
        if asked.client != client {
            // Somebody else has filled the form in.
            let withdrawn = SessionEffect::WithdrawAsk { ask: asked.ask, client: asked.client };
            self.step.effects.push(withdrawn);
        }
        let answer = match answer {
            ClientAnswer::Answer(answer) => Ok(answer),
            ClientAnswer::Refused(error) => Err(error),
            ClientAnswer::Gone => Err(nobody_answers(&asked.method)),
        };
        let was_form = asked.form.is_some();
        self.answer_agent(question, answer);
        if was_form {
            self.user_is_free();
        }
    }

    fn permission_answered(&mut self, at: usize, client: ClientId, answer: ClientAnswer) {
        let permission = &mut self.questions.permissions[at];
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
        let permission = self.questions.permissions.remove(at);
        let AgentQuestion { version, params, .. } = &permission.question;
        self.draft.is_durable = true;
        self.keep_quietly(own_updates::permission_answer(*version, params, &answer));
        self.draft.acts.push(OutboxAct::Permit { permission, by: client, answer });
        self.user_is_free();
    }

    /// An answer that is on disk goes to the agent, and the other clients are told that they are not asked any more.
    pub(crate) fn permit(&mut self, permission: &OpenPermission, by: ClientId, answer: RawJson) {
        self.withdraw_permission(permission, Some(by));
        self.answer_agent(permission.question.id, Ok(answer));
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
