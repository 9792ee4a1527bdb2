//! Where rules and blocks apply in a document.

use std::{collections::BTreeMap, ops::Range};

use memchr::memchr2;
use nudge_syntax::{
    AnalysedDocument,
    token::{Token, stands_alone},
};
use nudge_text::history::LineChange;
use rustc_hash::FxHashMap;

use super::{
    apply::{CutLine, RuleMatch, matches},
    block::{BlockSite, LineBlock},
    rule::{RewriteRule, RuleShape},
};
use crate::predictors::evidence::{DocumentEvidence, UserArrival};

/// Lines with an anchor that are looked at in one document, the nearest to the cursor.
const MAX_LINES: usize = 200;
/// Occurrences past which an anchor is not even counted.
const MAX_HITS: usize = 4000;
/// Lines of the same build are looked for this far from the cursor.
const NEIGHBOURS: usize = 24;

/// A rule that applies to a line.
pub(crate) struct RuleHit {
    pub(crate) rule: usize,
    pub(crate) matches: Vec<RuleMatch>,
}

/// The lines of a document that rules apply to.
pub(crate) struct RuleMatches<'s> {
    pub(crate) lines: BTreeMap<usize, Vec<RuleHit>>,
    /// The lines that were looked at.
    pub(crate) cuts: FxHashMap<usize, CutLine<'s>>,
}

/// Looks for the lines of a document that rules apply to.
pub(crate) fn lines<'s>(
    source: &'s AnalysedDocument,
    rules: &[RewriteRule],
    taken: &[Range<usize>],
    near: Option<usize>,
) -> RuleMatches<'s> {
    let mut found = RuleMatches { lines: BTreeMap::new(), cuts: FxHashMap::default() };
    // Rules of one change often have an anchor in common.
    let mut known: FxHashMap<(&str, bool), Vec<usize>> = FxHashMap::default();
    for (number, rule) in rules.iter().enumerate() {
        let alone = rule.shape != RuleShape::Part;
        let found_lines = || lines_with(source, &rule.anchor, alone, near.unwrap_or(0));
        let mut lines = if rule.is_old {
            near.into_iter().collect()
        } else {
            known.entry((&rule.anchor, alone)).or_insert_with(found_lines).clone()
        };
        if let (RuleShape::Line, Some(near), false) = (rule.shape, near, rule.is_old) {
            lines
                .extend(near.saturating_sub(NEIGHBOURS)..(near + NEIGHBOURS).min(source.text().line_count()));
            lines.sort_unstable();
            lines.dedup();
        }
        for line in lines {
            if is_taken(line, taken) {
                continue;
            }
            let cut = found.cuts.entry(line).or_insert_with(|| CutLine::new(line_of(source, line)));
            let hits = matches(rule, cut);
            if hits.is_empty() {
                continue;
            }
            let narrowed = narrowed(rule, cut, &hits);
            let entry = found.lines.entry(line).or_default();
            entry.push(RuleHit { rule: number, matches: hits });
            entry.extend(narrowed.map(|matches| RuleHit { rule: number, matches }));
        }
    }
    found
}

/// Those places of a line that have the same neighbour as an example, if not all have.
fn narrowed(rule: &RewriteRule, line: &CutLine<'_>, hits: &[RuleMatch]) -> Option<Vec<RuleMatch>> {
    if hits.len() < 2 {
        return None;
    }
    let tokens = line.tokens();
    let is_same = |hit: &&RuleMatch| {
        let mut left = tokens.iter().rev().filter(|token| token.range.end <= hit.range.start);
        let right = tokens.iter().find(|token| token.range.start >= hit.range.end);
        let text = |token: Option<&Token>| token.map(|token| token.text(line.text));
        let (nearest, next, right) = (text(left.next()), text(left.next()), text(right));
        let is = |known: Option<&String>, there: Option<&str>| known.map(String::as_str) == there;
        rule.examples.iter().any(|example| {
            is(example.left.first(), nearest)
                && (is(example.left.get(1), next) || is(example.right.first(), right))
        })
    };
    let same: Vec<RuleMatch> = hits.iter().filter(is_same).cloned().collect();
    (!same.is_empty() && same.len() < hits.len()).then_some(same)
}

/// The text of a line, without its break.
fn line_of(source: &AnalysedDocument, line: usize) -> &str {
    let text = source.text();
    source.content().get(text.line_start(line)..text.line_end(line)).unwrap_or_default()
}

/// The places of a document that a block applies to. At the cursor it is tried even if no line is the same.
pub(crate) fn places(
    source: &AnalysedDocument,
    block: &LineBlock,
    taken: &[Range<usize>],
    around: &DocumentEvidence,
    is_repeated: bool,
) -> Vec<BlockSite> {
    let text = source.text();
    let get = |line: usize| (line < text.line_count()).then(|| text.line(line).into_owned());
    let mut found: Vec<BlockSite> = Vec::new();
    let mut starts: Vec<usize> = Vec::new();
    for (anchor, offset) in block.anchors() {
        let lines = lines_with(source, anchor, false, 0).into_iter();
        let same = lines.filter(|line| text.line(*line).trim() == anchor);
        starts.extend(same.filter_map(|line| line.checked_add_signed(-offset)));
    }
    let comes = block.before.is_empty();
    let is_top = comes && block.above.is_empty() && around.cursor == 0;
    let is_tried = if comes && !is_top { around.arrival == UserArrival::End } else { around.has_come() };
    let at = is_tried.then(|| around.cursor + usize::from(comes && !is_top));
    for start in starts.into_iter().chain(at) {
        let end = start + block.before.len().max(1);
        if (start..end).any(|line| is_taken(line, taken)) || found.iter().any(|site| site.line == start) {
            continue;
        }
        found.extend(block.at(start, &get, (is_repeated || is_top) && Some(start) == at));
    }
    found
}

/// The lines that hold a text, each once, in order; only those nearest to a line if they are many.
fn lines_with(source: &AnalysedDocument, anchor: &str, alone: bool, near: usize) -> Vec<usize> {
    let (text, content) = (source.text(), source.content());
    // The first place on each line.
    let mut places: Vec<usize> = Vec::new();
    for at in source.find(anchor).take(MAX_HITS) {
        if alone && !stands_alone(content, &(at..at + anchor.len())) {
            continue;
        }
        let between = places.last().map(|last| &content.as_bytes()[*last..at]);
        if between.is_none_or(|between| memchr2(b'\n', b'\r', between).is_some()) {
            places.push(at);
        }
    }
    let mut nearest = &places[..];
    if places.len() > MAX_LINES {
        let near = text.line_start(near);
        let first = places.partition_point(|place| *place < near).saturating_sub(MAX_LINES / 4);
        let first = first.min(places.len() - MAX_LINES);
        nearest = &places[first..first + MAX_LINES];
    }
    nearest.iter().map(|place| text.line_of(*place)).collect()
}

/// The lines that recent changes have just written: nothing is done to them again.
pub(crate) fn taken(source: &AnalysedDocument, changes: &[LineChange]) -> Vec<Range<usize>> {
    changes
        .iter()
        .filter(|change| *change.uri == **source.uri())
        .map(|change| change.line..change.line + change.after_lines)
        .collect()
}

pub(crate) fn is_taken(line: usize, taken: &[Range<usize>]) -> bool {
    taken.iter().any(|range| range.contains(&line))
}
