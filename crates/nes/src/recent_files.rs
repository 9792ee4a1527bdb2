//! Files that come with a request or are read for one, kept so that the next request finds them analysed.

use std::{collections::VecDeque, sync::Arc};

use nudge_syntax::{AnalysedDocument, Language};
use nudge_text::{Text, diff};

use crate::{
    documents::DocumentChange,
    folders::{FoundFile, NesFolders, read_text},
    limits,
};

/// The last files, the most recently used last.
#[derive(Default)]
pub(crate) struct RecentFiles(VecDeque<Kept>);

struct Kept {
    source: AnalysedDocument,
    /// Where it was read from; `None` if a client sent it.
    found: Option<FoundFile>,
}

impl RecentFiles {
    /// The document with this text, and what has changed since a client sent it last.
    pub(crate) fn put(
        &mut self,
        uri: &str,
        language: &str,
        text: &str,
    ) -> (AnalysedDocument, Option<DocumentChange>) {
        let (source, changed) = match self.take(uri) {
            Some(Kept { source, .. }) if is(source.text(), text) => (source, None),
            Some(Kept { source, found }) => {
                let (before, after) = (source.text().clone(), Text::new(text));
                let edits = diff::edits(&before, &after);
                let source = source.edited(&edits, after.clone());
                let uri = Arc::clone(source.uri());
                (source, found.is_none().then_some(DocumentChange { uri, before, edits, after }))
            }
            None => {
                (AnalysedDocument::new(uri.into(), Language::of(Some(language), uri), Text::new(text)), None)
            }
        };
        self.keep(Kept { source: source.clone(), found: None });
        (source, changed)
    }

    /// The file with this address, if it is in one of the folders.
    pub(crate) fn read(&mut self, folders: &NesFolders, uri: &str) -> Option<AnalysedDocument> {
        let found = folders.find(uri)?;
        let kept = match self.take(uri) {
            Some(kept) if kept.found.as_ref() == Some(&found) => kept,
            _ => {
                let text = Text::from(read_text(&found.path, limits::FILE_BYTES)?);
                let source = AnalysedDocument::new(uri.into(), Language::of(None, uri), text);
                Kept { source, found: Some(found) }
            }
        };
        let source = kept.source.clone();
        self.keep(kept);
        Some(source)
    }

    /// Bytes of all files.
    pub(crate) fn bytes(&self) -> usize {
        self.0.iter().map(|kept| kept.source.text().len()).sum()
    }

    /// The files with all that is found out about them.
    pub(crate) fn sources(&mut self) -> impl Iterator<Item = &mut AnalysedDocument> {
        self.0.iter_mut().map(|kept| &mut kept.source)
    }

    fn take(&mut self, uri: &str) -> Option<Kept> {
        let at = self.0.iter().position(|kept| **kept.source.uri() == *uri)?;
        self.0.remove(at)
    }

    fn keep(&mut self, kept: Kept) {
        self.0.push_back(kept);
        let mut bytes = self.bytes();
        while self.0.len() > limits::KEPT_FILES || bytes > limits::KEPT_BYTES {
            bytes -= self.0.pop_front().map_or(bytes, |oldest| oldest.source.text().len());
        }
    }
}

/// Whether a text has this content.
fn is(text: &Text, content: &str) -> bool {
    let mut rest = content.as_bytes();
    text.len() == content.len()
        && text.chunks().all(|chunk| {
            let (front, back) = rest.split_at(chunk.len().min(rest.len()));
            rest = back;
            front == chunk.as_bytes()
        })
}
