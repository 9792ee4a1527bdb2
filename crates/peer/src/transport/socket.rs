//! A stream socket of whatever family that stays blocking for whoever else has it.

use std::{
    cell::RefCell,
    io::{self, IoSlice},
    os::fd::OwnedFd,
    pin::Pin,
    task::{Context, Poll, ready},
};

use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, unix::AsyncFd};

/// How much is asked for with one read.
const READ: usize = 64 * 1024;

thread_local! {
    /// What is received goes through here: a reader's own space is not initialised, and zeroing it each time takes
    /// longer than copying a message.
    static SPACE: RefCell<Vec<u8>> = RefCell::default();
}

/// One handle of the socket, for one direction.
pub(super) struct SharedSocket {
    fd: AsyncFd<OwnedFd>,
}

impl SharedSocket {
    #[expect(
        deprecated,
        reason = "what replaces it asks by `unsafe` for what an `OwnedFd` is: a descriptor that stays"
    )]
    pub(super) fn new(fd: OwnedFd) -> io::Result<Self> {
        Ok(Self { fd: AsyncFd::new(fd)? })
    }
}

impl AsyncRead for SharedSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.fd.poll_read_ready(cx))?;
            match ready.try_io(|socket| receive(socket.get_ref(), buffer)) {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(received) => return Poll::Ready(received),
                Err(_would_block) => {}
            }
        }
    }
}

/// Receives what is there, without waiting for it.
fn receive(socket: &OwnedFd, buffer: &mut ReadBuf<'_>) -> io::Result<()> {
    SPACE.with_borrow_mut(|space| {
        space.resize(READ, 0);
        let space = &mut space[..buffer.remaining().min(READ)];
        let (_, count) = rustix::net::recv(socket, &mut *space, RecvFlags::DONTWAIT)?;
        buffer.put_slice(&space[..count]);
        Ok(())
    })
}

impl AsyncWrite for SharedSocket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        loop {
            let mut ready = ready!(self.fd.poll_write_ready(cx))?;
            let sent = ready.try_io(|socket| {
                let nothing = &mut SendAncillaryBuffer::default();
                Ok(rustix::net::sendmsg(socket.get_ref(), slices, nothing, flags)?)
            });
            match sent {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(outcome) => return Poll::Ready(outcome),
                Err(_would_block) => {}
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(rustix::net::shutdown(self.fd.get_ref(), Shutdown::Write)?))
    }
}
