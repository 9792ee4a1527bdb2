//! Where the messages come from and go to.

mod child;
mod cut;
mod descriptors;
mod frames;
mod lines;
mod memory;
mod outgoing;
mod socket;
mod spare;
mod stdio;

use std::{fmt, io, os::fd::AsFd};

use lines::LineTransport;
use tokio::io::{AsyncRead, AsyncWrite};

pub(crate) use child::ChildExit;
pub use child::{ChildProgram, ExitReport};
pub use cut::TransportCut;
pub use descriptors::DescriptorTransport;
pub use frames::FrameTransport;
pub use memory::pair;
pub use outgoing::OutgoingFrames;
pub use stdio::StdioTransport;

/// What a connection runs over, open.
pub struct Transport {
    pub(crate) name: Option<String>,
    pub(crate) frames: Box<dyn FrameTransport>,
    pub(crate) exit: Option<ChildExit>,
}

impl Transport {
    /// A transport over any two byte streams, one message a line in each direction.
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self::of_streams(Box::new(reader), Box::new(writer))
    }

    /// A transport over whatever carries messages.
    pub fn of_frames(frames: impl FrameTransport + 'static) -> Self {
        Self { name: None, frames: Box::new(frames), exit: None }
    }

    /// The name in logs, unless the connection has one of its own.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    fn of_streams(
        reader: Box<dyn AsyncRead + Send + Unpin>,
        writer: Box<dyn AsyncWrite + Send + Unpin>,
    ) -> Self {
        Self::of_frames(LineTransport::new(reader, writer))
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

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("name", &self.name).finish_non_exhaustive()
    }
}
