//! What the stand-in plays, and what models of providers answer.

mod built_in;
mod other_providers;
mod providers;
mod script;
mod stage;
mod time_limits;
