//! Tests of the stand-in provider: what others judge by is judged here.
#![allow(clippy::disallowed_methods, reason = "measures how long answers take")]

mod anthropic;
mod bedrock;
mod chat;
mod client;
mod dialogue;
mod gemini;
mod ollama;
mod responses;
mod rules;
mod script;
