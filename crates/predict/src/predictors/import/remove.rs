//! Imports that are no longer needed.

use std::ops::Range;

use nudge_syntax::{
    AnalysedDocument, Language,
    imports::{ImportLeaf, ImportStatement, ImportStyle},
};
use nudge_text::{Edit, history::LineChange};

use super::settled::takes;

/// Imported names that a change took the last use of, as places in the statements.
pub(super) fn unneeded(
    source: &AnalysedDocument,
    statements: &[ImportStatement],
    changes: &[&LineChange],
) -> Vec<(usize, usize)> {
    let is_package = source.uri().ends_with("__init__.py");
    let mut found = Vec::new();
    for (at, statement) in
        statements.iter().enumerate().filter(|(_, statement)| !statement.is_export && !is_package)
    {
        for (member, leaf) in statement.leaves.iter().enumerate() {
            let name = &leaf.import.name;
            let was_used = |change: &&LineChange| {
                takes(change, name) && !is_import(&change.before, name, source.language())
            };
            if leaf.import.style == ImportStyle::Glob || !changes.iter().any(was_used) {
                continue;
            }
            let elsewhere = |range: &Range<usize>| {
                !(statement.range.start <= range.start && range.end <= statement.range.end)
            };
            if !source.occurrences(name, 12).iter().any(elsewhere) {
                found.push((at, member));
            }
        }
    }
    found
}

/// Whether the name only occurs in an import of the text.
fn is_import(text: &str, name: &str, language: Language) -> bool {
    let statements = nudge_syntax::imports::statements(language, text);
    statements.iter().flat_map(|statement| &statement.leaves).any(|leaf| leaf.import.name == name)
}

/// Names to take out of a statement, and the edits that do it.
pub(super) struct ImportRemoval {
    /// The statement, by its number.
    pub(super) of: usize,
    pub(super) edits: Vec<Edit>,
    pub(super) names: Vec<String>,
}

/// The edits that take names out, statement by statement, and an empty line that would be left double if nothing else comes.
pub(super) fn edits(
    source: &AnalysedDocument,
    statements: &[ImportStatement],
    gone: &[(usize, usize)],
    is_all: bool,
) -> Vec<ImportRemoval> {
    let mut found: Vec<ImportRemoval> = Vec::new();
    for (at, statement) in statements.iter().enumerate() {
        let members: Vec<usize> =
            gone.iter().filter(|(of, _)| *of == at).map(|(_, member)| *member).collect();
        if members.is_empty() {
            continue;
        }
        let names = members.iter().map(|member| statement.leaves[*member].import.name.clone()).collect();
        let edits = if members.len() == statement.leaves.len() {
            let group = group_of(source, statement).filter(|group| {
                let others = statements.iter().enumerate().filter(|(_, other)| within(&other.range, group));
                others.into_iter().all(|(other, _)| gone.iter().any(|(of, _)| *of == other))
            });
            let range = whole_lines(source, group.as_ref().unwrap_or(&statement.range), is_all);
            let is_done = found.iter().flat_map(|removal| &removal.edits).any(|edit| edit.range == range);
            if is_done { Vec::new() } else { vec![Edit::new(range, "")] }
        } else {
            without(source, statement, &members)
        };
        found.push(ImportRemoval { of: at, edits, names });
    }
    found
}

fn within(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// The group in brackets that a statement of Go is in, if there is nothing but imports in it.
fn group_of(source: &AnalysedDocument, statement: &ImportStatement) -> Option<Range<usize>> {
    let text = source.content();
    let open = "import (";
    let start = text[..statement.range.start].rfind(open).filter(|_| source.language() == Language::Go)?;
    let end = statement.range.end + text[statement.range.end..].find("\n)")? + 2;
    let is_import = |line: &str| line.trim().is_empty() || line.trim().ends_with('"');
    text[start + open.len()..end - 1].lines().all(is_import).then_some(start..end)
}

/// The lines of a statement; an empty line that would be left double may go too.
fn whole_lines(source: &AnalysedDocument, range: &Range<usize>, with_blank: bool) -> Range<usize> {
    let text = source.text();
    let (first, last) = (text.line_of(range.start), text.line_of(range.end));
    let blank = |line: usize| line < text.line_count() && text.line(line).trim().is_empty();
    let alone =
        with_blank && (first == 0 || blank(first - 1)) && blank(last + 1) && last + 2 < text.line_count();
    text.line_start(first)..text.line_end_with_break(if alone { last + 1 } else { last })
}

/// A statement with some of its members taken out.
fn without(source: &AnalysedDocument, statement: &ImportStatement, members: &[usize]) -> Vec<Edit> {
    let text = source.content();
    let stay: Vec<&ImportLeaf> = statement
        .leaves
        .iter()
        .enumerate()
        .filter(|(at, _)| !members.contains(at))
        .map(|(_, leaf)| leaf)
        .collect();
    // One name needs no braces.
    if let ([leaf], [list], Language::Rust) = (stay.as_slice(), statement.lists.as_slice(), source.language())
        && leaf.list == Some(0)
        && &text[leaf.range.clone()] != "self"
    {
        let braces = list.range.start - 1..list.range.end + 1;
        return vec![Edit::new(braces, &text[leaf.range.clone()])];
    }
    // Where nothing of a list is left but the name before it is, as in `import a, { b } from`, its braces go too.
    if let ([list], [ImportLeaf { list: None, range: first, .. }, ..]) =
        (statement.lists.as_slice(), stay.as_slice())
        && stay.iter().all(|leaf| leaf.list.is_none())
        && first.end < list.range.start
    {
        return vec![Edit::new(first.end..list.range.end + 1, "")];
    }
    let mut cuts: Vec<Range<usize>> = Vec::new();
    for member in members {
        let cut = cut(text, statement, *member);
        match cuts.last_mut() {
            Some(last) if cut.start <= last.end => last.end = last.end.max(cut.end),
            _ => cuts.push(cut),
        }
    }
    cuts.into_iter().map(|cut| Edit::new(cut, "")).collect()
}

/// A member with the comma that goes with it: the one behind it, or before it if it is the last.
fn cut(text: &str, statement: &ImportStatement, member: usize) -> Range<usize> {
    let leaf = &statement.leaves[member];
    let next = statement.leaves.get(member + 1).filter(|next| next.list == leaf.list);
    let previous =
        member.checked_sub(1).map(|at| &statement.leaves[at]).filter(|previous| previous.list == leaf.list);
    match (next, previous) {
        (Some(next), _) => leaf.range.start..next.range.start,
        (None, Some(previous)) => previous.range.end..leaf.range.end,
        // The last one of an inner list, or `a` in `import a, { b } from`.
        (None, None) => {
            let after =
                text[leaf.range.end..].len() - text[leaf.range.end..].trim_start_matches([',', ' ']).len();
            leaf.range.start..leaf.range.end + after
        }
    }
}
