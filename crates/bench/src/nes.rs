//! Next edit suggestions: how fast they come in a large file of a large workspace, and what that takes.

mod client;
mod rope;
mod workspace;

use std::time::Duration;

use anyhow::{Context, Result};

use self::client::Client;

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    files: usize,
    lines: usize,
    renames: usize,
    changes: usize,
}

const FULL: Sizes = Sizes { files: 2_000, lines: 10_000, renames: 300, changes: 20_000 };
const QUICK: Sizes = Sizes { files: 40, lines: 1_000, renames: 10, changes: 500 };

/// What others take for one suggestion, on a public suite; they need a model, a network or a GPU.
const MODELS: [(&str, f64); 4] =
    [("Mercury", 565.0), ("Zeta-2", 551.0), ("Copilot", 351.0), ("Sweep 1.5B", 155.0)];

/// Measures and prints a table.
pub(crate) fn run(quick: bool) -> Result<()> {
    let sizes = if quick { QUICK } else { FULL };
    let folder = tempfile::tempdir().context("cannot make a folder for the workspace")?;
    let bytes = workspace::write(folder.path(), sizes.files)?;
    let large = workspace::source(u64::MAX, sizes.lines);
    let text = large.text();
    let mut client = Client::start(folder.path(), &text)?;
    client.wait_for_index()?;
    let mut measured = client.rename_all(&large, sizes.renames)?;
    let memory = client.peak_memory()?;
    client.finish()?;
    anyhow::ensure!(!measured.answered.is_empty(), "no suggestion came at all");
    measured.answered.sort();
    let mut rope = rope::measure(&text, sizes.changes);
    let [bare, applied] = [&mut rope.bare, &mut rope.applied].map(|times| middle(times));
    let (p50, p99) = (share(&measured.answered, 50), share(&measured.answered, 99));
    let most = measured.answered[measured.answered.len() - 1];
    println!(
        "A file of {} lines ({} KB) in a workspace of {} files ({:.1} MB); {} questions while edits stream in, {} answered.\n",
        sizes.lines,
        text.len() / 1000,
        sizes.files,
        megabytes(bytes),
        measured.asked,
        measured.answered.len(),
    );
    println!("| case | Nudge | bar |\n| --- | ---: | --- |");
    row("nes/suggest over stdio, p50", &millis(p50), p50 <= Duration::from_millis(2), "2 ms");
    row("nes/suggest over stdio, p99", &millis(p99), p99 <= Duration::from_millis(10), "10 ms");
    println!("| nes/suggest over stdio, slowest | {} | |", millis(most));
    row(
        "one-character didChange applied, p50",
        &micros(applied),
        applied <= Duration::from_micros(20),
        "20 µs",
    );
    println!("| the bare rope edit of it, p50 | {} | |", micros(bare));
    let mebibytes = memory / 1024 / 1024;
    row("memory of the process at its peak", &format!("{mebibytes} MiB"), mebibytes <= 256, "256 MiB");
    println!(
        "| workspace read in the background | {} | |",
        millis(client::INDEX.get().copied().unwrap_or_default())
    );
    for (name, latency) in MODELS {
        let ratio = latency / (p50.as_secs_f64() * 1000.0);
        println!("| {name}, a model, per suggestion as published | {latency:.0} ms | {ratio:.0}× ours |");
    }
    Ok(())
}

fn row(what: &str, figure: &str, met: bool, bar: &str) {
    println!("| {what} | {figure} | at most {bar}: {} |", if met { "met" } else { "missed" });
}

fn middle(times: &mut [Duration]) -> Duration {
    times.sort();
    share(times, 50)
}

/// The time that this many of a hundred do not pass.
fn share(sorted: &[Duration], of_hundred: usize) -> Duration {
    sorted[(sorted.len() * of_hundred / 100).min(sorted.len() - 1)]
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

fn micros(time: Duration) -> String {
    format!("{:.2} µs", time.as_secs_f64() * 1_000_000.0)
}

#[expect(clippy::cast_precision_loss, reason = "a size to be read")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1_000_000.0
}
