//! What happens to the documents an editor has open, told to the NES session that follows them.

use crate::nes::{
    Position, Range,
    shape::{methods, object},
};

object! {
    /// A document was opened. From here on the session keeps its text.
    pub struct DidOpen as "DidOpenDocumentNotification" {
        /// The NES session.
        session_id: String,
        /// The document.
        uri: String,
        /// Its language.
        language_id: String,
        /// Its version; later ones are greater.
        version: i64,
        /// Its text.
        text: String,
    }
}

object! {
    /// The text of a document changed.
    pub struct DidChange as "DidChangeDocumentNotification" {
        /// The NES session.
        session_id: String,
        /// The document.
        uri: String,
        /// Its version afterwards.
        version: i64,
        /// The changes, each to the text the one before it left.
        content_changes: Vec<ContentChange>,
    }
}

object! {
    /// One change of a document's text.
    pub struct ContentChange as "TextDocumentContentChangeEvent" {
        /// What comes in place of the range, or the whole text where there is none.
        text: String,
    }
    // Strict: a range that cannot be read must not turn a small change into the whole text.
    optional {
        /// What was replaced; all of it if absent.
        range: Range,
    }
}

object! {
    /// A document was closed.
    pub struct DidClose as "DidCloseDocumentNotification" {
        /// The NES session.
        session_id: String,
        /// The document.
        uri: String,
    }
}

object! {
    /// A document was saved.
    pub struct DidSave as "DidSaveDocumentNotification" {
        /// The NES session.
        session_id: String,
        /// The document.
        uri: String,
    }
}

object! {
    /// The user went to a document, opened now or before.
    pub struct DidFocus as "DidFocusDocumentNotification" {
        /// The NES session.
        session_id: String,
        /// The document.
        uri: String,
        /// Its version.
        version: i64,
        /// Where the cursor is.
        position: Position,
        /// What is on the screen.
        visible_range: Range,
    }
}

methods! {
    DidOpen, "document/didOpen";
    DidChange, "document/didChange";
    DidClose, "document/didClose";
    DidSave, "document/didSave";
    DidFocus, "document/didFocus";
}
