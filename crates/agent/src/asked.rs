//! What the agent's task has asked and waits for.

use std::{collections::BTreeMap, task::Context};

use nudge_backend::{QuestionAnswer, QuestionId, UserMessage};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

/// Shared by an agent and its task.
#[derive(Debug, Default)]
pub(crate) struct AskedQuestions(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    last: u64,
    questions: BTreeMap<QuestionId, Waiting>,
    /// The task stands at a break-point.
    break_point: Option<oneshot::Sender<Vec<UserMessage>>>,
}

#[derive(Debug)]
struct Waiting {
    answer: oneshot::Sender<QuestionAnswer>,
    /// Whether the owner of the agent has taken the question.
    is_taken: bool,
    /// Whether it is to be done even if nobody waits for the answer any more.
    is_last_word: bool,
}

impl AskedQuestions {
    /// A new question, and where its answer comes.
    pub(crate) fn question(&self, is_last_word: bool) -> (QuestionId, oneshot::Receiver<QuestionAnswer>) {
        let (answer, coming) = oneshot::channel();
        let mut open = self.open();
        open.last += 1;
        let id = QuestionId(open.last);
        open.questions.insert(id, Waiting { answer, is_taken: false, is_last_word });
        (id, coming)
    }

    /// Where that comes which goes in at a break-point.
    pub(crate) fn break_point(&self) -> oneshot::Receiver<Vec<UserMessage>> {
        let (answer, coming) = oneshot::channel();
        self.open().break_point = Some(answer);
        coming
    }

    /// The owner has taken a question.
    pub(crate) fn taken(&self, id: QuestionId) {
        if let Some(waiting) = self.open().questions.get_mut(&id) {
            waiting.is_taken = true;
        }
    }

    pub(crate) fn answer(&self, id: QuestionId, answer: QuestionAnswer) {
        if let Some(waiting) = self.open().questions.remove(&id) {
            // The task may not wait for it any more.
            let _ = waiting.answer.send(answer);
        }
    }

    pub(crate) fn go_on(&self, messages: Vec<UserMessage>) {
        if let Some(answer) = self.open().break_point.take() {
            // A turn that was cut short does not stand there any more.
            let _ = answer.send(messages);
        }
    }

    /// Nobody answers any more.
    pub(crate) fn close(&self) {
        let mut open = self.open();
        open.questions.clear();
        open.break_point = None;
    }

    /// A question that the owner has taken and the task does not wait for any more.
    pub(crate) fn poll_withdrawn(&self, cx: &mut Context<'_>) -> Option<QuestionId> {
        let mut open = self.open();
        let mut is_over = |_: &QuestionId, waiting: &mut Waiting| {
            waiting.is_taken && waiting.answer.poll_closed(cx).is_ready()
        };
        let mut over = open.questions.extract_if(.., &mut is_over);
        over.find(|(_, waiting)| !waiting.is_last_word).map(|(id, _)| id)
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock()
    }
}
