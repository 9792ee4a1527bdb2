//! What can be counted about a place where a rule or a block applies.

use rustc_hash::FxHashSet;

use super::{
    apply::{Cut, Match},
    block::{Block, BlockSite},
    rule::{Rule, Shape},
};
use crate::{
    predictors::evidence::{self, Around, Evidence, Spread, flag, small},
    token::Token,
};

/// Examples of a rule that a line is compared with as a whole.
const COMPARED: usize = 8;

/// Words, each once.
pub(crate) type Words<'a> = FxHashSet<&'a str>;

/// A line that rules apply to.
pub(crate) struct Place<'a> {
    pub(crate) line: usize,
    pub(crate) cut: &'a Cut<'a>,
    words: Words<'a>,
}

impl<'a> Place<'a> {
    pub(crate) fn new(line: usize, cut: &'a Cut<'a>) -> Self {
        Self { line, cut, words: words_of(cut.text.trim()) }
    }
}

/// The words of each example of a rule, which are the same for every line it is tried on.
pub(crate) fn example_words(rule: &Rule) -> Vec<Words<'_>> {
    rule.examples.iter().take(COMPARED).map(|example| words_of(&example.before)).collect()
}

pub(crate) fn rule_evidence(
    rule: &Rule,
    examples: &[Words<'_>],
    hit: &[Match],
    place: &Place<'_>,
    around: &Around,
    spread: Spread,
) -> Evidence {
    let first = &hit[0];
    let (line, tokens) = (place.cut.text, place.cut.tokens());
    let trimmed = line.trim();
    let indent = line.len() - line.trim_start().len();
    let mut changes: Vec<usize> = rule.examples.iter().map(|example| example.change).collect();
    changes.dedup();
    let text = |token: &Token| token.text(line);
    let left: Vec<&str> =
        tokens.iter().rev().filter(|token| token.range.end <= first.range.start).take(4).map(text).collect();
    let right: Vec<&str> =
        tokens.iter().filter(|token| token.range.start >= first.range.end).take(4).map(text).collect();
    let same = |a: &[String], b: &[&str]| {
        let equal = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        // Both at the edge of the line: all that could be the same is.
        if equal == a.len() && equal == b.len() { 4 } else { equal }
    };
    let best = |f: &dyn Fn(&super::rule::Example) -> usize| rule.examples.iter().map(f).max().unwrap_or(0);
    let left = best(&|example| same(&example.left, &left));
    let right = best(&|example| same(&example.right, &right));
    let newest = changes.iter().max().copied().unwrap_or(0);
    let mut evidence = vec![
        (shape_name(rule.shape), 1.0),
        ("residue", flag(rule.examples.iter().any(|example| example.residue))),
        ("left", small(left) / 4.0),
        ("right", small(right) / 4.0),
        ("same line", flag(rule.examples.iter().any(|example| example.before == trimmed))),
        ("soft same", small(first.same).min(4.0) / 4.0),
        ("soft different", small(first.different).min(4.0) / 4.0),
        ("similar", best_similarity(examples, &place.words)),
        (
            "comment differs",
            flag(rule.examples.iter().all(|example| is_comment(&example.before) != is_comment(trimmed))),
        ),
        ("comment", flag(is_comment(trimmed))),
        ("support", small(changes.len().min(12))),
        ("examples", small(rule.examples.len().min(12))),
        ("grows", small(first.text.len().min(80)) - small(first.range.len().min(80))),
        ("indent", flag(rule.examples.iter().any(|example| example.indent == indent))),
        ("hard", small(rule.hard_length().min(30))),
        ("pattern", small(rule.pattern.len().min(30))),
        ("length", small(trimmed.len().min(160)) / 10.0),
        ("alone", flag(rule.examples.iter().all(|example| example.alone))),
        ("at cursor", around.at_cursor(place.line)),
    ];
    evidence::of_place(&mut evidence, place.line, around, spread, newest);
    evidence
}

pub(crate) fn block_evidence(
    block: &Block,
    site: &BlockSite,
    around: &Around,
    spread: Spread,
    support: usize,
) -> Evidence {
    let shape = if block.before.is_empty() {
        "insert"
    } else if block.after.is_empty() {
        "delete"
    } else {
        "block"
    };
    let (same, different) = (site.mapping.same, site.mapping.different);
    // New lines go below the line of the cursor.
    let line = site.line.checked_sub(usize::from(block.before.is_empty()));
    let mut evidence = vec![
        (shape, 1.0),
        ("at cursor", flag(line == Some(around.cursor) && around.has_come())),
        ("block blind", flag(site.is_blind)),
        ("block different", small(different) / small((same + different).max(1))),
        ("block support 2", flag(support >= 2)),
        ("block support 3", flag(support >= 3)),
        ("block above", small(site.above) / 3.0),
        ("block below", small(site.below) / 3.0),
        ("block mapped", flag(site.mapping.different > 0)),
        ("block lines 2", flag(block.before.len() >= 2)),
        ("block after 3", flag(block.after.len() >= 3)),
    ];
    evidence::of_place(&mut evidence, site.line, around, spread, block.change);
    evidence
}

/// How much of a line is that of an example, by its tokens: from 0 to 1.
fn best_similarity(examples: &[Words<'_>], own: &Words<'_>) -> f32 {
    let of = |other: &Words<'_>| {
        let common = own.intersection(other).count();
        small(common) / small((own.len() + other.len() - common).max(1))
    };
    examples.iter().map(of).fold(0.0, f32::max)
}

/// The different words of a line.
pub(crate) fn words_of(line: &str) -> Words<'_> {
    line.split(|c| !crate::token::is_word(c)).filter(|word| !word.is_empty()).collect()
}

fn is_comment(line: &str) -> bool {
    ["//", "#", "*", "/*", "--", "<!--"].iter().any(|start| line.starts_with(start))
        && !line.starts_with("#[")
}

fn shape_name(shape: Shape) -> &'static str {
    match shape {
        Shape::Segment => "segment",
        Shape::Span => "span",
        Shape::Insertion => "insertion",
        Shape::Call => "call",
        Shape::CaseVariant => "case",
        Shape::Part => "part",
        Shape::Line => "line",
        Shape::Beside => "beside",
    }
}
