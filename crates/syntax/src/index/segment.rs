//! Files that were put together, so that there is less to look through.

use std::{ops::Range, sync::Arc};

use rustc_hash::FxHashSet;

use super::{lexeme::TokenId, run::TokenRun, words::TokenWords};

/// A file in a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentSlot {
    /// Where its tokens begin.
    start: u32,
    /// Which insertion into the index it came with.
    pub(super) serial: u64,
    /// Its directory, hashed.
    pub(super) directory: u64,
}

/// A run and whose tokens are in it. Never changes.
#[derive(Debug)]
pub(super) struct IndexSegment {
    pub(super) run: Arc<TokenRun>,
    files: Box<[SegmentSlot]>,
}

impl IndexSegment {
    /// A single file.
    pub(super) fn of(run: Arc<TokenRun>, serial: u64, directory: u64) -> Self {
        Self { run, files: Box::new([SegmentSlot { start: 0, serial, directory }]) }
    }

    /// How many tokens there are.
    pub(super) fn len(&self) -> usize {
        self.run.tokens.len()
    }

    /// The insertions its files came with.
    pub(super) fn serials(&self) -> impl Iterator<Item = u64> {
        self.files.iter().map(|slot| slot.serial)
    }

    /// The file of a place.
    pub(super) fn file_of(&self, place: u32) -> &SegmentSlot {
        &self.files[self.slot_of(place)]
    }

    fn slot_of(&self, place: u32) -> usize {
        self.files.partition_point(|slot| slot.start <= place).saturating_sub(1)
    }

    fn range(&self, slot: usize) -> Range<usize> {
        let end = self.files.get(slot + 1).map_or(self.len(), |next| next.start as usize);
        self.files[slot].start as usize..end
    }

    /// How many of its tokens belong to files that `is_dead` names.
    pub(super) fn dead(&self, is_dead: impl Fn(u64) -> bool) -> usize {
        (0..self.files.len())
            .filter(|at| is_dead(self.files[*at].serial))
            .map(|at| self.range(at).len())
            .sum()
    }

    /// The files of several segments in one, without those that `is_dead` names.
    pub(super) fn merge(parts: &[Arc<Self>], is_dead: impl Fn(u64) -> bool) -> Self {
        let total = parts.iter().map(|part| part.len()).sum();
        let mut tokens: Vec<TokenId> = Vec::with_capacity(total);
        let mut order: Vec<u32> = Vec::with_capacity(total);
        let mut files: Vec<SegmentSlot> = Vec::new();
        for part in parts {
            // Where each file goes; `None` for those left out.
            let mut moved: Vec<Option<u32>> = Vec::with_capacity(part.files.len());
            for (at, slot) in part.files.iter().enumerate() {
                let start = u32::try_from(tokens.len()).unwrap_or(u32::MAX);
                let lives = !is_dead(slot.serial);
                moved.push(lives.then_some(start));
                if lives {
                    files.push(SegmentSlot { start, ..*slot });
                    tokens.extend_from_slice(&part.run.tokens[part.range(at)]);
                }
            }
            order.extend(part.run.order.iter().filter_map(|place| {
                let at = part.slot_of(*place);
                Some(place - part.files[at].start + moved[at]?)
            }));
        }
        let all = parts.iter().map(|part| &part.run.words);
        let words = if tokens.len() == total {
            TokenWords::join(all, |_| true)
        } else {
            let kept: FxHashSet<u32> = tokens.iter().map(|id| id.word()).collect();
            TokenWords::join(all, |id| kept.contains(&id))
        };
        Self { run: Arc::new(TokenRun::new(tokens, order, words)), files: files.into() }
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.run.bytes() + self.files.len() * size_of::<SegmentSlot>()
    }
}
