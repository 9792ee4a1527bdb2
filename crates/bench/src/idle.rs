//! What a connection holds while nothing is said on it: the memory of a process with many of them.

use std::{fs, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};

use crate::{ours, sdk};

/// After this, a connection has given back what it does not need while it waits.
pub(crate) const SETTLED: Duration = Duration::from_secs(3);

/// How many bytes each of `count` connections holds, both ends of each pair counted, in a process that has nothing else.
pub(crate) fn measure(which: &str, count: usize) -> Result<f64> {
    let output = Command::new(std::env::current_exe()?).args(["idle", which, &count.to_string()]).output()?;
    ensure!(output.status.success(), "the process with idle connections failed");
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// The process: opens the connections, has one request answered on each, and prints how much memory each has added.
pub(crate) fn process(which: &str, count: usize) -> Result<()> {
    let each = if which == "sdk" { sdk::idle(count / 2)? } else { ours::idle(count / 2)? };
    println!("{each}");
    Ok(())
}

/// The memory of this process that is in use, as the system counts it.
pub(crate) fn resident() -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")).context("/proc tells the memory")?;
    Ok(kilobytes.trim().parse::<f64>()? * 1024.0)
}
