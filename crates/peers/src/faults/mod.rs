//! What becomes of a turn, its session and what the user says when something fails: a table of faults by agents.
//!
//! [`table`] lists the faults, `crew` the agents, `case` takes one agent through one fault, and [`outcome`] says what of
//! it is a defect. [`results`] keeps what was seen, and [`report`] makes a page of it. [`guard`] sees to it that nothing goes on
//! running. The client is that of the steps, and so are the ways in which agents are installed and started.

mod case;
pub mod crew;
pub mod frail_server;
pub mod guard;
mod half_call;
pub mod outcome;
mod play;
mod progress;
pub mod report;
pub mod results;
pub mod sign;
pub mod steer;
mod strike;
pub mod table;

use std::{path::PathBuf, sync::Arc, thread, time::Instant};

use anyhow::{Result, bail};
use parking_lot::Mutex;

use self::{
    crew::CrewMember,
    guard::RunGuard,
    outcome::{CaseObservation, FaultOutcome},
    progress::CaseProgress,
    results::FaultResults,
    table::{AgentFault, FAULTS},
};
use crate::{install::Cache, run};

/// What is tried, and what is done with what was seen.
#[derive(Debug, clap::Args)]
pub struct FaultOptions {
    /// Where agents are installed
    #[arg(long, value_name = "DIR", default_value = "target/peers")]
    pub cache: PathBuf,
    /// These agents; all if none is named
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// These faults; all if none is named
    #[arg(long, value_name = "NAME")]
    pub fault: Vec<String>,
    /// Nudge's own agent and some faults
    #[arg(long)]
    pub quick: bool,
    /// The other agents also behind Nudge
    #[arg(long)]
    pub behind: bool,
    /// Write what was seen into the results and the page
    #[arg(long)]
    pub write: bool,
    /// How many cases at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
    pub jobs: u8,
}

/// Takes the agents through the faults and tells what came of it. An error if Nudge's own agent has a defect.
pub fn run(options: &FaultOptions) -> Result<()> {
    let nudge = run::nudge()?;
    let faults = chosen_faults(&options.fault, options.quick)?;
    let quick = [crew::NUDGE.to_owned()];
    let names = if options.quick && options.agent.is_empty() { &quick[..] } else { &options.agent };
    let cache = Cache::at(&options.cache)?;
    let mut crew = crew::crew(names, &nudge, options.behind)?;
    crew.retain(|member| is_installed(&cache, member));
    let began = Instant::now();
    let outcomes = play_all(options, &cache, &crew, &faults)?;
    println!("{}", report::tables(&outcomes));
    eprintln!("{} cases in {:.0?}", outcomes.len(), began.elapsed());
    if options.write {
        FaultResults::read()?.with(outcomes.clone()).write()?;
    }
    let own = outcomes.iter().filter(|outcome| outcome.agent == crew::NUDGE);
    let failed = own.filter(|outcome| !outcome.defects().is_empty()).count();
    if failed > 0 {
        bail!("the built-in agent has defects in {failed} cases");
    }
    Ok(())
}

fn chosen_faults(names: &[String], is_quick: bool) -> Result<Vec<&'static AgentFault>> {
    if let Some(unknown) = names.iter().find(|name| table::named(name).is_none()) {
        let known: Vec<_> = FAULTS.iter().map(|fault| format!("`{}`", fault.name)).collect();
        bail!("there is no fault `{unknown}`; there is: {}", known.join(", "));
    }
    let is_named = |fault: &&AgentFault| names.is_empty() || names.iter().any(|name| name == fault.name);
    let is_wanted = |fault: &&AgentFault| !is_quick || !names.is_empty() || fault.is_quick;
    Ok(FAULTS.iter().filter(is_named).filter(is_wanted).collect())
}

fn is_installed(cache: &Cache, member: &CrewMember) -> bool {
    if member.is_built_in() {
        return true;
    }
    let installed = cache.install(&member.recipe);
    if let Err(error) = &installed {
        eprintln!("skipped: {error:#}");
    }
    installed.is_ok()
}

/// Some cases at a time, each in a thread.
fn play_all(
    options: &FaultOptions,
    cache: &Cache,
    crew: &[CrewMember],
    faults: &[&'static AgentFault],
) -> Result<Vec<FaultOutcome>> {
    let guard = RunGuard::start(&guard::own_program()?)?;
    let cases: Vec<_> =
        crew.iter().flat_map(|member| faults.iter().map(move |fault| (member, *fault))).collect();
    let progress = CaseProgress::new(cases.len());
    let outcomes = Mutex::new(Vec::new());
    let waiting = Arc::new(Mutex::new(cases.into_iter().enumerate().rev().collect::<Vec<_>>()));
    thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                loop {
                    let Some((place, (member, fault))) = waiting.lock().pop() else { break };
                    let outcome = play_one(cache, &guard, member, fault);
                    progress.tell(member, &outcome);
                    outcomes.lock().push((place, outcome));
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner();
    outcomes.sort_by_key(|(place, _)| *place);
    Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
}

fn play_one(
    cache: &Cache,
    guard: &RunGuard,
    member: &CrewMember,
    fault: &'static AgentFault,
) -> FaultOutcome {
    let folder = format!("{}{}", member.recipe.folder(), if member.is_behind() { "-behind" } else { "" });
    let records = cache.root().join("faults").join(folder).join(fault.name.replace(' ', "-"));
    let play = || case::play(member, cache, guard, fault, &records);
    // A machine that is busy may have been too slow for it.
    let observed = match play().or_else(|_| play()) {
        Ok(tried) => CaseObservation::Tried(tried),
        Err(error) => CaseObservation::Skipped(why_not(&error)),
    };
    FaultOutcome {
        agent: member.recipe.name.clone(),
        version: member.recipe.version.clone(),
        behind: member.is_behind(),
        fault: fault.name.to_owned(),
        observed,
    }
}

/// Why a case could not be tried. What an agent has said is not for the page.
fn why_not(error: &anyhow::Error) -> String {
    if let Some(known) = error.downcast_ref::<strike::NotStruck>() {
        return known.to_string();
    }
    eprintln!("    {error:#}");
    "no turn could be begun".to_owned()
}
