//! Two open file descriptors that are read and written from the event loop, without threads in between.
//!
//! The file description behind a descriptor is often shared with other processes (`2>&1`, a shell), which must not find it
//! non-blocking all of a sudden. So a pipe is opened anew under `/proc/self/fd`, and a socket, which cannot be, is asked
//! for each call not to block.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
};

use rustix::fs::{FileType, fstat};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::unix::pipe,
};

use super::{Connect, Transport, socket::SharedSocket, widen};

/// A transport over two pipes or sockets that this process was given. To be opened inside a tokio runtime.
#[derive(Debug)]
pub struct DescriptorTransport {
    input: OwnedFd,
    output: OwnedFd,
}

impl DescriptorTransport {
    /// What is received comes from `input`, what is sent goes to `output`.
    pub fn new(input: OwnedFd, output: OwnedFd) -> Self {
        Self { input, output }
    }

    /// Whether this is something that can be opened: a pipe or a socket, and no terminal or file.
    pub fn can_open(descriptor: BorrowedFd<'_>) -> bool {
        kind(descriptor) != Kind::Other
    }
}

impl Connect for DescriptorTransport {
    fn open(self) -> io::Result<Transport> {
        let reader = reader(self.input.as_fd())?.ok_or_else(unsuitable)?;
        let writer = writer(self.output.as_fd())?.ok_or_else(unsuitable)?;
        Ok(Transport::of_streams(reader, writer).named("descriptors"))
    }
}

fn unsuitable() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "expected pipes or sockets, got something else")
}

/// Reads from a pipe or socket; `None` if it is neither.
pub(super) fn reader(fd: BorrowedFd<'_>) -> io::Result<Option<Box<dyn AsyncRead + Send + Unpin>>> {
    Ok(match kind(fd) {
        Kind::Pipe => {
            let receiver = pipe::OpenOptions::new().open_receiver(path(fd))?;
            widen(&receiver);
            Some(Box::new(receiver))
        }
        Kind::Socket => Some(Box::new(SharedSocket::new(fd.try_clone_to_owned()?)?)),
        Kind::Other => None,
    })
}

/// Writes to a pipe or socket; `None` if it is neither.
pub(super) fn writer(fd: BorrowedFd<'_>) -> io::Result<Option<Box<dyn AsyncWrite + Send + Unpin>>> {
    Ok(match kind(fd) {
        Kind::Pipe => {
            let sender = pipe::OpenOptions::new().open_sender(path(fd))?;
            widen(&sender);
            Some(Box::new(sender))
        }
        Kind::Socket => Some(Box::new(SharedSocket::new(fd.try_clone_to_owned()?)?)),
        Kind::Other => None,
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Pipe,
    Socket,
    Other,
}

fn kind(fd: BorrowedFd<'_>) -> Kind {
    match fstat(fd).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Ok(FileType::Fifo) => Kind::Pipe,
        Ok(FileType::Socket) => Kind::Socket,
        _ => Kind::Other,
    }
}

fn path(fd: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}
