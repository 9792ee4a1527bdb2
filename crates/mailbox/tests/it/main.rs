//! The mailbox held against what its calls promise, and against a plain list.
#![allow(missing_docs)]

mod calls;
mod naive;
