//! The buffer that the connections of a thread read into.
//!
//! Whoever has something to read borrows it for as long as one read takes, so that a connection that waits holds none.

use std::cell::Cell;

use bytes::BytesMut;

thread_local! {
    static SPARE: Cell<BytesMut> = Cell::default();
}

/// Takes the thread's buffer, which is empty; a new one while it is taken.
pub(super) fn take() -> BytesMut {
    SPARE.try_with(Cell::take).unwrap_or_default()
}

/// Gives the buffer back.
pub(super) fn give_back(mut buffer: BytesMut) {
    buffer.clear();
    // A thread that ends needs none.
    let _ = SPARE.try_with(|spare| spare.set(buffer));
}
