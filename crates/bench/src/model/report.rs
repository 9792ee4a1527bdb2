//! The table: a column for each way from the provider.

use std::fmt::Write as _;

use crate::{against::Unit, hub::table::number};

/// The rows so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: String,
}

impl Report {
    /// A figure of all ways, and how much better Nudge's model room does than `genai`.
    pub(super) fn row(&mut self, what: &str, unit: Unit, figures: [f64; 5]) {
        self.write(what, unit, figures, "");
    }

    /// Times of all ways, and what the whole of Nudge adds to the library alone, which may be at most `bar`.
    pub(super) fn delays(&mut self, what: &str, figures: [f64; 5], bar: Option<f64>) {
        // Less than nothing is noise.
        let added = (figures[4] - figures[0]).max(0.0);
        let mut verdict = format!("{} added", Unit::Micros.write(added));
        if let Some(bar) = bar {
            let word = if added <= bar { "met" } else { "missed" };
            let _ = write!(verdict, ", at most {}: {word}", Unit::Micros.write(bar));
        }
        self.write(what, Unit::Micros, figures, &verdict);
    }

    fn write(&mut self, what: &str, unit: Unit, figures: [f64; 5], verdict: &str) {
        let [_, genai, model, ..] = figures;
        let ratio = number(unit.ratio(genai, model));
        let figures = figures.map(|figure| unit.write(figure)).join(" | ");
        let _ = writeln!(self.rows, "| {what} | {figures} | **{ratio}×** | {verdict} |");
    }

    /// Prints it as Markdown.
    pub(crate) fn print(&self) {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split_whitespace().next().unwrap_or("unknown");
        println!(
            "Interleaved rounds of real processes on {cores} cores, load {load} at the end; reqwest 0.13, genai 0.7.2. The ratio \
             is how much better the room `model` does than `genai`.\n"
        );
        println!(
            "| case | reqwest alone | genai | room `model` | `nudge acp --no-daemon` | `nudge acp` | ratio | |"
        );
        println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
        print!("{}", self.rows);
    }
}
