//! What a client may attach to a request for suggestions, for agents that keep no documents themselves.

use super::{
    position::{Position, Range},
    shape::{object, open_enum},
};

object! {
    /// Everything attached to one request; the agent's capabilities say what it wants.
    #[derive(Default)]
    pub struct SuggestContext as "NesSuggestContext" {}
    optional {
        /// Files the user was in lately.
        recent_files: Vec<RecentFile>,
        /// Pieces of other files that bear on this place.
        related_snippets: Vec<RelatedSnippet>,
        /// What was edited lately, oldest first.
        edit_history: Vec<EditHistoryEntry>,
        /// What the user did lately, oldest first.
        user_actions: Vec<UserAction>,
        /// Files open in the editor.
        open_files: Vec<OpenFile>,
        /// What compilers and linters say.
        diagnostics: Vec<Diagnostic>,
    }
}

object! {
    /// A file the user was in lately, whole.
    pub struct RecentFile as "NesRecentFile" {
        /// The file.
        uri: String,
        /// Its language.
        language_id: String,
        /// Its text.
        text: String,
    }
}

object! {
    /// Pieces of one file.
    pub struct RelatedSnippet as "NesRelatedSnippet" {
        /// The file.
        uri: String,
        /// The pieces.
        excerpts: Vec<FileExcerpt>,
    }
}

object! {
    /// Some lines of a file.
    pub struct FileExcerpt as "NesExcerpt" {
        /// The first line, counted from zero.
        start_line: u32,
        /// The last line, counted from zero.
        end_line: u32,
        /// The text of these lines.
        text: String,
    }
}

object! {
    /// One edit the user made.
    pub struct EditHistoryEntry as "NesEditHistoryEntry" {
        /// The file.
        uri: String,
        /// The edit as a unified diff.
        diff: String,
    }
}

object! {
    /// One thing the user did.
    pub struct UserAction as "NesUserAction" {
        /// What, for instance `insertChar` or `cursorMovement`; the set is the client's.
        action: String,
        /// In which file.
        uri: String,
        /// Where in it.
        position: Position,
        /// When, in milliseconds since 1970.
        timestamp_ms: u64,
    }
}

object! {
    /// A file open in the editor.
    pub struct OpenFile as "NesOpenFile" {
        /// The file.
        uri: String,
        /// Its language.
        language_id: String,
    }
    nullable {
        /// The part on the screen; `null` when none of it is.
        visible_range: Range,
        /// When it last had the focus, in milliseconds since 1970; `null` when it never had.
        last_focused_ms: u64,
    }
}

object! {
    /// What a compiler or linter says about a piece of text.
    pub struct Diagnostic as "NesDiagnostic" {
        /// The file.
        uri: String,
        /// The text it is about.
        range: Range,
        /// How bad it is.
        severity: DiagnosticSeverity,
        /// What it says.
        message: String,
    }
}

open_enum! {
    /// How bad a diagnostic is.
    pub enum DiagnosticSeverity as "NesDiagnosticSeverity" {
        /// It does not work.
        Error = "error",
        /// It may not do what was meant.
        Warning = "warning",
        /// Worth knowing.
        Information = "information",
        /// Could be better.
        Hint = "hint",
    }
}
