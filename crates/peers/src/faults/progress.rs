//! A line for each case that is over, on standard error.

use std::{
    io::{IsTerminal as _, stderr},
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use super::{
    crew::CrewMember,
    outcome::{CaseObservation, FaultOutcome},
    report,
};

/// Counts the cases that are over.
pub(crate) struct CaseProgress {
    all: usize,
    over: AtomicUsize,
    began: Instant,
    has_colours: bool,
}

impl CaseProgress {
    pub(crate) fn new(all: usize) -> Self {
        let is_asked_not_to = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let has_colours = stderr().is_terminal() && !is_asked_not_to;
        Self { all, over: AtomicUsize::new(0), began: Instant::now(), has_colours }
    }

    pub(crate) fn tell(&self, member: &CrewMember, outcome: &FaultOutcome) {
        let over = self.over.fetch_add(1, Ordering::Relaxed) + 1;
        let (cell, seconds) = (report::plain_cell(outcome), self.began.elapsed().as_secs());
        let cell = match (&outcome.observed, outcome.defects().is_empty()) {
            (CaseObservation::Skipped(why), _) => format!("–  {why}"),
            (CaseObservation::Tried(_), true) => self.coloured("32", &cell),
            (CaseObservation::Tried(_), false) => self.coloured("31", &cell),
        };
        eprintln!(
            "{over:>4}/{} {seconds:>5} s  {:<32} {:<32} {cell}",
            self.all,
            member.title(),
            outcome.fault
        );
    }

    fn coloured(&self, colour: &str, text: &str) -> String {
        if self.has_colours { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
