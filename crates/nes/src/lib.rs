//! Next edit suggestion sessions of a connection: documents, engine and capabilities, as a service.
//!
//! A process has one [`NesService`], which holds what sessions share: the index and the learned weights of a workspace. A
//! client's connection gets a [`NesConnection`] from it, whose methods are those of the protocol. All of them return at
//! once. What takes time is the [`PendingSuggestion`] that [`NesConnection::suggest`] gives: it holds a snapshot and is run wherever
//! the caller likes.
//!
//! ```
//! use nudge_nes::{NesOptions, NesService};
//! use nudge_wire::{RawJson, Version, caps::ClientInit, nes::v1};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let service = NesService::new(NesOptions::default());
//! let client = ClientInit::new(Version::V1, RawJson::parse("{}".to_owned())?);
//! let connection = service.connect(&client);
//! let session = connection.start(&v1::StartRequest::default())?.session_id;
//! let unknown = v1::SuggestRequest::new(
//!     session,
//!     "file:///nowhere.rs",
//!     1,
//!     v1::Position::new(0, 0),
//!     v1::TriggerKind::Manual,
//! );
//! assert!(connection.suggest(unknown, 0).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! No clock decides what is answered: the time of an event is an argument.
#![allow(
    clippy::disallowed_methods,
    reason = "this room reads the workspace and keeps what was learned on disk"
)]

mod answer;
mod ask;
mod capability;
mod connection;
mod convert;
mod documents;
mod engine;
mod folders;
mod gather;
mod index;
mod index_memory;
mod learned;
mod limits;
mod patience;
mod pending;
mod recent_files;
mod service;
mod session;
mod setting;
mod shared;
mod shown;
mod uri;
mod walk;
mod warm_parser;

pub use answer::NesAnswer;
pub use ask::SuggestQuestion;
pub use connection::NesConnection;
pub use engine::{LocalEngine, NesEngine};
pub use nudge_predict::{Scene, SuggestOutcome};
pub use pending::{PendingSuggestion, SuggestCanceller};
pub use service::{NesOptions, NesService};
pub use setting::NesSettingValue as SettingValue;
