//! The report as a person reads it.

use std::fmt::{self, Display};

use crate::{
    report::{LevelRun, ReplayReport, ReportScore},
    typed::TypedScore,
};

/// How wide the first column is: with it every table fits into 100 columns.
const NAME: usize = 22;
const TYPED_NAME: usize = 32;
const RECORDING_NAME: usize = 50;

impl Display for ReplayReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for run in &self.runs {
            writeln!(f, "engine {}, eagerness {}, seed {}", self.engine, run.eagerness, self.seed)?;
            writeln!(f, "{run}")?;
        }
        if !self.runs.iter().any(|run| run.total.commits > 0) {
            return Ok(());
        }
        if self.runs.len() > 1 {
            head(f, "eagerness")?;
            self.runs.iter().try_for_each(|run| row(f, run.eagerness, &run.total))?;
            writeln!(f)?;
        }
        f.write_str(LEGEND)?;
        self.runs.iter().try_for_each(|run| run.in_a_sentence(f))
    }
}

/// What the columns mean; `--help` says more.
const LEGEND: &str = "\
shown      suggestions made: exact does what the commit did, partial a part of it, wrong neither
precision  the share of those shown that were exact or partial
recall     the share of all hunks that suggestions did; the first of a commit cannot be foreseen
p50, p99   half of the answers, and all but one in a hundred, took no longer than this
The counts left out here (asked, near, done, slowest) are in --json.

";

impl Display for LevelRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.repositories.is_empty() {
            block(f, "repository", &self.repositories)?;
            row(f, "mean", &self.total)?;
            let (precision, recall) = (self.total.pooled_precision, self.total.pooled_recall);
            row(f, "all commits together", &ReportScore { precision, recall, ..self.total.clone() })?;
            block(f, "size of commit", &self.sizes)?;
            block(f, "language", &self.languages)?;
        }
        if !self.predictors.is_empty() {
            block(f, "predictor", &self.predictors)?;
        }
        self.typed(f)?;
        if let Some(quiet) = &self.quiet {
            writeln!(
                f,
                "\nnothing to do: shown at {} ({} of {} in finished files, {} of {} in untouched)",
                percent(quiet.shown_share),
                quiet.finished_shown,
                quiet.finished_asks,
                quiet.untouched_shown,
                quiet.untouched_asks,
            )?;
        }
        if let Some(recordings) = &self.recordings {
            writeln!(f, "\n{:<RECORDING_NAME$} {:>9} {:>6}  predictor", "recording", "label", "score")?;
            for case in &recordings.cases {
                let predictor = case.predictor.as_deref().unwrap_or("-");
                let name = shortened(&case.name, RECORDING_NAME);
                writeln!(f, "{name:<RECORDING_NAME$} {:>9} {:>6.1}  {predictor}", case.label, case.score)?;
            }
            writeln!(
                f,
                "{:<RECORDING_NAME$} {:>9} {:>6.3}",
                "mean",
                "",
                recordings.mean.unwrap_or_default()
            )?;
        }
        Ok(())
    }
}

impl LevelRun {
    /// What a person wants to know first, and so reads last.
    fn in_a_sentence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { eagerness, total, repositories, .. } = self;
        if total.commits == 0 {
            return Ok(());
        }
        let history = counted(total.commits, "commit");
        let repositories = match repositories.len() {
            1 => String::new(),
            several => format!(" of {several} repositories"),
        };
        write!(f, "At {eagerness} eagerness, over {history}{repositories}: ")?;
        if total.counts.shown == 0 {
            return writeln!(f, "nothing was suggested.");
        }
        writeln!(
            f,
            "of {} {} were right,\nand they did {} of the hunks for you; half of the answers came within {:.1} ms.",
            counted(total.counts.shown, "suggestion"),
            percent(total.precision),
            percent(total.recall),
            total.latency.p50_ms,
        )
    }

    fn typed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(total) = &self.total.typed else { return Ok(()) };
        writeln!(
            f,
            "\n{:<TYPED_NAME$} {:>8} {:>8} {:>7} {:>8} {:>6} {:>6} {:>6} {:>9}",
            "typed", "keys", "pressed", "saved", "asks", "shown", "right", "wrong", "precision"
        )?;
        let mut row = |name: &str, typed: &TypedScore| {
            writeln!(
                f,
                "{:<TYPED_NAME$} {:>8} {:>8} {:>7} {:>8} {:>6} {:>6} {:>6} {:>9}",
                shortened(name, TYPED_NAME),
                typed.keys,
                typed.pressed,
                percent(typed.saved_share),
                typed.asks,
                typed.shown,
                typed.right,
                typed.wrong,
                percent(typed.precision),
            )
        };
        for score in self.repositories.iter().chain(&self.languages).chain(&self.predictors) {
            score.typed.iter().try_for_each(|typed| row(&score.name, typed))?;
        }
        row("all", total)
    }
}

fn block(f: &mut fmt::Formatter<'_>, name: &str, scores: &[ReportScore]) -> fmt::Result {
    head(f, name)?;
    scores.iter().try_for_each(|score| row(f, &score.name, score))
}

fn head(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    writeln!(
        f,
        "\n{name:<NAME$} {:>7} {:>6} {:>6} {:>6} {:>7} {:>6} {:>9} {:>7} {:>7} {:>7}",
        "commits", "hunks", "shown", "exact", "partial", "wrong", "precision", "recall", "p50 ms", "p99 ms",
    )
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, score: &ReportScore) -> fmt::Result {
    let (counts, latency) = (&score.counts, &score.latency);
    writeln!(
        f,
        "{:<NAME$} {:>7} {:>6} {:>6} {:>6} {:>7} {:>6} {:>9} {:>7} {:>7.2} {:>7.2}",
        shortened(name, NAME),
        score.commits,
        counts.hunks,
        counts.shown,
        counts.exact,
        counts.partial,
        counts.wrong,
        percent(score.precision),
        percent(score.recall),
        latency.p50_ms,
        latency.p99_ms,
    )
}

/// A name that fits into its column.
fn shortened(name: &str, width: usize) -> String {
    if name.chars().count() <= width {
        return name.to_owned();
    }
    name.chars().take(width - 1).chain(['…']).collect()
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("{count} {what}") } else { format!("{count} {what}s") }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}
