//! The core of a session as a value: all that is decided about it, and nothing that is done.
//!
//! [`SessionCore`] takes a [`SessionInput`] and the time, and gives a [`SessionStep`]: what is to be written down, and what is to be
//! done now. What depends on something that is written down comes with the step that follows its commit. A driver, the hub,
//! feeds inputs, commits, and performs effects; it decides nothing.
//!
//! | part | what it holds |
//! | --- | --- |
//! | [`RunningTurn`] | the state of the turn that runs, here and nowhere else |
//! | [`InputDelivery`] | what waits, and whether it may be given out |
//! | `transcript` | numbers, message runs, the newest entries |
//! | `attendance` | who is attached, and what each can do |
//! | `questions`, `user_questions` | what the agent asks, and who is asked |
//! | `lifecycle`, `stall` | how the use of a session ends, and what keeps it from going on |
//! | `outbox` | what waits for the disk |
//!
//! This room is pure: no task, no socket, no file, no clock, no randomness but its seed.

mod act;
mod agent_event;
mod answers;
mod attendance;
mod core;
mod delivery;
mod effect;
mod ids;
mod input;
mod lifecycle;
mod outbox;
pub mod own_updates;
mod questions;
mod requests;
mod restored;
mod stall;
mod transcript;
mod turn;
mod user_questions;

pub use agent_event::FORMER_CLIENT;
pub use answers::{rfc3339, unknown_session};
pub use attendance::{Attendee, ClientOffers};
pub use core::{SessionCore, SessionStart, SessionState};
pub use delivery::{DeliveredMessages, InputContent, InputDelivery};
pub use effect::{
    InputChange, JoinedClient, OpenAsk, PendingMessage, RowChange, SessionCommit, SessionEffect, SessionStep,
    StoreOperation,
};
pub use input::{
    AgentTraits, AskId, AttachOptions, AttachRequest, ClientAnswer, CommitFailure, EndWish, Moment,
    RequestId, SessionInput, SessionRequest,
};
pub use restored::{RestoredSession, TranscriptPast};
pub use stall::{StallRecovery, StoredState};
pub use transcript::MessageRuns;
pub use turn::{RunningTurn, SteerOpening, ToolCallId, TurnEvent};
