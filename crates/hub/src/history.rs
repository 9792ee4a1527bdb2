//! The transcript of a session, read page by page.

use bytestring::ByteString;
use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_store::{Dialect, Entry, Pages, Store};
use nudge_wire::{Error, RawJson, Version};

use crate::{
    session::View,
    session::{Shown, stored},
};

/// Shows a client what is stored from where it stands, as fast as it reads.
pub(crate) async fn replay(store: &dyn Store, session: &str, view: &mut View) -> Result<(), Error> {
    let mut pages = Pages::new(store, session, view.from);
    let mut page = pages.next().await;
    while let Some(entries) = page.map_err(stored)? {
        // The next page is read while this one is shown.
        page = tokio::join!(pages.next(), show(entries, session, view)).0;
    }
    Ok(())
}

async fn show(page: Vec<Entry>, session: &str, view: &mut View) {
    for entry in page {
        view.from = entry.seq + 1;
        let kind = UpdateKind::of(&entry.kind);
        if kind.is_replayed()
            && let Some(raw) = json(&entry)
        {
            let message_id = entry.message_id.as_deref().map(Into::into);
            let update = IndexedUpdate::stored(version(&entry), kind, message_id, raw);
            view.show_when_room(&mut Shown::new(session, &update)).await;
        }
    }
}

/// The version that an entry is written in.
pub(crate) fn version(entry: &Entry) -> Version {
    match entry.dialect {
        Dialect::V1 => Version::V1,
        Dialect::V2 => Version::V2,
    }
}

/// The frame of an entry as JSON text.
pub(crate) fn json(entry: &Entry) -> Option<RawJson> {
    Some(RawJson::written(ByteString::try_from(entry.frame.clone()).ok()?))
}
