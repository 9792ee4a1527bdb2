//! Nudge and its peers measured side by side, in one run on one machine. `cargo xtask bench NAME` runs it.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads clocks and starts processes")]

mod cases;
mod chosen;
mod cpu;
mod hub;
mod large;
mod messages;
mod nes;
mod ours;
mod relay;
mod report;
mod sdk;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["peer"] => cases::run(false),
        ["peer", "--quick"] => cases::run(true),
        ["nes"] => nes::run(false),
        ["nes", "--quick"] => nes::run(true),
        ["hub"] => hub::run(false, None),
        ["hub", "--quick"] => hub::run(true, None),
        ["hub", case] => hub::run(false, Some(case)),
        ["hub", case, "--quick"] => hub::run(true, Some(case)),
        ["relay"] => relay::run(false, None),
        ["relay", "--quick"] => relay::run(true, None),
        ["relay", case] => relay::run(false, Some(case)),
        ["relay", case, "--quick"] => relay::run(true, Some(case)),
        // The other ends, started by the benchmark itself.
        ["agent", "nudge"] => ours::agent(),
        ["agent", "sdk"] => sdk::agent(),
        ["agent", "raw"] => ends_with_parent().and_then(|()| relay::agent()),
        ["conductor", agent] => ends_with_parent().and_then(|()| relay::conductor(agent)),
        ["pass", "nudge"] => ours::relay(),
        ["pass", "sdk"] => sdk::relay(),
        ["sink"] => large::sink(),
        ["profile", place] => cases::profile(place),
        _ => bail!("usage: nudge-bench peer|nes|hub|relay [--quick]"),
    }
}

/// An agent that reads nothing more does not see that whoever started it is gone.
fn ends_with_parent() -> Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?)
}
