//! A form that is filled in, a field at a time.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Map, Value, json};

use super::{
    keys::edit_line,
    questions::{DRAFT_FIRST, QuestionReply, cancelled, declined},
};
use crate::{
    composer::Composer,
    form,
    styled::{BOLD, DIM, PLAIN, StyledRow, TextColour},
    terminal_text,
};

/// How many choices are shown.
const SHOWN_CHOICES: usize = 24;

/// How far a form is filled in.
#[derive(Debug)]
pub(super) struct FormFilling {
    names: Vec<String>,
    at: usize,
    content: Map<String, Value>,
    /// What stands in the line of each field.
    lines: Vec<String>,
    line: Composer,
    problem: Option<String>,
}

impl FormFilling {
    pub(super) fn of(request: &Value) -> Self {
        let names = form::field_names(request);
        let lines = names.iter().map(|name| form::typed(form::field_default(request, name))).collect();
        let (content, line) = (Map::new(), Composer::default());
        let mut filling = Self { names, at: 0, content, lines, line, problem: None };
        filling.begin_field();
        filling
    }

    fn begin_field(&mut self) {
        self.problem = None;
        self.line = Composer::default();
        if let Some(line) = self.lines.get(self.at) {
            self.line.insert(line);
        }
    }

    /// Keeps what stands in the line of this field.
    fn keep_line(&mut self, line: String) {
        if let Some(kept) = self.lines.get_mut(self.at) {
            *kept = line;
        }
    }

    /// Takes a key; the answer, if that ends it.
    pub(super) fn key(&mut self, request: &Value, key: KeyEvent) -> Option<QuestionReply> {
        match key.code {
            KeyCode::Esc => return Some(cancelled()),
            KeyCode::Char('n') if key.modifiers.contains(KeyModifiers::CONTROL) => return Some(declined()),
            KeyCode::Enter => {
                let line = self.line.text().to_owned();
                return self.line(request, &line);
            }
            KeyCode::Up | KeyCode::BackTab if self.at > 0 => {
                self.keep_line(self.line.text().to_owned());
                self.at -= 1;
                self.begin_field();
            }
            KeyCode::Up | KeyCode::Down | KeyCode::Tab => {}
            _ => drop(edit_line(&mut self.line, key)),
        }
        None
    }

    /// Takes a line for the field that is asked for; the answer, if it was the last.
    pub(super) fn line(&mut self, request: &Value, line: &str) -> Option<QuestionReply> {
        match line.trim() {
            "/decline" => return Some(declined()),
            "/cancel" => return Some(cancelled()),
            _ => {}
        }
        if let Some(name) = self.names.get(self.at).cloned() {
            let held = self.content.get(&name).unwrap_or_else(|| form::field_default(request, &name));
            let content = match field_content(request, &name, line, held) {
                Ok(content) => content,
                Err(problem) => {
                    self.problem = Some(problem);
                    return None;
                }
            };
            self.keep_line(content.as_ref().map(form::typed).unwrap_or_default());
            match content {
                Some(value) => drop(self.content.insert(name, value)),
                None => drop(self.content.remove(&name)),
            }
            self.at += 1;
        }
        if self.at < self.names.len() {
            self.begin_field();
            return None;
        }
        let result = json!({ "action": "accept", "content": self.content });
        Some(QuestionReply { result, word: "answered".to_owned() })
    }

    /// The rows that ask, and where the cursor is.
    pub(super) fn rows(
        &self,
        request: &Value,
        width: usize,
        has_draft: bool,
    ) -> (Vec<StyledRow>, Option<(usize, usize)>) {
        let message = terminal_text::lines(request["message"].as_str().unwrap_or_default());
        let message = format!("◆ {message}");
        let lines = message.lines().flat_map(|line| StyledRow::of(BOLD, line).folded(width));
        let mut rows: Vec<_> = lines.take(12).collect();
        let Some(name) = self.names.get(self.at) else {
            rows.push(StyledRow::of(DIM, "  Enter agrees · Ctrl-N declines · Esc cancels").cut(width));
            return (rows, None);
        };
        rows.extend(question_rows(request, name, width));
        if let Some(problem) = &self.problem {
            let problem = format!("  {}", terminal_text::one_line(problem));
            rows.extend(StyledRow::of(TextColour::Red.text(), problem).folded(width));
        }
        let (lines, (row, column)) = self.line.rows(width.saturating_sub(4));
        let first = rows.len();
        rows.extend(lines.iter().enumerate().map(|(at, line)| {
            StyledRow::of(TextColour::Cyan.text(), if at == 0 { "  › " } else { "    " }).and(PLAIN, line)
        }));
        let place = format!(
            "  {} of {} · Enter goes on · Ctrl-N declines · Esc cancels",
            self.at + 1,
            self.names.len()
        );
        rows.push(StyledRow::of(DIM, if has_draft { DRAFT_FIRST } else { &place }).cut(width));
        (rows, (!has_draft).then_some((first + row, 4 + column)))
    }

    /// What is read aloud.
    pub(super) fn spoken(&self, request: &Value) -> String {
        let message = terminal_text::lines(request["message"].as_str().unwrap_or_default());
        let Some(name) = self.names.get(self.at) else {
            return format!("The agent asks: {message}\nPress Enter to agree, or type /decline.");
        };
        let first = if self.at == 0 { format!("The agent asks: {message}\n") } else { String::new() };
        let problem = self.problem.as_ref().map(|problem| format!("{problem}\n")).unwrap_or_default();
        let default = form::typed(form::field_default(request, name));
        let default = if default.is_empty() { default } else { format!("\nIt is {default} now.") };
        let question = [form::field_question(request, name), form::field_choices(request, name)];
        let question = question.concat().join("\n");
        format!("{problem}{first}{question}{default}\nType it, or /decline.")
    }
}

/// The rows of a field: what is asked, and the first of its choices.
fn question_rows(request: &Value, name: &str, width: usize) -> Vec<StyledRow> {
    let choices = form::field_choices(request, name);
    let hidden = choices.len().saturating_sub(SHOWN_CHOICES);
    let more = (hidden > 0).then(|| format!("… {hidden} more; type the number or the name"));
    let mut rows = Vec::new();
    let lines =
        form::field_question(request, name).into_iter().chain(choices.into_iter().take(SHOWN_CHOICES));
    for (at, line) in lines.chain(more).enumerate() {
        let style = if at == 0 { TextColour::Cyan.text() } else { PLAIN };
        rows.extend(StyledRow::of(style, format!("  {line}")).folded(width));
    }
    rows
}

/// What a line is as the content of a field that has held something; nothing if it is left empty.
fn field_content(request: &Value, name: &str, line: &str, held: &Value) -> Result<Option<Value>, String> {
    let is_as_before = !line.is_empty() && form::typed(held) == line;
    if is_as_before && form::can_hold(request, name, held) {
        // It may have more to it than the line shows.
        return form::check_text(request, name, held).map(|()| Some(held.clone()));
    }
    if line.trim().is_empty() {
        let is_free = !form::is_needed(request, name);
        return if is_free { Ok(None) } else { Err("it is needed".to_owned()) };
    }
    let value = form::field_value(request, name, line.trim()).map_err(|error| error.to_string())?;
    form::check_text(request, name, &value).map(|()| Some(value))
}
