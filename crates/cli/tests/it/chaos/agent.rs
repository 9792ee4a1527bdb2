//! An agent that comes to harm while it is talked to, and Nudge with it: nothing that was accepted is lost or doubled.
//!
//! `nudge acp --` runs in front of a scripted agent that is killed, stopped, flooded or garbled at random moments, while a
//! client prompts, injects, replaces, revokes, cancels, answers permissions and sends again. In some runs Nudge itself is
//! killed and started again. `cargo xtask chaos --agent` runs many; the tests run a few.

mod havoc;
mod kind;
mod life;
mod saga;
mod sight;
mod tally;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use super::{Dice, setting, side_by_side};
use kind::Kind;
use life::Life;
use parking_lot::Mutex;
use saga::Saga;
use tally::Tally;

/// Lives one run: Nudge is started, killed if the dice say so, started again, and at last looked at.
fn run(seed: u64) -> Tally {
    let mut dice = Dice::new(seed);
    let place = tempfile::tempdir().expect("a temporary folder");
    let kind = Kind::roll(&mut dice, place.path());
    let mut saga = Saga::new(seed, kind, place.path());
    let kills = [0, 0, 0, 0, 0, 0, 1, 1, 1, 2][dice.index(10)];
    for _ in 0..kills {
        let after = Duration::from_micros(dice.below(700_000));
        Life::begin(&mut saga, &mut dice, Some(after)).live();
    }
    Life::begin(&mut saga, &mut dice, None).live();
    // Whatever happened, somebody who comes later finds it all.
    Life::begin(&mut saga, &mut dice, None).look();
    saga.check_heard();
    saga.tally
}

#[test]
fn an_agent_that_comes_to_harm_costs_nothing_that_was_said() {
    let runs: u64 = setting("NUDGE_CHAOS_AGENT_RUNS", 12);
    let seed: u64 = setting("NUDGE_CHAOS_SEED", 7);
    let (tally, failed) = (Mutex::new(Tally::default()), Mutex::new(Vec::new()));
    let seeds: Vec<u64> = (seed..seed + runs).collect();
    side_by_side(&seeds, |seed| match catch_unwind(AssertUnwindSafe(|| run(*seed))) {
        Ok(told) => tally.lock().add(&told),
        Err(_) => failed.lock().push(*seed),
    });
    println!("{}", tally.into_inner());
    let failed = failed.into_inner();
    assert!(failed.is_empty(), "failed with these seeds: {failed:?}");
}
