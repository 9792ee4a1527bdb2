//! Ids that the session gives out.

use std::sync::Arc;

/// Makes ids that differ from each other, and from those of other mints unless both had the same seed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct IdMint {
    seed: u64,
    count: u64,
}

impl IdMint {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, count: 0 }
    }

    /// An id for a message.
    pub(crate) fn message(&mut self) -> Arc<str> {
        self.count += 1;
        format!("msg_{:016x}{:016x}", self.seed, self.count).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ() {
        let (mut mint, mut other) = (IdMint::new(7), IdMint::new(8));
        let ids = [mint.message(), mint.message(), other.message()];
        assert_eq!(&*ids[0], "msg_00000000000000070000000000000001");
        assert!(ids[0] != ids[1] && ids[0] != ids[2]);
    }
}
