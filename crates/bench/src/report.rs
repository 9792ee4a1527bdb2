//! The table.

/// One case: Nudge's figure, the official SDK's, and the ratio asked for.
pub(crate) struct Row {
    what: &'static str,
    unit: &'static str,
    ours: f64,
    sdk: f64,
    ratio: f64,
    /// The ratio that passes and the one aimed at.
    bars: Option<(f64, f64)>,
}

impl Row {
    /// A figure that is better when it is larger.
    pub(crate) fn more(
        what: &'static str,
        unit: &'static str,
        [ours, sdk]: [f64; 2],
        bars: Option<(f64, f64)>,
    ) -> Self {
        Self { what, unit, ours, sdk, ratio: ours / sdk, bars }
    }

    /// A figure that is better when it is smaller.
    pub(crate) fn less(
        what: &'static str,
        unit: &'static str,
        [ours, sdk]: [f64; 2],
        bars: Option<(f64, f64)>,
    ) -> Self {
        Self { what, unit, ours, sdk, ratio: sdk / ours, bars }
    }

    fn verdict(&self) -> String {
        match self.bars {
            None => String::new(),
            Some((_, goal)) if self.ratio >= goal => format!("goal {goal}× met"),
            Some((pass, goal)) if self.ratio >= pass => format!("pass {pass}× met, goal {goal}×"),
            Some((pass, _)) => format!("below the {pass}× to pass"),
        }
    }
}

/// Prints the rows as a Markdown table.
pub(crate) fn print(rows: &[Row]) {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!(
        "Medians of interleaved rounds on {cores} cores; official Rust SDK 5.0.0; typed handlers on both sides.\n"
    );
    println!("| case | Nudge | official SDK | ratio | |");
    println!("| --- | ---: | ---: | ---: | --- |");
    for row in rows {
        println!(
            "| {} | {} {unit} | {} {unit} | **{:.1}×** | {} |",
            row.what,
            figure(row.ours),
            figure(row.sdk),
            row.ratio,
            row.verdict(),
            unit = row.unit,
        );
    }
}

/// Three digits that count.
fn figure(value: f64) -> String {
    if value >= 10_000.0 {
        format!("{:.0} k", value / 1000.0)
    } else if value >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}
