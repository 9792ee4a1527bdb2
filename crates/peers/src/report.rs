//! Tables of how it went.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{
    recipe::Recipe,
    run::Outcome,
    steps::{FORM, PROVIDERS, SIGN_IN, Verdict},
};

const BEGIN: &str = "<!-- peers -->";
const END: &str = "<!-- /peers -->";

/// Agents by steps, with a list of what failed.
pub fn table(outcomes: &[Outcome]) -> String {
    let names = step_names(outcomes);
    let mut text = format!("| agent | client | {} |\n", names.join(" | "));
    let _ = writeln!(text, "| --- | --- |{}", " --- |".repeat(names.len()));
    for outcome in outcomes {
        let cells = names.iter().map(|name| verdict(outcome, name).map_or("", Verdict::word));
        let cells = cells.collect::<Vec<_>>().join(" | ");
        let _ = writeln!(text, "| {} | {} | {cells} |", outcome.agent, client(outcome));
    }
    for outcome in outcomes {
        for (name, verdict, _) in outcome.steps.iter().filter(|(_, verdict, _)| !verdict.reason().is_empty())
        {
            let _ = writeln!(text, "{} {} {name}: {verdict}", outcome.agent, client(outcome));
        }
    }
    text
}

/// The same for programs.
pub fn json(outcomes: &[Outcome]) -> Value {
    let steps = |outcome: &Outcome| -> Value {
        let each = outcome.steps.iter().map(|(name, verdict, time)| {
            json!({ "step": name, "verdict": verdict.word(), "reason": verdict.reason(), "seconds": time.as_secs_f64() })
        });
        each.collect()
    };
    let each = outcomes.iter().map(|outcome| {
        json!({ "agent": outcome.agent, "version": outcome.version.number(), "nudge": outcome.through_nudge,
            "steps": steps(outcome) })
    });
    each.collect()
}

/// An agent that was tried.
#[derive(Debug)]
pub struct Tried<'a> {
    /// Which.
    pub recipe: &'a Recipe,
    /// What it says it can do, in each version.
    pub offers: Vec<Value>,
}

/// What `docs/agents.md` says: each agent, what it has, what Nudge adds, how it is steered, and what to know.
pub fn agents_table(agents: &[Tried<'_>], outcomes: &[Outcome]) -> String {
    let rows = agents.iter().map(|agent| {
        let mine =
            outcomes.iter().filter(|outcome| outcome.agent == agent.recipe.name && outcome.through_nudge);
        agents_row(agent, &mine.collect::<Vec<_>>())
    });
    let head = "| agent | has itself | Nudge adds | steered by | signs in on a terminal | forms | provider kept when it dies | \
        steps passed | caveat |\n";
    format!("{head}|{}\n{}", " --- |".repeat(9), rows.collect::<String>())
}

fn agents_row(agent: &Tried<'_>, outcomes: &[&Outcome]) -> String {
    let native: BTreeSet<_> = agent.offers.iter().flat_map(features).collect();
    let all: BTreeSet<_> = outcomes.iter().flat_map(|outcome| features(&outcome.initialized)).collect();
    let words = |words: Vec<&str>| words.join(" ");
    let added = words(all.difference(&native).copied().collect());
    let native = words(native.into_iter().collect());
    let mut tiers: Vec<_> = outcomes.iter().map(|outcome| tier(&outcome.initialized)).collect();
    tiers.dedup();
    let (title, caveat) = (agent.recipe.title(), &agent.recipe.caveat);
    let [sign_in, form, providers] = [SIGN_IN, FORM, PROVIDERS].map(|step| tried(outcomes, step));
    let tiers = tiers.join(", ");
    let own = format!("{sign_in} | {form} | {providers}");
    format!("| {title} | {native} | {added} | {tiers} | {own} | {} | {caveat} |\n", passed(outcomes))
}

/// Puts the table between the marks in the page at `path`.
pub fn write_page(path: &Path, table: &str) -> Result<()> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let text =
        between(&text, table).with_context(|| format!("{} has no {BEGIN} and {END}", path.display()))?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// `text` with the table between its marks; nothing if it has none.
pub fn between(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}{END}{after}"))
}

fn step_names(outcomes: &[Outcome]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for (name, _, _) in outcomes.iter().flat_map(|outcome| &outcome.steps) {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    names
}

fn verdict<'a>(outcome: &'a Outcome, name: &str) -> Option<&'a Verdict> {
    outcome.steps.iter().find(|(step, _, _)| *step == name).map(|(_, verdict, _)| verdict)
}

fn client(outcome: &Outcome) -> String {
    let way = if outcome.through_nudge { "nudge" } else { "direct" };
    format!("v{} {way}", outcome.version.number())
}

/// What an answer to `initialize` offers, in the words of the table.
fn features(initialized: &Value) -> BTreeSet<&'static str> {
    let is_v2 = initialized["capabilities"].is_object();
    let capabilities = &initialized[if is_v2 { "capabilities" } else { "agentCapabilities" }];
    let sessions = &capabilities[if is_v2 { "session" } else { "sessionCapabilities" }];
    let mut found = BTreeSet::new();
    for name in ["close", "delete", "fork", "list", "resume"] {
        if sessions[name].is_object() {
            found.insert(name);
        }
    }
    let others = [
        ("load", capabilities["loadSession"] == true),
        ("steering", initialized["_meta"]["steering"]["supported"] == true),
        ("inject", capabilities["session"]["inject"].is_object()),
        ("nes", capabilities["nes"].is_object()),
        ("v2", is_v2),
    ];
    found.extend(others.into_iter().filter(|(_, is)| *is).map(|(name, _)| name));
    found
}

/// How Nudge steers it, as it says itself.
fn tier(initialized: &Value) -> &'static str {
    match initialized["_meta"]["nudge"]["steerTier"].as_u64() {
        Some(1) => "1: `session/inject`",
        Some(2) if initialized["_meta"]["nudge"]["steerMethod"] == "_goose/unstable/session/steer" => {
            "2: `_goose/unstable/session/steer`"
        }
        Some(2) => "2: `_session/steering`",
        Some(3) => "3: a prompt while it works",
        Some(4) => "4: cancel and prompt again",
        _ => "",
    }
}

/// Whether a step passed wherever it could be tried.
fn tried(outcomes: &[&Outcome], step: &str) -> &'static str {
    let verdicts: Vec<_> = outcomes.iter().filter_map(|outcome| verdict(outcome, step)).collect();
    if verdicts.iter().any(|verdict| matches!(verdict, Verdict::Fail(_))) {
        "no"
    } else if verdicts.contains(&&Verdict::Pass) {
        "yes"
    } else {
        "–"
    }
}

fn passed(outcomes: &[&Outcome]) -> String {
    let each = outcomes.iter().map(|outcome| {
        let failed =
            outcome.steps.iter().filter(|(_, verdict, _)| matches!(verdict, Verdict::Fail(_))).count();
        let passed = outcome.steps.iter().filter(|(_, verdict, _)| *verdict == Verdict::Pass).count();
        format!("v{} {passed}/{}", outcome.version.number(), passed + failed)
    });
    each.collect::<Vec<_>>().join(", ")
}
