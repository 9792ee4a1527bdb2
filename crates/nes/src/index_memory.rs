//! How much memory the indexes of all workspaces may take together.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

use nudge_syntax::WorkspaceIndex;
use parking_lot::Mutex;

/// The memory of the process that indexes may take. When there is not enough, the one used longest ago is forgotten.
pub(crate) struct IndexMemory {
    most: usize,
    /// Counts the uses.
    clock: AtomicU64,
    indexes: Mutex<Vec<Weak<SharedIndex>>>,
}

/// An index that others can see, and what it takes.
#[derive(Default)]
pub(crate) struct SharedIndex {
    published: Mutex<Arc<WorkspaceIndex>>,
    held: AtomicUsize,
    /// The clock's value when it was last used.
    used: AtomicU64,
    is_out: AtomicBool,
}

impl IndexMemory {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, clock: AtomicU64::new(0), indexes: Mutex::default() })
    }

    /// Another index, which takes nothing yet.
    pub(crate) fn enter(&self) -> Arc<SharedIndex> {
        let shared_index = Arc::new(SharedIndex::default());
        self.uses(&shared_index);
        let mut indexes = self.indexes.lock();
        indexes.retain(|shared_index| shared_index.strong_count() > 0);
        indexes.push(Arc::downgrade(&shared_index));
        shared_index
    }

    /// An index is used.
    pub(crate) fn uses(&self, shared_index: &SharedIndex) {
        shared_index.used.store(self.clock.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// An index takes so many bytes now. Others have to go if that is too much, or it has itself.
    pub(crate) fn takes(&self, shared_index: &SharedIndex, bytes: usize) {
        shared_index.held.store(bytes, Ordering::Relaxed);
        let all: Vec<Arc<SharedIndex>> = self.indexes.lock().iter().filter_map(Weak::upgrade).collect();
        // Others use them and go at the same time: what is decided is decided on what they were once.
        let mut inside: Vec<(u64, usize, &SharedIndex)> = all
            .iter()
            .map(|shared_index| {
                (shared_index.used.load(Ordering::Relaxed), shared_index.bytes(), &**shared_index)
            })
            .filter(|(_, bytes, _)| *bytes > 0)
            .collect();
        inside.sort_by_key(|(used, ..)| *used);
        let mut total = inside.iter().fold(0_usize, |total, (_, bytes, _)| total.saturating_add(*bytes));
        // One alone is bounded by how much of a workspace is read.
        let alone = inside.len().saturating_sub(1);
        for (_, bytes, oldest) in &inside[..alone] {
            if total <= self.most {
                return;
            }
            total = total.saturating_sub(*bytes);
            oldest.go();
        }
    }

    /// How many bytes all indexes take.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> usize {
        self.indexes.lock().iter().filter_map(Weak::upgrade).map(|shared_index| shared_index.bytes()).sum()
    }
}

impl SharedIndex {
    fn bytes(&self) -> usize {
        if self.is_out() { 0 } else { self.held.load(Ordering::Relaxed) }
    }

    /// What is known so far.
    pub(crate) fn latest(&self) -> Arc<WorkspaceIndex> {
        Arc::clone(&self.published.lock())
    }

    /// Makes an index known, unless there is no room for it.
    pub(crate) fn publish(&self, index: WorkspaceIndex) {
        let mut published = self.published.lock();
        if !self.is_out() {
            *published = Arc::new(index);
        }
    }

    /// Forgets it.
    pub(crate) fn go(&self) {
        let mut published = self.published.lock();
        self.is_out.store(true, Ordering::Release);
        *published = Arc::default();
    }

    /// Whether it has to go and has not come back.
    pub(crate) fn is_out(&self) -> bool {
        self.is_out.load(Ordering::Acquire)
    }

    /// Lets it come back, with nothing. Says whether it was out.
    pub(crate) fn comes_back(&self) -> bool {
        self.held.store(0, Ordering::Relaxed);
        self.is_out.swap(false, Ordering::AcqRel)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// The oldest grow, shrink and come back while others look at how much room there is.
    #[test]
    fn what_changes_while_room_is_made_does_no_harm() {
        let room = IndexMemory::new(1000);
        let indexes: Vec<_> = (0..30).map(|_| room.enter()).collect();
        let (oldest, others) = indexes.split_at(15);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    for bytes in [1, 1 << 40] {
                        for shared_index in oldest {
                            shared_index.comes_back();
                            shared_index.held.store(bytes, Ordering::Relaxed);
                        }
                    }
                }
            });
            let made = scope.spawn(|| {
                for shared_index in (0..10_000).flat_map(|_| others) {
                    shared_index.comes_back();
                    room.uses(shared_index);
                    room.takes(shared_index, 600);
                }
            });
            let made = made.join();
            is_over.store(true, Ordering::Relaxed);
            assert!(made.is_ok());
        });
        for shared_index in oldest {
            shared_index.go();
        }
        room.takes(&others[0], 600);
        assert_eq!(room.taken(), 600);
    }
}
