//! How connections come in, also when no more files can be opened.

use std::{io, os::unix::net::UnixStream, time::Duration};

use tokio::{net::UnixListener, time::Instant};

use crate::daemon::descriptors::{ReservedDescriptor, is_exhausted};

/// How long nobody is let in after somebody could not be.
const PAUSE: Duration = Duration::from_millis(100);

/// How long it may take until a descriptor is free again: of many who say nothing, most are about to go.
const PATIENCE: Duration = Duration::from_secs(1);

/// Who comes in.
pub(crate) enum AcceptedConnection {
    /// A connection.
    Comes(UnixStream),
    /// A connection that took the last descriptor: it can be told, and no more.
    IsTooMuch(UnixStream),
}

/// The way in.
pub(crate) struct DaemonListener {
    reserve: ReservedDescriptor,
    /// Since when nobody could come in, which is said once.
    stuck: Option<Instant>,
}

impl DaemonListener {
    pub(crate) fn new() -> Self {
        let mut reserve = ReservedDescriptor::default();
        reserve.fill();
        Self { reserve, stuck: None }
    }

    /// Who comes next; `None` if nobody could be let in, after a pause.
    pub(crate) async fn next(&mut self, listener: &UnixListener) -> Option<AcceptedConnection> {
        self.reserve.fill();
        let error = match accepted(listener).await {
            Ok(stream) => {
                self.stuck = None;
                return Some(AcceptedConnection::Comes(stream));
            }
            Err(error) => error,
        };
        if self.stuck.is_none() {
            tracing::warn!(%error, "a connection could not be taken");
        }
        let since = *self.stuck.get_or_insert_with(Instant::now);
        if is_exhausted(&error)
            && since.elapsed() > PATIENCE
            && self.reserve.spend()
            && let Some(stream) = accepted_at_once(listener).await
        {
            return Some(AcceptedConnection::IsTooMuch(stream));
        }
        tokio::time::sleep(PAUSE).await;
        None
    }
}

async fn accepted(listener: &UnixListener) -> io::Result<UnixStream> {
    listener.accept().await?.0.into_std()
}

/// Without descriptors accepting fails also if nobody is there.
async fn accepted_at_once(listener: &UnixListener) -> Option<UnixStream> {
    tokio::select! {
        biased;
        accepted = accepted(listener) => accepted.ok(),
        () = std::future::ready(()) => None,
    }
}
