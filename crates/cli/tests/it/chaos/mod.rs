//! A process that is killed at any moment loses nothing that it has accepted, and doubles nothing.
//!
//! A client injects, replaces, revokes, cancels, sends again what was not answered, and loads the session anew after each
//! crash. The process kills itself at a failpoint, or is killed from outside at a random moment. After each crash, what
//! the session holds is compared with what the client was told.
//!
//! `cargo xtask chaos` runs many; the tests run a few.

mod life;
mod world;

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use life::{Death, Life};
use world::World;

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
    let mut report = String::from("boundary: hit in a quiet story, killed at\n");
    for (name, count) in &hits {
        // Spread over all that happens between the first and the last.
        let killed: Vec<u64> = (0..most.min(*count)).map(|at| 1 + at * (count - 1) / most.max(1)).collect();
        for nth in &killed {
            story(*nth, &[Death::At(format!("{name}:{nth}"))], None);
        }
        let _ = writeln!(report, "  {name}: {count}, {}", killed.len());
    }
    println!("{report}");
}

#[test]
fn killed_at_random_moments() {
    let runs: u64 = setting("NUDGE_CHAOS_RUNS", 6);
    let seed: u64 = setting("NUDGE_CHAOS_SEED", 7);
    let mut told = world::Told::default();
    for run in 0..runs {
        let mut dice = Dice::new(seed + run);
        let deaths: Vec<Death> = (0..2).map(|_| Death::After(dice.below(250_000))).collect();
        told.add(&story(seed + run, &deaths, None).told);
        if run % 50 == 49 {
            println!("{} of {runs} runs: {told}", run + 1);
        }
    }
    println!("{runs} runs: {told}");
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}
