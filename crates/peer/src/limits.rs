//! How much a connection may hold.

use std::time::Duration;

use nudge_wire::frame::DEFAULT_MESSAGE_LIMIT;

const MIB: usize = 1024 * 1024;

/// The bounds of one connection. The defaults suit a gateway on a laptop.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// The longest message taken, in bytes. A longer one is dropped as it arrives and answered with an error.
    pub max_message: usize,
    /// Bytes of messages received and waiting to be handled, past which reading stops.
    pub inbound_soft: usize,
    /// Bytes received and waiting to be handled that are taken in at the most, when reading has to go on past the soft
    /// limit because the queue cannot move without what is behind it. Also the most that may be held by handlers beside
    /// the queue.
    pub inbound_hard: usize,
    /// Bytes of requests and notifications waiting to be written, past which sending waits; the same again for answers.
    pub outbound_soft: usize,
    /// Bytes waiting to be written, past which the connection ends. Only reached by cancellations and the answers to
    /// cancelled or failed requests, which do not wait.
    pub outbound_hard: usize,
    /// Handlers that may run beside the queue at one time.
    pub max_beside: usize,
    /// Requests of the other side that may be unanswered at one time; more are refused.
    pub max_open: usize,
    /// How long the queue may stand still, while somebody awaits a response, before reading goes on past the soft limit.
    pub stall: Duration,
    /// How long the queue may stand still at the hard limit before the connection is given up.
    pub give_up: Duration,
    /// How long requests that are being handled may take to finish after the other side closed its end, and how long the
    /// other side may not read what is left to write.
    pub drain: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            max_message: DEFAULT_MESSAGE_LIMIT,
            inbound_soft: 4 * MIB,
            inbound_hard: 256 * MIB,
            outbound_soft: 4 * MIB,
            outbound_hard: 256 * MIB,
            max_beside: 1024,
            max_open: 16 * 1024,
            stall: Duration::from_millis(100),
            give_up: Duration::from_secs(30),
            drain: Duration::from_secs(10),
        }
    }
}

impl ConnectionLimits {
    /// The same limits made to fit each other: none is zero, and no hard one is below its soft one.
    pub(crate) fn sane(mut self) -> Self {
        self.inbound_soft = self.inbound_soft.max(1);
        self.inbound_hard = self.inbound_hard.max(self.inbound_soft);
        self.outbound_soft = self.outbound_soft.max(1);
        self.outbound_hard = self.outbound_hard.max(self.outbound_soft.saturating_mul(4));
        self.max_beside = self.max_beside.max(1);
        self.max_open = self.max_open.max(1);
        self
    }
}
