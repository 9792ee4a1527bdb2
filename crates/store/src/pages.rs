//! A transcript, read page by page.

use crate::{Entry, Limit, Seq, Store, StoreError};

/// A transcript from some entry on, a page at a time.
pub struct Pages<'a> {
    store: &'a dyn Store,
    session: &'a str,
    from: Seq,
}

impl<'a> Pages<'a> {
    /// The transcript of `session` from entry `from` on.
    pub fn new(store: &'a dyn Store, session: &'a str, from: Seq) -> Self {
        Self { store, session, from }
    }

    /// The next page; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<Entry>>, StoreError> {
        let page = self.store.transcript(self.session, self.from, Limit::default()).await?;
        let Some(last) = page.last() else { return Ok(None) };
        self.from = last.seq + 1;
        Ok(Some(page))
    }
}

impl std::fmt::Debug for Pages<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pages")
            .field("session", &self.session)
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}
