//! What can be counted about a place where a rule or a block applies.

use nudge_syntax::{AnalysedDocument, token::Token};
use rustc_hash::FxHashSet;

use super::{
    analogy::LineAnalogy,
    apply::{CutLine, RuleMatch},
    block::{BlockSite, LineBlock},
    rule::{self, RewriteRule, RuleShape},
};
use crate::predictors::evidence::{self, DocumentEvidence, PlaceEvidence, RuleSpread, flag, small};

/// Examples of a rule that a line is compared with as a whole.
const COMPARED: usize = 8;

/// Words, each once.
pub(crate) type WordSet<'a> = FxHashSet<&'a str>;

/// A line that rules apply to.
pub(crate) struct RulePlace<'a> {
    pub(crate) line: usize,
    pub(crate) cut: &'a CutLine<'a>,
    words: WordSet<'a>,
}

impl<'a> RulePlace<'a> {
    pub(crate) fn new(line: usize, cut: &'a CutLine<'a>) -> Self {
        Self { line, cut, words: words_of(cut.text.trim()) }
    }
}

/// How the names of a rule or a block stand in a document.
#[derive(Default)]
pub(crate) struct NameUsage<'a> {
    /// The name that comes.
    come: Option<&'a str>,
    /// Where the name that goes stands beside the places it goes from.
    still: usize,
    /// Where the name that comes stands already.
    known: usize,
    /// The lines where it was done by hand, in order.
    pub(crate) done: Vec<usize>,
}

/// Names are not counted any further than this.
const MAX_USES: usize = 64;

impl<'a> NameUsage<'a> {
    /// Counts the names that go and come; `places` are where the first goes from.
    pub(crate) fn of(
        source: &AnalysedDocument,
        (gone, come): (Option<&str>, Option<&'a str>),
        places: usize,
        done: Vec<usize>,
    ) -> Self {
        let count = |name: Option<&str>| name.map_or(0, |name| source.occurrences(name, MAX_USES).len());
        Self { come, still: count(gone).saturating_sub(places), known: count(come), done }
    }

    fn tell(&self, evidence: &mut PlaceEvidence, line: usize) {
        let nearest = self.done.iter().map(|done| done.abs_diff(line)).min();
        evidence.extend([
            ("still", (small(self.still) + 1.0).log2()),
            ("known", (small(self.known) + 1.0).log2()),
            ("from example", nearest.map_or(20.0, |nearest| (small(nearest) + 1.0).log2())),
        ]);
    }
}

/// The words of each example of a rule, which are the same for every line it is tried on.
pub(crate) fn example_words(rule: &RewriteRule) -> Vec<WordSet<'_>> {
    rule.examples.iter().take(COMPARED).map(|example| words_of(&example.before)).collect()
}

pub(crate) fn rule_evidence(
    rule: &RewriteRule,
    examples: &[WordSet<'_>],
    hit: &[RuleMatch],
    place: &RulePlace<'_>,
    around: &DocumentEvidence,
    (spread, usage): (RuleSpread, &NameUsage<'_>),
) -> PlaceEvidence {
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
    let best =
        |f: &dyn Fn(&super::rule::RuleExample) -> usize| rule.examples.iter().map(f).max().unwrap_or(0);
    let left = best(&|example| same(&example.left, &left));
    let right = best(&|example| same(&example.right, &right));
    let is_quoted = rule::is_quoted(&line[..first.range.start]);
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
        ("import", flag(is_import(trimmed))),
        ("quoted", flag(is_quoted)),
        ("quoted differs", flag(rule.examples.iter().all(|example| example.is_quoted != is_quoted))),
        ("has new", flag(usage.come.is_some_and(|name| place.words.contains(name)))),
        ("matches", small(hit.len().min(6))),
    ];
    usage.tell(&mut evidence, place.line);
    evidence::of_place(&mut evidence, place.line, around, spread, newest);
    evidence
}

pub(crate) fn block_evidence(
    block: &LineBlock,
    site: &BlockSite,
    around: &DocumentEvidence,
    (spread, usage): (RuleSpread, &NameUsage<'_>),
    support: usize,
) -> PlaceEvidence {
    let shape = if block.before.is_empty() {
        "insert"
    } else if block.after.is_empty() {
        "delete"
    } else {
        "block"
    };
    let (same, different) = (site.mapping.same, site.mapping.different);
    // New lines go below the line of the cursor, but for those at the top.
    let line = site.line.saturating_sub(usize::from(block.before.is_empty()));
    let mut evidence = vec![
        (shape, 1.0),
        ("at cursor", flag(line == around.cursor && around.has_come())),
        ("block blind", flag(site.is_blind)),
        ("block different", small(different) / small((same + different).max(1))),
        ("block support 2", flag(support >= 2)),
        ("block support 3", flag(support >= 3)),
        ("block above", small(site.above) / 3.0),
        ("block below", small(site.below) / 3.0),
        ("block mapped", flag(site.mapping.different > 0)),
        ("block lines 2", flag(block.before.len() >= 2)),
        ("block after 3", flag(block.after.len() >= 3)),
        ("block length", (small(site.text.iter().map(|line| line.trim().len()).sum()) + 1.0).log2()),
        ("import", flag(block.before.iter().chain(&block.after).all(|line| is_import(line.trim())))),
    ];
    usage.tell(&mut evidence, site.line);
    evidence::of_place(&mut evidence, site.line, around, spread, block.change);
    evidence
}

/// `support` is how many changes make the same of the place, of how many that make something of it.
pub(crate) fn analogy_evidence(
    block: &LineBlock,
    analogy: &LineAnalogy,
    around: &DocumentEvidence,
    usage: &NameUsage<'_>,
    (support, found): (usize, usize),
) -> PlaceEvidence {
    let is_alone = block.before.len() == 1 && block.after.len() == 1;
    let mut evidence = vec![
        ("analogy", 1.0),
        ("at cursor", 1.0),
        ("analogy same", analogy.same),
        ("analogy same gone", analogy.same_gone),
        ("analogy holes", small(analogy.holes)),
        ("analogy dropped", small(analogy.dropped)),
        ("analogy support", small(support)),
        ("analogy others", small(found - support)),
        ("analogy line", flag(is_alone)),
        ("analogy lines", flag(analogy.lines == block.before.len())),
    ];
    usage.tell(&mut evidence, around.cursor);
    evidence::of_place(&mut evidence, around.cursor, around, RuleSpread::default(), block.change);
    evidence
}

/// How much of a line is that of an example, by its tokens: from 0 to 1.
fn best_similarity(examples: &[WordSet<'_>], own: &WordSet<'_>) -> f32 {
    let of = |other: &WordSet<'_>| {
        let common = own.intersection(other).count();
        small(common) / small((own.len() + other.len() - common).max(1))
    };
    examples.iter().map(of).fold(0.0, f32::max)
}

/// The different words of a line.
pub(crate) fn words_of(line: &str) -> WordSet<'_> {
    line.split(|c| !nudge_syntax::token::is_word(c)).filter(|word| !word.is_empty()).collect()
}

fn is_comment(line: &str) -> bool {
    ["//", "#", "*", "/*", "--", "<!--"].iter().any(|start| line.starts_with(start))
        && !line.starts_with("#[")
}

fn is_import(line: &str) -> bool {
    const STARTS: [&str; 6] = ["import ", "from ", "use ", "pub use ", "using ", "#include "];
    STARTS.iter().any(|start| line.starts_with(start)) || line.contains("= require(")
}

fn shape_name(shape: RuleShape) -> &'static str {
    match shape {
        RuleShape::Segment => "segment",
        RuleShape::Span => "span",
        RuleShape::Insertion => "insertion",
        RuleShape::Call => "call",
        RuleShape::CaseVariant => "case",
        RuleShape::Part => "part",
        RuleShape::Line => "line",
        RuleShape::Beside => "beside",
        RuleShape::Affix => "affix",
    }
}
