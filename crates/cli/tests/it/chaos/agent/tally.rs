//! What was done and what came of it, in numbers.

use std::{collections::BTreeMap, fmt, time::Duration};

use crate::chaos::world::Told;

#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) runs: u64,
    /// What the agent was put through, and Nudge.
    pub(super) harm: BTreeMap<&'static str, u64>,
    pub(super) told: Told,
    pub(super) prompts: u64,
    pub(super) requests: u64,
    pub(super) answers: u64,
    /// Delivered messages that no process of the agent has heard, where only the agent died and where Nudge did too.
    pub(super) unheard: [u64; 2],
    /// The longest it took until nothing was left of a process that was killed, and of one that ended by itself.
    pub(super) longest: [Duration; 2],
}

impl Tally {
    pub(super) fn harmed(&mut self, how: &'static str, times: u64) {
        *self.harm.entry(how).or_default() += times;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        for (how, times) in &other.harm {
            self.harmed(how, *times);
        }
        self.told.add(&other.told);
        self.prompts += other.prompts;
        self.requests += other.requests;
        self.answers += other.answers;
        for (mine, theirs) in self.unheard.iter_mut().zip(other.unheard) {
            *mine += theirs;
        }
        for (mine, theirs) in self.longest.iter_mut().zip(other.longest) {
            *mine = theirs.max(*mine);
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, harm, told, prompts, requests, answers, unheard, longest } = self;
        writeln!(f, "{runs} runs with an agent: {told}")?;
        writeln!(f, "  {requests} requests, {answers} answered, {prompts} of them prompts")?;
        let harm: Vec<_> = harm.iter().map(|(how, times)| format!("{how} {times}")).collect();
        writeln!(f, "  harm: {}", harm.join(", "))?;
        let [agent, nudge] = unheard;
        writeln!(
            f,
            "  delivered and not heard: {agent} where the agent died over it, {nudge} where nudge did too"
        )?;
        write!(f, "  all processes gone within {:?} of a kill, {:?} of an end", longest[0], longest[1])
    }
}
