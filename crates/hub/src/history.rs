//! The transcript of a session, read page by page.

use bytestring::ByteString;
use nudge_store::{Entry, Pages, Store};
use nudge_wire::{Error, RawJson};

use crate::{
    session::View,
    session::{Shown, stored},
    update::{Kind, Update},
};

/// Shows a client what is stored from where it stands, as fast as it reads.
pub(crate) async fn replay(store: &dyn Store, session: &str, view: &mut View) -> Result<(), Error> {
    let mut pages = Pages::new(store, session, view.from);
    while let Some(page) = pages.next().await.map_err(stored)? {
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
