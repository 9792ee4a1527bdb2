//! All rules of the recent changes, each with its examples.

use nudge_text::history::Change;
use rustc_hash::FxHashMap;

use super::{
    block::Block,
    rule::{Output, Pattern, Rule, Shape, learn_line},
};
use crate::case;

/// How many of the newest changes are looked at.
pub(crate) const RECENT: usize = 24;
/// How many of the newest changes are repeated.
const FRESH: usize = 5;
/// The same for the bolder generalisations.
const FRESHEST: usize = 2;
/// Rules that are tried.
const MAX_RULES: usize = 32;
/// Changes of more lines teach no rules for single lines.
const MAX_LINES: usize = 40;

/// What the recent changes teach.
#[derive(Default)]
pub(crate) struct Book {
    pub(crate) rules: Vec<Rule>,
    pub(crate) blocks: Vec<Block>,
}

impl Book {
    /// Learns from the changes, the newest first; older examples of a known rule support it.
    pub(crate) fn learn(changes: &[Change]) -> Self {
        let mut book = Self::default();
        let mut known: FxHashMap<(Vec<Pattern>, Vec<Output>), usize> = FxHashMap::default();
        let from = changes.len().saturating_sub(RECENT);
        for (number, change) in changes.iter().enumerate().skip(from).rev() {
            if is_undone(change, &changes[from..]) {
                continue;
            }
            // Older changes support what was done since; by themselves they are not repeated any more.
            let is_fresh = changes.len() - number <= FRESH;
            let lines = lines_of(change).filter(|(before, _)| is_fresh || book.may_know(before));
            let rules: Vec<Rule> =
                lines.flat_map(|(before, after)| learn_line(before, after, number)).collect();
            for rule in rules {
                match known.get(&rule.key()) {
                    Some(&at) => book.rules[at].examples.extend(rule.examples),
                    None if book.rules.len() < MAX_RULES
                        && changes.len() - number <= freshness(rule.shape) =>
                    {
                        known.insert(rule.key(), book.rules.len());
                        book.rules.push(rule);
                    }
                    None => {}
                }
            }
            if changes.len() - number <= 2 * FRESH {
                book.blocks.extend(Block::learn(change, number));
            }
        }
        book
    }

    /// Whether a known rule might be learned from this line, too. To learn takes far longer than to look.
    fn may_know(&self, before: &str) -> bool {
        let mut letters = None;
        self.rules.iter().any(|rule| {
            // A single name may have been in another spelling here.
            if rule.pattern.len() == 1 {
                let letters = letters.get_or_insert_with(|| case::letters(before));
                return !rule.anchor.is_ascii() || letters.contains(&case::letters(&rule.anchor));
            }
            before.contains(&rule.anchor)
        })
    }
}

fn freshness(shape: Shape) -> usize {
    match shape {
        Shape::CaseVariant | Shape::Part | Shape::Line => FRESHEST,
        Shape::Segment | Shape::Span | Shape::Insertion | Shape::Call => FRESH,
    }
}

/// Whether another change is the reverse of this one: together they are nothing.
fn is_undone(change: &Change, changes: &[Change]) -> bool {
    changes
        .iter()
        .any(|other| other.uri == change.uri && other.before == change.after && other.after == change.before)
}

/// The lines of a change that became other lines, one by one.
fn lines_of(change: &Change) -> impl Iterator<Item = (&str, &str)> {
    let paired = change.before_lines == change.after_lines && change.before_lines <= MAX_LINES;
    let before = change.before.split('\n');
    let pairs = before.zip(change.after.split('\n')).filter(|(before, after)| before.trim() != after.trim());
    pairs.take(if paired { MAX_LINES } else { 0 })
}
