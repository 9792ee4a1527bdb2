//! An agent that stops reading while its client writes on.

use std::{
    io::Write,
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::json;

use super::{Sizes, client::Client, leg::Leg, report::Report};
use crate::{
    against::Figures,
    hub::place::{Place, peak_memory},
};

pub(crate) fn measure(sizes: &Sizes, report: &mut Report) -> Result<()> {
    let mut peaks = Vec::new();
    for leg in [Leg::Nudge, Leg::Conductor] {
        let (peak, written) = peak(leg, &Place::new()?, sizes)?;
        eprintln!("{leg:?}: took {written} bytes");
        peaks.push(peak);
    }
    report.memory("memory when the agent does not read", [peaks[0], peaks[1]], 64 << 20);
    Ok(())
}

pub(crate) fn round(place: &Place, sizes: &Sizes, figures: &mut Figures) -> Result<()> {
    let (peak, _) = peak(Leg::Nudge, place, sizes)?;
    figures.memory("memory when the agent does not read", peak);
    Ok(())
}

/// The most memory that what is between has had, and how many bytes it took.
fn peak(leg: Leg, place: &Place, sizes: &Sizes) -> Result<(usize, usize)> {
    let mut client = leg.start(place)?;
    let processes = leg.between(&mut client)?;
    client.ask("_bench/echo", &json!({}))?;
    let look = || processes.iter().map(|pid| peak_memory(*pid)).sum();
    flood(client, Duration::from_secs(sizes.flood), look)
}

/// Writes for this long, or as much as is taken; then looks, and ends it. What was seen, and how many bytes were taken.
fn flood(client: Client, time: Duration, look: impl FnOnce() -> Result<usize>) -> Result<(usize, usize)> {
    let (mut child, mut input, output) = client.into_writer();
    let began = Instant::now();
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"_bench/stop\",\"params\":{}}\n")?;
    let tick = json!({"jsonrpc": "2.0", "method": "_bench/tick", "params": {"text": "x".repeat(1000)}});
    let tick = format!("{tick}\n");
    let writer = thread::spawn(move || {
        let mut written = 0;
        // A write that is not taken lasts until the other end is gone.
        while began.elapsed() < time && input.write_all(tick.as_bytes()).is_ok() {
            written += tick.len();
        }
        written
    });
    thread::sleep(time);
    let looked = look();
    child.kill()?;
    child.wait()?;
    drop(output);
    let written = writer.join().unwrap_or_default();
    looked.map(|seen| (seen, written))
}
