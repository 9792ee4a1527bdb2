//! Nudge in real editors, driven as a person would: keys go in, and what counts is what is on the screen and in the file.
//!
//! `crates/editors/setup` installs the editors; without them their tests say `skipped:` on standard error and pass. What it
//! does not install is named by variables of the environment: `NUDGE_TEST_SIDEKICK` and `NUDGE_TEST_COPILOT_LSP` (the folders
//! of these plugins), `NUDGE_TEST_KAK_LSP` (the program, which `cargo install kak-lsp` builds) and `NUDGE_TEST_LSP_MODE` (a
//! folder with those of lsp-mode and what it needs, as Debian's `elpa-lsp-mode` has them).
#![allow(clippy::disallowed_methods, reason = "tests read files, start processes and wait")]

mod emacs;
mod helix;
mod kakoune;
mod neovim;
mod programs;
mod protocol;
mod vscode;
