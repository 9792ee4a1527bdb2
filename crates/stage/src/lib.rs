//! A model provider that costs nothing: a real HTTP server that says what a script tells it to.
//!
//! ```no_run
//! # async fn test() {
//! use std::time::Duration;
//! use nudge_stage::{ModelReply, StageProvider};
//! use serde_json::json;
//!
//! let provider = StageProvider::start().await;
//! provider.on("write it down").reply(
//!     ModelReply::call("write_file|Write", json!({"path": "note.txt", "content": "hi"}))
//!         .or_call("shell|Bash", json!({"command": "echo hi > note.txt"})),
//! );
//! provider.on("write it down").after_tool_result().reply(ModelReply::text("It is written."));
//! provider.on("slow").reply(ModelReply::stall("One moment", "later").and_text(", and on."));
//!
//! // Point an agent at `provider.url()` and let it talk.
//! provider.wait_for(|seen| seen.last_user().contains("slow"), Duration::from_secs(60)).await;
//! provider.gate("later").reached().await;
//! provider.gate("later").open();
//! # }
//! ```
//!
//! It speaks `OpenAI` chat completions and responses (base address: `url()` and `/v1`), Anthropic messages, Gemini, Ollama and
//! Bedrock (base address: `url()`), as streams and at once. Without rules it repeats what the user says. With rules, what no rule is for
//! gets a short harmless text, or an empty value of the schema if the answer has to be JSON.
#![allow(clippy::disallowed_methods, reason = "this room listens on a socket")]

mod body;
mod conversation;
mod dialect;
mod event_stream;
mod gate;
mod offer;
mod play;
mod provider;
mod reply;
mod rule;
mod script;
mod seen;
mod server;
mod signature;

pub use conversation::{ConversationMessage, ConversationToolCall, MessageRole, OfferedTool, ToolResult};
pub use gate::ReplyGate;
pub use offer::OfferedModel;
pub use provider::StageProvider;
pub use reply::{FinishReason, ModelReply};
pub use rule::ReplyRule;
pub use script::ScriptError;
pub use seen::{ExchangeOutcome, ProviderDialect, SeenHeader, SeenRequest};
