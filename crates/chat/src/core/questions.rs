//! What the user is asked: permission, a form, a page to visit.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Value, json};

use super::{ChatAct, ChatCore, form_filling::FormFilling, live::CRAMPED};
use crate::{
    conversation::ConversationForm,
    permission_text::{self, DetailLimits},
    styled::{BOLD, DIM, PLAIN, REVERSED, StyledRow, TextColour, worded},
    terminal_text,
};

/// For how long after a key that answers another one makes both the beginning of a message.
const HELD: Duration = Duration::from_millis(240);
/// For how long after a question has come a key is not taken as its answer: it was meant for something else.
const UNSEEN: Duration = Duration::from_millis(350);
/// Rows that a question leaves to everything else.
const AROUND: usize = 18;

/// A question that is open.
#[derive(Debug)]
pub(super) struct ChatQuestion {
    number: u64,
    since: Duration,
    request: Value,
    kind: QuestionKind,
    /// Whether all that it is about stands in the conversation, for want of room here.
    is_told: bool,
}

#[derive(Debug)]
enum QuestionKind {
    Permission { choices: Vec<PermissionChoice>, selected: usize },
    Form(Box<FormFilling>),
    Page { url: String },
}

#[derive(Debug, Clone)]
struct PermissionChoice {
    id: String,
    name: String,
    /// The letter that chooses it.
    letter: Option<char>,
}

impl PermissionChoice {
    fn all(options: &Value) -> Vec<Self> {
        let mut choices: Vec<Self> = Vec::new();
        for option in options.as_array().into_iter().flatten() {
            let Some(id) = option["optionId"].as_str() else { continue };
            let letter = match option["kind"].as_str() {
                Some("allow_once") => Some('y'),
                Some("allow_always") => Some('a'),
                Some("reject_once") => Some('n'),
                Some("reject_always") => Some('d'),
                _ => None,
            };
            let letter = letter.filter(|letter| choices.iter().all(|other| other.letter != Some(*letter)));
            let name = terminal_text::row(option["name"].as_str().unwrap_or(id));
            choices.push(Self { id: id.to_owned(), name, letter });
        }
        choices
    }
}

impl ChatCore {
    /// The user is asked something.
    pub(super) fn ask_user(&mut self, number: u64, method: &str, mut request: Value) {
        if let Some(session) = request["sessionId"].as_str()
            && !self.is_of_session(session)
        {
            // It stays open for whoever looks there.
            let about = permission_text::headline(&request);
            let session = terminal_text::one_line(session);
            return self.note(
                TextColour::Yellow.text(),
                &format!("· another session asks: {about}\n  /resume {session}"),
            );
        }
        self.told.fill_in(&mut request);
        let kind = if method == "session/request_permission" {
            let choices = PermissionChoice::all(&request["options"]);
            let selected = first_choice(&choices);
            QuestionKind::Permission { choices, selected }
        } else if request["mode"] == "url" {
            let url = terminal_text::one_line(request["url"].as_str().unwrap_or_default());
            QuestionKind::Page { url }
        } else {
            QuestionKind::Form(Box::new(FormFilling::of(&request)))
        };
        self.acts.push(ChatAct::Ring);
        let (since, is_told) = (self.now, false);
        self.questions.push_back(ChatQuestion { number, since, request, kind, is_told });
        self.tell_question();
    }

    /// What is too long for its place, or is read aloud, goes into the conversation.
    pub(super) fn tell_question(&mut self) {
        let (form, width, height) = (self.form, self.width, self.height);
        let Some(question) = self.questions.front_mut().filter(|question| !question.is_told) else { return };
        question.since = self.now;
        let mut details = question.details(width, permission_text::WHOLE);
        let is_long = details.len() + AROUND > height;
        if is_long && !matches!(question.kind, QuestionKind::Form(_)) {
            let headline = format!("◆ {}", permission_text::headline(&question.request));
            details.splice(..0, StyledRow::of(BOLD, headline).folded(width));
        }
        if form == ConversationForm::Spoken {
            question.is_told = true;
            let text = question.spoken();
            let rows = text.lines().map(|line| StyledRow::of(BOLD, terminal_text::one_line(line))).collect();
            self.conversation.note_now(rows);
        } else if (is_long && !details.is_empty()) || matches!(question.kind, QuestionKind::Page { .. }) {
            question.is_told = true;
            self.conversation.note_now(details);
        }
    }

    /// Shows all that is known of what is asked, or else of the last tool call.
    pub(super) fn show_all(&mut self) {
        let width = self.width;
        let asked = self.questions.front().map(|question| question.details(width, permission_text::WHOLE));
        match asked.filter(|details| !details.is_empty()) {
            Some(details) => self.conversation.note_now(details),
            None if self.conversation.show_last_call() => {}
            None => self.hint("no tool was called yet"),
        }
    }

    /// Refuses what is asked, and says so: nobody is there who could answer.
    pub(crate) fn refuse_questions(&mut self) {
        while let Some(question) = self.questions.pop_front() {
            let text = format!("Refused, since nobody is there to answer: {}", question.headline());
            self.note(TextColour::Yellow.text(), &text);
            self.acts.push(question.unanswered());
        }
    }

    /// The question that is answered next.
    pub(super) fn question(&self) -> Option<&ChatQuestion> {
        self.questions.front()
    }

    /// Whether the keys go to a form.
    pub(super) fn is_in_form(&self) -> bool {
        self.question().is_some_and(|question| matches!(question.kind, QuestionKind::Form(_)))
    }

    /// Whether Enter gives or refuses a permission.
    pub(super) fn is_permission_asked(&self) -> bool {
        self.question().is_some_and(|question| matches!(question.kind, QuestionKind::Permission { .. }))
    }

    /// A question is not asked any more.
    pub(super) fn withdraw(&mut self, number: u64) {
        let before = self.questions.len();
        self.questions.retain(|question| question.number != number);
        if self.questions.len() < before {
            self.held_key = None;
            self.note(DIM, "· it is not asked any more: it was answered elsewhere, or the turn was stopped");
            self.tell_question();
        }
    }

    /// What the user was sent to a page for is done.
    pub(super) fn page_done(&mut self, elicitation: &str) {
        self.note(DIM, "· the page is done");
        let is_it = |question: &ChatQuestion| question.request["elicitationId"] == elicitation;
        if let Some(at) = self.questions.iter().position(is_it) {
            let question = self.questions.remove(at).expect("it was found");
            let result = json!({ "action": "accept" });
            self.acts.push(ChatAct::Answer { number: question.number, result });
        }
        self.tell_question();
    }

    /// Gives a key to the question; whether it was one for it.
    pub(super) fn question_key(&mut self, key: KeyEvent) -> bool {
        let now = self.now;
        let Some(question) = self.questions.front_mut() else { return false };
        let is_form = matches!(question.kind, QuestionKind::Form(_));
        if !is_form && key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return false;
        }
        let since = self.typed_at.map_or(question.since, |typed| typed.max(question.since));
        if now.saturating_sub(since) < UNSEEN {
            // It was meant for what was there before: a letter is written, and the end of a line is not taken for anything.
            return key.code == KeyCode::Enter;
        }
        if let KeyCode::Char(c) = key.code
            && !is_form
        {
            if !question.is_key(c) {
                return false;
            }
            // It may be the first letter of a word.
            self.held_key = Some((c, now));
            return true;
        }
        let answer = match &mut question.kind {
            QuestionKind::Permission { choices, selected } => match key.code {
                KeyCode::Enter => match choices.get(*selected) {
                    Some(choice) => chosen(choice),
                    None => return true,
                },
                KeyCode::Up | KeyCode::Down if !choices.is_empty() => {
                    let step = if key.code == KeyCode::Down { 1 } else { choices.len() - 1 };
                    *selected = (*selected + step) % choices.len();
                    return true;
                }
                _ => return false,
            },
            QuestionKind::Page { .. } => match key.code {
                KeyCode::Enter => accepted(),
                KeyCode::Esc => cancelled(),
                _ => return false,
            },
            QuestionKind::Form(form) => match form.key(&question.request, key) {
                Some(answer) => answer,
                None => return true,
            },
        };
        self.answer_question(answer);
        true
    }

    /// Takes a key for the answer that was held back, once nothing has followed it: then it is the first letter of no word.
    pub(super) fn settle_held_key(&mut self) {
        if self.held_key.is_some_and(|(_, since)| self.now.saturating_sub(since) >= HELD) {
            self.press_held_key();
        }
    }

    /// Another key follows the one that was held back: a letter makes a word of both.
    pub(super) fn follow_held_key(&mut self, key: KeyEvent) {
        self.settle_held_key();
        if self.held_key.is_none() {
            return;
        }
        match key.code {
            KeyCode::Char(_) if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
                self.write_held_key();
            }
            KeyCode::Enter => self.press_held_key(),
            // It was a slip.
            _ => self.held_key = None,
        }
    }

    /// A key that was held back is the beginning of what is written.
    pub(super) fn write_held_key(&mut self) {
        if let Some((c, _)) = self.held_key.take() {
            self.composer.insert(c.encode_utf8(&mut [0; 4]));
        }
    }

    fn press_held_key(&mut self) {
        let Some((c, _)) = self.held_key.take() else { return };
        let Some(question) = self.questions.front_mut() else { return };
        let answer = match &mut question.kind {
            QuestionKind::Permission { choices, selected } => {
                let Some(at) = choice_of(choices, c) else { return };
                *selected = at;
                // What holds for good is chosen by two keys.
                match choices.get(at) {
                    Some(choice) if !matches!(c, 'a' | 'd') => chosen(choice),
                    _ => return,
                }
            }
            QuestionKind::Page { .. } if c == 'y' => accepted(),
            QuestionKind::Page { .. } => declined(),
            QuestionKind::Form(_) => return,
        };
        self.answer_question(answer);
    }

    /// Takes a line as the answer; whether it was one.
    pub(super) fn question_line(&mut self, line: &str) -> bool {
        let Some(question) = self.questions.front_mut() else { return false };
        let answer = match &mut question.kind {
            QuestionKind::Form(form) => {
                let answer = form.line(&question.request, line);
                if answer.is_none() {
                    let text = form.spoken(&question.request);
                    self.note(BOLD, &text);
                }
                let Some(answer) = answer else { return true };
                Some(answer)
            }
            _ => question.answer_in(line),
        };
        match answer {
            Some(answer) => self.answer_question(answer),
            None => self.hint(
                "that is no answer to what is asked; a number, `yes` or `no`; `/queue TEXT` says something",
            ),
        }
        true
    }

    fn answer_question(&mut self, answer: QuestionReply) {
        let Some(question) = self.questions.pop_front() else { return };
        self.held_key = None;
        self.acts.push(ChatAct::Answer { number: question.number, result: answer.result });
        let about = permission_text::headline(&question.request);
        let text = format!("· {}: {about}", answer.word);
        let width = self.width;
        self.conversation.note_rows(vec![StyledRow::of(DIM, text).cut(width)]);
        self.tell_question();
    }
}

/// What stands around a question.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuestionPlace {
    /// How many are open.
    pub(super) count: usize,
    /// Whether something is written, so that keys do not answer.
    pub(super) has_draft: bool,
    /// How many rows there are for all.
    pub(super) room: usize,
}

/// What Enter chooses at first: what holds once. Some agents list first what holds for good.
fn first_choice(choices: &[PermissionChoice]) -> usize {
    let with = |letter| choices.iter().position(|choice| choice.letter == Some(letter));
    with('y').or_else(|| with('n')).unwrap_or_default()
}

/// What is shown while a line is being written, which keys must not answer.
pub(super) const DRAFT_FIRST: &str = "  say or clear your line first (Ctrl-C), then a key answers";

/// Which keys answer.
fn way_to_answer(choices: &[PermissionChoice]) -> String {
    let with = |letters: [char; 2]| {
        let letters =
            letters.into_iter().filter(|letter| choices.iter().any(|choice| choice.letter == Some(*letter)));
        letters.map(String::from).collect::<Vec<_>>().join(" ")
    };
    let (once, always) = (with(['y', 'n']), with(['a', 'd']));
    let once = if once.is_empty() { String::new() } else { format!("{once} or ") };
    let always = if always.is_empty() { String::new() } else { format!(" · {always} and Enter") };
    format!("  {once}a number answers{always} · Ctrl-O shows all · Esc stops")
}

/// An answer, and the word for it.
#[derive(Debug)]
pub(super) struct QuestionReply {
    pub(super) result: Value,
    pub(super) word: String,
}

fn chosen(choice: &PermissionChoice) -> QuestionReply {
    let outcome = json!({ "outcome": "selected", "optionId": choice.id });
    QuestionReply { result: json!({ "outcome": outcome }), word: choice.name.clone() }
}

fn accepted() -> QuestionReply {
    QuestionReply { result: json!({ "action": "accept" }), word: "agreed".to_owned() }
}

pub(super) fn declined() -> QuestionReply {
    QuestionReply { result: json!({ "action": "decline" }), word: "declined".to_owned() }
}

pub(super) fn cancelled() -> QuestionReply {
    QuestionReply { result: json!({ "action": "cancel" }), word: "cancelled".to_owned() }
}

/// The choice that a letter or a number names.
fn choice_of(choices: &[PermissionChoice], c: char) -> Option<usize> {
    if let Some(number) = c.to_digit(10) {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        return (at < choices.len()).then_some(at);
    }
    choices.iter().position(|choice| choice.letter == Some(c))
}

impl ChatQuestion {
    /// Whether a letter answers it.
    fn is_key(&self, c: char) -> bool {
        match &self.kind {
            QuestionKind::Permission { choices, .. } => choice_of(choices, c).is_some(),
            QuestionKind::Page { .. } => matches!(c, 'y' | 'n'),
            QuestionKind::Form(_) => false,
        }
    }

    /// All that it is about.
    fn details(&self, width: usize, limits: DetailLimits) -> Vec<StyledRow> {
        let mut rows = Vec::new();
        match &self.kind {
            QuestionKind::Permission { .. } => {
                for line in
                    permission_text::details(&self.request, limits).iter().flat_map(|part| part.lines())
                {
                    let style =
                        match line.trim_start().strip_prefix("│ ").and_then(|line| line.chars().next()) {
                            Some('+') => TextColour::Green.text(),
                            Some('-') => TextColour::Red.text(),
                            Some('@') => TextColour::Cyan.text(),
                            _ => PLAIN,
                        };
                    rows.extend(StyledRow::of(style, line).folded(width));
                }
            }
            QuestionKind::Page { url } => {
                rows.push(StyledRow::of(PLAIN, "Visit:"));
                rows.push(StyledRow::unbroken(TextColour::Blue.text(), url));
            }
            QuestionKind::Form(_) => {}
        }
        rows
    }

    /// Whether a line can be an answer.
    pub(super) fn is_answered_by(&self, line: &str) -> bool {
        matches!(self.kind, QuestionKind::Form(_)) || self.answer_in(line).is_some()
    }

    /// The answer that a line gives to what is no form.
    fn answer_in(&self, line: &str) -> Option<QuestionReply> {
        let word = line.trim().to_lowercase();
        match &self.kind {
            QuestionKind::Permission { choices, .. } => {
                let numbered =
                    word.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
                let letter = match &*word {
                    "yes" => Some('y'),
                    "no" => Some('n'),
                    "always" => Some('a'),
                    "never" => Some('d'),
                    word if word.chars().count() == 1 => word.chars().next(),
                    _ => None,
                };
                let lettered =
                    || choices.iter().find(|choice| choice.letter.is_some() && choice.letter == letter);
                numbered.or_else(lettered).map(chosen)
            }
            QuestionKind::Page { .. } => match &*word {
                "y" | "yes" => Some(accepted()),
                "n" | "no" => Some(declined()),
                _ => None,
            },
            QuestionKind::Form(_) => None,
        }
    }

    /// What is asked for, in a few words.
    pub(super) fn headline(&self) -> String {
        permission_text::headline(&self.request)
    }

    /// How it is answered when nobody is there: permission is refused once, if that can be said.
    pub(super) fn unanswered(self) -> ChatAct {
        let result = match &self.kind {
            QuestionKind::Permission { choices, .. } => {
                let refusal = choices.iter().find(|choice| choice.letter == Some('n'));
                let cancelled = || json!({ "outcome": { "outcome": "cancelled" } });
                refusal.map_or_else(cancelled, |choice| chosen(choice).result)
            }
            _ => declined().result,
        };
        ChatAct::Answer { number: self.number, result }
    }

    /// The rows that ask, and where the cursor is if something is typed.
    pub(super) fn rows(&self, width: usize, how: &QuestionPlace) -> (Vec<StyledRow>, Option<(usize, usize)>) {
        if let QuestionKind::Form(form) = &self.kind {
            return form.rows(&self.request, width, how.has_draft);
        }
        let place = if how.count > 1 { format!("1 of {}: ", how.count) } else { String::new() };
        let headline = format!("◆ {place}{}", permission_text::headline(&self.request));
        let is_cramped = how.room <= CRAMPED;
        let most = if is_cramped { 1 } else { 4 };
        let mut rows: Vec<_> = worded(&headline, BOLD, width).into_iter().take(most).collect();
        if !self.is_told && !is_cramped {
            rows.extend(self.details(width, permission_text::BRIEF));
        }
        let mut way = "  y goes on once you have been there · n declines · Esc cancels".to_owned();
        if let QuestionKind::Permission { choices, selected } = &self.kind {
            let shown = |at: &usize| !is_cramped || at == selected;
            for (at, choice) in choices.iter().enumerate().filter(|(at, _)| shown(at)) {
                let letter = choice.letter.map_or(String::new(), |letter| format!("{letter} "));
                let style = if at == *selected { REVERSED } else { PLAIN };
                let text = format!(" {}. {letter}{} ", at + 1, choice.name);
                let mark = if at == *selected { "› " } else { "  " };
                rows.push(StyledRow::of(PLAIN, mark).and(style, &text).cut(width));
            }
            way = way_to_answer(choices);
        }
        let way = if how.has_draft { DRAFT_FIRST } else { &way };
        if !is_cramped || how.has_draft {
            rows.push(StyledRow::of(DIM, way).cut(width));
        }
        (rows, None)
    }

    /// What is read aloud.
    fn spoken(&self) -> String {
        match &self.kind {
            QuestionKind::Permission { choices, .. } => {
                let choices =
                    choices.iter().enumerate().map(|(at, choice)| format!("{}. {}", at + 1, choice.name));
                let choices = choices.collect::<Vec<_>>().join("\n");
                format!("Permission: {}\n{choices}\nType a number.", permission_text::whole(&self.request))
            }
            QuestionKind::Page { url } => {
                let headline = permission_text::headline(&self.request);
                format!("The agent asks you to visit a page: {headline}\n{url}\nType yes or no.")
            }
            QuestionKind::Form(form) => form.spoken(&self.request),
        }
    }
}
