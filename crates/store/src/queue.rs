//! What waits to be written, and how long it may wait for company.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use tokio::sync::Notify;

/// How much may wait before more is refused.
pub(crate) const MAX_WAITING: usize = 256 << 20;

/// How much may wait before whoever can wait should: a quarter, so that what cannot wait finds room.
const ROOMY: usize = MAX_WAITING / 4;

/// How long what is not urgent may wait for company.
const PATIENCE: Duration = Duration::from_millis(5);

/// What is worth a transaction of its own: waiting for more company would not save much.
const ENOUGH: usize = 1 << 20;

/// How many bytes go into one transaction at most, beyond its first job.
const MAX_GROUP: usize = 4 << 20;

/// Jobs in the order they came. One thread takes, any number put.
pub(crate) struct JobQueue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    /// There is room again.
    roomy: Notify,
}

struct State<T> {
    jobs: Vec<Job<T>>,
    bytes: usize,
    /// When the jobs have to be taken; none waits if this is `None`.
    due: Option<Instant>,
    closed: bool,
}

struct Job<T> {
    what: T,
    bytes: usize,
}

/// Why a job was not taken in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum QueueRefusal {
    Full,
    TooLarge,
    Closed,
}

impl<T> JobQueue<T> {
    pub(crate) fn new() -> Self {
        let state = State { jobs: Vec::new(), bytes: 0, due: None, closed: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), roomy: Notify::new() }
    }

    /// Whether so little waits that more may come.
    pub(crate) fn has_room(&self) -> bool {
        let state = self.state();
        state.closed || state.bytes < ROOMY
    }

    /// Waits until there is room. Safe to drop and call again.
    pub(crate) async fn room(&self) {
        loop {
            let roomy = self.roomy.notified();
            if self.has_room() {
                return;
            }
            roomy.await;
        }
    }

    /// Puts a job of about this many bytes at the end.
    pub(crate) fn put(&self, what: T, bytes: usize, urgent: bool) -> Result<(), QueueRefusal> {
        let mut state = self.state();
        if state.closed {
            return Err(QueueRefusal::Closed);
        }
        if bytes > MAX_WAITING {
            return Err(QueueRefusal::TooLarge);
        }
        if state.bytes + bytes > MAX_WAITING {
            return Err(QueueRefusal::Full);
        }
        state.bytes += bytes;
        state.jobs.push(Job { what, bytes });
        let now = Instant::now();
        let due = if urgent || state.bytes >= ENOUGH { now } else { now + PATIENCE };
        let sooner = state.due.is_none_or(|before| due < before);
        if sooner {
            state.due = Some(due);
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Waits until jobs are due and takes them, in order; `None` once the queue is closed and empty.
    pub(crate) fn take(&self) -> Option<Vec<T>> {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            match state.due {
                Some(due) if due <= now || state.closed => {
                    let had_room = state.bytes < ROOMY;
                    let group = state.take_group(now);
                    if !had_room && state.bytes < ROOMY {
                        self.roomy.notify_waiters();
                    }
                    return Some(group);
                }
                Some(due) => {
                    self.changed.wait_until(&mut state, due);
                }
                None if state.closed => return None,
                None => self.changed.wait(&mut state),
            }
        }
    }

    /// Takes nothing more in. What is in is still taken.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
        self.roomy.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock()
    }
}

impl<T> State<T> {
    fn take_group(&mut self, now: Instant) -> Vec<T> {
        let mut bytes = 0;
        let mut count = 0;
        for job in &self.jobs {
            if count > 0 && bytes + job.bytes > MAX_GROUP {
                break;
            }
            bytes += job.bytes;
            count += 1;
        }
        self.bytes -= bytes;
        let group = self.jobs.drain(..count).map(|job| job.what).collect();
        // Whatever is left has waited long enough.
        self.due = (!self.jobs.is_empty()).then_some(now);
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_urgent_takes_all_before_it_along() {
        let queue = JobQueue::new();
        for (job, urgent) in [("a", false), ("b", false), ("c", true), ("d", false)] {
            queue.put(job, 1, urgent).expect("there is room");
        }
        assert_eq!(queue.take(), Some(vec!["a", "b", "c", "d"]));
    }

    #[test]
    fn what_is_not_urgent_waits_for_its_time_and_no_longer() {
        let queue = JobQueue::new();
        let start = Instant::now();
        queue.put("a", 1, false).expect("there is room");
        assert_eq!(queue.take(), Some(vec!["a"]));
        assert!(start.elapsed() >= PATIENCE);
    }

    #[test]
    fn enough_is_enough() {
        let queue = JobQueue::new();
        queue.put("a", 1, false).expect("there is room");
        queue.put("b", ENOUGH, false).expect("there is room");
        let due = queue.state().due.expect("jobs wait");
        assert!(due <= Instant::now());
    }

    #[test]
    fn a_group_has_a_limit_and_what_is_left_is_due() {
        let queue = JobQueue::new();
        for job in 0..5 {
            queue.put(job, MAX_GROUP / 2, false).expect("there is room");
        }
        queue.put(5, 2 * MAX_GROUP, false).expect("there is room");
        let mut groups = Vec::new();
        queue.close();
        while let Some(group) = queue.take() {
            groups.push(group);
        }
        assert_eq!(groups, [vec![0, 1], vec![2, 3], vec![4], vec![5]]);
    }

    #[tokio::test]
    async fn there_is_room_again_once_enough_is_taken() {
        let queue = JobQueue::new();
        for job in 0..2 {
            queue.put(job, ROOMY / 2, true).expect("there is room");
        }
        assert!(!queue.has_room());
        let waited = async {
            queue.room().await;
            queue.has_room()
        };
        let taken = async { queue.take() };
        assert_eq!(tokio::join!(biased; waited, taken), (true, Some(vec![0])));
        queue.put(2, ROOMY, true).expect("it is not refused");
        queue.close();
        queue.room().await;
    }

    #[test]
    fn too_much_is_refused_until_something_is_taken() {
        let queue = JobQueue::new();
        assert_eq!(queue.put(0, MAX_WAITING + 1, true), Err(QueueRefusal::TooLarge));
        queue.put(1, MAX_WAITING, true).expect("there is room");
        assert_eq!(queue.put(2, 1, true), Err(QueueRefusal::Full));
        assert_eq!(queue.take(), Some(vec![1]));
        queue.put(3, MAX_WAITING, true).expect("there is room again");
        queue.close();
        assert_eq!(queue.put(4, 0, true), Err(QueueRefusal::Closed));
        assert_eq!(queue.take(), Some(vec![3]));
        assert_eq!(queue.take(), None);
    }
}
