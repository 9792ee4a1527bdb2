//! Who may write to a session.

use crate::session::{Millis, SessionId};

/// The right to write to a session.
///
/// It is checked by epoch: a lease that ran out but was taken by nobody still holds. Whoever takes it gets a higher
/// epoch, and from then on nothing with the old one is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionLease {
    /// The session.
    pub session: SessionId,
    /// Who holds it: unique for one run of one process.
    pub owner: String,
    /// Grows each time the lease changes hands.
    pub epoch: u64,
}

/// A lease that somebody holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldLease {
    /// Who holds it.
    pub owner: String,
    /// Its epoch.
    pub epoch: u64,
    /// When it runs out unless it is renewed.
    pub until: Millis,
}
