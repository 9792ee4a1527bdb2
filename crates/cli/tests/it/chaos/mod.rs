//! A process that is killed at any moment loses nothing that it has accepted, and doubles nothing.
//!
//! A client injects, replaces, revokes, cancels, sends again what was not answered, and loads the session anew after each
//! crash. The process kills itself at a failpoint, or is killed from outside at a random moment. After each crash, what
//! the session holds is compared with what the client was told.
//!
//! `cargo xtask chaos` runs many; the tests run a few.

mod agent;
mod life;
mod world;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use life::{Death, Life};
use parking_lot::Mutex;
use world::World;

/// Stories that go on at one time.
const SIDE_BY_SIDE: usize = 6;

/// Numbers from a seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit.max(1)
    }

    /// A place in something of this length.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).expect("it is below a length")
    }
}

/// Lives one story: several lives of the process, each but the last of which ends in a death.
fn story(seed: u64, deaths: &[Death], log: Option<&Path>) -> World {
    let place = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::default();
    let mut dice = Dice::new(seed);
    for death in deaths.iter().chain([&Death::None]) {
        let mut life = Life::begin(place.path(), death, log);
        life.live(&mut world, &mut dice);
    }
    // Whatever happened, somebody who comes later finds it all.
    let mut life = Life::begin(place.path(), &Death::None, None);
    life.look(&mut world);
    world
}

/// How often each failpoint is hit in a story without a death.
fn boundaries(seed: u64) -> BTreeMap<String, u64> {
    let place = tempfile::tempdir().expect("a temporary folder");
    let log = place.path().join("hits");
    story(seed, &[], Some(&log));
    let mut hits = BTreeMap::new();
    for line in fs::read_to_string(&log).unwrap_or_default().lines() {
        *hits.entry(line.to_owned()).or_insert(0) += 1;
    }
    hits
}

#[test]
fn killed_at_every_boundary_in_turn() {
    if !cfg!(feature = "failpoints") {
        return nudge_testkit::skipped("built without the feature `failpoints`");
    }
    let most: u64 = setting("NUDGE_CHAOS_EACH", 2);
    let hits = boundaries(1);
    assert!(hits.len() >= 6, "failpoints are hit: {hits:?}");
    let mut kills = Vec::new();
    let mut report = String::from(
        "boundary: how often it is hit in a story without a death, how often it was the death\n",
    );
    for (name, count) in &hits {
        // Spread over all that happens between the first and the last.
        let nths = (0..most.min(*count)).map(|at| 1 + at * (count - 1) / most);
        kills.extend(nths.map(|nth| (nth, format!("{name}:{nth}"))));
        let _ = writeln!(report, "  {name}: {count}, {}", most.min(*count));
    }
    side_by_side(&kills, |(seed, failpoint)| {
        story(*seed, &[Death::At(failpoint.clone())], None);
    });
    println!("{report}");
}

#[test]
fn killed_at_random_moments() {
    let runs: u64 = setting("NUDGE_CHAOS_RUNS", 6);
    let seed: u64 = setting("NUDGE_CHAOS_SEED", 7);
    let told = Mutex::new(world::Told::default());
    let seeds: Vec<u64> = (seed..seed + runs).collect();
    side_by_side(&seeds, |seed| {
        let mut dice = Dice::new(*seed);
        let deaths: Vec<Death> = (0..2).map(|_| Death::After(dice.below(250_000))).collect();
        told.lock().add(&story(*seed, &deaths, None).told);
    });
    println!("{runs} runs: {}", told.into_inner());
}

/// Does something for each, several at a time: most of a story is waiting.
fn side_by_side<T: Sync + std::fmt::Debug>(items: &[T], deed: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| deed(item)));
                    assert!(done.is_ok(), "with {item:?}");
                }
            });
        }
    });
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}
