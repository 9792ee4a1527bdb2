//! Next edit suggestions: what editor and agent say to each other about edits the user has not made yet.
//!
//! The two versions of the protocol differ in the name of a suggestion's id: `id` in v1, `suggestionId` in v2. What
//! carries one is in [`v1`] and in [`v2`], each of which also has everything the two share.
//!
//! Types are open in both versions: a kind of suggestion, trigger or severity that is not known here is kept.

mod capability;
mod context;
mod position;
mod reason;
mod session;
pub(crate) mod shape;
mod suggest;
mod versioned;

pub use capability::{
    ClientNesCapabilities, ContextCapabilities, DidChangeCapability, DocumentEventCapabilities,
    EventCapabilities, LimitedCapability, NesCapabilities, SupportedCapability, SyncKind,
};
pub use context::{
    Diagnostic, DiagnosticSeverity, EditHistoryEntry, FileExcerpt, OpenFile, RecentFile, RelatedSnippet,
    SuggestContext, UserAction,
};
pub use position::{Position, PositionEncoding, Range};
pub use reason::ErrorReason;
pub use session::{CloseRequest, CloseResponse, NesRepository, StartRequest, StartResponse, WorkspaceFolder};
pub use shape::Nullable;
pub use suggest::{RejectReason, TextEdit, TriggerKind};
pub use versioned::{v1, v2};
