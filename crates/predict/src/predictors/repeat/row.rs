//! Lines that are changed one after the other.
//!
//! The forest does not know them: a commit tells which lines were changed, not in which order, so that lines which lie
//! together came together in what it was fitted on. What is here was counted in 13 of those repositories, in changes of
//! several lines one by one: how often the next line, where the same words could be replaced, had them replaced too.

use super::{
    rule::{RewriteRule, RuleShape},
    score::NameUsage,
};
use crate::predictors::evidence::PlaceEvidence;

/// Lines that have a smaller share of their words in common are not of one kind.
const ALIKE: f32 = 0.35;

/// How likely a line is next after one, two and more lines directly above or below it, if it is like them. They were more
/// often than that, but what knows the name, as renames do, knows better.
const LIKE: [f32; 3] = [0.7, 0.71, 0.72];
/// The same, if all they have in common is what is replaced.
const UNLIKE: [f32; 3] = [0.0, 0.58, 0.7];
/// The same, where nothing is replaced and something comes in between.
const INSERTED: [f32; 3] = [0.0, 0.65, 0.7];

/// How likely a place is the next line of a row, or 0 if there is no row.
pub(crate) fn prior(rule: &RewriteRule, usage: &NameUsage<'_>, line: usize, evidence: &PlaceEvidence) -> f32 {
    let is_done = |line: Option<usize>| line.is_some_and(|line| usage.done.binary_search(&line).is_ok());
    let above = (1..4).take_while(|back| is_done(line.checked_sub(*back))).count();
    let below = (1..4).take_while(|on| is_done(Some(line + on))).count();
    // One line is not enough to tell that somebody goes upwards.
    let row = above.max(if below > 1 { below } else { 0 });
    let Some(at) = row.checked_sub(1) else { return 0.0 };
    let value =
        |name: &str| evidence.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, value)| *value);
    let is_like = value("similar") >= ALIKE;
    match rule.shape {
        RuleShape::Insertion | RuleShape::Beside | RuleShape::Affix | RuleShape::Line => INSERTED[at],
        _ if is_like => LIKE[at],
        _ => UNLIKE[at],
    }
}
