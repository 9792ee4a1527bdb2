//! The transcript of a session, read page by page.

use bytestring::ByteString;
use nudge_bridge::UpdateKind;
use nudge_store::{FrameDialect, Store, TranscriptEntry, TranscriptPages};
use nudge_wire::{Error, RawJson, Version};

use crate::session::{ClientView, ShownUpdate, store_error, stored_update};

/// Shows a client what is stored from where it stands, as fast as it reads.
pub(crate) async fn replay(store: &dyn Store, session: &str, view: &mut ClientView) -> Result<(), Error> {
    let mut pages = TranscriptPages::new(store, session, view.from);
    let mut page = pages.next().await;
    while let Some(entries) = page.map_err(store_error)? {
        // The next page is read while this one is shown.
        page = tokio::join!(pages.next(), show(entries, session, view)).0;
    }
    Ok(())
}

async fn show(page: Vec<TranscriptEntry>, session: &str, view: &mut ClientView) {
    for entry in page {
        view.from = entry.seq + 1;
        if UpdateKind::of(&entry.kind).is_replayed()
            && let Some(update) = stored_update(&entry)
        {
            view.show_when_room(&mut ShownUpdate::new(session, &update)).await;
        }
    }
}

/// The version that an entry is written in.
pub(crate) fn version(entry: &TranscriptEntry) -> Version {
    match entry.dialect {
        FrameDialect::V1 => Version::V1,
        FrameDialect::V2 => Version::V2,
    }
}

/// The frame of an entry as JSON text.
pub(crate) fn json(entry: &TranscriptEntry) -> Option<RawJson> {
    Some(RawJson::written(ByteString::try_from(entry.frame.clone()).ok()?))
}
