//! The kinds of `session/update`, and how each is treated: one table for all rooms.
//!
//! A kind that the protocol adds is one row here and an example in `spec/golden/mapping`.

use std::sync::Arc;

/// What the kinds begin with that are Nudge's own. An agent has no business to send one.
const OWN: &str = "_nudge/";

/// Who speaks in an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UpdateSpeaker {
    /// The user.
    User,
    /// The agent.
    Agent,
    /// The agent, to itself.
    Thought,
    /// A tool that the agent has called.
    Tool,
    /// Nobody: it is no part of what is said.
    Nobody,
}

/// How much of what it is about an update has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UpdatePortion {
    /// All of it, or what has changed of it.
    Whole,
    /// What is to be appended.
    Chunk,
}

/// How a kind of update is treated.
#[allow(clippy::struct_excessive_bools, reason = "each is a column of the table")]
struct Row {
    name: &'static str,
    speaker: UpdateSpeaker,
    portion: UpdatePortion,
    stored: bool,
    replayed: bool,
    state: bool,
    /// For a client of version 1 that does not offer compaction it is carried in another update.
    compaction: bool,
    /// For a client of version 1 that does not offer subagents it is carried in another update.
    subagents: bool,
}

impl Row {
    const fn new(name: &'static str, speaker: UpdateSpeaker, portion: UpdatePortion) -> Self {
        Self {
            name,
            speaker,
            portion,
            stored: false,
            replayed: false,
            state: false,
            compaction: false,
            subagents: false,
        }
    }
}

macro_rules! update_kinds {
    ($($kind:ident $name:literal $speaker:ident $portion:ident [$($is:ident)*];)*) => {
        /// The kind of a session update (`sessionUpdate`), in either version.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum UpdateKind {
            $(#[doc = concat!("`", $name, "`")] $kind,)*
            /// One that neither version has: it is part of the history.
            Unknown(Arc<str>),
        }

        impl UpdateKind {
            /// Every kind that has a row.
            pub const KNOWN: &[Self] = &[$(Self::$kind),*];

            /// The kind of this name, as Nudge or its built-in agent uses it, or as it was stored.
            pub fn of(name: &str) -> Self {
                match name {
                    $($name => Self::$kind,)*
                    _ => Self::Unknown(name.into()),
                }
            }

            fn row(&self) -> &'static Row {
                match self {
                    $(Self::$kind => const {
                        &Row { $($is: true,)* ..Row::new($name, UpdateSpeaker::$speaker, UpdatePortion::$portion) }
                    },)*
                    Self::Unknown(_) => const {
                        &Row { stored: true, replayed: true, ..Row::new("", UpdateSpeaker::Nobody, UpdatePortion::Whole) }
                    },
                }
            }
        }
    };
}

update_kinds! {
    UserMessage             "user_message"              User    Whole [stored replayed];
    UserMessageChunk        "user_message_chunk"        User    Chunk [stored replayed];
    AgentMessage            "agent_message"             Agent   Whole [stored replayed];
    AgentMessageChunk       "agent_message_chunk"       Agent   Chunk [stored replayed];
    AgentThought            "agent_thought"             Thought Whole [stored replayed];
    AgentThoughtChunk       "agent_thought_chunk"       Thought Chunk [stored replayed];
    ToolCall                "tool_call"                 Tool    Whole [stored replayed];
    ToolCallUpdate          "tool_call_update"          Tool    Whole [stored replayed];
    ToolCallContentChunk    "tool_call_content_chunk"   Tool    Chunk [stored replayed];
    TerminalUpdate          "terminal_update"           Nobody  Whole [stored replayed];
    TerminalOutputChunk     "terminal_output_chunk"     Nobody  Chunk [stored replayed];
    Plan                    "plan"                      Nobody  Whole [stored replayed];
    PlanUpdate              "plan_update"               Nobody  Whole [stored replayed];
    PlanRemoved             "plan_removed"              Nobody  Whole [stored replayed];
    CompactionUpdate        "compaction_update"         Nobody  Whole [stored replayed compaction];
    CompactionSummaryChunk  "compaction_summary_chunk"  Nobody  Chunk [stored replayed compaction];
    SubagentUpdate          "subagent_update"           Nobody  Whole [stored replayed subagents];
    SessionMessage          "session_message"           Nobody  Whole [stored replayed subagents];
    SessionMessageChunk     "session_message_chunk"     Nobody  Chunk [stored replayed subagents];
    UsageUpdate             "usage_update"              Nobody  Whole [stored replayed state];
    StateUpdate             "state_update"              Nobody  Whole [stored state];
    SessionInfoUpdate       "session_info_update"       Nobody  Whole [state];
    AvailableCommandsUpdate "available_commands_update" Nobody  Whole [state];
    CurrentModeUpdate       "current_mode_update"       Nobody  Whole [state];
    ConfigOptionUpdate      "config_option_update"      Nobody  Whole [state];
    Notice                  "notice"                    Nobody  Whole [state];
    PermissionAnswer        "_nudge/permission_answer"  Nobody  Whole [stored];
    SignedReasoning         "_nudge/signed_reasoning"   Nobody  Whole [stored];
    Foreign                 "_foreign"                  Nobody  Whole [stored replayed];
}

impl UpdateKind {
    /// The kind of an update that an agent names so. One that says to be Nudge's own is [`Foreign`](Self::Foreign).
    pub fn of_agent(name: &str) -> Self {
        if name.starts_with(OWN) { Self::Foreign } else { Self::of(name) }
    }

    /// Its name in the protocol, by which it is stored as well.
    pub fn name(&self) -> &str {
        match self {
            Self::Unknown(name) => name,
            known => known.row().name,
        }
    }

    /// Whether it is written into the transcript.
    pub fn is_stored(&self) -> bool {
        self.row().stored
    }

    /// Whether a client that asks for the history is shown it.
    pub fn is_replayed(&self) -> bool {
        self.row().replayed
    }

    /// Whether clients are told of it when it comes.
    pub fn is_shown(&self) -> bool {
        let Row { stored, replayed, state, .. } = self.row();
        !stored || *replayed || *state
    }

    /// Whether it tells how things stand now, rather than belong to the conversation.
    pub fn is_state(&self) -> bool {
        self.row().state
    }

    /// Who speaks in it.
    pub fn speaker(&self) -> UpdateSpeaker {
        self.row().speaker
    }

    /// How much it has of what it is about.
    pub fn portion(&self) -> UpdatePortion {
        self.row().portion
    }

    /// Whether it is carried in another update for a client of version 1 that does not offer compaction.
    pub fn is_carried_without_compaction(&self) -> bool {
        self.row().compaction
    }

    /// Whether it is carried in another update for a client of version 1 that does not offer subagents.
    pub fn is_carried_without_subagents(&self) -> bool {
        self.row().subagents
    }

    /// Whether it is a message or thought, whole or a chunk of it.
    pub(crate) fn is_message(&self) -> bool {
        matches!(self.speaker(), UpdateSpeaker::User | UpdateSpeaker::Agent | UpdateSpeaker::Thought)
    }

    /// Whether it is a chunk of a message or thought, which both versions write alike.
    pub fn is_message_chunk(&self) -> bool {
        self.is_message() && self.portion() == UpdatePortion::Chunk
    }

    /// Whether it tells of a tool call and how far that has come.
    pub fn is_tool_call(&self) -> bool {
        matches!(self, Self::ToolCall | Self::ToolCallUpdate)
    }
}
