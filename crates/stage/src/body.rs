//! Response bodies: one that is complete, and one that comes in pieces and may break.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::body::{Body, Frame};
use tokio::sync::mpsc;

/// Why a body ends too soon: the script says so.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the script breaks the connection here")]
pub(crate) struct BrokenBody;

/// The body of every response.
pub(crate) type ResponseBody = UnsyncBoxBody<Bytes, BrokenBody>;

/// A complete body.
pub(crate) fn full(text: impl Into<Bytes>) -> ResponseBody {
    Full::new(text.into()).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// A body that grows with what is sent to it, and breaks when `BrokenBody` is sent.
pub(crate) fn growing() -> (mpsc::Sender<Result<Bytes, BrokenBody>>, ResponseBody) {
    // One at a time, so that what was sent before a gate is out when the gate is reached.
    let (sender, chunks) = mpsc::channel(1);
    (sender, Growing { chunks }.boxed_unsync())
}

struct Growing {
    chunks: mpsc::Receiver<Result<Bytes, BrokenBody>>,
}

impl Body for Growing {
    type Data = Bytes;
    type Error = BrokenBody;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenBody>>> {
        self.chunks.poll_recv(context).map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
    }
}
