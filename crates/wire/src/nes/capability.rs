//! What the two sides say about NES in `initialize`. A part that is absent is not offered; a malformed one counts as
//! absent.

use super::shape::{object, open_enum};

object! {
    /// What an agent that makes suggestions wants to be told.
    #[derive(Default)]
    pub struct NesCapabilities as "NesCapabilities" {}
    lenient {
        /// As it happens, in notifications.
        events: EventCapabilities,
        /// With each request.
        context: ContextCapabilities,
    }
}

object! {
    /// The notifications an agent wants.
    #[derive(Default)]
    pub struct EventCapabilities as "NesEventCapabilities" {}
    lenient {
        /// About documents.
        document: DocumentEventCapabilities,
    }
}

object! {
    /// The notifications about documents an agent wants.
    #[derive(Default)]
    pub struct DocumentEventCapabilities as "NesDocumentEventCapabilities" {}
    lenient {
        /// `document/didOpen`.
        did_open: SupportedCapability,
        /// `document/didChange`, and in which form.
        did_change: DidChangeCapability,
        /// `document/didClose`.
        did_close: SupportedCapability,
        /// `document/didSave`.
        did_save: SupportedCapability,
        /// `document/didFocus`.
        did_focus: SupportedCapability,
    }
}

object! {
    /// How an agent wants to be told about changes.
    pub struct DidChangeCapability as "NesDidChangeCapability" {
        /// Whole or in pieces.
        sync_kind: SyncKind,
    }
}

open_enum! {
    /// How much of a document each change carries.
    pub enum SyncKind as "TextDocumentSyncKind" {
        /// All of it.
        Full = "full",
        /// The ranges that changed.
        Incremental = "incremental",
    }
}

object! {
    /// What an agent wants attached to each request for suggestions.
    #[derive(Default)]
    pub struct ContextCapabilities as "NesContextCapabilities" {}
    lenient {
        /// Files the user was in lately.
        recent_files: LimitedCapability,
        /// Pieces of other files.
        related_snippets: SupportedCapability,
        /// Edits made lately.
        edit_history: LimitedCapability,
        /// Things done lately.
        user_actions: LimitedCapability,
        /// Files open in the editor.
        open_files: SupportedCapability,
        /// What compilers and linters say.
        diagnostics: SupportedCapability,
    }
}

object! {
    /// The kinds of suggestion a client can show besides edits.
    #[derive(Default)]
    pub struct ClientNesCapabilities as "ClientNesCapabilities" {}
    lenient {
        /// Going to another place.
        jump: SupportedCapability,
        /// Renaming a symbol.
        rename: SupportedCapability,
        /// Replacing text throughout a file or folder.
        search_and_replace: SupportedCapability,
    }
}

object! {
    /// A capability that is offered by being there.
    #[derive(Default)]
    pub struct SupportedCapability as "NesSupported" {}
}

object! {
    /// A capability with an upper bound.
    #[derive(Default)]
    pub struct LimitedCapability as "NesLimited" {}
    lenient {
        /// How many entries are of use, newest first; no bound if absent.
        max_count: u32,
    }
}

impl LimitedCapability {
    /// At most this many.
    pub fn to(max_count: u32) -> Self {
        Self { max_count: Some(max_count), ..Self::default() }
    }
}
