//! What is said on an ACP connection: the JSON-RPC envelope, ids and errors, the official message types,
//! and the messages Nudge adds to them (next edit suggestions, documents, mid-turn input).
//!
//! This room is pure: it reads and writes text, nothing else.

pub mod caps;
pub mod document;
mod environment;
pub mod error;
pub mod frame;
pub mod id;
pub mod inject;
pub mod mask;
pub mod message;
pub mod method;
pub mod nes;
pub mod raw;
#[cfg(feature = "schema")]
pub mod schema;
pub mod scrub;
mod secret;
pub mod slice;
pub mod version;
pub mod write;

pub use agent_client_protocol_schema as acp;
pub use environment::{ClientContext, ConnectionId, ContextHold, Environment, RequestOrigin};
pub use error::{Error, ErrorCode};
pub use id::Id;
pub use message::{Message, MessageBody};

pub use method::{Notification, Request};
pub use raw::RawJson;
pub use secret::SecretText;
pub use version::Version;
