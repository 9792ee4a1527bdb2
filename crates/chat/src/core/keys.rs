//! What keys do.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{AskPurpose, ChatAct, ChatCore, ChatStage, SessionWish, TurnView, pending::SayMode};
use crate::{completion::Completions, composer::Composer, styled::TextColour};

/// Commands that make sense while a turn runs.
const IN_A_TURN: [&str; 8] = ["help", "steer", "queue", "stop", "pending", "edit", "drop", "now"];
/// Within which time a second Ctrl-C leaves.
const TWICE: Duration = Duration::from_secs(3);

impl ChatCore {
    /// A key was pressed.
    pub(crate) fn key(&mut self, key: KeyEvent) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        self.follow_held_key(key);
        let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if has_control && self.control_key(key.code) {
            return;
        }
        if self.picker.is_some() {
            return self.picker_key(key);
        }
        if self.is_free() && self.question_key(key) {
            return;
        }
        self.typed_at = Some(self.now);
        if self.completion_key(key) || self.selection_key(key) {
            return;
        }
        self.writing_key(key);
    }

    /// Whether nothing is being written, so that keys answer what is asked.
    pub(super) fn is_free(&self) -> bool {
        self.composer.is_empty() && self.pending.editing.is_none()
    }

    /// Something was pasted.
    pub(crate) fn paste(&mut self, text: &str) {
        if self.is_in_form() && self.is_free() {
            let line = text.split(['\n', '\r']).next().unwrap_or_default();
            for c in line.chars().filter(|c| !c.is_control()).take(10_000) {
                self.question_key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
            }
            return;
        }
        self.write_held_key();
        self.typed_at = Some(self.now);
        self.pending.selected = None;
        if !self.composer.paste(text) {
            self.hint("that is too much for one message; name a file with @ instead");
        }
        self.complete();
    }

    /// A line was typed, where lines are all there is.
    pub(crate) fn line(&mut self, line: &str) {
        if let Some(session) =
            line.trim().parse().ok().and_then(|number| self.picker.as_ref()?.numbered(number))
        {
            self.picker = None;
            return self.change_session(SessionWish::Resume(session));
        }
        let is_command = line.starts_with('/') && !self.is_in_form();
        if !is_command && self.question_line(line) {
            return;
        }
        self.composer.set(line);
        self.submit(SayMode::Queue);
    }

    /// Whether this is the moment for a line. What is said or set needs a session; in a script, what is not about the turn that runs
    /// waits until all before it is done, and what follows a setting waits for that. So a line that answers is there when it is asked.
    pub(crate) fn takes_line(&self, line: &str, is_script: bool) -> bool {
        if matches!(self.stage, ChatStage::Connecting | ChatStage::Opening) {
            return false;
        }
        if !is_script || self.picker.is_some() || self.stage == ChatStage::Choosing {
            return true;
        }
        let command = line.strip_prefix('/').filter(|rest| !rest.starts_with('/'));
        let name = command.and_then(|rest| rest.split_whitespace().next());
        let is_about_turn = name.is_some_and(|name| IN_A_TURN.contains(&name));
        if let Some(question) = self.question() {
            return is_about_turn || (command.is_none() && question.is_answered_by(line));
        }
        let is_setting = self.asked.values().any(|purpose| *purpose == AskPurpose::SetOption);
        !is_setting && (is_about_turn || !self.is_busy())
    }

    /// Nobody is there any more to answer.
    pub(crate) fn input_over(&mut self) {
        if self.picker.take().is_some() && self.session.is_none() {
            self.note(TextColour::Red.text(), "no session was chosen: `--resume last`, or an id, names one");
            self.stage = ChatStage::Failed;
        }
        self.refuse_questions();
    }

    fn control_key(&mut self, code: KeyCode) -> bool {
        match code {
            KeyCode::Char('c') => self.interrupt(),
            KeyCode::Char('d') if self.composer.is_empty() && !self.is_in_form() => {
                self.acts.push(ChatAct::Leave);
            }
            KeyCode::Char('l') => self.acts.push(ChatAct::Redraw),
            KeyCode::Char('z') => self.acts.push(ChatAct::Suspend),
            KeyCode::Char('o') => self.show_all(),
            _ => return false,
        }
        true
    }

    /// Ctrl-C: empties the line, and leaves when there is nothing to empty.
    pub(crate) fn interrupt(&mut self) {
        self.completions = None;
        if self.pending.editing.is_some() {
            return self.stop_editing();
        }
        if !self.composer.is_empty() {
            // It can still be recalled.
            return drop(self.composer.take());
        }
        if self.picker.is_some() && self.session.is_none() {
            return self.acts.push(ChatAct::Leave);
        }
        if self.leaves_until.is_some_and(|until| self.now < until) {
            return self.acts.push(ChatAct::Leave);
        }
        self.leaves_until = Some(self.now + TWICE);
        let what = match self.turn {
            TurnView::Idle => "Ctrl-C again leaves; the session stays",
            _ => "Esc stops the turn; Ctrl-C again leaves, and the turn goes on",
        };
        self.hint(what);
    }

    fn picker_key(&mut self, key: KeyEvent) {
        let Some(picker) = &mut self.picker else { return };
        match key.code {
            KeyCode::Up => picker.select(false),
            KeyCode::Down => picker.select(true),
            KeyCode::Enter => {
                if let Some(session) = picker.chosen() {
                    self.picker = None;
                    self.change_session(SessionWish::Resume(session));
                }
            }
            KeyCode::Esc => {
                self.picker = None;
                if self.session.is_none() {
                    self.change_session(SessionWish::New);
                }
            }
            _ => drop(edit_line(&mut picker.search, key)),
        }
    }

    fn completion_key(&mut self, key: KeyEvent) -> bool {
        let Some(completions) = &mut self.completions else { return false };
        match key.code {
            KeyCode::Up | KeyCode::Down => completions.select(key.code == KeyCode::Down),
            // What is written out already is said.
            KeyCode::Enter if completions.is_written(&self.composer) => {
                self.completions = None;
                return false;
            }
            KeyCode::Tab | KeyCode::Enter if !key.modifiers.contains(KeyModifiers::ALT) => {
                let (from, text) = (completions.from, completions.chosen().text.clone());
                self.completions = None;
                self.composer.complete(from, &format!("{text} "));
            }
            KeyCode::Esc => self.completions = None,
            _ => return false,
        }
        true
    }

    /// Keys about a message that waits, while one is selected.
    fn selection_key(&mut self, key: KeyEvent) -> bool {
        let Some(at) = self.pending.selected else { return false };
        let Some(message) = self.waiting_message(None) else { return false };
        let steers = is_steer_key(key);
        match key.code {
            KeyCode::Up => self.pending.selected = Some(at.saturating_sub(1)),
            KeyCode::Down if at + 1 < self.pending.waiting().len() => self.pending.selected = Some(at + 1),
            KeyCode::Down | KeyCode::Esc => self.pending.selected = None,
            _ if steers => {
                self.pending.selected = None;
                self.steer_with(&message);
            }
            KeyCode::Enter => self.edit(&message),
            KeyCode::Delete | KeyCode::Backspace => self.take_back(&message),
            _ => {
                self.pending.selected = None;
                return false;
            }
        }
        true
    }

    fn writing_key(&mut self, key: KeyEvent) {
        match key.code {
            _ if is_steer_key(key) => return self.submit(SayMode::Steer),
            KeyCode::Enter if key.modifiers.contains(KeyModifiers::SHIFT) => self.composer.insert("\n"),
            KeyCode::Enter if self.composer.ends_with_backslash() => {
                self.composer.backspace();
                self.composer.insert("\n");
            }
            KeyCode::Enter => return self.submit(SayMode::Queue),
            KeyCode::Esc => return self.escape(),
            KeyCode::BackTab => return self.next_mode(),
            KeyCode::Char('p') if key.modifiers.contains(KeyModifiers::CONTROL) => self.up(),
            KeyCode::Char('n') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                self.composer.recall_newer();
            }
            KeyCode::Up => self.up(),
            KeyCode::Down if !self.composer.down() => self.composer.recall_newer(),
            KeyCode::Down => {}
            _ if edit_line(&mut self.composer, key) => {}
            _ => return,
        }
        self.complete();
    }

    fn escape(&mut self) {
        if self.pending.editing.is_some() {
            return self.stop_editing();
        }
        if self.turn != TurnView::Idle {
            self.stop_turn();
        }
    }

    /// A line up; from the first to what waits, and where nothing waits to what was said before.
    fn up(&mut self) {
        if self.composer.up() {
            return;
        }
        let count = self.pending.waiting().len();
        if self.composer.is_empty() && count > 0 {
            self.pending.selected = Some(count - 1);
        } else {
            self.composer.recall_older();
        }
    }

    /// Finds what completes the word at the cursor.
    pub(super) fn complete(&mut self) {
        let (text, cursor) = (self.composer.text(), self.composer.cursor());
        self.completions = Completions::at(text, cursor, &self.all_commands(), &self.files);
        // Looked for anew each time, for there may be others.
        let is_begun = text[..cursor].ends_with('@') || (text.contains('@') && self.files.is_empty());
        if is_begun {
            self.acts.push(ChatAct::FindFiles);
        }
    }
}

fn is_steer_key(key: KeyEvent) -> bool {
    match key.code {
        KeyCode::Enter => key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::CONTROL),
        KeyCode::Char('s') => key.modifiers.contains(KeyModifiers::CONTROL),
        _ => false,
    }
}

/// Changes a text by a key; whether it was one that does.
pub(super) fn edit_line(line: &mut Composer, key: KeyEvent) -> bool {
    let (has_control, has_alt) =
        (key.modifiers.contains(KeyModifiers::CONTROL), key.modifiers.contains(KeyModifiers::ALT));
    match key.code {
        KeyCode::Char('j') if has_control => line.insert("\n"),
        KeyCode::Char('a') if has_control => line.home(),
        KeyCode::Char('e') if has_control => line.end(),
        KeyCode::Char('b') if has_control => line.left(),
        KeyCode::Char('f') if has_control => line.right(),
        KeyCode::Char('h') if has_control => line.backspace(),
        KeyCode::Char('d') if has_control => line.delete(),
        KeyCode::Char('w') if has_control => line.kill_word(),
        KeyCode::Char('u') if has_control => line.kill_to_start(),
        KeyCode::Char('k') if has_control => line.kill_to_end(),
        KeyCode::Char('y') if has_control => line.yank(),
        KeyCode::Char('b') if has_alt => line.word_left(),
        KeyCode::Char('f') if has_alt => line.word_right(),
        KeyCode::Char(c) if !has_control && !has_alt => line.insert(c.encode_utf8(&mut [0; 4])),
        KeyCode::Backspace if has_alt || has_control => line.kill_word(),
        KeyCode::Backspace => line.backspace(),
        KeyCode::Delete => line.delete(),
        KeyCode::Left if has_control || has_alt => line.word_left(),
        KeyCode::Right if has_control || has_alt => line.word_right(),
        KeyCode::Left => line.left(),
        KeyCode::Right => line.right(),
        KeyCode::Home => line.home(),
        KeyCode::End => line.end(),
        _ => return false,
    }
    true
}
