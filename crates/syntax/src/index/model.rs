//! What comes after what in the files of a workspace.

use std::{ops::Range, sync::Arc};

use rustc_hash::FxHashSet;

use super::{
    lexeme::TokenId,
    run::{CONTEXT_DEPTH, TokenRun},
    segment::IndexSegment,
};

/// So many segments of about one size become one.
const FANOUT: usize = 4;
/// Segments with fewer tokens are all of one size.
const SMALLEST: usize = 1 << 14;
/// Segments with more tokens stay as they are: putting them together would take too long.
const LARGEST: usize = 1 << 21;
/// Tokens are not counted beyond this many, about 100 MiB.
const MOST_TOKENS: usize = 12_000_000;

/// A place that a context leads to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeenToken {
    /// What comes there.
    pub next: TokenId,
    /// How many tokens of the context stand before it.
    pub order: usize,
    /// Whether it is in the directory asked from.
    pub near: bool,
    /// For how many places it stands, since not all are looked at.
    pub weight: f32,
    segment: usize,
    place: u32,
}

/// Where a question comes from.
#[derive(Debug, Clone, Default)]
pub struct IndexAsker {
    /// The directory, hashed.
    pub(super) directory: u64,
    /// The insertions of files that are open, which the index knows in an old state.
    pub(super) open: Vec<u64>,
}

/// The tokens of all files, in few segments.
#[derive(Debug, Clone, Default)]
pub(super) struct TokenModel {
    segments: Vec<Arc<IndexSegment>>,
    /// Insertions that were taken back and are still in a segment.
    dead: FxHashSet<u64>,
}

impl TokenModel {
    /// Adds the tokens of a file.
    pub(super) fn insert(&mut self, run: Arc<TokenRun>, serial: u64, directory: u64) {
        let total: usize = self.segments.iter().map(|segment| segment.len()).sum();
        if total + run.tokens.len() > MOST_TOKENS {
            return;
        }
        self.segments.push(Arc::new(IndexSegment::of(run, serial, directory)));
        self.settle();
    }

    /// Forgets the tokens of a file.
    pub(super) fn remove(&mut self, serial: u64) {
        let Some(at) =
            self.segments.iter().position(|segment| segment.serials().any(|known| known == serial))
        else {
            return;
        };
        self.dead.insert(serial);
        let dead = &self.dead;
        let segment = &self.segments[at];
        if segment.dead(|serial| dead.contains(&serial)) * 2 > segment.len() {
            self.join(at..at + 1);
        }
    }

    /// Puts segments of about one size together, the newest first, so that their number stays small.
    fn settle(&mut self) {
        while let Some(newest) = self.segments.last() {
            let size = class(newest.len());
            let is_alike =
                |segment: &&Arc<IndexSegment>| segment.len() < LARGEST && class(segment.len()) <= size;
            let alike = self.segments.iter().rev().take_while(is_alike).count();
            if alike < FANOUT {
                return;
            }
            self.join(self.segments.len() - alike..self.segments.len());
        }
    }

    /// Puts segments together, without what is dead in them.
    fn join(&mut self, range: Range<usize>) {
        let dead = &self.dead;
        let joined = IndexSegment::merge(&self.segments[range.clone()], |serial| dead.contains(&serial));
        for segment in self.segments.drain(range.clone()) {
            for serial in segment.serials() {
                self.dead.remove(&serial);
            }
        }
        if joined.len() > 0 {
            self.segments.insert(range.start, Arc::new(joined));
        }
    }

    /// The places that a context leads to, of which the nearest token is the first, best known first: those with more
    /// of the context before them come before those with less, until there are `enough`.
    ///
    /// Only places are given whose token `accept` takes, and about as many as `most` are looked at.
    pub(super) fn after(
        &self,
        context: &[TokenId],
        asker: &IndexAsker,
        (enough, most): (usize, usize),
        mut accept: impl FnMut(TokenId) -> bool,
        found: &mut Vec<SeenToken>,
    ) {
        let ranges: Vec<Vec<Range<usize>>> =
            self.segments.iter().map(|segment| ranges(&segment.run, context)).collect();
        let longest = ranges.iter().map(Vec::len).max().unwrap_or(0);
        let mut looked_at = 0;
        for order in (1..=longest.min(CONTEXT_DEPTH)).rev() {
            for (at, ranges) in ranges.iter().enumerate() {
                let Some(outer) = ranges.get(order - 1).cloned() else { continue };
                // What agrees on one more token was given already.
                let inner = ranges.get(order).cloned().unwrap_or(outer.end..outer.end);
                let room = (most.saturating_sub(looked_at) / 2).max(1);
                let count = outer.len() - inner.len();
                let step = count.div_ceil(room).max(1);
                let places = (outer.start..inner.start).chain(inner.end..outer.end).step_by(step);
                looked_at += count / step;
                let seen = places.filter_map(|place| self.seen(at, place, asker, &mut accept));
                found.extend(seen.map(|seen| SeenToken { order, weight: weight(step), ..seen }));
            }
            if found.len() >= enough || looked_at >= most {
                return;
            }
        }
    }

    /// The place at some point of the order of a segment, unless it is not to be seen.
    fn seen(
        &self,
        segment: usize,
        at: usize,
        asker: &IndexAsker,
        accept: &mut impl FnMut(TokenId) -> bool,
    ) -> Option<SeenToken> {
        let of = &self.segments[segment];
        let place = of.run.order[at];
        let next = of.run.token(place);
        if !accept(next) {
            return None;
        }
        let file = of.file_of(place);
        if asker.open.contains(&file.serial) || self.dead.contains(&file.serial) {
            return None;
        }
        Some(SeenToken {
            next,
            order: 0,
            near: file.directory == asker.directory,
            weight: 1.0,
            segment,
            place,
        })
    }

    /// The place one token further on, unless it is in another file.
    pub(super) fn advance(&self, seen: &SeenToken) -> Option<SeenToken> {
        let place = seen.place + 1;
        let next = *self.segments.get(seen.segment)?.run.tokens.get(place as usize)?;
        (next != TokenId::START).then_some(SeenToken {
            next,
            order: (seen.order + 1).min(CONTEXT_DEPTH),
            place,
            ..*seen
        })
    }

    /// What a token says.
    pub(super) fn text(&self, id: TokenId) -> Option<&str> {
        self.segments.iter().find_map(|segment| segment.run.words.get(id))
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.segments.iter().map(|segment| segment.bytes()).sum()
    }
}

/// What one of so many places counts for.
fn weight(places: usize) -> f32 {
    f32::from(u16::try_from(places).unwrap_or(u16::MAX))
}

fn ranges(run: &TokenRun, context: &[TokenId]) -> Vec<Range<usize>> {
    let mut found = Vec::with_capacity(CONTEXT_DEPTH);
    run.narrow(context, |range| found.push(range));
    found
}

/// Sizes that are about the same are of one class.
fn class(len: usize) -> u32 {
    len.max(SMALLEST).ilog2() / FANOUT.ilog2()
}
