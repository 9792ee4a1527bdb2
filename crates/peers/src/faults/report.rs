//! Tables: what came of each fault with each agent.

use std::fmt::Write as _;

use super::{
    crew,
    outcome::{CaseObservation, FaultDefect, FaultOutcome, TriedCase},
    results::FaultResults,
    table::{CAP, FAULTS},
};
use crate::recipe;

const BEGIN: &str = "<!-- faults -->\n";
const END: &str = "<!-- /faults -->";

/// A column: an agent of a version, and whether Nudge is in front of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FaultColumn<'a> {
    agent: &'a str,
    version: &'a str,
    behind: bool,
}

impl FaultColumn<'_> {
    fn title(&self) -> String {
        let title = agent_title(self.agent, self.version);
        if self.behind { format!("{title} behind Nudge") } else { title }
    }
}

/// What stands between the marks of the page.
pub fn section(results: &FaultResults) -> String {
    let outcomes = results.outcomes();
    let mut text = tables(outcomes);
    let mut notes: Vec<(String, Vec<String>)> = Vec::new();
    for outcome in outcomes {
        let CaseObservation::Skipped(why) = &outcome.observed else { continue };
        let column = FaultColumn { agent: &outcome.agent, version: &outcome.version, behind: outcome.behind };
        let note = (format!("{}, {why}", column.title()), outcome.fault.clone());
        match notes.iter_mut().find(|(title, _)| *title == note.0) {
            Some((_, faults)) => faults.push(note.1),
            None => notes.push((note.0, vec![note.1])),
        }
    }
    if !notes.is_empty() {
        text.push_str("\nNot tried:\n\n");
    }
    for (title, faults) in notes {
        let _ = writeln!(text, "- {title}: {}", faults.join(", "));
    }
    text + "\nThe faults:\n\n" + &fault_list()
}

/// A summary of each column, and then the faults by the columns.
pub fn tables(outcomes: &[FaultOutcome]) -> String {
    let columns = columns(outcomes);
    let mut text = summary(&columns, outcomes);
    for behind in [false, true] {
        let columns: Vec<_> = columns.iter().filter(|column| column.behind == behind).collect();
        if !columns.is_empty() {
            text.push('\n');
            text.push_str(&matrix(&columns, outcomes));
        }
    }
    text
}

fn columns(outcomes: &[FaultOutcome]) -> Vec<FaultColumn<'_>> {
    let mut columns = Vec::new();
    for outcome in outcomes {
        let column = FaultColumn { agent: &outcome.agent, version: &outcome.version, behind: outcome.behind };
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

fn of<'a>(column: &FaultColumn<'_>, outcomes: &'a [FaultOutcome]) -> Vec<&'a FaultOutcome> {
    let is_its = |outcome: &&FaultOutcome| {
        outcome.agent == column.agent && outcome.version == column.version && outcome.behind == column.behind
    };
    outcomes.iter().filter(is_its).collect()
}

fn summary(columns: &[FaultColumn<'_>], outcomes: &[FaultOutcome]) -> String {
    let words: Vec<_> = FaultDefect::ALL.map(FaultDefect::word).to_vec();
    let mut text = format!("| agent | tried | {} | first sign, median | worst |\n", words.join(" | "));
    let _ = writeln!(text, "| --- | --- |{} --- | --- |", " --- |".repeat(words.len()));
    for column in columns {
        let its = of(column, outcomes);
        let tried: Vec<_> = its.iter().filter_map(|outcome| tried(outcome)).collect();
        let count =
            |defect| tried.iter().filter(|tried| tried.defects().contains(&defect)).count().to_string();
        let counts = FaultDefect::ALL.map(count).join(" | ");
        let (median, worst) = signs(&tried);
        let _ = writeln!(text, "| {} | {} | {counts} | {median} | {worst} |", column.title(), tried.len());
    }
    text
}

fn tried(outcome: &FaultOutcome) -> Option<&TriedCase> {
    match &outcome.observed {
        CaseObservation::Tried(tried) => Some(tried),
        CaseObservation::Skipped(_) => None,
    }
}

/// The median and the worst of the first signs; without a sign it was as long as was waited, and longer.
fn signs(tried: &[&TriedCase]) -> (String, String) {
    let seconds = |tried: &&TriedCase| {
        tried.sign.unwrap_or_else(|| f64::from(u32::try_from(tried.cap).unwrap_or(u32::MAX)))
    };
    let mut all: Vec<f64> = tried.iter().map(seconds).collect();
    all.sort_by(f64::total_cmp);
    let Some(worst) = all.last() else { return (String::new(), String::new()) };
    let is_open = tried.iter().any(|tried| tried.sign.is_none());
    let more = if is_open { "more than " } else { "" };
    (format!("{:.1} s", all[all.len() / 2]), format!("{more}{worst:.1} s"))
}

fn matrix(columns: &[&FaultColumn<'_>], outcomes: &[FaultOutcome]) -> String {
    let titles: Vec<_> = columns.iter().map(|column| column.title()).collect();
    let mut text = format!("| fault | {} |\n", titles.join(" | "));
    let _ = writeln!(text, "| --- |{}", " --- |".repeat(columns.len()));
    for fault in FAULTS {
        let cells: Vec<_> = columns
            .iter()
            .map(|column| {
                of(column, outcomes).into_iter().find(|outcome| outcome.fault == fault.name).map(cell)
            })
            .collect();
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let cells: Vec<_> = cells.into_iter().map(Option::unwrap_or_default).collect();
        let _ = writeln!(text, "| {} | {} |", fault.name, cells.join(" | "));
    }
    text
}

fn cell(outcome: &FaultOutcome) -> String {
    cell_with(outcome, |word| format!("**{word}**"))
}

/// A cell for a terminal.
pub(crate) fn plain_cell(outcome: &FaultOutcome) -> String {
    cell_with(outcome, str::to_owned)
}

fn cell_with(outcome: &FaultOutcome, strong: impl Fn(&str) -> String) -> String {
    let Some(tried) = tried(outcome) else { return "–".to_owned() };
    let sign = match tried.sign {
        Some(seconds) => format!("{seconds:.1}"),
        None => format!("> {}", tried.cap),
    };
    let defects = tried.defects().into_iter().map(|defect| strong(defect.word()));
    std::iter::once(sign).chain(defects).collect::<Vec<_>>().join(", ")
}

/// What each fault is.
fn fault_list() -> String {
    let mut text = "| fault | what happens | how long | waited for |\n| --- | --- | --- | --- |\n".to_owned();
    for fault in FAULTS {
        let lasts = if fault.lasts { "until the user has seen it" } else { "once" };
        let short = if fault.cap == CAP { "" } else { ", not 60" };
        let _ = writeln!(
            text,
            "| {} | {} | {lasts} | {} s{short} |",
            fault.name,
            fault.what,
            fault.cap.as_secs()
        );
    }
    text
}

/// The page with this section between its marks; nothing if it has none.
pub fn with_section(page: &str, section: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{section}{END}{after}"))
}

/// Name and version, for people.
fn agent_title(agent: &str, version: &str) -> String {
    if agent == crew::NUDGE {
        return format!("Nudge's own {version}");
    }
    let short = version.rsplit_once('.').map_or(version, |(short, _)| short);
    format!("{} {version}", agent.strip_suffix(&format!("-{short}")).unwrap_or(agent))
}

/// Where an agent stands among the columns: Nudge's own first, then as the recipes have them.
pub(crate) fn column_order(agent: &str) -> usize {
    if agent == crew::NUDGE {
        return 0;
    }
    let all = recipe::all().unwrap_or_default();
    all.iter().position(|recipe| recipe.name == agent).map_or(usize::MAX, |place| place + 1)
}
