//! The table: figures, the bars they have to pass, and by how much they do.

use std::time::Duration;

/// The rows so far.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<[String; 4]>,
}

impl Table {
    /// A figure without a bar.
    pub(crate) fn note(&mut self, what: impl Into<String>, figure: impl Into<String>) {
        self.rows.push([what.into(), figure.into(), String::new(), String::new()]);
    }

    /// A time that may be at most this long.
    pub(crate) fn at_most(&mut self, what: impl Into<String>, took: Duration, bar: Duration) {
        let ratio = bar.as_secs_f64() / took.as_secs_f64().max(1e-9);
        self.judge(what, time(took), &format!("at most {}", time(bar)), ratio);
    }

    /// A figure in some unit that has to be at least this large.
    pub(crate) fn at_least(&mut self, what: impl Into<String>, figure: f64, bar: f64, unit: &str) {
        self.judge(
            what,
            format!("{}{unit}", number(figure)),
            &format!("at least {}{unit}", number(bar)),
            figure / bar,
        );
    }

    fn judge(&mut self, what: impl Into<String>, figure: String, bar: &str, ratio: f64) {
        let verdict = if ratio >= 1.0 { "met" } else { "missed" };
        self.rows.push([what.into(), figure, format!("{bar}: {verdict}"), format!("**{ratio:.2}×**")]);
    }

    /// Prints it as Markdown.
    pub(crate) fn print(&self) {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split_whitespace().next().unwrap_or("unknown");
        println!("{cores} cores, load {load} at the end. The ratio is how far a bar is passed.\n");
        println!("| case | Nudge | bar | ratio |\n| --- | ---: | --- | ---: |");
        for row in &self.rows {
            println!("| {} |", row.join(" | "));
        }
    }
}

/// A time in the unit that suits it.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        _ if seconds < 1e-3 => format!("{} µs", number(seconds * 1e6)),
        _ if seconds < 1.0 => format!("{} ms", number(seconds * 1e3)),
        _ => format!("{} s", number(seconds)),
    }
}

/// A time in microseconds.
pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Three digits that count.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 10_000.0 => format!("{:.0} k", value / 1000.0),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// The time that this many of a hundred do not pass.
pub(crate) fn share(times: &[Duration], of_hundred: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted[(sorted.len() * of_hundred / 100).min(sorted.len() - 1)]
}

pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[expect(clippy::cast_precision_loss, reason = "counts to be read")]
pub(crate) fn count(count: usize) -> f64 {
    count as f64
}
