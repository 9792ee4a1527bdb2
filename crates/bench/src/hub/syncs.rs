//! Whether commits are real: how often the process has the disk sync, counted by strace.
//!
//! Being watched costs time, so this is a run of its own.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result};

use super::{
    Sizes,
    client::{Client, Home},
    inject::Queues,
    place::Place,
    table::{Table, count, number},
};
use crate::against::{Figures, Unit};

const WHAT: &str = "syncs of the disk for each inject";

pub(crate) fn measure(sizes: &Sizes, table: &mut Table) -> Result<()> {
    if !can_watch() {
        table.note(WHAT, "not counted: strace is not installed or not permitted");
        return Ok(());
    }
    let [alone, together] = syncs(&Place::new()?, sizes)?;
    table.note(format!("{WHAT}, one at a time (strace)"), number(alone));
    table.note(format!("{WHAT}, 64 in flight (strace)"), format!("{together:.3}"));
    Ok(())
}

/// Nothing where they cannot be counted.
pub(crate) fn round(place: &Place, sizes: &Sizes, figures: &mut Figures) -> Result<()> {
    if can_watch() {
        let [alone, together] = syncs(place, sizes)?;
        figures.add(format!("{WHAT}, one at a time"), Unit::Count, alone);
        figures.add(format!("{WHAT}, 64 in flight"), Unit::Count, together);
    }
    Ok(())
}

/// How many there are for each inject, one at a time and 64 in flight.
fn syncs(place: &Place, sizes: &Sizes) -> Result<[f64; 2]> {
    let log = place.path().join("syncs");
    let name = log.to_str().context("the folder's name is text")?;
    let strace = ["strace", "-f", "-qq", "--seccomp-bpf", "-ttt", "-e", "trace=fsync,fdatasync", "-o", name];
    let mut client = Client::spawn(place, &strace, Home::Alone)?;
    client.initialize(1)?;
    let mut queues = Queues::begin(&mut client, sizes.injects + sizes.injects_in_flight)?;
    let began = now()?;
    queues.one_at_a_time(&mut client, sizes.injects)?;
    let between = now()?;
    queues.in_flight(&mut client, sizes.injects_in_flight)?;
    let ended = now()?;
    client.finish()?;
    let synced = read(&log)?;
    let within = |from: Duration, to: Duration| synced.iter().filter(|at| (from..to).contains(at)).count();
    let (alone, together) = (within(began, between), within(between, ended));
    anyhow::ensure!(alone >= sizes.injects, "{} injects were answered after {alone} syncs", sizes.injects);
    Ok([count(alone) / count(sizes.injects), count(together) / count(sizes.injects_in_flight)])
}

fn can_watch() -> bool {
    let mut watched = Command::new("strace");
    watched.args(["-f", "-qq", "--seccomp-bpf", "-e", "trace=fsync", "true"]);
    watched.stdout(Stdio::null()).stderr(Stdio::null());
    watched.status().is_ok_and(|status| status.success())
}

fn now() -> Result<Duration> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?)
}

/// When each sync began. A line is `PID SECONDS fdatasync(…`; a call that another one cut in two has a second line.
fn read(log: &Path) -> Result<Vec<Duration>> {
    let text = fs::read_to_string(log)?;
    let calls = text.lines().filter(|line| line.contains("sync(") && !line.contains("resumed>"));
    let times = calls.filter_map(|line| line.split_whitespace().nth(1)?.parse().ok());
    Ok(times.map(Duration::from_secs_f64).collect())
}
