//! The core of a session held against the semantics it must have, naive references, and every order of events.
#![allow(missing_docs)]

mod choices;
mod core;
mod delivery;
mod driver;
mod model;
mod naive;
