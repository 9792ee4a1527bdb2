//! The contract between a session and whatever runs its turns: the built-in agent, or one that is adapted.
//!
//! A session tells its [`Backend`] what the user says and wants; the backend reports what it is doing as
//! [`BackendEvent`]s. A backend does not know that there is a mailbox, a store or a client: it comes to break-points and is
//! told what goes in there, asks [`AgentQuestion`]s and is answered.
//!
//! # A turn
//!
//! 1. [`Backend::prompt`] begins it, between turns. A backend that begins one by itself reports
//!    [`BackendEvent::TurnStarted`].
//! 2. It streams, runs tools, pauses, and reports that.
//! 3. At a [`BackendEvent::BreakPoint`] it waits for [`Backend::go_on`], which is called once for each.
//! 4. [`BackendEvent::TurnEnded`] is its last word on the turn, exactly once, also after [`Backend::cancel`].
//!
//! This room is pure: what it names can be made, compared and stored without a task, a socket or a clock.

mod contract;
mod event;
mod form;
mod message;
mod question;
mod source;
mod turn_end;

pub use contract::{
    Backend, BackendFuture, BackendParting, CancellableWork, OptionChange, OptionPlan, PassThrough,
    SteerMethod, not_cancellable,
};
pub use event::BackendEvent;
pub use form::{ElicitationAnswer, ElicitationMismatch, FormMismatch, check_elicitation_answer, check_form};
pub use message::{PromptParams, UserMessage};
pub use question::{
    AgentQuestion, COMPLETE_ELICITATION, CREATE_ELICITATION, QuestionAnswer, QuestionId, REQUEST_PERMISSION,
    cancelled_form, cancelled_permission, is_file_or_terminal, is_last_word, is_unanswerable, nobody_answers,
};
pub use source::{AgentSource, OpenedSession, SessionRecap, SessionRestore, SessionSetup, SourceOffers};
pub use turn_end::{SIGNED_OUT, TurnEnd};
