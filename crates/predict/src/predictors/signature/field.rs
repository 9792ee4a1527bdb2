//! Literals of a struct that got or lost a field.

use nudge_syntax::{
    AnalysedDocument, Language, LiteralField, StructLiteral, literals, struct_around,
    token::{TokenKind, is_word, solid},
    variable,
};
use nudge_text::{Edit, history::LineChange};

use super::{super::rename::draft::RenameDraft, Offer, documents};
use crate::Scene;

/// Offers what literals need after a change of their struct.
pub(super) fn predict<'s>(
    scene: &Scene<'s>,
    source: &'s AnalysedDocument,
    change: &LineChange,
    drafts: &mut Vec<RenameDraft<'s>>,
) {
    let language = source.language();
    if !matches!(language, Language::Rust | Language::Go | Language::TypeScript | Language::Tsx) {
        return;
    }
    let names =
        |code: &str| code.lines().filter_map(|line| field_name(line, language)).collect::<Vec<String>>();
    let (before, after) = (names(&change.before), names(&change.after));
    let added: Vec<&String> = after.iter().filter(|name| !before.contains(name)).collect();
    let removed: Vec<&String> = before.iter().filter(|name| !after.contains(name)).collect();
    // One for another is a rename.
    if added.is_empty() == removed.is_empty() {
        return;
    }
    let lines = source.text();
    let start = lines.line_start(change.line);
    let offset = start + (lines.line(change.line).len() - lines.line(change.line).trim_start().len());
    let Some((owner, fields)) = struct_around(source, offset) else { return };
    if !added.iter().all(|name| fields.contains(name)) || removed.iter().any(|name| fields.contains(name)) {
        return;
    }
    let chain = crate::predictors::group_of(&("field", &owner, &added, &removed));
    let found: Vec<(&AnalysedDocument, StructLiteral)> = documents(scene, source)
        .flat_map(|document| literals(document, &owner).into_iter().map(move |literal| (document, literal)))
        .collect();
    for document in documents(scene, source) {
        let own = found.iter().filter(|(of, _)| of.uri() == document.uri()).map(|(_, literal)| literal);
        let edits: Vec<Edit> = if added.is_empty() {
            own.flat_map(|literal| without(document, literal, &removed)).collect()
        } else {
            own.filter_map(|literal| with(document, literal, &added, &fields, &found)).collect()
        };
        let prior = if added.is_empty() { 0.6 } else { 0.58 };
        let offer =
            Offer { scene, source: document, prior, chain, evidence: vec![("bias", 1.0), ("field", 1.0)] };
        offer.make(edits, |lines| format!("fits the `{owner}` on {lines} to its fields"), drafts);
    }
}

/// The field that a line declares, as far as its words tell.
fn field_name(line: &str, language: Language) -> Option<String> {
    let line = line.trim();
    let name = if matches!(language, Language::TypeScript | Language::Tsx) {
        // What need not be given has a mark behind its name.
        line.strip_prefix("readonly ").unwrap_or(line).split_once(':')?.0
    } else if language == Language::Rust {
        let line = line.strip_prefix("pub").map_or(line, |rest| {
            let rest = rest.trim_start();
            rest.strip_prefix('(')
                .and_then(|rest| rest.split_once(')'))
                .map_or(rest, |(_, rest)| rest.trim_start())
        });
        line.split_once(':').filter(|(_, rest)| !rest.starts_with(':') && line.ends_with(','))?.0
    } else {
        line.split_once(' ').filter(|(_, rest)| !rest.trim_start().starts_with(['=', ':', '(']))?.0
    };
    (!name.is_empty() && name.chars().all(is_word)).then(|| name.to_owned())
}

/// Takes fields out of a literal.
fn without(source: &AnalysedDocument, literal: &StructLiteral, removed: &[&String]) -> Vec<Edit> {
    let text = source.content();
    let mut edits = Vec::new();
    for (at, element) in
        literal.elements.iter().enumerate().filter(|(_, element)| removed.contains(&&element.name))
    {
        let lines = source.text();
        let (first, last) = (lines.line_of(element.range.start), lines.line_of(element.range.end));
        let whole = lines.line_start(first)..lines.line_end_with_break(last);
        let rest =
            format!("{}{}", &text[whole.start..element.range.start], &text[element.range.end..whole.end]);
        let next = literal.elements.get(at + 1);
        let previous = at.checked_sub(1).map(|at| &literal.elements[at]);
        let range = match (next, previous) {
            _ if matches!(rest.trim(), "" | ",") => whole,
            (Some(next), _) => element.range.start..next.range.start,
            (None, Some(previous)) => previous.range.end..element.range.end,
            (None, None) => element.range.clone(),
        };
        edits.push(Edit::new(range, ""));
    }
    edits
}

/// Puts fields into a literal, behind the one that they are declared behind.
fn with(
    source: &AnalysedDocument,
    literal: &StructLiteral,
    added: &[&String],
    fields: &[String],
    all: &[(&AnalysedDocument, StructLiteral)],
) -> Option<Edit> {
    let has = |name: &str| literal.elements.iter().any(|element| element.name == name);
    if literal.elements.is_empty() || added.iter().any(|name| has(name)) {
        return None;
    }
    let text = source.content();
    let place = fields.iter().position(|field| field == added[0])?;
    let before = fields[..place].iter().rev().find(|field| has(field));
    let element: &LiteralField = match before {
        Some(name) => literal.elements.iter().find(|element| element.name == *name)?,
        None => literal.elements.last()?,
    };
    let start = text[..element.range.start].rfind(['\n', '{', ',']).map_or(0, |at| at + 1);
    let space = &text[start..element.range.start];
    let own_line = text[..start].ends_with('\n');
    let separator = if own_line { format!(",\n{space}") } else { ", ".to_owned() };
    let mut code = String::new();
    for name in added {
        code.push_str(&separator);
        code.push_str(&value(source, literal, name, all)?);
    }
    Some(Edit::new(element.range.end..element.range.end, code))
}

/// A field with what it is to be given: a variable of its name, or what others give it.
fn value(
    source: &AnalysedDocument,
    literal: &StructLiteral,
    name: &str,
    all: &[(&AnalysedDocument, StructLiteral)],
) -> Option<String> {
    let go = source.language() == Language::Go;
    let lower = name.chars().next().map(char::to_lowercase).into_iter().flatten().chain(name.chars().skip(1));
    let wanted = if go { lower.collect() } else { name.to_owned() };
    let function = literal.function.as_ref();
    if function.and_then(|function| variable(source, &wanted, literal.range.start, function)).is_some() {
        return Some(if go { format!("{name}: {wanted}") } else { wanted });
    }
    let given =
        all.iter().flat_map(|(of, literal)| literal.elements.iter().map(move |element| (of, element)));
    let mut given = given.filter(|(_, element)| element.name == name);
    let (of, first) = given.next()?;
    let code = |of: &AnalysedDocument, element: &LiteralField| of.content()[element.range.clone()].to_owned();
    let example = code(of, first);
    let agree = given.all(|(of, element)| code(of, element) == example);
    let constant = first.value.clone().is_some_and(|value| is_constant(&of.content()[value]));
    (agree && constant).then_some(example)
}

/// Whether code names no variable, so that it means the same elsewhere.
fn is_constant(code: &str) -> bool {
    solid(code).iter().filter(|token| token.kind == TokenKind::Word).all(|token| {
        let (word, before, after) = (token.text(code), &code[..token.range.start], &code[token.range.end..]);
        let is_literal = matches!(word, "true" | "false" | "nil" | "None");
        let is_called = after.starts_with(['(', '!']) && !before.ends_with('.');
        is_literal
            || is_called
            || word.starts_with(char::is_uppercase)
            || before.ends_with(['"', ':'])
            || after.starts_with("::")
    })
}
