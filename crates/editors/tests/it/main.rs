//! Nudge in real editors, driven as a person would: keys go in, and what counts is what is on the screen and in the file.
//!
//! `crates/editors/setup` installs the editors; without them their tests say `skipped:` on standard error and pass.
#![allow(clippy::disallowed_methods, reason = "tests read files, start processes and wait")]

mod emacs;
mod helix;
mod neovim;
mod programs;
mod protocol;
mod terminal;
mod vscode;
