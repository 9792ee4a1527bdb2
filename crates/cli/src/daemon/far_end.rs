//! Tells when the process at the other end of a socket is gone, as opposed to having said its last word.

use std::{io, os::fd::AsFd, time::Duration};

use nudge_peer::Cx;
use tokio::{io::Interest, net::UnixStream};

/// How long what a process has said before it went may take to be heard.
const PATIENCE: Duration = Duration::from_secs(1);

/// Waits until all that was read from a process that is gone is handled, but not for long.
pub(super) async fn last_words(connection: &Cx) {
    let _ = tokio::time::timeout(PATIENCE, connection.input_ended()).await;
}

/// The other end of a socket.
pub(super) struct FarEnd(UnixStream);

impl FarEnd {
    pub(super) fn of(stream: &UnixStream) -> io::Result<Self> {
        let own = stream.as_fd().try_clone_to_owned()?;
        UnixStream::from_std(std::os::unix::net::UnixStream::from(own)).map(Self)
    }

    /// Waits until nobody is there who could read. The end of the input alone is not enough: a process may still wait for
    /// answers then.
    pub(super) async fn left(self) {
        // Nothing on this socket is urgent, so no message wakes this, only the end. An error means that the event loop ends.
        while self.0.ready(Interest::PRIORITY).await.is_ok_and(|ready| !ready.is_read_closed()) {}
        while self.0.ready(Interest::WRITABLE).await.is_ok_and(|ready| !ready.is_write_closed()) {
            // That it can be written is known; what comes next counts.
            let known = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
            let _ = self.0.try_io(Interest::WRITABLE, known);
        }
    }
}
