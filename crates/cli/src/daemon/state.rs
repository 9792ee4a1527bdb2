//! What the connections of a daemon share, and when it is not needed any more.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use crate::{
    daemon::{
        descriptors::{most_connections, most_greeters},
        greeters::AwaitedGreetings,
    },
    serving::ProcessGateway,
};

/// The longest that a daemon can be asked to stay, in seconds: some years.
const LONGEST: u64 = 100_000_000;
/// How often it is looked whether a turn still runs, at least and at most.
const LOOK: Duration = Duration::from_secs(30);
const SOON: Duration = Duration::from_millis(50);

/// What the connections share.
pub(crate) struct DaemonState {
    pub(crate) process: ProcessGateway,
    pub(crate) greeters: AwaitedGreetings,
    /// What is logged, as `NUDGE_LOG` says it.
    pub(crate) logged: String,
    attached: AtomicUsize,
    most: usize,
    /// Seconds it stays with nothing attached and nothing running.
    linger: AtomicU64,
    /// Whether nobody finds it any more.
    is_lost: AtomicBool,
    changed: Notify,
}

impl DaemonState {
    pub(crate) fn new(process: ProcessGateway, linger: u64, logged: String) -> Arc<Self> {
        Arc::new(Self {
            process,
            greeters: AwaitedGreetings::new(most_greeters()),
            logged,
            attached: AtomicUsize::new(0),
            most: most_connections(),
            linger: AtomicU64::new(linger),
            is_lost: AtomicBool::new(false),
            changed: Notify::new(),
        })
    }

    /// Counts a connection; `None` if there are as many as there may be.
    pub(crate) fn attach(&self) -> Option<AttachedConnection<'_>> {
        let more = |attached| (attached < self.most).then_some(attached + 1);
        self.attached.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        self.changed.notify_one();
        Some(AttachedConnection(self))
    }

    /// How long to stay from now on.
    pub(crate) fn set_linger(&self, seconds: u64) {
        self.linger.store(seconds, Ordering::Release);
        self.changed.notify_one();
    }

    fn linger(&self) -> Duration {
        if self.is_lost() {
            return Duration::ZERO;
        }
        Duration::from_secs(self.linger.load(Ordering::Acquire).min(LONGEST))
    }

    /// Whether nobody finds it any more: then it stays for those alone who are attached.
    pub(crate) fn set_lost(&self, is_lost: bool) {
        self.is_lost.store(is_lost, Ordering::Release);
        self.changed.notify_one();
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    /// Whether nothing is attached and nothing runs. A turn that waits for an answer of the user does not run: nobody is
    /// there to give one, and it would wait for ever. It is interrupted then, and its session can be taken up again.
    async fn is_unused(&self) -> bool {
        self.has_none(|live| live.state == "running").await
    }

    /// Whether nothing is attached and no turn is under way.
    pub(crate) async fn is_idle(&self) -> bool {
        self.has_none(|live| live.state != "idle").await
    }

    async fn has_none(&self, is_busy: impl Fn(&nudge_hub::LiveStatus) -> bool) -> bool {
        self.attached.load(Ordering::Acquire) == 0
            && !self.process.hub.status().await.sessions.iter().any(|(_, live)| is_busy(live))
    }
}

/// Waits until nothing has been attached or running for a while.
pub(crate) async fn unused(state: &DaemonState) {
    let mut since = Instant::now();
    loop {
        // Nobody tells of the end of a turn: it is looked for.
        let look = state.linger().saturating_sub(since.elapsed()).clamp(SOON, LOOK);
        tokio::select! {
            () = state.changed.notified() => since = Instant::now(),
            () = tokio::time::sleep(look) => {}
        }
        if !state.is_unused().await {
            since = Instant::now();
        } else if since.elapsed() >= state.linger() {
            return;
        }
    }
}

/// Counts a connection while it is there.
pub(crate) struct AttachedConnection<'a>(&'a DaemonState);

impl Drop for AttachedConnection<'_> {
    fn drop(&mut self) {
        self.0.attached.fetch_sub(1, Ordering::AcqRel);
        self.0.changed.notify_one();
    }
}
