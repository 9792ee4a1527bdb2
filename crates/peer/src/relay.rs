//! Two connections joined: what one side says that has no handler goes to the other, unchanged.

use std::sync::{Arc, OnceLock};

use crate::{Connect, ConnectionClosed, Cx, Peer};

/// Connects two peers and passes every message that has no handler on to the other, byte for byte but for request ids.
/// Answers and cancellations find their way back. Runs until one side ends, then closes the other and tells how it ended.
pub async fn relay<L, R>(
    left: (Peer<L>, impl Connect),
    right: (Peer<R>, impl Connect),
) -> Result<(), ConnectionClosed> {
    let (to_left, to_right) = (Slot::default(), Slot::default());
    let left = to_right.fill_unknown(left.0.give(())).connect(left.1)?;
    let right = to_left.fill_unknown(right.0.give(())).connect(right.1)?;
    let (left_cx, right_cx) = (left.cx(), right.cx());
    to_left.set(&left_cx);
    to_right.set(&right_cx);
    let left = async {
        let ended = left.serve().await;
        right_cx.close();
        ended
    };
    let right = async {
        let ended = right.serve().await;
        left_cx.close();
        ended
    };
    let (left, right) = tokio::join!(left, right);
    left.and(right)
}

/// The other connection, known once both are open and before either is run.
#[derive(Clone, Default)]
struct Slot(Arc<OnceLock<Cx>>);

impl Slot {
    fn set(&self, cx: &Cx) {
        let _ = self.0.set(cx.clone());
    }

    fn fill_unknown(&self, peer: Peer) -> Peer {
        let slot = self.clone();
        peer.on_unknown(move |message, _| {
            let slot = slot.clone();
            async move {
                match slot.0.get() {
                    Some(other) => message.forward_to(other).await,
                    None => message.refuse().await,
                }
            }
        })
    }
}
