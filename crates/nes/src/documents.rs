//! The documents a session mirrors.

use std::{collections::HashMap, sync::Arc};

use nudge_syntax::{AnalysedDocument, Language};
use nudge_text::{Document, Edits, Encoding, OutOfSync, Text, TextChange};
use nudge_wire::nes::Range;

use crate::limits;

/// The mirrored documents, with how recently each was used.
#[derive(Default)]
pub(crate) struct OpenDocuments {
    entries: HashMap<Arc<str>, Entry>,
    /// Bytes of all open documents.
    bytes: usize,
    clock: u64,
}

struct Entry {
    state: State,
    /// The clock's value when it was last used.
    used: u64,
    visible: Option<Range>,
}

enum State {
    Open {
        document: Document,
        source: AnalysedDocument,
    },
    /// Its text is not known.
    Lost,
    /// Its text is too long to be of use.
    TooLarge,
}

/// A document as a request finds it.
pub(crate) enum DocumentLookup<'a> {
    Open {
        source: &'a AnalysedDocument,
        version: i64,
        visible: Option<&'a Range>,
    },
    OutOfSync,
    TooLarge,
    /// No event was about it.
    Unknown,
}

/// A change that was made.
pub(crate) struct DocumentChange {
    pub(crate) uri: Arc<str>,
    pub(crate) before: Text,
    pub(crate) edits: Edits,
    pub(crate) after: Text,
}

/// Why a change was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotChanged {
    #[error("{0}")]
    OutOfSync(#[from] OutOfSync),
    #[error("the document is not open; open it, or send the full text")]
    NotOpen,
    #[error("the document is longer than {} bytes and is not followed", limits::DOCUMENT_BYTES)]
    TooLarge,
    /// It was told before that the document is out of sync.
    #[error("the document is still out of sync")]
    Still,
}

impl OpenDocuments {
    /// Takes up a document. Gives it back if it is not too long.
    pub(crate) fn open(
        &mut self,
        uri: String,
        language: &str,
        version: i64,
        text: &str,
    ) -> Option<AnalysedDocument> {
        let uri: Arc<str> = self.remove(&uri).unwrap_or_else(|| uri.into());
        if text.len() > limits::DOCUMENT_BYTES {
            self.insert(uri, State::TooLarge);
            return None;
        }
        let document = Document::open(version, text);
        let language = Language::of(Some(language), &uri);
        let source = AnalysedDocument::new(Arc::clone(&uri), language, document.text().clone());
        self.insert(uri, State::Open { document, source: source.clone() });
        Some(source)
    }

    /// Makes the changes of one notification.
    pub(crate) fn change(
        &mut self,
        uri: &str,
        version: i64,
        changes: &[TextChange],
        encoding: Encoding,
    ) -> Result<DocumentChange, NotChanged> {
        self.clock += 1;
        let full = changes.iter().rposition(|change| matches!(change, TextChange::Full(_)));
        let Some(entry) = self.entries.get_mut(uri) else {
            let Some(full) = full else {
                self.insert(uri.into(), State::Lost);
                return Err(NotChanged::NotOpen);
            };
            return self.recover(uri, version, &changes[full..], encoding);
        };
        entry.used = self.clock;
        match (&mut entry.state, full) {
            (State::Open { document, source }, _) => {
                let was_in_sync = document.in_sync();
                let before = document.text().clone();
                let edits = document.change(version, changes, encoding).map_err(|error| {
                    if was_in_sync { NotChanged::OutOfSync(error) } else { NotChanged::Still }
                })?;
                let after = document.text().clone();
                *source = source.edited(&edits, after.clone());
                let uri = Arc::clone(source.uri());
                self.bytes = (self.bytes + after.len()).saturating_sub(before.len());
                if after.len() > limits::DOCUMENT_BYTES {
                    self.bytes -= after.len();
                    entry.state = State::TooLarge;
                    return Err(NotChanged::TooLarge);
                }
                self.make_room();
                Ok(DocumentChange { uri, before, edits, after })
            }
            (State::Lost | State::TooLarge, Some(full)) => {
                self.recover(uri, version, &changes[full..], encoding)
            }
            (State::Lost | State::TooLarge, None) => Err(NotChanged::Still),
        }
    }

    /// Takes up a document whose text was not known from changes that begin with all of it.
    fn recover(
        &mut self,
        uri: &str,
        version: i64,
        changes: &[TextChange],
        encoding: Encoding,
    ) -> Result<DocumentChange, NotChanged> {
        let Some((TextChange::Full(text), rest)) = changes.split_first() else {
            return Err(NotChanged::NotOpen);
        };
        // The changes of one notification lead to one version.
        let begins_at = if rest.is_empty() { version } else { version.saturating_sub(1) };
        self.open(uri.to_owned(), "", begins_at, text);
        if rest.is_empty() {
            // Nobody knows what was changed.
            let nothing = Text::default();
            let edits = Edits::default();
            return Ok(DocumentChange { uri: uri.into(), before: nothing.clone(), edits, after: nothing });
        }
        self.change(uri, version, rest, encoding)
    }

    pub(crate) fn close(&mut self, uri: &str) -> bool {
        self.remove(uri).is_some()
    }

    /// The user went to a document.
    pub(crate) fn focus(&mut self, uri: &str, visible: Range) {
        self.clock += 1;
        if let Some(entry) = self.entries.get_mut(uri) {
            entry.used = self.clock;
            entry.visible = Some(visible);
        }
    }

    pub(crate) fn get(&self, uri: &str) -> DocumentLookup<'_> {
        match self.entries.get(uri) {
            Some(Entry { state: State::Open { document, source }, visible, .. }) if document.in_sync() => {
                DocumentLookup::Open { source, version: document.version(), visible: visible.as_ref() }
            }
            Some(Entry { state: State::Open { .. } | State::Lost, .. }) => DocumentLookup::OutOfSync,
            Some(Entry { state: State::TooLarge, .. }) => DocumentLookup::TooLarge,
            None => DocumentLookup::Unknown,
        }
    }

    /// The documents that can be relied on, the most recently used first.
    pub(crate) fn recent(&self) -> Vec<&AnalysedDocument> {
        let mut open: Vec<(u64, &AnalysedDocument)> = self
            .entries
            .values()
            .filter_map(|entry| match &entry.state {
                State::Open { document, source } if document.in_sync() => Some((entry.used, source)),
                _ => None,
            })
            .collect();
        open.sort_by_key(|(used, _)| std::cmp::Reverse(*used));
        open.into_iter().map(|(_, source)| source).collect()
    }

    /// Bytes of all open documents.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The documents with all that is found out about them.
    pub(crate) fn sources(&mut self) -> impl Iterator<Item = &mut AnalysedDocument> {
        self.entries.values_mut().filter_map(|entry| match &mut entry.state {
            State::Open { source, .. } => Some(source),
            State::Lost | State::TooLarge => None,
        })
    }

    fn insert(&mut self, uri: Arc<str>, state: State) {
        self.clock += 1;
        if let State::Open { document, .. } = &state {
            self.bytes += document.text().len();
        }
        self.entries.insert(uri, Entry { state, used: self.clock, visible: None });
        self.make_room();
    }

    fn make_room(&mut self) {
        while self.bytes > limits::SESSION_BYTES && self.give_up_oldest() {}
        while self.entries.len() > limits::DOCUMENTS && self.forget_oldest() {}
    }

    /// Makes room for bytes: the text that was not used for longest is given up.
    fn give_up_oldest(&mut self) -> bool {
        let newest = self.clock;
        let texts = self.entries.iter_mut().filter_map(|(uri, entry)| match &entry.state {
            State::Open { document, .. } if entry.used < newest => {
                let len = document.text().len();
                Some((uri, entry, len))
            }
            _ => None,
        });
        let Some((uri, entry, len)) = texts.min_by_key(|(_, entry, _)| entry.used) else { return false };
        tracing::warn!(uri = &**uri, "too much text is open; the document is not followed any more");
        entry.state = State::Lost;
        self.bytes -= len;
        true
    }

    /// Makes room for entries.
    fn forget_oldest(&mut self) -> bool {
        let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(uri, _)| Arc::clone(uri));
        oldest.is_some_and(|uri| self.remove(&uri).is_some())
    }

    fn remove(&mut self, uri: &str) -> Option<Arc<str>> {
        let (uri, entry) = self.entries.remove_entry(uri)?;
        if let State::Open { document, .. } = &entry.state {
            self.bytes -= document.text().len();
        }
        Some(uri)
    }
}
