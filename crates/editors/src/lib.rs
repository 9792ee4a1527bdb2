//! Nudge in real editors. Everything is in the tests.
