//! The chat as a value: keys and events go in with the time, rows and acts come out. It knows no terminal, clock or connection.

mod commands;
mod form_filling;
mod keys;
mod live;
mod opening;
mod options;
mod pending;
mod plan;
mod questions;
mod session_picker;
mod updates;

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    agent_link::{LinkError, LinkEvent},
    completion::{CompletionItem, Completions},
    composer::Composer,
    conversation::{ConversationForm, ConversationRows},
    permission_text::ToldCalls,
    styled::{DIM, StyledRow, TextColour, TextStyle},
};
pub(crate) use live::LiveRows;
use opening::AskPurpose;
pub use opening::SessionWish;
use options::{SessionOption, SignInMethod};
use pending::PendingInput;
use plan::ShownPlanEntry;
use questions::ChatQuestion;
use session_picker::SessionPicker;

/// How long a hint is shown.
const HINT: Duration = Duration::from_secs(6);

/// What the chat wants done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ChatAct {
    /// A request; the answer comes back under this number.
    Ask { number: u64, method: &'static str, params: Value },
    /// A notification.
    Tell { method: &'static str, params: Value },
    /// The answer to a question to the user.
    Answer { number: u64, result: Value },
    /// The files of the folder are to be listed, for what is completed.
    FindFiles,
    /// The agent is to be started on this terminal, for the user to sign in.
    SignIn { args: Vec<String>, env: Vec<(String, String)> },
    /// Everything is to be drawn anew.
    Redraw,
    /// The user, who may be elsewhere, is to be told by a sound or a mark that something wants to be seen.
    Ring,
    /// The program goes into the background until the shell brings it back.
    Suspend,
    /// The chat is over.
    Leave,
}

/// How the session's turn stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum TurnView {
    #[default]
    Idle,
    Running,
    NeedsUser,
}

/// Whether there is somebody to talk to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChatStage {
    Connecting,
    Opening,
    Choosing,
    Open,
    /// There is no session before the user has signed in.
    SignedOut,
    /// The session could not be opened.
    Failed,
}

/// What is used of the context, and what it cost.
#[derive(Debug, Clone, Default)]
struct UsageView {
    used: u64,
    size: u64,
    cost: Option<String>,
}

/// A chat with one session at a time.
#[derive(Debug)]
pub(crate) struct ChatCore {
    form: ConversationForm,
    width: usize,
    height: usize,
    now: Duration,
    cwd: String,
    /// Makes keys of messages that nobody else has.
    seed: u64,
    stage: ChatStage,
    wish: SessionWish,
    session: Option<String>,
    /// The session that was left for one that is being opened.
    former: Option<String>,
    /// The sessions that were left.
    left: Vec<String>,
    /// Those that are listed so far.
    listed: Vec<Value>,
    /// Counts the sessions that were asked for.
    opening: u64,
    title: Option<String>,
    agent: String,
    sign_in: Vec<SignInMethod>,
    conversation: ConversationRows,
    /// Whether what comes was said before the session was opened here.
    is_history: bool,
    composer: Composer,
    completions: Option<Completions>,
    commands: Vec<CompletionItem>,
    files: Vec<String>,
    turn: TurnView,
    turn_since: Duration,
    /// The user has ended the turn, and it has not ended yet.
    is_stopping: bool,
    plan: Vec<ShownPlanEntry>,
    usage: Option<UsageView>,
    options: Vec<SessionOption>,
    pending: PendingInput,
    questions: VecDeque<ChatQuestion>,
    told: ToldCalls,
    /// A key that answers what is asked, and when it was pressed, until it is known to be no part of a word.
    held_key: Option<(char, Duration)>,
    /// When a key was last pressed that writes.
    typed_at: Option<Duration>,
    picker: Option<SessionPicker>,
    hint: Option<(String, Duration)>,
    /// Until when another Ctrl-C leaves.
    leaves_until: Option<Duration>,
    acts: Vec<ChatAct>,
    asked: HashMap<u64, AskPurpose>,
    next_ask: u64,
}

impl ChatCore {
    pub(crate) fn new(form: ConversationForm, wish: SessionWish, cwd: String, seed: u64) -> Self {
        let (width, height) = (80, 24);
        Self {
            form,
            width,
            height,
            now: Duration::ZERO,
            cwd,
            seed,
            stage: ChatStage::Connecting,
            wish,
            session: None,
            former: None,
            left: Vec::new(),
            listed: Vec::new(),
            opening: 0,
            title: None,
            agent: "agent".to_owned(),
            sign_in: Vec::new(),
            conversation: ConversationRows::new(form, width),
            is_history: false,
            composer: Composer::default(),
            completions: None,
            commands: Vec::new(),
            files: Vec::new(),
            turn: TurnView::Idle,
            turn_since: Duration::ZERO,
            is_stopping: false,
            plan: Vec::new(),
            usage: None,
            options: Vec::new(),
            pending: PendingInput::default(),
            questions: VecDeque::new(),
            told: ToldCalls::default(),
            held_key: None,
            typed_at: None,
            picker: None,
            hint: None,
            leaves_until: None,
            acts: Vec::new(),
            asked: HashMap::new(),
            next_ask: 1,
        }
    }

    /// The terminal has this size.
    pub(crate) fn set_size(&mut self, width: usize, height: usize) {
        (self.width, self.height) = (width.max(8), height.max(4));
        self.conversation.set_width(self.width);
        self.tell_question();
    }

    /// The time, from any beginning.
    pub(crate) fn set_now(&mut self, now: Duration) {
        self.now = now;
        if self.hint.as_ref().is_some_and(|(_, until)| *until <= now) {
            self.hint = None;
        }
        self.settle_held_key();
    }

    /// The files that can be named.
    pub(crate) fn set_files(&mut self, files: Vec<String>) {
        self.files = files;
        let (text, cursor) = (self.composer.text(), self.composer.cursor());
        self.completions = Completions::at(text, cursor, &self.all_commands(), &self.files);
    }

    /// Something came from Nudge.
    pub(crate) fn handle(&mut self, event: LinkEvent) {
        match event {
            LinkEvent::Update { session, update } => {
                if self.is_of_session(&session)
                    && let Ok(update) = update.to::<Value>()
                {
                    self.update(&update);
                }
            }
            LinkEvent::Pending { session, pending } => {
                if self.session.as_ref() == Some(&session) {
                    self.set_pending(&pending);
                }
            }
            LinkEvent::Asked { number, method, params } => self.ask_user(number, &method, params),
            LinkEvent::Withdrawn { number } => self.withdraw(number),
            LinkEvent::PageDone { elicitation } => self.page_done(&elicitation),
            LinkEvent::Answered { number, outcome } => {
                if let Some(purpose) = self.asked.remove(&number) {
                    self.answered(purpose, outcome);
                }
            }
            LinkEvent::Over(why) => self.lost(&why),
        }
    }

    /// What is to be done now.
    pub(crate) fn take_acts(&mut self) -> Vec<ChatAct> {
        std::mem::take(&mut self.acts)
    }

    /// The rows that go to the terminal for good.
    pub(crate) fn take_rows(&mut self) -> Vec<StyledRow> {
        if self.is_history { Vec::new() } else { self.conversation.take_done() }
    }

    /// The rows that go to the terminal when the chat is left: nothing that is shown comes to an end here.
    pub(crate) fn last_rows(&mut self) -> Vec<StyledRow> {
        self.conversation.end_turn();
        self.take_rows()
    }

    /// Whether something runs, waits or is not sent yet.
    pub(crate) fn is_busy(&self) -> bool {
        let is_coming = matches!(self.stage, ChatStage::Connecting | ChatStage::Opening);
        is_coming
            || self.pending.has_unanswered()
            || self.turn != TurnView::Idle
            || !self.pending.is_empty()
            || !self.questions.is_empty()
    }

    /// Whether nothing can come of it any more.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.stage, ChatStage::Failed | ChatStage::SignedOut)
    }

    /// Whether what is drawn changes with the time.
    pub(crate) fn is_moving(&self) -> bool {
        self.turn == TurnView::Running
            || self.hint.is_some()
            || self.pending.has_unsent()
            || self.held_key.is_some()
    }

    pub(crate) fn session_id(&self) -> Option<&str> {
        self.session.as_deref()
    }

    fn is_of_session(&self, session: &str) -> bool {
        match &self.session {
            Some(own) => own == session,
            // A new session tells of itself before it has a name here; one that was left goes on telling.
            None => self.stage == ChatStage::Opening && !self.left.iter().any(|left| left == session),
        }
    }

    fn ask(&mut self, purpose: AskPurpose, method: &'static str, params: Value) {
        if self.stage == ChatStage::Connecting {
            return self.hint("not connected; try it again in a moment");
        }
        let number = self.next_ask;
        self.next_ask += 1;
        self.asked.insert(number, purpose);
        self.acts.push(ChatAct::Ask { number, method, params });
    }

    fn note(&mut self, style: TextStyle, text: &str) {
        self.conversation.note(style, text);
    }

    fn hint(&mut self, text: impl Into<String>) {
        let text = text.into();
        match self.form {
            ConversationForm::Drawn => self.hint = Some((text, self.now + HINT)),
            ConversationForm::Spoken => self.note(DIM, &text),
        }
    }

    /// Says what went wrong, and what to do.
    fn complain(&mut self, what: &str, error: &LinkError) {
        let why = match error.reason.as_deref() {
            Some("no_running_turn") => "nothing runs that could be steered",
            Some("already_delivered") => "it has been delivered already",
            Some("unknown_message_id") => "there is no such message any more",
            Some("too_many_pending") => "too much waits already",
            _ => &error.message,
        };
        self.note(TextColour::Red.text(), &format!("{what}: {why}"));
    }

    /// Ctrl-C where lines are all there is: the turn is stopped, and where none runs the chat is left.
    pub(crate) fn interrupt_turn(&mut self) {
        if self.turn == TurnView::Idle {
            self.acts.push(ChatAct::Leave);
        } else {
            self.stop_turn();
        }
    }

    /// Another try to connect has failed.
    pub(crate) fn cannot_connect(&mut self, why: &str) {
        let why = crate::terminal_text::one_line(why);
        self.hint(format!("cannot connect: {why}; trying again"));
    }

    /// Ends the turn that runs.
    fn stop_turn(&mut self) {
        let Some(session) = &self.session else { return };
        if self.turn == TurnView::Idle {
            return self.hint("nothing runs");
        }
        self.acts.push(ChatAct::Tell { method: "session/cancel", params: json!({ "sessionId": session }) });
        self.is_stopping = true;
        self.hint("stopping; what waits follows");
    }
}

#[cfg(test)]
mod tests;
