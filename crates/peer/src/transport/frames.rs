//! What carries messages, whatever they travel in.

use std::task::{Context, Poll};

use nudge_wire::frame::FramePiece;

use super::OutgoingFrames;
use crate::ConnectionClosed;

/// Carries the messages of one connection, each whole, in both directions: lines of a byte stream, messages of a socket,
/// values in memory.
///
/// A frame is the text of one message on one line, without a newline at its end.
///
/// # Order of calls
///
/// One task makes all calls.
///
/// 1. [`set_max_message`](Self::set_max_message), once, before all else.
/// 2. [`poll_receive`](Self::poll_receive), [`poll_send`](Self::poll_send) and [`poll_flush`](Self::poll_flush), in turns. A call
///    that is `Pending` has arranged for the task to be woken when it is worth repeating.
/// 3. Once `poll_receive` has failed it is not called again; sending goes on until what is queued is out. Once `poll_send` or
///    `poll_flush` has failed neither is called again; receiving goes on for a moment, for last words.
/// 4. [`poll_close`](Self::poll_close) when the connection is over, until it is ready or a moment has passed.
/// 5. The drop, which can come at any time and ends whatever is left.
///
/// # A connection may outlive its socket
///
/// The connection ends when a call fails, and a transport that can find another socket need not fail: it is `Pending` while
/// it has none. A frame that `poll_send` has taken is the transport's. If it can be lost with a socket, the transport keeps it
/// until the other side has it, and sends it again.
pub trait FrameTransport: Send {
    /// Tells how long a message may be, in bytes. A longer one is reported as [`FramePiece::TooLong`], with what could be told
    /// about it; it is no reason to fail. [`FramePiece::of_message`] does so for messages that come whole.
    fn set_max_message(&mut self, max: usize);

    /// Receives what is there, up to about 64 KiB or one frame, and gives each frame to `deliver`.
    ///
    /// Ready when something has come, if only a part of a frame. This is not called while the connection has no room: what is
    /// not received then makes the other side wait. `Err` tells why nothing more will come, [`ConnectionClosed::Eof`] if the other side
    /// has said all.
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        deliver: &mut dyn FnMut(FramePiece),
    ) -> Poll<Result<(), ConnectionClosed>>;

    /// Whether part of a frame has been received, so that more is on its way.
    fn is_mid_frame(&self) -> bool {
        false
    }

    /// Takes what it can off the front of `frames`, which are not empty. Ready when it has taken something; to be ready
    /// with nothing taken is to fail.
    ///
    /// What it leaves makes whoever sends wait; so it takes no more than it has room for. While this is `Pending` there is no
    /// flush: it has to go on by itself with what it has taken.
    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        frames: &mut OutgoingFrames,
    ) -> Poll<Result<(), ConnectionClosed>>;

    /// Ready when all that was taken is on its way. Called when there is nothing more to send for now.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionClosed>> {
        let _ = cx;
        Poll::Ready(Ok(()))
    }

    /// Gives back memory that is only needed while frames come and go; none have for a while.
    fn rest(&mut self) {}

    /// Ends the connection towards the other side, which is told `why` where there is a way to.
    fn poll_close(&mut self, cx: &mut Context<'_>, why: &ConnectionClosed) -> Poll<()> {
        let _ = (cx, why);
        Poll::Ready(())
    }
}
