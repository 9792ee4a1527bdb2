//! Syntax, seen from outside.

mod index;
mod patience;
