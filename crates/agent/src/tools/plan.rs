//! The tool `plan`: what the model means to do, as the user sees it.

use nudge_model::PlanEntry;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ToolOutcome, spec::ToolInput};
use crate::{
    session::{Halt, ToolRun},
    update,
};

/// How many points a plan may have, and how long each may be, in bytes.
const MOST_ENTRIES: usize = 100;
const LONGEST_ENTRY: usize = 1000;

/// The input.
#[derive(Debug, Deserialize)]
pub(crate) struct PlanInput {
    entries: Vec<PlanInputEntry>,
}

#[derive(Debug, Deserialize)]
struct PlanInputEntry {
    content: String,
    #[serde(default)]
    status: PlanEntryStatus,
    #[serde(default)]
    priority: PlanEntryPriority,
}

/// How far a point is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PlanEntryStatus {
    #[default]
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PlanEntryPriority {
    High,
    #[default]
    Medium,
    Low,
}

impl ToolInput for PlanInput {
    const NAME: &'static str = "plan";
    const DESCRIPTION: &'static str = "Shows the user what you mean to do in a task of several steps, and how far you are. Each call \
                                       has the whole plan; call it again when a step begins or is done.";
    const KIND: &'static str = "think";
    const REQUIRED: &'static [&'static str] = &["entries"];

    fn properties() -> Value {
        let entry = json!({
            "type": "object",
            "properties": {
                "content": { "type": "string", "description": "The step, in a few words" },
                "status": { "type": "string", "enum": ["pending", "in_progress", "completed", "cancelled"] },
                "priority": { "type": "string", "enum": ["high", "medium", "low"] },
            },
            "required": ["content", "status"],
        });
        json!({ "entries": { "type": "array", "items": entry, "description": "All steps, in their order" } })
    }

    fn title(&self) -> String {
        let done = self.entries.iter().filter(|entry| entry.status == PlanEntryStatus::Completed).count();
        format!("Plan: {done} of {} done", self.entries.len())
    }

    async fn run(self, run: &mut ToolRun<'_>) -> Result<ToolOutcome, Halt> {
        run.begin().await?;
        if self.entries.len() > MOST_ENTRIES {
            return Ok(ToolOutcome::failed(&format!("A plan has at most {MOST_ENTRIES} steps.")));
        }
        if self.entries.iter().any(|entry| entry.content.len() > LONGEST_ENTRY) {
            return Ok(ToolOutcome::failed("A step is too long: a few words are enough."));
        }
        let entries: Vec<_> = self.entries.into_iter().map(PlanInputEntry::told).collect();
        run.tell(update::plan("plan", &entries)).await?;
        Ok(ToolOutcome::done("The user sees the plan.".to_owned()))
    }
}

impl PlanInputEntry {
    fn told(self) -> PlanEntry {
        let status = match self.status {
            PlanEntryStatus::Pending => "pending",
            PlanEntryStatus::InProgress => "in_progress",
            PlanEntryStatus::Completed => "completed",
            PlanEntryStatus::Cancelled => "cancelled",
        };
        let priority = match self.priority {
            PlanEntryPriority::High => "high",
            PlanEntryPriority::Medium => "medium",
            PlanEntryPriority::Low => "low",
        };
        PlanEntry { content: self.content, priority: priority.to_owned(), status: status.to_owned() }
    }
}
