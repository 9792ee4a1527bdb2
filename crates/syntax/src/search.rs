//! Where pieces of text occur in a document, carried along from version to version.
//!
//! Predictors look for the same names after every keystroke, and a long document takes long to search. What was found in
//! the version before is still there, but for the few bytes around the change.

use std::{iter, ops::Range, sync::Arc};

use memchr::memmem;
use parking_lot::{Mutex, MutexGuard};
use rustc_hash::FxHashMap;

/// Places of one text that are remembered; of what is found more often none is.
const MAX_PLACES: usize = 4096;
/// Texts whose places are remembered.
const MAX_NEEDLES: usize = 128;
/// Places of all texts together that are remembered.
const MAX_ALL_PLACES: usize = 128 * 1024;
/// Changes after which the places of an earlier version are not carried on any more.
const MAX_MOVES: usize = 64;
/// Shorter documents are searched each time.
const MIN_LENGTH: usize = 16 * 1024;

type Places = Arc<[usize]>;

/// What was searched for in one version of a document.
#[derive(Default)]
pub(crate) struct DocumentSearch {
    known: Mutex<FxHashMap<Arc<str>, Places>>,
    earlier: Mutex<Option<Earlier>>,
}

/// An earlier version, and what was changed since.
#[derive(Clone)]
struct Earlier {
    search: Arc<DocumentSearch>,
    moves: Vec<SpanMove>,
}

/// One replacement: these bytes became so many.
#[derive(Clone)]
pub(crate) struct SpanMove {
    pub(crate) old: Range<usize>,
    pub(crate) new_len: usize,
}

impl DocumentSearch {
    /// The search in a document after a change; the moves are in the order of the text.
    pub(crate) fn edited(self: &Arc<Self>, moves: impl DoubleEndedIterator<Item = SpanMove>) -> Self {
        let mut earlier = self.earlier();
        let mut next = if self.known().is_empty() {
            earlier.clone()
        } else {
            // One version back is enough: whoever still looks at this one searches anew.
            *earlier = None;
            Some(Earlier { search: Arc::clone(self), moves: Vec::new() })
        };
        if let Some(next) = &mut next {
            // From the last to the first, so that earlier offsets stay those of the text before.
            next.moves.extend(moves.rev());
        }
        let next = next.filter(|next| next.moves.len() <= MAX_MOVES);
        Self { known: Mutex::default(), earlier: Mutex::new(next) }
    }

    /// Where `needle` begins in the document, in order; occurrences that overlap the one before are left out.
    pub(crate) fn find<'a>(
        &self,
        content: &'a str,
        needle: &'a str,
    ) -> impl Iterator<Item = usize> + use<'a> {
        let places = if content.len() < MIN_LENGTH { None } else { self.places(content, needle) };
        let searched = places.is_none().then(|| memmem::find_iter(content.as_bytes(), needle));
        let mut at = 0;
        let known = iter::from_fn(move || {
            at += 1;
            places.as_ref()?.get(at - 1).copied()
        });
        known.chain(searched.into_iter().flatten())
    }

    /// All places of a text, if they are few and can be carried along.
    fn places(&self, content: &str, needle: &str) -> Option<Places> {
        if needle.is_empty() || overlaps_itself(needle.as_bytes()) {
            return None;
        }
        if let Some(places) = self.known().get(needle) {
            return Some(Arc::clone(places));
        }
        let earlier = self.earlier().clone();
        let carried = earlier.and_then(|earlier| {
            let places =
                earlier.search.known().get_key_value(needle).map(|(key, at)| (Arc::clone(key), at.clone()));
            places.map(|(key, places)| (key, carry(content, needle, &places, &earlier.moves)))
        });
        let (key, places) = carried.unwrap_or_else(|| {
            let found = memmem::find_iter(content.as_bytes(), needle).take(MAX_PLACES + 1).collect();
            (needle.into(), found)
        });
        let mut known = self.known();
        if places.len() > MAX_PLACES || known.len() >= MAX_NEEDLES {
            return None;
        }
        if places.len() + known.values().map(|places| places.len()).sum::<usize>() > MAX_ALL_PLACES {
            return None;
        }
        let places: Places = places.into();
        known.insert(key, Arc::clone(&places));
        Some(places)
    }

    fn known(&self) -> MutexGuard<'_, FxHashMap<Arc<str>, Places>> {
        self.known.lock()
    }

    fn earlier(&self) -> MutexGuard<'_, Option<Earlier>> {
        self.earlier.lock()
    }
}

/// The places of a text after changes: those that were not touched, and those that are at the changes now.
fn carry(content: &str, needle: &str, places: &[usize], moves: &[SpanMove]) -> Vec<usize> {
    let len = needle.len();
    let kept = |&place: &usize| {
        moves.iter().try_fold(place, |place, SpanMove { old, new_len }| {
            if place + len <= old.start {
                Some(place)
            } else {
                (place >= old.end).then(|| place - old.len() + new_len)
            }
        })
    };
    let mut found: Vec<usize> = places.iter().filter_map(kept).collect();
    let windows = windows(moves);
    for window in &windows {
        let part = window.start.saturating_sub(len - 1)..(window.end + len - 1).min(content.len());
        let fresh = memmem::find_iter(&content.as_bytes()[part.clone()], needle).map(|at| part.start + at);
        found.extend(fresh);
    }
    // Where windows are close, an occurrence is seen from both.
    found.sort_unstable();
    found.dedup();
    found
}

/// Where the text was changed, in bytes of the text as it is now.
fn windows(moves: &[SpanMove]) -> Vec<Range<usize>> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    for SpanMove { old, new_len } in moves {
        for window in &mut windows {
            *window = moved(window, old, *new_len);
        }
        windows.push(old.start..old.start + new_len);
    }
    windows
}

/// Where a range is after a replacement; what the replacement touches is taken in.
pub(crate) fn moved(range: &Range<usize>, old: &Range<usize>, new_len: usize) -> Range<usize> {
    let shifted = |offset: usize| offset - old.len() + new_len;
    if old.end < range.start {
        shifted(range.start)..shifted(range.end)
    } else if old.start > range.end {
        range.clone()
    } else {
        range.start.min(old.start)..shifted(range.end.max(old.end))
    }
}

/// Whether a text can begin before its last occurrence has ended, as `aa` can in `aaa`.
fn overlaps_itself(needle: &[u8]) -> bool {
    (1..needle.len()).any(|len| needle[..len] == needle[needle.len() - len..])
}

#[cfg(test)]
mod tests {
    use memchr::memmem;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// After any changes, asked about at any time, the places are those of a new search.
        #[test]
        fn what_is_carried_is_what_is_found(
            text in "[ab_\n]{0,60}",
            steps in prop::collection::vec((0_usize..70, 0_usize..6, "[ab_\n]{0,5}", any::<bool>()), 0..12),
            needles in prop::collection::vec("[ab_]{1,4}", 1..5),
        ) {
            let mut content = text;
            let mut search = Arc::new(DocumentSearch::default());
            for (start, len, with, asks) in steps {
                let start = start.min(content.len());
                let end = (start + len).min(content.len());
                content.replace_range(start..end, &with);
                search = Arc::new(search.edited([SpanMove { old: start..end, new_len: with.len() }].into_iter()));
                if !asks {
                    continue;
                }
                for needle in &needles {
                    let fresh: Vec<usize> = memmem::find_iter(content.as_bytes(), needle).collect();
                    if let Some(places) = search.places(&content, needle) {
                        prop_assert_eq!(&*places, &*fresh);
                    }
                    prop_assert_eq!(search.find(&content, needle).collect::<Vec<_>>(), fresh);
                }
            }
        }
    }
}
