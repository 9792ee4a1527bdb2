//! How much a session may hold. What is past a limit is left out, the oldest first, and never refused to a client that
//! cannot know the limit.

/// NES sessions of one connection.
pub(crate) const SESSIONS: usize = 1024;
/// Documents of a session that are mirrored.
pub(crate) const DOCUMENTS: usize = 1024;
/// The longest document that is mirrored, in bytes.
pub(crate) const DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of mirrored documents of a session.
pub(crate) const SESSION_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of text of a session that have syntax trees, which take 40 times as much in code that people write, and up to 75
/// times in code that is dense. Documents used before those are looked at by their tokens.
pub(crate) const PARSED_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of memory that the indexes of all workspaces take together.
pub(crate) const INDEX_BYTES: usize = 256 * 1024 * 1024;
/// How long a document is parsed for a question.
pub(crate) const PARSE_TIME: std::time::Duration = std::time::Duration::from_millis(20);
/// Other documents that the engine gets to see.
pub(crate) const OTHERS: usize = 32;
/// Files attached to a request, or read from disk for it, that are kept for the next one.
pub(crate) const KEPT_FILES: usize = 32;
/// Bytes of such files.
pub(crate) const KEPT_BYTES: usize = 16 * 1024 * 1024;
/// The longest file that is read from disk or taken from a request's context, in bytes.
pub(crate) const FILE_BYTES: usize = 4 * 1024 * 1024;
/// Files that are read from disk for one request because the editor has them open.
pub(crate) const OPEN_FILES: usize = 8;
/// Files attached to a request that are looked at.
pub(crate) const RECENT_FILES: usize = 16;
/// Edits attached to a request that are looked at.
pub(crate) const EDIT_HISTORY: usize = 32;
/// User actions attached to a request that are looked at.
pub(crate) const USER_ACTIONS: usize = 64;
/// Pieces of related files attached to a request that are looked at.
pub(crate) const SNIPPETS: usize = 64;
/// Diagnostics attached to a request that are looked at.
pub(crate) const DIAGNOSTICS: usize = 256;
/// Suggestions of a session that feedback may still come for.
pub(crate) const REMEMBERED: usize = 256;
/// Bytes of the texts that these are about, each counted for itself though they share most of them.
pub(crate) const REMEMBERED_BYTES: usize = 64 * 1024 * 1024;
