//! How a session comes to be on the screen: begun, taken up, chosen, and found again after the connection was lost.

use serde_json::{Value, json};

use super::{
    ChatAct, ChatCore, ChatStage, TurnView,
    options::{SessionOption, SignInMethod, TerminalSignIn},
    pending::AfterRevoke,
    session_picker::SessionPicker,
};
use crate::{
    agent_link::LinkError,
    conversation::ConversationForm,
    styled::{BOLD, DIM, StyledRow, TextColour},
    terminal_text,
};
use nudge_wire::ErrorCode;

/// Which session is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionWish {
    /// A new one.
    New,
    /// This one.
    Resume(String),
    /// One that the user chooses.
    Choose,
}

/// What a request was for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AskPurpose {
    Open { number: u64 },
    List,
    Inject { key: String },
    Revoke { id: String, then: AfterRevoke },
    Replace { text: String },
    SetOption,
    Login,
    Logout,
}

/// How many rows of what was said before are shown.
const HISTORY_ROWS: usize = 300;
/// How many sessions can be chosen from.
const LISTED: usize = 2000;

impl ChatCore {
    /// What is offered to Nudge by this client.
    pub(crate) fn capabilities() -> Value {
        json!({
            "elicitation": { "form": {}, "url": {} },
            "auth": { "terminal": {} },
            "_meta": { "nudge": { "pending": true } },
        })
    }

    /// A connection stands, and this was the answer to its greeting.
    pub(crate) fn connected(&mut self, greeted: &Value) {
        let info = if greeted["info"].is_object() { &greeted["info"] } else { &greeted["agentInfo"] };
        // What does not say its name is called so on its way.
        let name = info["title"].as_str().or_else(|| info["name"].as_str().filter(|name| *name != "unknown"));
        let name = name.unwrap_or("agent");
        self.agent = terminal_text::row(name);
        self.sign_in = SignInMethod::of(&greeted["authMethods"]);
        self.keep_what_was_cut();
        self.questions.clear();
        self.stage = ChatStage::Opening;
        match (self.session.clone(), self.wish.clone()) {
            (Some(session), _) | (None, SessionWish::Resume(session)) => self.resume(session),
            (None, SessionWish::New) => self.begin(),
            (None, SessionWish::Choose) => self.list(),
        }
    }

    /// The connection is lost; another is tried.
    pub(super) fn lost(&mut self, why: &str) {
        if self.stage != ChatStage::Connecting {
            let why = terminal_text::one_line(why);
            self.conversation.end_turn();
            self.note(
                TextColour::Yellow.text(),
                &format!("· the connection is lost ({why}); connecting again"),
            );
        }
        self.stage = ChatStage::Connecting;
        (self.turn, self.is_stopping) = (TurnView::Idle, false);
        self.questions.clear();
        self.pending.connection_lost();
    }

    /// Begins a session.
    pub(super) fn begin(&mut self) {
        self.stage = ChatStage::Opening;
        let params = json!({ "cwd": self.cwd, "mcpServers": [] });
        self.open("session/new", params);
    }

    /// Asks for a session; what was asked before is not waited for any more.
    fn open(&mut self, method: &'static str, params: Value) {
        self.opening += 1;
        self.pending.session_asked_for();
        let number = self.opening;
        self.ask(AskPurpose::Open { number }, method, params);
    }

    /// Takes up a session.
    pub(super) fn resume(&mut self, session: String) {
        self.stage = ChatStage::Opening;
        self.is_history = self.session.is_none();
        self.conversation.set_replay(true);
        let params = json!({ "sessionId": session, "mcpServers": [], "replayFrom": { "type": "start" },
            "_meta": { "nudge": { "keepDirectories": true } } });
        self.session = Some(session);
        self.open("session/resume", params);
    }

    /// Lists the sessions of this folder, to choose one.
    pub(super) fn list(&mut self) {
        self.stage = if self.session.is_some() { self.stage } else { ChatStage::Choosing };
        self.listed.clear();
        let params = json!({ "cwd": self.cwd });
        self.ask(AskPurpose::List, "session/list", params);
    }

    /// Leaves what is on the screen for another session, or a new one.
    pub(super) fn change_session(&mut self, wish: SessionWish) {
        if self.turn != TurnView::Idle {
            self.note(DIM, "· the turn that runs goes on; `/resume` comes back to it");
        }
        self.conversation.end_turn();
        self.conversation.set_aside();
        self.questions.clear();
        self.former = self.session.take();
        if let Some(left) = self.former.as_ref().filter(|left| !self.left.contains(left)) {
            self.left.push(left.clone());
        }
        (self.title, self.usage, self.turn, self.is_stopping) = (None, None, TurnView::Idle, false);
        self.plan.clear();
        self.options.clear();
        self.commands.clear();
        self.pending.forget_session();
        self.wish = wish.clone();
        match wish {
            SessionWish::New => self.begin(),
            SessionWish::Resume(session) => self.resume(session),
            SessionWish::Choose => self.list(),
        }
    }

    pub(super) fn answered(&mut self, purpose: AskPurpose, outcome: Result<Value, LinkError>) {
        match (purpose, outcome) {
            (AskPurpose::Open { number }, _) if number != self.opening => {}
            (AskPurpose::Open { .. }, Ok(opened)) => self.opened(&opened),
            (AskPurpose::Open { .. }, Err(error)) => self.not_opened(&error),
            (AskPurpose::List, Ok(listed)) => self.listed(&listed),
            (AskPurpose::List, Err(error)) => {
                self.complain("the sessions cannot be listed", &error);
                self.stage = if self.session.is_some() { self.stage } else { ChatStage::Failed };
            }
            (AskPurpose::Inject { key }, outcome) => self.injected(&key, outcome),
            (AskPurpose::Revoke { id, then }, outcome) => self.revoked(&id, then, outcome),
            (AskPurpose::Replace { text }, outcome) => self.replaced(&text, outcome),
            (AskPurpose::SetOption, Ok(answer)) => {
                if answer["configOptions"].is_array() {
                    self.options = SessionOption::all(&answer["configOptions"]);
                }
            }
            (AskPurpose::SetOption, Err(error)) => self.complain("it cannot be set", &error),
            (AskPurpose::Login, Ok(_)) => {
                self.note(DIM, "· signed in");
                self.try_again();
            }
            (AskPurpose::Login, Err(error)) => self.complain("not signed in", &error),
            (AskPurpose::Logout, Ok(_)) => self.note(DIM, "· signed out"),
            (AskPurpose::Logout, Err(error)) => self.complain("not signed out", &error),
        }
    }

    /// The user has signed in on the terminal, or not.
    pub(crate) fn signed_in(&mut self, is_done: bool) {
        if is_done {
            self.note(DIM, "· signed in");
            self.try_again();
        } else {
            self.note(TextColour::Red.text(), "not signed in; `/login` tries again");
        }
    }

    fn try_again(&mut self) {
        self.hint = None;
        match (self.stage, self.session.clone()) {
            (ChatStage::SignedOut | ChatStage::Failed, Some(session)) => self.resume(session),
            (ChatStage::SignedOut | ChatStage::Failed, None) => self.begin(),
            _ => {}
        }
    }

    fn opened(&mut self, opened: &Value) {
        if let Some(session) = opened["sessionId"].as_str() {
            self.session = Some(session.to_owned());
            self.wish = SessionWish::Resume(session.to_owned());
        }
        self.stage = ChatStage::Open;
        if self.form == ConversationForm::Spoken {
            self.tell_opened(opened["sessionId"].is_string());
        }
        self.former = None;
        self.conversation.set_replay(false);
        if opened["configOptions"].is_array() {
            self.options = SessionOption::all(&opened["configOptions"]);
        }
        if self.is_history {
            self.end_history();
        }
        self.set_pending_at_first(&opened["_meta"]["inject"]["pending"]);
        self.say_what_was_cut();
        self.send_unsent();
    }

    /// Says which session there is, where no row tells it.
    fn tell_opened(&mut self, is_new: bool) {
        let text = match (&self.title, is_new) {
            (_, true) => format!("A new session with {}. Type a message, or /help.", self.agent),
            (Some(title), false) => format!("Session: {title}. Type a message, or /help."),
            (None, false) => format!("A session with {}. Type a message, or /help.", self.agent),
        };
        self.note(DIM, &text);
    }

    /// What was said before stands on the screen as far as it is of use.
    fn end_history(&mut self) {
        self.is_history = false;
        if self.turn == TurnView::Idle {
            self.conversation.end_turn();
        }
        let mut rows = self.conversation.take_done();
        let hidden = rows.len().saturating_sub(HISTORY_ROWS);
        if hidden > 0 {
            let session = terminal_text::one_line(self.session.as_deref().unwrap_or("last"));
            let text = format!("… {hidden} rows before; nudge sessions export {session}");
            rows.splice(..hidden, [StyledRow::of(DIM, text).cut(self.width)]);
        }
        self.conversation.restore_done(rows);
        if let Some(title) = &self.title {
            let title = title.clone();
            self.note(DIM, &format!("· {title}"));
        }
    }

    fn not_opened(&mut self, error: &LinkError) {
        self.is_history = false;
        if error.code == Some(ErrorCode::AUTH_REQUIRED) {
            self.stage = ChatStage::SignedOut;
            let offered = SignInMethod::of(&error.data["authMethods"]);
            if !offered.is_empty() {
                self.sign_in = offered;
            }
            self.note(TextColour::Yellow.text(), &error.message);
            return self.show_sign_in();
        }
        if error.code.is_some()
            && let Some(former) = self.former.take()
        {
            self.conversation.take_up_again();
            self.complain("the session cannot be opened", error);
            self.note(DIM, "· back in the session of before");
            return self.resume(former);
        }
        self.stage = ChatStage::Failed;
        if error.code.is_some() {
            self.complain("the session cannot be opened", error);
            self.hint("/new begins another; /resume chooses one");
        }
    }

    /// Shows how to sign in.
    pub(super) fn show_sign_in(&mut self) {
        if self.sign_in.is_empty() {
            return self
                .note(DIM, "The agent offers no way to sign in from here; its own documentation says how.");
        }
        let lines = self
            .sign_in
            .iter()
            .enumerate()
            .map(|(at, method)| format!("  /login {}  {}", at + 1, method.about));
        let text = lines.collect::<Vec<_>>().join("\n");
        self.note(DIM, &text);
    }

    /// Signs in by one of the ways that are offered.
    pub(super) fn login(&mut self, which: &str) {
        let number = if which.is_empty() && self.sign_in.len() == 1 { Some(1) } else { which.parse().ok() };
        let named = number.and_then(|number: usize| self.sign_in.get(number.checked_sub(1)?));
        let Some(method) = named.or_else(|| self.sign_in.iter().find(|method| method.id == which)) else {
            return self.show_sign_in();
        };
        if let Some(TerminalSignIn { args, env }) = method.terminal.clone() {
            return self.acts.push(ChatAct::SignIn { args, env });
        }
        let params = json!({ "methodId": method.id });
        self.ask(AskPurpose::Login, "auth/login", params);
        self.hint("signing in…");
    }

    fn listed(&mut self, listed: &Value) {
        self.listed.extend(listed["sessions"].as_array().into_iter().flatten().cloned());
        if let Some(next) = listed["nextCursor"].as_str().filter(|_| self.listed.len() < LISTED) {
            let params = json!({ "cwd": self.cwd, "cursor": next });
            return self.ask(AskPurpose::List, "session/list", params);
        }
        let picker = SessionPicker::of(&std::mem::take(&mut self.listed), self.session.is_some());
        if picker.is_empty() {
            self.note(DIM, "· this folder has no session yet; a new one is begun");
            if self.session.is_none() {
                self.change_session(SessionWish::New);
            }
            return;
        }
        if self.form == ConversationForm::Spoken {
            self.note(BOLD, "Sessions, newest first. Type `/resume NUMBER`.");
            let lines: Vec<_> = picker.lines().map(|(number, line)| format!("{number}. {line}")).collect();
            self.note(DIM, &lines.join("\n"));
        }
        self.picker = Some(picker);
    }
}
