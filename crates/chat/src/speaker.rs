//! Who says something in a conversation, and how that is shown.

use std::fmt::Write as _;

use crate::styled::{BOLD, DIM, PLAIN, StyledRow, TextColour, TextStyle};

/// How much of a message of the user is shown, in lines and letters.
const SAID_LINES: usize = 40;
const SAID_LETTERS: usize = 8000;

/// Whose words they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Agent,
    Thought,
}

impl Speaker {
    /// Who a kind of update is of, and whether it has the whole message.
    pub(crate) fn of(kind: &str) -> Option<(Self, bool)> {
        Some(match kind {
            "user_message" => (Self::User, true),
            "user_message_chunk" => (Self::User, false),
            "agent_message" => (Self::Agent, true),
            "agent_message_chunk" => (Self::Agent, false),
            "agent_thought" => (Self::Thought, true),
            "agent_thought_chunk" => (Self::Thought, false),
            _ => return None,
        })
    }

    /// How it is drawn: its letters, and what stands before each row.
    pub(crate) fn look(self) -> (TextStyle, StyledRow) {
        match self {
            Self::User => (BOLD, StyledRow::of(TextColour::Cyan.text(), "┃ ")),
            Self::Agent => (PLAIN, StyledRow::default()),
            Self::Thought => (TextStyle { is_italic: true, ..DIM }, StyledRow::of(DIM, "┆ ")),
        }
    }

    /// What is read aloud before it.
    pub(crate) fn spoken(self) -> &'static str {
        match self {
            Self::User => "You: ",
            Self::Agent => "Agent: ",
            Self::Thought => "Agent thinks: ",
        }
    }

    /// The beginning of what the user has said, if it is long: whoever said it knows it.
    pub(crate) fn shortened(self, text: &str) -> Option<String> {
        let count = text.lines().count();
        let is_long = count > SAID_LINES || text.len() > SAID_LETTERS;
        (self == Self::User && is_long).then(|| {
            let lines: Vec<_> = text.lines().take(SAID_LINES / 2).collect();
            let mut begun: String = lines.join("\n").chars().take(SAID_LETTERS / 2).collect();
            let hidden = count.saturating_sub(begun.lines().count());
            let what = if hidden > 0 {
                format!("{hidden} more lines")
            } else {
                format!("{} letters", text.chars().count())
            };
            let _ = write!(begun, "\n… {what}");
            begun
        })
    }
}
