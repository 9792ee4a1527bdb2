//! Where the bytes come from and go to.

mod child;
mod cut;
mod descriptors;
mod socket;
mod stdio;

use std::{fmt, io, os::fd::AsFd};

use tokio::io::{AsyncRead, AsyncWrite};

pub(crate) use child::Exit;
pub use child::{Child, ExitReport};
pub use cut::Cut;
pub use descriptors::Descriptors;
pub use stdio::Stdio;

/// An open pair of byte streams, one message a line in each direction.
pub struct Transport {
    pub(crate) name: Option<String>,
    pub(crate) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) writer: Box<dyn AsyncWrite + Send + Unpin>,
    pub(crate) exit: Option<Exit>,
}

impl Transport {
    /// A transport over any two streams.
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self { name: None, reader: Box::new(reader), writer: Box::new(writer), exit: None }
    }
}

/// Something a connection can be opened over.
pub trait Connect {
    /// Opens it.
    fn open(self) -> io::Result<Transport>;
}

impl Connect for Transport {
    fn open(self) -> io::Result<Transport> {
        Ok(self)
    }
}

/// Gives a pipe room for a large message, so that it does not pass in many small pieces, each with a change of process.
/// Where the system does not allow it the pipe stays as it is.
fn widen(pipe: impl AsFd) {
    const ROOM: usize = 1024 * 1024;
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, ROOM);
    #[cfg(not(target_os = "linux"))]
    let _ = (pipe, ROOM);
}

/// Two transports in memory, each the other's other end.
pub fn pair() -> (Transport, Transport) {
    const ROOM: usize = 256 * 1024;
    let end = |stream| {
        let (reader, writer) = tokio::io::split(stream);
        Transport::new(reader, writer)
    };
    let (a, b): (tokio::io::DuplexStream, _) = tokio::io::duplex(ROOM);
    (end(a), end(b))
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("name", &self.name).finish_non_exhaustive()
    }
}
