//! The head of a function as it was before a change.
//!
//! Only the head is parsed, in a small document of its own: to parse the whole document as it was would cost a hundred
//! times as much.

use std::ops::Range;

use nudge_syntax::{AnalysedDocument, FunctionHeader, Language, occurrences};
use nudge_text::{Text, history::LineChange};

/// What a head may have to stand in to be parsed.
fn wrappers(language: Language) -> &'static [(&'static str, &'static str)] {
    match language {
        Language::Go => &[("package p\n", ""), ("package p\ntype X interface {\n", "\n}")],
        Language::Java | Language::CSharp => &[("class X {\n", "\n}"), ("interface X {\n", "\n}")],
        Language::TypeScript | Language::Tsx | Language::JavaScript => {
            &[("", ""), ("class X {\n", "\n}"), ("interface X {\n", "\n}")]
        }
        Language::C | Language::Cpp => &[("", ""), ("class X {\n", "\n};")],
        _ => &[("", "")],
    }
}

/// The head that was at the place of `now` before the change whose lines are now at `region`.
pub(super) fn before(
    source: &AnalysedDocument,
    change: &LineChange,
    region: &Range<usize>,
    now: &FunctionHeader,
) -> Option<(AnalysedDocument, FunctionHeader)> {
    let text = source.content();
    let lines = source.text();
    let begin = lines.line_start(lines.line_of(now.start.min(region.start)));
    let rest = text.get(region.end..now.tail.end).unwrap_or_default();
    let was = format!("{}{}{rest}", text.get(begin..region.start).unwrap_or_default(), change.before);
    let name = &text[now.name.clone()];
    let is_head = |range: &Range<usize>| {
        let follows = was[range.end..].trim_start();
        follows.starts_with(['(', '<', '=', ':']) && !was[..range.start].ends_with(['.', '('])
    };
    let name_at = occurrences(&was, name, 0..was.len(), 20).into_iter().find(is_head)?;
    // Where the change ends before the head does, the head ends where it does now.
    let end =
        if now.tail.end > region.end { was.len() } else { head_end(&was, name_at.end, source.language())? };
    let start = head_start(&was, name_at.start);
    let arrow = text[now.tail.end..].trim_start().starts_with("=>");
    let close = match source.language() {
        _ if arrow => " => {}",
        Language::Python => ":\n    pass",
        _ if now.is_prototype => ";",
        _ => " {}",
    };
    let code = was.get(start..end)?;
    wrappers(source.language()).iter().find_map(|(open, shut)| {
        let code = format!("{open}{code}{close}{shut}");
        let past = AnalysedDocument::new(source.uri().clone(), source.language(), Text::new(&code));
        let header = FunctionHeader::all_in(&past, &(0..code.len()))
            .into_iter()
            .find(|header| past.content()[header.name.clone()] == *name)?;
        Some((past, header))
    })
}

/// Where the line of the name begins, or the one above if that has the result and nothing else.
fn head_start(was: &str, name: usize) -> usize {
    was[..name].rfind('\n').map_or(0, |at| at + 1)
}

/// Where a head ends: before its body or its semicolon.
fn head_end(was: &str, from: usize, language: Language) -> Option<usize> {
    let open = from + was[from..].find('(')?;
    let mut depth = 0_usize;
    let mut closed = false;
    let mut last = ' ';
    for (at, c) in was[open..].char_indices() {
        let at = open + at;
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => {
                depth = depth.checked_sub(1)?;
                closed |= depth == 0;
            }
            // `): { a: string } {`
            '{' if depth > 0 || matches!(last, ':' | '|' | '&' | '<' | ',') => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '{' | ';' if closed && depth == 0 => return Some(was[..at].trim_end().len()),
            ':' if closed && depth == 0 && language == Language::Python => return Some(at),
            '>' if closed && depth == 0 && last == '=' => return Some(was[..at - 1].trim_end().len()),
            _ => {}
        }
        if !c.is_whitespace() {
            last = c;
        }
    }
    closed.then_some(was.trim_end().len())
}
