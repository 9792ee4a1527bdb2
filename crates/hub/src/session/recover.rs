//! Writes what could not be written, once the store can be again.

use std::{collections::BTreeSet, time::Duration};

use nudge_session::{SessionInput, StoredState};
use nudge_store::{StoreError, TranscriptPages};
use nudge_wire::Error;
use tokio::time::Instant;

use crate::{
    hub::HubShared,
    session::{
        driver::SessionDriver,
        restore::{client_error, past, store_error},
        stored_ops::saved,
    },
};

/// How often a session looks by itself whether it can be written again.
pub(crate) const RETRY: Duration = Duration::from_secs(2);

/// Waits until it is time to look again.
pub(crate) async fn retry(at: Instant) {
    tokio::time::sleep_until(at).await;
}

impl SessionDriver {
    /// Goes on from what is on disk, if it can be written again: what was shown and is not there is written first.
    pub(crate) async fn recover(&mut self) -> Result<(), Error> {
        self.retry_at = Instant::now() + RETRY;
        let cannot = |error: StoreError| client_error(&error, "The session cannot be stored");
        if !self.hub.renew(&self.lease).await.map_err(cannot)? {
            self.leaving.get_or_insert_default();
            return Err(cannot(StoreError::Fenced));
        }
        let stored = stored_state(&self.hub, &self.row.id, self.core.on_disk()).await?;
        let Some((commit, recovery)) = self.core.plan_recovery(stored, self.now()) else { return Ok(()) };
        self.write(commit).await.map_err(cannot)?;
        tracing::info!(session = %self.row.id, "the session can be written again");
        self.feed(SessionInput::Recovered(recovery));
        Ok(())
    }
}

/// What is on disk of a session, and the numbers of its entries from `on_disk` on.
async fn stored_state(hub: &HubShared, session: &str, on_disk: u64) -> Result<StoredState, Error> {
    let store = &*hub.store;
    let (inputs, next_input) = saved(store.inputs(session).await.map_err(store_error)?);
    let past = past(hub, session).await?;
    let mut entries = BTreeSet::new();
    let mut pages = TranscriptPages::new(store, session, on_disk);
    while let Some(page) = pages.next().await.map_err(store_error)? {
        entries.extend(page.iter().map(|entry| entry.seq));
    }
    Ok(StoredState { inputs, next_input, past, entries })
}
