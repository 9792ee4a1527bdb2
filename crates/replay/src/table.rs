//! The report as a person reads it.

use std::fmt::{self, Display};

use crate::{
    report::{Report, Run, Score},
    typed::Typed,
};

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for run in &self.runs {
            writeln!(f, "engine {}, eagerness {}, seed {}", self.engine, run.eagerness, self.seed)?;
            writeln!(f, "{run}")?;
        }
        if self.runs.len() > 1 && self.runs.iter().any(|run| run.total.commits > 0) {
            head(f, "eagerness")?;
            self.runs.iter().try_for_each(|run| row(f, run.eagerness, &run.total))?;
        }
        Ok(())
    }
}

impl Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.repositories.is_empty() {
            block(f, "repository", &self.repositories)?;
            row(f, "mean", &self.total)?;
            let (precision, recall) = (self.total.pooled_precision, self.total.pooled_recall);
            row(f, "all commits together", &Score { precision, recall, ..self.total.clone() })?;
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
                "\nnothing to do: shown at {} ({} of {} in finished files, {} of {} in untouched ones)",
                percent(quiet.shown_share),
                quiet.finished_shown,
                quiet.finished_asks,
                quiet.untouched_shown,
                quiet.untouched_asks,
            )?;
        }
        if let Some(recordings) = &self.recordings {
            writeln!(f, "\n{:<50} {:>9} {:>6}  predictor", "recording", "label", "score")?;
            for case in &recordings.cases {
                let predictor = case.predictor.as_deref().unwrap_or("-");
                writeln!(f, "{:<50} {:>9} {:>6.1}  {predictor}", case.name, case.label, case.score)?;
            }
            writeln!(f, "{:<50} {:>9} {:>6.3}", "mean", "", recordings.mean.unwrap_or_default())?;
        }
        Ok(())
    }
}

impl Run {
    fn typed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(total) = &self.total.typed else { return Ok(()) };
        writeln!(
            f,
            "\n{:<32} {:>8} {:>8} {:>7} {:>8} {:>6} {:>6} {:>6} {:>9}",
            "typed", "keys", "pressed", "saved", "asks", "shown", "right", "wrong", "precision"
        )?;
        let mut row = |name: &str, typed: &Typed| {
            writeln!(
                f,
                "{:<32} {:>8} {:>8} {:>7} {:>8} {:>6} {:>6} {:>6} {:>9}",
                shortened(name),
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

fn block(f: &mut fmt::Formatter<'_>, name: &str, scores: &[Score]) -> fmt::Result {
    head(f, name)?;
    scores.iter().try_for_each(|score| row(f, &score.name, score))
}

fn head(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    writeln!(
        f,
        "\n{name:<32} {:>7} {:>6} {:>6} {:>6} {:>6} {:>7} {:>6} {:>5} {:>6} {:>9} {:>7} {:>8} {:>8} {:>8}",
        "commits",
        "hunks",
        "asks",
        "shown",
        "exact",
        "partial",
        "wrong",
        "near",
        "done",
        "precision",
        "recall",
        "p50 ms",
        "p99 ms",
        "max ms"
    )
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, score: &Score) -> fmt::Result {
    let (counts, latency) = (&score.counts, &score.latency);
    writeln!(
        f,
        "{:<32} {:>7} {:>6} {:>6} {:>6} {:>6} {:>7} {:>6} {:>5} {:>6} {:>9} {:>7} {:>8.2} {:>8.2} {:>8.2}",
        shortened(name),
        score.commits,
        counts.hunks,
        counts.asks,
        counts.shown,
        counts.exact,
        counts.partial,
        counts.wrong,
        counts.near,
        counts.hunks_done,
        percent(score.precision),
        percent(score.recall),
        latency.p50_ms,
        latency.p99_ms,
        latency.max_ms,
    )
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(31) {
        Some((at, _)) if at + 1 < name.len() => format!("{}…", &name[..at]),
        _ => name.to_owned(),
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}
