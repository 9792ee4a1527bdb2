//! The process's own standard input and output.
//!
//! Pipes and sockets are read and written from the event loop. Terminals, files and systems without `/proc` go through
//! tokio's threads.

use std::{io, os::fd::AsFd};

use super::{Connect, Transport, descriptors};

/// The transport over standard input and output. To be opened once per process, inside a tokio runtime.
#[derive(Debug, Clone, Copy, Default)]
pub struct StdioTransport;

impl Connect for StdioTransport {
    fn open(self) -> io::Result<Transport> {
        let reader = descriptors::reader(io::stdin().as_fd()).ok().flatten();
        let writer = descriptors::writer(io::stdout().as_fd()).ok().flatten();
        let reader = reader.unwrap_or_else(|| Box::new(tokio::io::stdin()));
        let writer = writer.unwrap_or_else(|| Box::new(tokio::io::stdout()));
        Ok(Transport::of_streams(reader, writer).named("stdio"))
    }
}
