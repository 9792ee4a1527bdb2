//! The whole way: a repository made with `git`, replayed over the interface that editors use.
#![allow(clippy::disallowed_methods, reason = "tests write files and start git")]

mod commits;
mod recordings;

use std::path::PathBuf;

use nudge_replay::{EagernessLevel, ReplayOptions, ScoredEngine};
use serde_json::Value;

fn options(git: PathBuf) -> ReplayOptions {
    ReplayOptions {
        git: vec![git],
        recordings: Vec::new(),
        limit: 100,
        seed: 1,
        jobs: 1,
        engine: ScoredEngine::Naive,
        eagerness: vec![EagernessLevel::Medium],
        by_line: false,
        typed: false,
        quiet: false,
        dump: None,
        progress: false,
    }
}

/// A report as it is printed, without what differs from one time to the next.
fn report(options: &ReplayOptions) -> Value {
    let report = nudge_replay::run(options).expect("it can be replayed");
    let mut json = serde_json::to_value(report).expect("a report is plain data");
    without_latency(&mut json);
    json
}

fn without_latency(json: &mut Value) {
    match json {
        Value::Object(members) => {
            members.remove("latency");
            members.values_mut().for_each(without_latency);
        }
        Value::Array(items) => items.iter_mut().for_each(without_latency),
        _ => {}
    }
}
