//! A small ACP agent without a model: what a prompt says is the script it plays.
//!
//! It speaks version 1, or with `--v2` the draft of version 2, and offers what its options name, so that a test can put
//! any kind of agent behind Nudge. The commands of a prompt are listed with `script`'s `Command`; a text block with line
//! breaks is context that is remembered and not played.
//!
//! | option | what it does |
//! | --- | --- |
//! | `--v2` | speaks version 2, and nothing else |
//! | `--steering`, `--steering-fails` | takes `_session/steering`, or says that it failed |
//! | `--prompt-steering` | takes `session/prompt` while a turn runs (version 2) |
//! | `--inject` | takes `session/inject` |
//! | `--drains` | asks after each tool for what the user has said meanwhile, by `craft/drainMidTurnQueue` |
//! | `--nes` | has suggestions of its own (`nes/*`, `document/*`) |
//! | `--resume --load --list --close --delete --fork` | has that session method |
//! | `--late-replay` | replays a session that is loaded only after the answer |
//! | `--memory FILE` | sessions outlive the process in FILE |
//! | `--echo` | repeats what the user says (version 2 always does) |
//! | `--bold` | asks for files and terminals whether or not the client offers them |
//! | `--gemini` | calls itself `gemini-cli`, which is known to forget a turn that is cancelled |
//! | `--rude` | its name, what it writes to standard error, and its session ids hold what commands a terminal |
//! | `--slow-start MS` | takes its time to answer `initialize` |
//! | `--start-after FILE` | answers `initialize` only when FILE is there |
//! | `--fail-start N FILE` | ends with status 3 the first N times, counted in FILE |
//! | `--log FILE` | writes down every frame: the process id, `<` or `>`, the frame |
//! | `--providers` | has `providers/list`, `set` and `disable` |
//! | `--terminal-sign-in FILE` | begins no session unless FILE was there when it was started; users sign in on a terminal, by `--log-in` |
//! | `--log-in` | asks for the password on its terminal, `sesame`, makes the file and ends |
//! | `--ids counter` or `--ids ID` | session ids are `s-1`, `s-2` …, or always ID |

mod agent;
mod input;
mod lifecycle;
mod log_in;
mod options;
mod output;
mod play;
mod script;
mod session;
mod shape;

use std::{
    io::{BufRead, Write},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use agent::Agent;
use options::Options;

/// How one life of the agent is tied to the world.
pub struct Body {
    /// What it calls itself in ids and in the log; another in each life.
    pub name: u32,
    /// Where it speaks.
    pub output: Box<dyn Write + Send>,
    /// Ends it when it is told to die.
    pub die: Box<dyn Fn() + Send + Sync>,
}

/// Runs the agent on standard input and output until the input ends.
pub fn run(args: impl Iterator<Item = String>) -> ExitCode {
    let die = || {
        eprintln!("last words");
        std::process::exit(3);
    };
    let body = Body { name: std::process::id(), output: Box::new(std::io::stdout()), die: Box::new(die) };
    serve(args, std::io::stdin().lock(), body)
}

/// As [`run`], on other streams: in a thread, for one.
pub fn serve(args: impl Iterator<Item = String>, mut input: impl BufRead, body: Body) -> ExitCode {
    let options = match Options::parse(args) {
        Ok(options) => options,
        Err(what) => {
            eprintln!("scripted-agent: {what}");
            return ExitCode::from(2);
        }
    };
    if options.has("rude") {
        eprintln!("{}", shape::RUDE);
    }
    if options.fails_to_start() {
        eprintln!("scripted-agent: not ready yet");
        return ExitCode::from(3);
    }
    if options.has("log-in") {
        return log_in::ask(&options, &mut input, body);
    }
    let agent = Arc::new(Agent::new(options, body));
    let mut line = Vec::new();
    while matches!(input.read_until(b'\n', &mut line), Ok(1..)) {
        agent.take(&line);
        line.clear();
    }
    while agent.is_hung() {
        std::thread::sleep(Duration::from_hours(1));
    }
    if !agent.is_dead() {
        agent.note("the input has ended");
    }
    ExitCode::SUCCESS
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Body").field("name", &self.name).finish_non_exhaustive()
    }
}
