//! The process's own standard input and output.
//!
//! Pipes and sockets are read and written from the event loop, without threads in between. The file description behind a
//! pipe is often shared with other processes (`2>&1`, a shell), which must not find it non-blocking all of a sudden: so a
//! pipe is opened anew under `/proc/self/fd`. A socket cannot be, but then its description is nearly always ours alone
//! (Node.js starts its children with sockets). Terminals, files and systems without `/proc` go through tokio's threads.

use std::{
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream as StdUnixStream,
    },
};

use rustix::fs::{FileType, fstat};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{UnixStream, unix::pipe},
};

use super::{Connect, Transport, widen};

/// The transport over standard input and output. To be opened once per process, inside a tokio runtime.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stdio;

impl Connect for Stdio {
    fn open(self) -> io::Result<Transport> {
        let reader: Box<dyn AsyncRead + Send + Unpin> = match kind(io::stdin()) {
            Kind::Socket(fd) => Box::new(socket(fd)?),
            Kind::Pipe => match pipe::OpenOptions::new().open_receiver("/proc/self/fd/0") {
                Ok(receiver) => {
                    widen(&receiver);
                    Box::new(receiver)
                }
                Err(_) => Box::new(tokio::io::stdin()),
            },
            Kind::Other => Box::new(tokio::io::stdin()),
        };
        let writer: Box<dyn AsyncWrite + Send + Unpin> = match kind(io::stdout()) {
            Kind::Socket(fd) => Box::new(socket(fd)?),
            Kind::Pipe => match pipe::OpenOptions::new().open_sender("/proc/self/fd/1") {
                Ok(sender) => {
                    widen(&sender);
                    Box::new(sender)
                }
                Err(_) => Box::new(tokio::io::stdout()),
            },
            Kind::Other => Box::new(tokio::io::stdout()),
        };
        Ok(Transport { name: Some("stdio".to_owned()), reader, writer, exit: None })
    }
}

enum Kind {
    Pipe,
    Socket(OwnedFd),
    Other,
}

fn kind(stream: impl AsFd) -> Kind {
    let fd = stream.as_fd();
    match fstat(fd).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Ok(FileType::Fifo) => Kind::Pipe,
        Ok(FileType::Socket) => fd.try_clone_to_owned().map_or(Kind::Other, Kind::Socket),
        _ => Kind::Other,
    }
}

/// A stream socket of whatever family: reading and writing are the same for all.
fn socket(fd: OwnedFd) -> io::Result<UnixStream> {
    let stream = StdUnixStream::from(fd);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}
