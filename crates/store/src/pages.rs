//! A transcript, read page by page.

use crate::{EntrySeq, PageLimit, Store, StoreError, TranscriptEntry};

/// A transcript from some entry on, a page at a time.
pub struct TranscriptPages<'a> {
    store: &'a dyn Store,
    session: &'a str,
    from: EntrySeq,
}

impl<'a> TranscriptPages<'a> {
    /// The transcript of `session` from entry `from` on.
    pub fn new(store: &'a dyn Store, session: &'a str, from: EntrySeq) -> Self {
        Self { store, session, from }
    }

    /// The next page; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<TranscriptEntry>>, StoreError> {
        let page = self.store.transcript(self.session, self.from, PageLimit::default()).await?;
        let Some(last) = page.last() else { return Ok(None) };
        self.from = last.seq + 1;
        Ok(Some(page))
    }
}

impl std::fmt::Debug for TranscriptPages<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TranscriptPages")
            .field("session", &self.session)
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}
