//! A rule at a place of a line.

use std::{cell::OnceCell, ops::Range};

use nudge_syntax::token::{Token, TokenKind, solid, stands_alone};

use super::rule::{RewriteOutput, RewriteRule, RulePattern, RuleShape};

/// What a rule makes of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleMatch {
    /// What is replaced, in bytes of the line.
    pub(crate) range: Range<usize>,
    /// By what.
    pub(crate) text: String,
    /// Soft tokens that are those of the example.
    pub(crate) same: usize,
    /// Soft tokens that are others.
    pub(crate) different: usize,
}

/// A line, cut into tokens when they are first asked for.
pub(crate) struct CutLine<'a> {
    pub(crate) text: &'a str,
    tokens: OnceCell<Vec<Token>>,
}

impl<'a> CutLine<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, tokens: OnceCell::new() }
    }

    /// Its tokens without space.
    pub(crate) fn tokens(&self) -> &[Token] {
        self.tokens.get_or_init(|| solid(self.text))
    }
}

/// Every place of the line where the rule applies, from left to right, none overlapping another.
pub(crate) fn matches(rule: &RewriteRule, line: &CutLine<'_>) -> Vec<RuleMatch> {
    match rule.shape {
        RuleShape::CaseVariant | RuleShape::Part => inside_names(rule, line),
        RuleShape::Call => calls(rule, line),
        RuleShape::Line => whole(rule, line).into_iter().collect(),
        RuleShape::Affix => affixes(rule, line),
        _ => runs(rule, line),
    }
}

fn runs(rule: &RewriteRule, line: &CutLine<'_>) -> Vec<RuleMatch> {
    let mut found: Vec<RuleMatch> = Vec::new();
    let tokens = line.tokens();
    let mut at = 0;
    while at + rule.pattern.len() <= tokens.len() {
        match run_at(rule, line, at) {
            Some(hit) => {
                at += rule.pattern.len();
                found.push(hit);
            }
            None => at += 1,
        }
    }
    found
}

/// The places of a name that does not have yet what comes before or behind it.
fn affixes(rule: &RewriteRule, line: &CutLine<'_>) -> Vec<RuleMatch> {
    let (Some(RulePattern::Hard(name)), [RewriteOutput::Literal(first), RewriteOutput::Literal(second)]) =
        (rule.pattern.first(), &rule.output[..])
    else {
        return Vec::new();
    };
    let mut found = runs(rule, line);
    found.retain(|hit| {
        let (before, behind) = (&line.text[..hit.range.start], &line.text[hit.range.end..]);
        if second == name {
            !before.ends_with(first.trim_start())
        } else {
            !behind.starts_with(second.trim_end())
        }
    });
    found
}

/// The line as a whole, if at least half of its names are those of the example.
fn whole(rule: &RewriteRule, line: &CutLine<'_>) -> Option<RuleMatch> {
    if line.tokens().len() != rule.pattern.len() {
        return None;
    }
    run_at(rule, line, 0).filter(|hit| hit.different <= hit.same + 1)
}

fn run_at(rule: &RewriteRule, line: &CutLine<'_>, at: usize) -> Option<RuleMatch> {
    let tokens = line.tokens().get(at..at + rule.pattern.len())?;
    let mut soft: Vec<(&str, &str)> = Vec::new();
    for (pattern, token) in rule.pattern.iter().zip(tokens) {
        let text = token.text(line.text);
        match pattern {
            RulePattern::Hard(wanted) if wanted != text => return None,
            RulePattern::Hard(_) => {}
            RulePattern::Soft(example, kind) => {
                if token.kind != *kind && !(token.kind == TokenKind::Word && *kind == TokenKind::Number) {
                    return None;
                }
                match soft.iter().find(|(known, _)| known == example) {
                    Some((_, bound)) if *bound != text => return None,
                    Some(_) => {}
                    None => soft.push((example, text)),
                }
            }
        }
    }
    let range = tokens.first()?.range.start..tokens.last()?.range.end;
    let text = write(&rule.output, &soft);
    if line.text[range.clone()] == text {
        return None;
    }
    let same = soft.iter().filter(|(example, bound)| example == bound).count();
    Some(RuleMatch { range, text, same, different: soft.len() - same })
}

fn write(output: &[RewriteOutput], soft: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for piece in output {
        match piece {
            RewriteOutput::Literal(literal) => text.push_str(literal),
            RewriteOutput::Soft(number) => text.push_str(soft.get(*number).map_or("", |(_, bound)| bound)),
        }
    }
    text
}

fn inside_names(rule: &RewriteRule, line: &CutLine<'_>) -> Vec<RuleMatch> {
    let (Some(RulePattern::Hard(from)), Some(RewriteOutput::Literal(to))) =
        (rule.pattern.first(), rule.output.first())
    else {
        return Vec::new();
    };
    let whole = rule.shape == RuleShape::CaseVariant;
    line.text
        .match_indices(from.as_str())
        .map(|(start, _)| start..start + from.len())
        .filter(
            |range| if whole { stands_alone(line.text, range) } else { is_word_of_name(line.text, range) },
        )
        .map(|range| RuleMatch { range, text: to.clone(), same: 0, different: 0 })
        .collect()
}

/// Whether the piece is a word of a name, as `name` is in `user_name` and `Name` in `userName`.
fn is_word_of_name(text: &str, range: &Range<usize>) -> bool {
    let piece = &text[range.clone()];
    let before = text[..range.start].chars().next_back().unwrap_or(' ');
    let after = text[range.end..].chars().next().unwrap_or(' ');
    let first = piece.chars().next().unwrap_or(' ');
    let starts = !before.is_alphanumeric() || (first.is_uppercase() && !before.is_uppercase());
    let ends = !after.is_alphanumeric() || after.is_uppercase() || after.is_numeric();
    starts && ends
}

fn calls(rule: &RewriteRule, line: &CutLine<'_>) -> Vec<RuleMatch> {
    let (Some(edit), Some(RulePattern::Hard(name))) = (&rule.call, rule.pattern.first()) else {
        return Vec::new();
    };
    let tokens = line.tokens();
    let names = (0..tokens.len()).filter(|&at| {
        tokens[at].text(line.text) == name
            && tokens.get(at + 1).is_some_and(|next| next.text(line.text) == "(")
    });
    let mut found: Vec<RuleMatch> = Vec::new();
    for at in names {
        if let Some((range, text, same)) = super::call::apply(edit, line.text, tokens, at)
            && found.last().is_none_or(|last| last.range.end <= range.start)
        {
            found.push(RuleMatch { range, text, same: usize::from(same), different: usize::from(!same) });
        }
    }
    found
}
