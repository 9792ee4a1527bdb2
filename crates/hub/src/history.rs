//! The transcript of a session, read page by page.

use bytestring::ByteString;
use nudge_store::{Entry, Limit, Store};
use nudge_wire::{Error, RawJson};

use crate::{
    session::View,
    session::{Shown, stored},
    update::{Kind, Update},
};

/// Bytes read at a time.
const PAGE: Limit = Limit { rows: 4096, bytes: 1024 * 1024 };

/// A transcript from some entry on, a page at a time.
pub(crate) struct Pages<'a> {
    store: &'a dyn Store,
    session: &'a str,
    from: u64,
}

impl<'a> Pages<'a> {
    pub(crate) fn new(store: &'a dyn Store, session: &'a str, from: u64) -> Self {
        Self { store, session, from }
    }

    /// The next page; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Entry>>, Error> {
        let page = self.store.transcript(self.session, self.from, PAGE).await.map_err(stored)?;
        let Some(last) = page.last() else { return Ok(None) };
        self.from = last.seq + 1;
        Ok(Some(page))
    }
}

/// Shows a client what is stored from where it stands, as fast as it reads.
pub(crate) async fn replay(store: &dyn Store, session: &str, view: &mut View) -> Result<(), Error> {
    let mut pages = Pages::new(store, session, view.from);
    while let Some(page) = pages.next().await? {
        for entry in page {
            view.from = entry.seq + 1;
            if Kind::is_history(&entry.kind)
                && let Some(raw) = json(&entry)
            {
                let update = Update::stored(&entry.kind, raw);
                view.show_when_room(&mut Shown::new(session, &update)).await;
            }
        }
    }
    Ok(())
}

/// The frame of an entry as JSON text.
pub(crate) fn json(entry: &Entry) -> Option<RawJson> {
    Some(RawJson::written(ByteString::try_from(entry.frame.clone()).ok()?))
}
