//! The parts of suggestions that are the same in both versions.

use super::{
    position::Range,
    shape::{object, open_enum},
};

open_enum! {
    /// Why suggestions are asked for.
    pub enum TriggerKind as "NesTriggerKind" {
        /// The user typed or moved.
        Automatic = "automatic",
        /// A diagnostic appeared near the cursor; it is in the context.
        Diagnostic = "diagnostic",
        /// The user asked.
        Manual = "manual",
    }
}

open_enum! {
    /// What became of a suggestion that was not accepted.
    pub enum RejectReason as "NesRejectReason" {
        /// The user did not want it.
        Rejected = "rejected",
        /// The user saw it and went on with something else.
        Ignored = "ignored",
        /// A newer one took its place.
        Replaced = "replaced",
        /// The request was given up before the answer came.
        Cancelled = "cancelled",
    }
}

object! {
    /// One replacement of text.
    pub struct TextEdit as "NesTextEdit" {
        /// What goes.
        range: Range,
        /// What comes in its place.
        new_text: String,
    }
}
