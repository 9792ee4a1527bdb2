//! Sessions as a client sees them, with an engine that does what a test wants.
#![allow(clippy::disallowed_methods, reason = "tests read and write files")]

mod context;
mod documents;
mod editor;
mod feedback;
mod flicker;
mod fresh;
mod kinds;
mod memory;
mod model;
mod refused;
mod rename;
mod settings;
mod sound;
mod together;
mod workspace;
