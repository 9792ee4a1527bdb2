//! The table of two programs.

use std::path::PathBuf;

use super::compared::Compared;

/// Prints it as Markdown, and in the last line what is worse.
pub(crate) fn print([older, newer]: &[PathBuf; 2], rounds: usize, all: &[Compared]) {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("unknown");
    println!("{rounds} rounds in turns on {cores} cores, load {load} at the end. Above 1 is better.\n");
    println!("before: {}\nnow: {}\n", older.display(), newer.display());
    println!("| case | figure | before | now | ratio | spread | |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | --- |");
    for one in all {
        println!("{}", row(one));
    }
    println!("\n{}", worse(all));
}

fn row(one: &Compared) -> String {
    let [low, high] = one.spread;
    format!(
        "| {} | {} | {} | {} | **{:.2}×** | {low:.2} to {high:.2} | {} |",
        one.case,
        one.what,
        one.unit.write(one.older),
        one.unit.write(one.newer),
        one.ratio(),
        one.verdict(),
    )
}

fn worse(all: &[Compared]) -> String {
    let worse = all.iter().filter(|one| one.is_worse());
    let worse: Vec<_> =
        worse.map(|one| format!("{}: {} ({:.2}×)", one.case, one.what, one.ratio())).collect();
    if worse.is_empty() {
        return "No figure is worse by more than 5 % beyond its spread.".to_owned();
    }
    format!("Worse by more than 5 % beyond the spread: {}", worse.join("; "))
}
