//! Nudge and the official SDKs, each side's programs talking to the other's over real pipes.
//!
//! | from | to | what |
//! | --- | --- | --- |
//! | Rust SDK's example clients, v1 and v2 | our example agents | a turn |
//! | Rust SDK | our example agents | `session/cancel`, `$/cancel_request`, listing, replaying |
//! | our example clients | Rust SDK's example agents and one made with it | a turn, a permission, a burst of updates |
//! | our SDK | an agent made with the Rust SDK | a cancellation that cascades both ways |
//! | Rust, TypeScript and Python SDK | `nudge acp` | `initialize`, v1 and v2 |
//! | Rust and TypeScript (v1, v2) and Python SDK | `nudge acp`, alone and through the daemon | a whole conversation, and the same session again in a new process |
//! | TypeScript (v1, v2) and Python SDK | our example agents | a turn |
//! | TypeScript SDK (v1, v2) | `nudge acp` | `providers/set` to a stand-in provider, and a turn with it |
//! | TypeScript SDK's NES client | `nudge acp` | an edit, and the suggestions that follow from it |
//! | TypeScript SDK's NES module | our golden frames and wire types | each reads what the other writes |
//! | the Python libraries of Anthropic, `OpenAI`, Google, Ollama and Amazon | our stand-in for model providers | an answer with a tool call, its result, an error |
//!
//! The Rust SDK comes with the build. `crates/interop/setup` installs the others; without them their tests say
//! `skipped:` on standard error and pass.
#![allow(clippy::disallowed_methods, reason = "tests read files and the environment")]

mod conversation;
mod nes;
mod nes_session;
mod programs;
mod providers;
mod python;
mod rust;
mod rust_cancel;
mod typescript;
mod vendors;
