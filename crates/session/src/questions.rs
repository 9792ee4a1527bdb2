//! What the agent asks and has no answer to yet; what it does not ask the user is asked of one client.

use std::{collections::BTreeMap, sync::Arc};

use nudge_backend::{AgentQuestion, QuestionId, is_file_or_terminal, is_last_word, nobody_answers};
use nudge_mailbox::ClientId;
use nudge_wire::{Error, RawJson};

use crate::{
    AskId, Attendee, ClientAnswer, SessionCore, SessionEffect,
    attendance::is_elicitation,
    outbox::OutboxAct,
    user_questions::{OpenUserQuestion, ShownPages},
};

/// What becomes of a question of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Progress {
    /// One of those that the user is asked, or its answer is on its way to the disk.
    OfUser,
    /// It waits for its place; then somebody is asked.
    Undecided,
    /// A client is asked.
    Asked(AskedOne),
}

/// A question that one client is asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct AskedOne {
    ask: AskId,
    client: ClientId,
    method: Arc<str>,
    /// It is done even if nobody waits for its answer any more.
    is_last_word: bool,
}

/// The questions of the agent that have no answer yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct UnansweredQuestions {
    /// Those that the user is asked.
    pub(crate) of_user: Vec<OpenUserQuestion>,
    pub(crate) open: BTreeMap<QuestionId, Progress>,
    /// How many there have been.
    count: u64,
    /// The pages that were asked for, of which the agent will say that they are done with.
    pub(crate) pages: ShownPages,
}

impl UnansweredQuestions {
    pub(crate) fn next_ask(&mut self) -> AskId {
        self.count += 1;
        AskId(self.count)
    }

    /// The question that one client is asked as this.
    fn asked_as(&self, ask: AskId) -> Option<QuestionId> {
        let is_it = |progress: &Progress| matches!(progress, Progress::Asked(asked) if asked.ask == ask);
        self.open.iter().find(|(_, progress)| is_it(progress)).map(|(id, _)| *id)
    }
}

impl SessionCore {
    /// The agent asks something: the user, or for all else the client that prompted.
    pub(crate) fn take_question(&mut self, question: AgentQuestion) {
        self.draft.bytes += question.params.as_str().len();
        if self.may_ask_user(&question) {
            return self.take_user_question(question);
        }
        self.questions.open.insert(question.id, Progress::Undecided);
        self.draft.acts.push(OutboxAct::AskOne(question));
    }

    /// The agent does not want an answer any more.
    pub(crate) fn question_withdrawn(&mut self, id: QuestionId) {
        self.forget_question(id);
        self.user_question_withdrawn(id);
    }

    /// The agent is gone, and with it all it has asked.
    pub(crate) fn forget_questions(&mut self) {
        self.forget_user_questions();
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

    /// Gives the agent an answer, if it waits for it.
    pub(crate) fn answer_agent(&mut self, id: QuestionId, answer: Result<RawJson, Error>) {
        if self.questions.open.remove(&id).is_some() {
            self.step.effects.push(SessionEffect::AnswerAgent(id, answer));
        }
    }

    /// Answers what the agent asks and nobody will: what the user was asked, and what nobody was asked yet.
    pub(crate) fn cancel_questions(&mut self) {
        self.cancel_user_questions();
        let open: Vec<_> = self.questions.open.iter().map(|(id, progress)| (*id, progress.clone())).collect();
        for (id, progress) in open {
            match progress {
                // Of these only the answer to a permission can be on its way.
                Progress::OfUser => self.answer_agent(id, Ok(nudge_backend::cancelled_permission())),
                Progress::Undecided => self.answer_agent(id, Err(nobody_answers("this request"))),
                Progress::Asked(_) => {}
            }
        }
    }

    /// Asks the client that prompted, if it can answer. Files and terminals come else from Nudge, or from an agent that has its
    /// own; all else from anybody.
    pub(crate) fn ask_one(&mut self, question: AgentQuestion) {
        let id = question.id;
        if !self.questions.open.contains_key(&id) {
            // It was withdrawn while it waited for its place.
            return;
        }
        let is_served = is_file_or_terminal(&question.method);
        match self.who_answers(&question) {
            Some(client) => self.ask_client(client, question),
            None if is_served && !self.agent.has_own_tools => {
                self.questions.open.remove(&id);
                self.step.effects.push(SessionEffect::Serve(question));
            }
            None if is_elicitation(&question.method) => {
                self.answer_agent(id, Err(Error::method_not_found(&question.method)));
            }
            None => self.answer_agent(id, Err(nobody_answers(&question.method))),
        }
    }

    fn who_answers(&self, question: &AgentQuestion) -> Option<ClientId> {
        let (method, params) = (&*question.method, &question.params);
        let is_served = is_file_or_terminal(method);
        let is_able =
            |client: &&Attendee| !(is_served || is_elicitation(method)) || client.offers.has(method, params);
        // Somebody who looks can answer as well as the one who prompted.
        let client = match self.prompter() {
            None if is_served && self.agent.has_own_tools => None,
            None if is_served => self.attendance.iter().next().filter(is_able),
            Some(prompter) if is_served || is_able(&prompter) => Some(prompter).filter(is_able),
            _ => self.attendance.iter().find(is_able),
        };
        client.map(|client| client.id)
    }

    /// The client that began the turn, or the last one, if it is there.
    pub(crate) fn prompter(&self) -> Option<&Attendee> {
        let prompter = self.turn.as_ref().map(|turn| turn.prompter).or(self.last_prompter);
        prompter.and_then(|prompter| self.attendance.get(prompter))
    }

    fn ask_client(&mut self, client: ClientId, question: AgentQuestion) {
        let ask = self.questions.next_ask();
        let is_last_word = is_last_word(&question.method);
        let method = Arc::clone(&question.method);
        let asked = AskedOne { ask, client, method, is_last_word };
        self.questions.open.insert(question.id, Progress::Asked(asked));
        self.step.effects.push(SessionEffect::Ask { ask, client, question });
    }

    /// What comes back from a client. The first answer is the answer.
    pub(crate) fn answered(&mut self, ask: AskId, client: ClientId, answer: ClientAnswer) {
        match self.questions.asked_as(ask) {
            Some(question) => self.asked_answered(question, answer),
            None => self.user_answered(ask, client, answer),
        }
    }

    fn asked_answered(&mut self, question: QuestionId, answer: ClientAnswer) {
        let Some(Progress::Asked(asked)) = self.questions.open.get(&question) else { return };
        let answer = match answer {
            ClientAnswer::Answer(answer) => Ok(answer),
            ClientAnswer::Refused(error) => Err(error),
            ClientAnswer::Gone => Err(nobody_answers(&asked.method)),
        };
        self.answer_agent(question, answer);
    }
}
