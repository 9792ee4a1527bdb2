//! How much a connection may hold.

use std::time::Duration;

const MIB: usize = 1024 * 1024;

/// The bounds of one connection. The defaults suit a gateway on a laptop.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The longest message taken, in bytes. A longer one is dropped as it arrives and answered with an error.
    pub max_message: usize,
    /// Bytes of messages received and not yet handled, past which reading stops.
    pub inbound_soft: usize,
    /// Bytes received and not yet handled, past which the connection ends. Only reached while somebody awaits a
    /// response and the queue does not move.
    pub inbound_hard: usize,
    /// Bytes waiting to be written, past which sending waits.
    pub outbound_soft: usize,
    /// Bytes waiting to be written, past which the connection ends. Only reached by responses that are passed on
    /// from another connection and by cancellations, which do not wait.
    pub outbound_hard: usize,
    /// Handlers that may run beside the queue at one time.
    pub max_beside: usize,
    /// How long the queue may stand still, while somebody awaits a response, before reading goes on past the soft limit.
    pub stall: Duration,
    /// How long requests that are being handled may take to finish after the other side closed its end.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message: 64 * MIB,
            inbound_soft: 4 * MIB,
            inbound_hard: 256 * MIB,
            outbound_soft: 4 * MIB,
            outbound_hard: 256 * MIB,
            max_beside: 1024,
            stall: Duration::from_millis(100),
            drain: Duration::from_secs(10),
        }
    }
}
