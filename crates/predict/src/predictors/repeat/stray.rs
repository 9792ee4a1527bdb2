//! What a rename of one variable would do to another of the same name.

use std::ops::Range;

use nudge_syntax::{
    AnalysedDocument, Grammar, NameRole, NameSort, NodePath, declaration_at, occurrences, role_at,
    token::is_word, variable,
};
use nudge_text::{Edits, diff};

use crate::SuggestionKind;

/// Edits of more lines are not looked at.
const MAX_LINES: usize = 40;
/// Places that are looked at for a declaration.
const MAX_LOOKED_AT: usize = 40;

/// Whether an edit gives some of the uses of a variable a name that nothing there has, and leaves its declaration, or other
/// uses on the same lines, with the old one.
pub(super) fn tears_apart(source: &AnalysedDocument, kind: &SuggestionKind) -> bool {
    let SuggestionKind::Edit { edits, .. } = kind else { return false };
    let Some(grammar) = Grammar::of(source.language()) else { return false };
    let Some(lines) = lines_of(source, edits) else { return false };
    let before = &source.content()[lines.clone()];
    let after = applied(before, lines.start, edits);
    let parts = diff::words(before, &after);
    let is_exchanged = |(from, to): &&(Range<usize>, Range<usize>)| {
        is_name(&before[from.clone()]) && is_name(&after[to.clone()])
    };
    let exchanged: Vec<(Range<usize>, &str)> = parts
        .iter()
        .filter(is_exchanged)
        .map(|(from, to)| (lines.start + from.start..lines.start + from.end, &after[to.clone()]))
        .collect();
    exchanged.iter().any(|(place, new)| {
        let old = &source.content()[place.clone()];
        let is_new = |at: &Range<usize>| exchanged.iter().any(|(place, other)| place == at && other == new);
        tears(source, grammar, (place, &lines), (old, new), is_new)
    })
}

fn tears(
    source: &AnalysedDocument,
    grammar: &'static Grammar,
    (place, lines): (&Range<usize>, &Range<usize>),
    (old, new): (&str, &str),
    is_new: impl Fn(&Range<usize>) -> bool,
) -> bool {
    let Some(parsed) = source.parsed() else { return false };
    let role =
        |range: &Range<usize>| role_at(grammar, &NodePath::at(parsed, range.start), source.content(), range);
    if !matches!(role(place), NameRole::Free | NameRole::Shorthand | NameRole::Declares(_)) {
        return false;
    }
    let path = NodePath::at(parsed, place.start);
    let mut steps = path.steps().iter();
    let function = steps.find(|step| grammar.functions.contains(&step.kind()));
    let function = function.map(|step| step.node.byte_range());
    let seen = |name: &str| variable(source, name, place.start, function.as_ref()?);
    let own =
        declaration_at(source, place).map(|declaration| (place.clone(), declaration)).or_else(|| seen(old));
    let Some((declared, declaration)) = own.filter(|(_, declaration)| declaration.sort.is_local()) else {
        return false;
    };
    if seen(new).is_some() || !is_of_others(source, new, place.start) {
        return false;
    }
    let shared = declaration.scope.start.max(lines.start)..declaration.scope.end.min(lines.end);
    let is_left = |range: &Range<usize>| {
        !is_new(range) && matches!(role(range), NameRole::Free | NameRole::Shorthand | NameRole::Declares(_))
    };
    !is_new(&declared) || occurrences(source.content(), old, shared, MAX_LOOKED_AT).iter().any(is_left)
}

/// Whether a name is that of variables elsewhere, and of nothing that can be used at a place.
fn is_of_others(source: &AnalysedDocument, name: &str, at: usize) -> bool {
    let mut is_known = false;
    for range in source.occurrences(name, MAX_LOOKED_AT) {
        let Some(declaration) = declaration_at(source, &range) else { continue };
        match declaration.sort {
            NameSort::Field | NameSort::Method | NameSort::Variant => {}
            sort if sort.is_local() && !declaration.scope.contains(&at) => is_known = true,
            _ => return false,
        }
    }
    is_known
}

/// The lines that edits are on.
fn lines_of(source: &AnalysedDocument, edits: &Edits) -> Option<Range<usize>> {
    let text = source.text();
    let first = text.line_of(edits.as_slice().first()?.range.start);
    let last = text.line_of(edits.as_slice().last()?.range.end);
    (last - first < MAX_LINES).then(|| text.line_start(first)..text.line_end(last))
}

/// What becomes of a piece of a text that begins at an offset.
fn applied(piece: &str, offset: usize, edits: &Edits) -> String {
    let (mut after, mut from) = (String::with_capacity(piece.len()), 0);
    for edit in edits {
        after.push_str(&piece[from..edit.range.start - offset]);
        after.push_str(&edit.text);
        from = edit.range.end - offset;
    }
    after + &piece[from..]
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| !c.is_ascii_digit()) && text.chars().all(is_word)
}
