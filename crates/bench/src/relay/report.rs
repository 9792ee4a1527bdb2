//! The table: figures of the three legs, and what is asked of Nudge against the conductor.

use std::fmt::Write as _;

use crate::{
    against::Unit,
    hub::table::{count, number},
};

/// A ratio that passes, and the one aimed at.
type Bars = Option<(f64, f64)>;

/// The rows so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: String,
}

impl Report {
    /// Figures of all legs, not compared.
    pub(crate) fn note(&mut self, what: &str, unit: Unit, figures: [f64; 3]) {
        self.row(what, &figures.map(|figure| unit.write(figure)), "", "");
    }

    /// Figures of the two relays, of which the smaller is better.
    pub(crate) fn less(&mut self, what: &str, unit: Unit, [nudge, conductor]: [f64; 2], bars: Bars) {
        // Less than nothing is noise.
        let ratio = conductor / nudge.max(1.0);
        let figures = [String::new(), unit.write(nudge), unit.write(conductor)];
        self.row(what, &figures, &format!("**{ratio:.1}×**"), &verdict(ratio, bars));
    }

    /// Figures of all legs, of which the larger is better.
    pub(crate) fn more(&mut self, what: &str, unit: Unit, figures: [f64; 3], bars: Bars) {
        let ratio = figures[1] / figures[2];
        let figures = figures.map(|figure| unit.write(figure));
        self.row(what, &figures, &format!("**{ratio:.1}×**"), &verdict(ratio, bars));
    }

    /// Bytes of the two relays, of which Nudge's may be at most `bar`.
    pub(crate) fn memory(&mut self, what: &str, [nudge, conductor]: [usize; 2], bar: usize) {
        let verdict = if nudge <= bar { "met" } else { "missed" };
        let verdict = format!("at most {} MiB: {verdict}", bar >> 20);
        let ratio = format!("**{}×**", number(count(conductor) / count(nudge)));
        let mib = |bytes: usize| format!("{} MiB", bytes >> 20);
        self.row(what, &[String::new(), mib(nudge), mib(conductor)], &ratio, &verdict);
    }

    fn row(&mut self, what: &str, figures: &[String; 3], ratio: &str, verdict: &str) {
        let _ = writeln!(self.rows, "| {what} | {} | {ratio} | {verdict} |", figures.join(" | "));
    }

    /// Prints it as Markdown.
    pub(crate) fn print(&self) {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split_whitespace().next().unwrap_or("unknown");
        println!(
            "Interleaved rounds of real processes on {cores} cores, load {load} at the end; conductor 5.0.0 without \
             proxies; Nudge with daemon, sessions and store.\n"
        );
        println!("| case | direct | `nudge acp --` | conductor | ratio | |");
        println!("| --- | ---: | ---: | ---: | ---: | --- |");
        print!("{}", self.rows);
    }
}

fn verdict(ratio: f64, bars: Bars) -> String {
    match bars {
        None => String::new(),
        Some((_, goal)) if ratio >= goal => format!("goal {goal}× met"),
        Some((pass, goal)) if ratio >= pass => format!("pass {pass}× met, goal {goal}×"),
        Some((pass, _)) => format!("below the {pass}× to pass"),
    }
}
