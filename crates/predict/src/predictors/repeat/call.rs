//! Arguments added to or taken from a call, whatever the other arguments are.

use std::ops::Range;

use nudge_syntax::token::{Token, TokenKind};

use super::rule::{ChangedSegment, LessonLine, LineLesson, RewriteOutput, RulePattern, RuleShape};

/// What happens to the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum CallEdit {
    /// An argument comes in before the one with this number.
    Insert { arity: usize, index: usize, text: String },
    /// The argument with this number goes.
    Delete { arity: usize, index: usize, text: String },
}

/// A call in a line: its name, and its arguments as ranges of the line.
struct Call {
    name: Range<usize>,
    /// Between the brackets.
    inner: Range<usize>,
    arguments: Vec<Range<usize>>,
}

/// The rewrite of a call whose arguments changed, if that is all that changed.
pub(crate) fn learn(line: &LessonLine<'_>, segments: &[ChangedSegment]) -> Option<LineLesson> {
    let (first, last) = (segments.first()?, segments.last()?);
    let before = around(line.before, &line.tokens, &(first.0.start..last.0.end))?;
    let after_tokens = nudge_syntax::token::solid(line.after);
    let after = around(line.after, &after_tokens, &(first.1.start..last.1.end))?;
    let name = &line.before[before.name.clone()];
    if name != &line.after[after.name.clone()] || name.len() < 3 {
        return None;
    }
    let texts = |text: &str, call: &Call| -> Vec<String> {
        call.arguments.iter().map(|range| text[range.clone()].trim().to_owned()).collect()
    };
    let edit = compare(&texts(line.before, &before), &texts(line.after, &after))?;
    let pattern = vec![RulePattern::Hard(name.to_owned()), RulePattern::Hard("(".to_owned())];
    let output = vec![RewriteOutput::Literal(format!("{edit:?}"))];
    let mut lesson = line.finish(RuleShape::Call, pattern, output, &before.name)?;
    lesson.rewrite.call = Some(edit);
    Some(lesson)
}

fn compare(old: &[String], new: &[String]) -> Option<CallEdit> {
    let arity = old.len();
    let index = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    if new.len() == old.len() + 1 && old[index..] == new[index + 1..] {
        return Some(CallEdit::Insert { arity, index, text: new[index].clone() });
    }
    if old.len() == new.len() + 1 && old[index + 1..] == new[index..] {
        return Some(CallEdit::Delete { arity, index, text: old[index].clone() });
    }
    None
}

/// The innermost call whose brackets hold `place`.
fn around(text: &str, tokens: &[Token], place: &Range<usize>) -> Option<Call> {
    let opens = (0..tokens.len())
        .rev()
        .filter(|&at| tokens[at].text(text) == "(" && tokens[at].range.end <= place.start);
    opens.filter_map(|open| at_bracket(text, tokens, open)).find(|call| call.inner.end >= place.end)
}

/// The call whose opening bracket is the token `open`.
fn at_bracket(text: &str, tokens: &[Token], open: usize) -> Option<Call> {
    let name = tokens.get(open.checked_sub(1)?)?;
    if name.kind != TokenKind::Word {
        return None;
    }
    let mut depth = 0_usize;
    let mut arguments = Vec::new();
    let mut begin = tokens[open].range.end;
    for token in &tokens[open + 1..] {
        match token.text(text) {
            "(" | "[" | "{" => depth += 1,
            ")" if depth == 0 => {
                let inner = tokens[open].range.end..token.range.start;
                if !text[begin..inner.end].trim().is_empty() {
                    arguments.push(begin..inner.end);
                }
                return Some(Call { name: name.range.clone(), inner, arguments });
            }
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            "," if depth == 0 => {
                arguments.push(begin..token.range.start);
                begin = token.range.end;
            }
            _ => {}
        }
    }
    None
}

/// What the rule makes of the call whose name is the token `at`: what is replaced, by what, and whether the arguments
/// are those of the example as far as the rule names them.
pub(crate) fn apply(
    edit: &CallEdit,
    text: &str,
    tokens: &[Token],
    at: usize,
) -> Option<(Range<usize>, String, bool)> {
    let call = at_bracket(text, tokens, at + 1)?;
    let arguments: Vec<&str> = call.arguments.iter().map(|range| text[range.clone()].trim()).collect();
    match edit {
        CallEdit::Insert { arity, index, text: added } => {
            if arguments.len() != *arity || arguments.contains(&added.as_str()) {
                return None;
            }
            let mut all = arguments.clone();
            all.insert((*index).min(arguments.len()), added);
            Some((call.inner, all.join(", "), true))
        }
        CallEdit::Delete { arity, index, text: gone } => {
            if arguments.len() != *arity {
                return None;
            }
            let same = arguments[*index] == gone;
            let mut all = arguments.clone();
            all.remove(*index);
            Some((call.inner, all.join(", "), same))
        }
    }
}
