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
pub(crate) struct Broken;

/// The body of every response.
pub(crate) type Answer = UnsyncBoxBody<Bytes, Broken>;

/// A complete body.
pub(crate) fn full(text: impl Into<Bytes>) -> Answer {
    Full::new(text.into()).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// A body that grows with what is sent to it, and breaks when `Broken` is sent.
pub(crate) fn growing() -> (mpsc::Sender<Result<String, Broken>>, Answer) {
    // One at a time, so that what was sent before a gate is out when the gate is reached.
    let (sender, chunks) = mpsc::channel(1);
    (sender, Growing { chunks }.boxed_unsync())
}

struct Growing {
    chunks: mpsc::Receiver<Result<String, Broken>>,
}

impl Body for Growing {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        self.chunks
            .poll_recv(context)
            .map(|chunk| chunk.map(|chunk| chunk.map(|text| Frame::data(text.into()))))
    }
}
