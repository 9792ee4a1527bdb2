//! An agent that stops reading while its client writes on.

use std::{
    io::Write,
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::json;

use super::{Sizes, client::Client, leg::Leg, report::Report};
use crate::hub::place::{Place, peak_memory};

pub(crate) fn measure(sizes: &Sizes, report: &mut Report) -> Result<()> {
    let mut peaks = Vec::new();
    for leg in [Leg::Nudge, Leg::Conductor] {
        let place = Place::new()?;
        let mut client = leg.start(&place)?;
        let processes = leg.between(&mut client)?;
        client.ask("_bench/echo", &json!({}))?;
        let written = flood(client, Duration::from_secs(sizes.flood), || {
            peaks.push(processes.iter().map(|pid| peak_memory(*pid)).sum::<Result<usize>>()?);
            Ok(())
        })?;
        eprintln!("{leg:?}: took {written} bytes");
    }
    report.memory("memory when the agent does not read", [peaks[0], peaks[1]], 64 << 20);
    Ok(())
}

/// Writes for this long, or as much as is taken; then looks, and ends it. How many bytes were taken.
fn flood(client: Client, time: Duration, look: impl FnOnce() -> Result<()>) -> Result<usize> {
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
    looked.map(|()| written)
}
