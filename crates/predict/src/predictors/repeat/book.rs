//! All rules of the recent changes, each with its examples.

use std::{collections::hash_map::Entry, sync::Arc};

use nudge_text::history::LineChange;
use rustc_hash::FxHashMap;

use super::{
    block::LineBlock,
    lessons::LessonCache,
    rule::{RewriteRule, RuleExample, RuleShape},
    score::{WordSet, words_of},
    sense, template,
};
use crate::case;

/// How many of the newest changes are looked at.
pub(crate) const RECENT: usize = 24;
/// How many of the newest changes are repeated.
const FRESH: usize = 7;
/// The same for the bolder generalisations.
const FRESHEST: usize = 3;
/// Rules that are tried.
const MAX_RULES: usize = 40;
/// Changes of more lines teach no rules for single lines.
const MAX_LINES: usize = 40;
/// Changes of more lines are not a model for others.
const MAX_MODEL: usize = 8;
/// A line became another if they have this share of their words in common, in percent.
const ALIKE: usize = 50;

/// What the recent changes teach.
#[derive(Default)]
pub(crate) struct RuleBook {
    pub(crate) rules: Vec<RewriteRule>,
    pub(crate) blocks: Vec<LineBlock>,
    /// Changes that what the user has come to may be like.
    pub(crate) models: Vec<LineBlock>,
}

impl RuleBook {
    /// Learns from the changes, the newest first; older examples of a known rule support it. If the user has come to a
    /// place, older changes may be meant there.
    pub(crate) fn learn(changes: &[LineChange], has_come: bool, lessons: &LessonCache) -> Self {
        let mut book = Self::default();
        let mut known: FxHashMap<u64, usize> = FxHashMap::default();
        let from = changes.len().saturating_sub(RECENT);
        for (number, change) in changes.iter().enumerate().skip(from).rev() {
            if is_undone(change, &changes[from..]) {
                continue;
            }
            // Older changes support what was done since; by themselves they are not repeated any more.
            let is_fresh = has_come || changes.len() - number <= FRESH;
            let lines = lines_of(change).into_iter().filter(|(before, _)| is_fresh || book.may_know(before));
            let lessons: Vec<_> = lines.map(|(before, after)| lessons.of(before, after)).collect();
            for lesson in lessons.iter().flat_map(|lessons| lessons.iter()) {
                let is_old = changes.len() - number > freshness(lesson.rewrite.shape);
                let at = match known.entry(lesson.rewrite.group) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(new) if book.rules.len() < MAX_RULES && (has_come || !is_old) => {
                        book.rules.push(RewriteRule::new(Arc::clone(lesson), is_old));
                        *new.insert(book.rules.len() - 1)
                    }
                    Entry::Vacant(_) => continue,
                };
                book.rules[at].examples.push(RuleExample::new(number, Arc::clone(lesson)));
            }
            let is_model = has_come
                && (1..=MAX_MODEL).contains(&change.before_lines)
                && change.after_lines > 0
                && !(change.before_lines == 1 && sense::is_all_turned(&change.before, &change.after));
            book.models.extend(is_model.then(|| LineBlock::of(change, number)).flatten());
            if changes.len() - number <= 2 * FRESH {
                book.blocks.extend(LineBlock::learn(change, number));
            }
        }
        book
    }

    /// How often lines like those of a block were taken away, itself included.
    pub(crate) fn takes_away(&self, block: &LineBlock) -> usize {
        let is_like = |other: &&LineBlock| {
            other.after.is_empty()
                && other.before.len() == block.before.len()
                && template::map_lines(&other.before, &block.before).is_some()
        };
        self.blocks.iter().filter(is_like).count()
    }

    /// Whether a known rule might be learned from this line, too. To learn takes far longer than to look.
    fn may_know(&self, before: &str) -> bool {
        let mut own = None;
        self.rules.iter().any(|rule| match &rule.letters {
            // A single name may have been in another spelling here.
            Some(letters) => {
                let own = own.get_or_insert_with(|| case::letters(before));
                !rule.anchor.is_ascii() || own.contains(letters)
            }
            None => before.contains(&rule.anchor),
        })
    }
}

fn freshness(shape: RuleShape) -> usize {
    match shape {
        RuleShape::CaseVariant | RuleShape::Part | RuleShape::Line | RuleShape::Beside | RuleShape::Affix => {
            FRESHEST
        }
        RuleShape::Segment | RuleShape::Span | RuleShape::Insertion | RuleShape::Call => FRESH,
    }
}

/// Whether another change is the reverse of this one: together they are nothing.
fn is_undone(change: &LineChange, changes: &[LineChange]) -> bool {
    changes
        .iter()
        .any(|other| other.uri == change.uri && other.before == change.after && other.after == change.before)
}

/// The lines of a change that became other lines, one by one.
fn lines_of(change: &LineChange) -> Vec<(&str, &str)> {
    let before: Vec<&str> = change.before.split('\n').collect();
    let after: Vec<&str> = change.after.split('\n').collect();
    if before.len() > MAX_LINES || after.len() > MAX_LINES {
        return Vec::new();
    }
    let mut pairs = if change.before_lines == change.after_lines {
        before.into_iter().zip(after).collect()
    } else if change.before_lines == 0 || change.after_lines == 0 {
        Vec::new()
    } else {
        alike(&before, &after)
    };
    pairs.retain(|(before, after)| before.trim() != after.trim());
    pairs
}

/// Pairs lines with those that they most likely became, in order.
fn alike<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let after_words: Vec<_> = after.iter().map(|line| words_of(line)).collect();
    let mut pairs = Vec::new();
    let mut from = 0;
    for line in before {
        let own = words_of(line);
        let share = |other: &WordSet<'_>| {
            let common = own.intersection(other).count();
            (common >= 2).then(|| common * 100 / own.union(other).count().max(1))
        };
        let found = (from..after.len()).filter_map(|at| Some((share(&after_words[at])?, at)));
        let best =
            found.filter(|(share, _)| *share >= ALIKE).max_by_key(|(share, at)| (*share, usize::MAX - at));
        if let Some((_, at)) = best {
            pairs.push((*line, after[at]));
            from = at + 1;
        }
    }
    pairs
}
