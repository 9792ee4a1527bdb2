//! What kind of agent a run has, and what the client tells it to play.

use std::path::Path;

use super::Dice;

/// How it is steered.
const TIERS: [&str; 9] = [
    "",
    "--v2",
    "--inject",
    "--v2 --inject",
    "--steering",
    "--v2 --steering",
    "--v2 --prompt-steering",
    "--steering-fails",
    "--echo",
];
/// How it remembers a session when it is started again.
const MEMORIES: [&str; 5] = [
    "",
    "--resume --memory MEMORY",
    "--load --memory MEMORY",
    "--load --late-replay --memory MEMORY",
    "--load",
];

/// An agent's options, and how Nudge runs it.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) options: Vec<String>,
    pub(super) isolate: bool,
}

impl Kind {
    pub(super) fn roll(dice: &mut Dice, place: &Path) -> Self {
        let tier = TIERS[dice.index(TIERS.len())];
        let memory = MEMORIES[dice.index(MEMORIES.len())];
        let memory = if tier.contains("--v2") {
            // It always has `session/resume`.
            ["", "--memory MEMORY"][usize::from(memory.contains("MEMORY"))]
        } else {
            memory
        };
        let ids = ["", "", "", "--ids counter"][dice.index(4)];
        let file = place.join("memory");
        let options =
            [tier, memory, ids].join(" ").replace("MEMORY", file.to_str().expect("its name is text"));
        let options = options.split_whitespace().map(str::to_owned).collect();
        Self { options, isolate: dice.below(6) == 0 }
    }
}

/// What a message has the agent play behind its first words. `may_die` says whether the agent may come to its end by it.
pub(super) fn script(dice: &mut Dice, number: usize, may_die: bool) -> String {
    let calm = [
        String::new(),
        String::new(),
        "; sleep 15; say on".to_owned(),
        "; sleep 150; say on".to_owned(),
        format!("; tool t{number} 15; say done"),
        format!("; tool t{number} 200; say done"),
        format!("; tool t{number} 1; tool u{number} 20"),
        format!("; ask p{number}; say asked"),
        "; flood 400; say flooded".to_owned(),
        "; garbage; say garbled".to_owned(),
        "; twice; unknown".to_owned(),
        "; deaf 40; say deaf".to_owned(),
        "; ext; note; odd; plan; mode code".to_owned(),
        "; fail".to_owned(),
    ];
    let deadly = [
        "; sleep 5; die".to_owned(),
        format!("; tool t{number} 5; die"),
        "; flood 300; die".to_owned(),
        "; ask p; die".to_owned(),
        "; hang".to_owned(),
    ];
    if may_die && dice.below(6) == 0 {
        return deadly[dice.index(deadly.len())].clone();
    }
    calm[dice.index(calm.len())].clone()
}

/// Whether the agent comes to its end by this.
pub(super) fn is_deadly(script: &str) -> bool {
    script.ends_with("die") || script.ends_with("hang")
}
