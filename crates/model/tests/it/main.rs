//! What the stand-in plays.

mod built_in;
mod script;
mod stage;
