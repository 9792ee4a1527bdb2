//! The agent's plan.

use serde_json::Value;

use super::ChatCore;
use crate::{
    conversation::ConversationForm,
    styled::{BOLD, DIM, PLAIN, StyledRow, TextColour},
    terminal_text,
};

/// How many entries are shown while the turn runs, and how many are kept.
const SHOWN: usize = 6;
const KEPT: usize = 100;

/// One thing that is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownPlanEntry {
    text: String,
    state: PlanState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlanState {
    Pending,
    UnderWay,
    Done,
}

impl ShownPlanEntry {
    fn all(entries: &Value) -> Vec<Self> {
        let one = |entry: &Value| {
            let state = match entry["status"].as_str() {
                Some("completed") => PlanState::Done,
                Some("in_progress") => PlanState::UnderWay,
                _ => PlanState::Pending,
            };
            Self { text: terminal_text::row(entry["content"].as_str().unwrap_or_default()), state }
        };
        entries.as_array().into_iter().flatten().take(KEPT).map(one).collect()
    }

    fn row(&self, width: usize) -> StyledRow {
        let row = match self.state {
            PlanState::Done => StyledRow::of(TextColour::Green.text(), "  ✓ ").and(DIM, &self.text),
            PlanState::UnderWay => StyledRow::of(TextColour::Yellow.text(), "  › ").and(BOLD, &self.text),
            PlanState::Pending => StyledRow::of(PLAIN, "  · ").and(PLAIN, &self.text),
        };
        row.cut(width)
    }
}

impl ChatCore {
    /// The agent has another plan.
    pub(super) fn set_plan(&mut self, update: &Value) {
        let entries =
            if update["plan"].is_object() { &update["plan"]["entries"] } else { &update["entries"] };
        let plan = ShownPlanEntry::all(entries);
        if self.form == ConversationForm::Spoken && plan != self.plan {
            let done = plan.iter().filter(|entry| entry.state == PlanState::Done).count();
            let now = plan.iter().find(|entry| entry.state == PlanState::UnderWay);
            let now = now.map(|entry| format!(". Now: {}", entry.text)).unwrap_or_default();
            self.note(PLAIN, &format!("Plan: {done} of {} done{now}", plan.len()));
        }
        self.plan = plan;
    }

    pub(super) fn plan_removed(&mut self) {
        self.plan.clear();
    }

    /// The plan stays in the conversation as it is at the end of the turn.
    pub(super) fn put_plan(&mut self) {
        let plan = std::mem::take(&mut self.plan);
        if self.form == ConversationForm::Drawn && !plan.is_empty() {
            let rows = plan.iter().map(|entry| entry.row(self.width)).collect();
            self.conversation.note_rows(rows);
        }
    }

    /// The rows of the plan: what is under way and what is around it.
    pub(super) fn plan_rows(&self) -> Vec<StyledRow> {
        let now =
            self.plan.iter().position(|entry| entry.state != PlanState::Done).unwrap_or(self.plan.len());
        let first = now.saturating_sub(SHOWN / 2).min(self.plan.len().saturating_sub(SHOWN));
        let mut rows: Vec<_> =
            self.plan.iter().skip(first).take(SHOWN).map(|entry| entry.row(self.width)).collect();
        let hidden = self.plan.len().saturating_sub(first + SHOWN);
        if hidden > 0 {
            rows.push(StyledRow::of(DIM, format!("  … {hidden} more")));
        }
        rows
    }
}
