//! A stream socket of whatever family that stays blocking for whoever else has it.

use std::{
    io::{self, IoSlice},
    os::fd::OwnedFd,
    pin::Pin,
    task::{Context, Poll, ready},
};

use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, unix::AsyncFd};

/// How much is asked for with one read.
const READ: usize = 64 * 1024;

/// One handle of the socket, for one direction.
pub(super) struct Socket {
    fd: AsyncFd<OwnedFd>,
    /// What is received goes through here: a reader's own space is not initialised, and zeroing it each time takes
    /// longer than copying a message.
    space: Vec<u8>,
}

impl Socket {
    #[expect(
        deprecated,
        reason = "what replaces it asks by `unsafe` for what an `OwnedFd` is: a descriptor that stays"
    )]
    pub(super) fn new(fd: OwnedFd) -> io::Result<Self> {
        Ok(Self { fd: AsyncFd::new(fd)?, space: Vec::new() })
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { fd, space } = self.get_mut();
        space.resize(READ, 0);
        let space = &mut space[..buffer.remaining().min(READ)];
        loop {
            let mut ready = ready!(fd.poll_read_ready(cx))?;
            let received = ready
                .try_io(|socket| Ok(rustix::net::recv(socket.get_ref(), &mut *space, RecvFlags::DONTWAIT)?));
            match received {
                Ok(Ok((_, count))) => {
                    buffer.put_slice(&space[..count]);
                    return Poll::Ready(Ok(()));
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Poll::Ready(Err(error)),
                Err(_would_block) => {}
            }
        }
    }
}

impl AsyncWrite for Socket {
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
