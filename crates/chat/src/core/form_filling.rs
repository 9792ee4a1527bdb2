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

/// How far a form is filled in.
#[derive(Debug)]
pub(super) struct FormFilling {
    names: Vec<String>,
    at: usize,
    content: Map<String, Value>,
    line: Composer,
    problem: Option<String>,
}

impl FormFilling {
    pub(super) fn of(request: &Value) -> Self {
        let names = form::field_names(request);
        let mut filling =
            Self { names, at: 0, content: Map::new(), line: Composer::default(), problem: None };
        filling.begin_field(request);
        filling
    }

    fn begin_field(&mut self, request: &Value) {
        let held = self.names.get(self.at).map(|name| match self.content.get(name) {
            Some(value) => form::typed(value),
            None => form::field_default(request, name),
        });
        self.line = Composer::default();
        self.line.insert(&held.unwrap_or_default());
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
                self.at -= 1;
                self.problem = None;
                self.begin_field(request);
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
            match field_content(request, &name, line) {
                Ok(Some(value)) => drop(self.content.insert(name, value)),
                Ok(None) => drop(self.content.remove(&name)),
                Err(problem) => {
                    self.problem = Some(problem);
                    return None;
                }
            }
            self.problem = None;
            self.at += 1;
        }
        if self.at < self.names.len() {
            self.begin_field(request);
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
        for (at, line) in form::field_question(request, name).iter().take(24).enumerate() {
            let style = if at == 0 { TextColour::Cyan.text() } else { PLAIN };
            rows.extend(StyledRow::of(style, format!("  {line}")).folded(width));
        }
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
        let default = form::field_default(request, name);
        let default = if default.is_empty() { default } else { format!("\nIt is {default} now.") };
        let question = form::field_question(request, name).join("\n");
        format!("{problem}{first}{question}{default}\nType it, or /decline.")
    }
}

/// What a line is as the content of a field; nothing if it is left empty.
fn field_content(request: &Value, name: &str, line: &str) -> Result<Option<Value>, String> {
    if line.trim().is_empty() {
        let is_free = !form::is_needed(request, name);
        return if is_free { Ok(None) } else { Err("it is needed".to_owned()) };
    }
    let meant = form::meant_choice(request, name, line.trim());
    let value = form::field_value(request, name, &meant).map_err(|error| error.to_string())?;
    form::check_text(request, name, &value).map(|()| Some(value))
}
