//! Whether anything gets lost on the way: every frame on one side of Nudge is matched with its frame on the other.
//!
//! A frame is *exact* if it came out byte for byte, but for the id of a request, *equal* if it came out as the same
//! JSON, and *by rule* if one of the `rules` says why it has no match. Anything else is left over. What was converted
//! between the versions has no match either; then every value in it must be somewhere on the other side (`contents`).

mod contents;
mod frame;
mod rules;

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result};

use crate::{
    chat::Version,
    steps::Verdict,
    tee::{self, Record, Side},
};
use contents::Contents;
use frame::Frame;

/// Only the id of the session differs: the agent forgot the session and was given a new one.
const RENAMED: &str = "a session keeps its id towards clients";

/// How many frames went which way.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The same bytes on both sides.
    pub exact: usize,
    /// The same JSON on both sides.
    pub equal: usize,
    /// On one side only, with the reason.
    pub by_rule: BTreeMap<String, usize>,
    /// On one side only, without.
    pub left_over: BTreeMap<String, usize>,
}

/// Compares the client's side with what was recorded of the agent's.
pub fn verdict(client: &[Record], taps: &Path, version: Version) -> Result<Verdict> {
    let agent = tee::records(taps)?;
    let tally = compare(client, &agent, version).context("the two sides cannot be compared")?;
    let rules: usize = tally.by_rule.values().sum();
    eprintln!("    {} exact, {} equal, {rules} by rule: {:?}", tally.exact, tally.equal, tally.by_rule);
    if tally.left_over.is_empty() {
        return Ok(Verdict::Pass);
    }
    let left: Vec<_> = tally.left_over.iter().map(|(what, count)| format!("{count} × {what}")).collect();
    Ok(Verdict::Fail(format!("left over: {}", left.join(", "))))
}

/// Compares the two sides of Nudge.
pub fn compare(client: &[Record], agent: &[Record], version: Version) -> Option<Tally> {
    let client = frame::all(client);
    let agent = frame::all(agent);
    let is_converted = rules::agent_version(&agent)? != version;
    let mut tally = Tally::default();
    for to in [Side::Agent, Side::Client] {
        let towards = |frames: &[Frame]| frames.iter().filter(|frame| frame.to == to).cloned().collect();
        let (near, far): (Vec<Frame>, Vec<Frame>) = (towards(&client), towards(&agent));
        // Where it has to come out.
        let (out, source) =
            if to == Side::Client { (&near, rules::At::Agent) } else { (&far, rules::At::Client) };
        let contents = Contents::of(out);
        let (near, far) = tally.match_up(near, far);
        let sides = [(near, rules::At::Client), (far, rules::At::Agent)];
        for (frame, at) in sides.iter().flat_map(|(frames, at)| frames.iter().map(move |frame| (frame, *at)))
        {
            let lost = if at == source { contents.lost(frame) } else { Vec::new() };
            tally.explain(frame, at, is_converted, &lost);
        }
    }
    Some(tally)
}

impl Tally {
    /// Takes out the pairs; gives what has no match on each side.
    fn match_up(&mut self, near: Vec<Frame>, far: Vec<Frame>) -> (Vec<Frame>, Vec<Frame>) {
        let (near, far, exact) = paired(near, far, Frame::bytes);
        let (near, far, equal) = paired(near, far, Frame::meaning);
        let (near, far, renamed) = paired(near, far, Frame::meaning_in_any_session);
        self.exact += exact;
        self.equal += equal;
        if renamed > 0 {
            *self.by_rule.entry(RENAMED.to_owned()).or_default() += renamed;
        }
        (near, far)
    }

    fn explain(&mut self, frame: &Frame, at: rules::At, is_converted: bool, lost: &[String]) {
        let kind = frame.kind();
        let side = if at == rules::At::Client { "client" } else { "agent" };
        match rules::reason(frame, at, is_converted) {
            Some(rules::CONVERTED) if !lost.is_empty() => {
                let what = format!("{kind} (at the {side}), whose conversion loses {}", lost.join(" and "));
                *self.left_over.entry(what).or_default() += 1;
            }
            Some(reason) => *self.by_rule.entry(reason.to_owned()).or_default() += 1,
            None => *self.left_over.entry(format!("{kind} (at the {side})")).or_default() += 1,
        }
    }
}

/// Pairs frames that have the same key, each once; gives those without and the number of pairs.
fn paired(
    near: Vec<Frame>,
    far: Vec<Frame>,
    key: impl Fn(&Frame) -> String,
) -> (Vec<Frame>, Vec<Frame>, usize) {
    let mut waiting: BTreeMap<String, Vec<Frame>> = BTreeMap::new();
    for frame in far.into_iter().rev() {
        waiting.entry(key(&frame)).or_default().push(frame);
    }
    let mut alone = Vec::new();
    let mut pairs = 0;
    for frame in near {
        match waiting.get_mut(&key(&frame)).and_then(Vec::pop) {
            Some(_) => pairs += 1,
            None => alone.push(frame),
        }
    }
    (alone, waiting.into_values().flatten().collect(), pairs)
}
