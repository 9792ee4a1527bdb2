//! The mailbox held against the semantics it must have, a naive reference, and every order of events.
#![allow(missing_docs)]

mod calls;
mod delivery;
mod model;
mod naive;
mod schedules;
mod script;
mod survival;
