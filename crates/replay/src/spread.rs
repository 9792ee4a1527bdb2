//! Work on all cores, with results in the order of the work.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use parking_lot::Mutex;

/// Does `work` on each item, in `jobs` threads that have a state of their own each.
pub(crate) fn spread<T: Sync, S, R: Send>(
    items: &[T],
    jobs: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                let mut state = state();
                while let Some((at, item)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    items.get(at).map(|item| (at, item))
                } {
                    let result = work(&mut state, item);
                    results.lock()[at] = Some(result);
                }
            });
        }
    });
    let results = results.into_inner();
    results.into_iter().map(|result| result.expect("every item was worked on")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_keep_their_order() {
        let items: Vec<usize> = (0..1000).collect();
        for jobs in [1, 2, 7] {
            let doubled = super::spread(&items, jobs, || (), |(), item| item * 2);
            assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
    }
}
