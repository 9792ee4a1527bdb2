//! The editor's pipes, handed over to the daemon with the greeting: then no byte goes through `nudge acp`.

use std::{
    io::{self, IoSlice, IoSliceMut, Write},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use nudge_peer::{Connect, DescriptorTransport, Transport};
use rustix::{
    cmsg_space,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, recvmsg, sendmsg,
    },
};
use tokio::io::Interest;

/// Where the editor's words come from, and where they go to.
const PIPES: usize = 2;
/// Room for more than are taken, so that too many are told from enough.
const ROOM: usize = 2 * PIPES;

/// Standard input and output, if both are of a kind that another process can take over.
pub(crate) fn offer() -> Option<[OwnedFd; PIPES]> {
    let (input, output) = (io::stdin(), io::stdout());
    let take =
        |fd: BorrowedFd<'_>| fd.try_clone_to_owned().ok().filter(|_| DescriptorTransport::can_open(fd));
    Some([take(input.as_fd())?, take(output.as_fd())?])
}

/// Sends a line, and with it the descriptors.
pub(crate) fn send(mut stream: &UnixStream, line: &[u8], pipes: Option<&[OwnedFd; PIPES]>) -> io::Result<()> {
    let Some(pipes) = pipes else { return stream.write_all(line) };
    let pipes = pipes.each_ref().map(AsFd::as_fd);
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(PIPES))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&pipes));
    let sent = sendmsg(stream, &[IoSlice::new(line)], &mut control, SendFlags::NOSIGNAL)?;
    stream.write_all(&line[sent..])
}

/// What came before ACP.
#[derive(Default)]
pub(crate) struct HandoverBytes {
    pub(crate) line: Vec<u8>,
    /// What followed the line.
    pub(crate) rest: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

/// Receives a line of at most `longest` bytes, and the descriptors that were sent with it. The line is what there is
/// of it if it is longer or the stream ends.
pub(crate) async fn receive(stream: &tokio::net::UnixStream, longest: usize) -> io::Result<HandoverBytes> {
    let mut received = HandoverBytes::default();
    let mut buffer = vec![0; 64 * 1024];
    while received.line.len() < longest {
        let receive = || receive_some(stream.as_fd(), &mut buffer, &mut received.descriptors);
        let count = stream.async_io(Interest::READABLE, receive).await?;
        let bytes = &buffer[..count];
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            if bytes.is_empty() {
                break;
            }
            received.line.extend_from_slice(bytes);
            continue;
        };
        received.line.extend_from_slice(&bytes[..end]);
        received.rest.extend_from_slice(&bytes[end + 1..]);
        break;
    }
    Ok(received)
}

fn receive_some(
    stream: BorrowedFd<'_>,
    buffer: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(ROOM))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    // What the daemon starts must not inherit them.
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let received = recvmsg(stream, &mut [IoSliceMut::new(buffer)], &mut control, flags)?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(sent) = message {
            descriptors.extend(sent.take(ROOM.saturating_sub(descriptors.len())));
        }
    }
    Ok(received.bytes)
}

impl HandoverBytes {
    /// Opens the pipes that were handed over. `None` if there are none, not two, or of another kind: all are closed then,
    /// and the words come over the socket.
    pub(crate) fn open(&mut self) -> Option<Transport> {
        let pipes = std::mem::take(&mut self.descriptors);
        let [input, output] = <[OwnedFd; PIPES]>::try_from(pipes).ok()?;
        match DescriptorTransport::new(input, output).open() {
            Ok(transport) => Some(transport),
            Err(error) => {
                tracing::info!(%error, "the editor's pipes cannot be taken over");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, io::Read, os::unix::net::UnixStream as StdUnixStream};

    use super::*;

    /// What the daemon makes of a greeting that comes with these descriptors.
    fn greeted(descriptors: &[OwnedFd]) -> (HandoverBytes, Option<Transport>) {
        let (near, far) = StdUnixStream::pair().unwrap();
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(2 * ROOM))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let borrowed: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
        control.push(SendAncillaryMessage::ScmRights(&borrowed));
        let mut control = if borrowed.is_empty() { SendAncillaryBuffer::default() } else { control };
        sendmsg(&near, &[IoSlice::new(b"hello\nworld")], &mut control, SendFlags::empty()).unwrap();
        far.set_nonblocking(true).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let far = tokio::net::UnixStream::from_std(far).unwrap();
            let mut received = receive(&far, 100).await.unwrap();
            let opened = received.open();
            (received, opened)
        })
    }

    #[test]
    fn two_pipes_are_taken_and_nothing_else() {
        for count in [0, 1, 2, 3, 2 * ROOM] {
            let (mut reader, writer) = std::io::pipe().unwrap();
            let mut descriptors = vec![OwnedFd::from(reader.try_clone().unwrap())];
            descriptors.extend((1..count).map(|_| OwnedFd::from(writer.try_clone().unwrap())));
            descriptors.truncate(count);
            drop(writer);
            let (received, opened) = greeted(&descriptors);
            assert_eq!((&received.line[..], &received.rest[..]), (&b"hello"[..], &b"world"[..]));
            assert_eq!(opened.is_some(), count == 2, "{count}");
            drop((descriptors, opened));
            // It would not end if a writer were left.
            assert_eq!(reader.read(&mut [0]).unwrap(), 0);
        }
    }

    #[test]
    fn what_is_no_pipe_is_not_taken() {
        let null = || OwnedFd::from(File::options().read(true).write(true).open("/dev/null").unwrap());
        assert!(greeted(&[null(), null()]).1.is_none());
        let (reader, writer) = std::io::pipe().unwrap();
        assert!(greeted(&[reader.into(), null()]).1.is_none());
        assert!(greeted(&[null(), writer.into()]).1.is_none());
    }

    #[test]
    fn a_greeting_has_an_end() {
        let (near, far) = StdUnixStream::pair().unwrap();
        send(&near, &[b'x'; 1000], None).unwrap();
        far.set_nonblocking(true).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let far = tokio::net::UnixStream::from_std(far).unwrap();
            assert_eq!(receive(&far, 100).await.unwrap().line.len(), 1000);
            drop(near);
            assert!(receive(&far, 100).await.unwrap().line.is_empty());
        });
    }
}
