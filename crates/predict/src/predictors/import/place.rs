//! Where among the imports of a file another one belongs.

use nudge_syntax::{
    AnalysedDocument, Language,
    imports::{ImportStatement, ImportedName},
};
use nudge_text::Edit;

use super::{
    order::{SortKey, StatementOrder, disorder},
    standard,
};

/// A new line for a statement, among those that it is most alike.
pub(super) fn line(
    source: &AnalysedDocument,
    statements: &[&ImportStatement],
    import: &ImportedName,
    code: &str,
) -> Edit {
    let (text, language) = (source.content(), source.language());
    let code_of = |at: usize| &text[statements[at].range.clone()];
    let groups = groups(text, statements);
    let codes: Vec<Vec<&str>> =
        groups.iter().map(|group| group.iter().map(|at| code_of(*at)).collect()).collect();
    let order = StatementOrder::of(language, &codes);
    let section_of = |at: usize| section(language, module(statements[at]));
    let own = section(language, &import.module);
    let indent = if language == Language::Go && !code.starts_with("import ") { "\t" } else { "" };
    let in_section: Vec<Vec<usize>> = groups
        .iter()
        .map(|group| group.iter().copied().filter(|at| section_of(*at) == own).collect())
        .filter(|group: &Vec<usize>| !group.is_empty())
        .collect();
    if in_section.is_empty() {
        let last = (0..statements.len()).rev().find(|at| section_of(*at) < own);
        return match last {
            Some(at) => behind(source, statements[at], &format!("\n{indent}{code}")),
            None => ahead(source, statements[0], &format!("{indent}{code}\n")),
        };
    }
    let key = |at: usize| order.key(language, code_of(at));
    let new = order.key(language, code);
    let likeness = |at: usize| {
        let other = module(statements[at]);
        (origin(language, other) == origin(language, &import.module), common(other, &import.module))
    };
    let most = in_section.iter().flatten().map(|at| likeness(*at)).max();
    let mut alike = in_section.iter().filter(|group| group.iter().any(|at| Some(likeness(*at)) == most));
    // Of groups that are as good, the last one that does not begin behind it.
    let first = alike.next();
    let group = alike.rfind(|group| key(group[0]) <= new).or(first);
    let group: &[usize] = group.map_or(&[], Vec::as_slice);
    let spot = if disorder(group, |at| key(*at)) == 0 {
        spot(group, key, &new)
    } else {
        // Those of one place may be in order though the whole is not.
        let shared = |at: &usize| common(module(statements[*at]), &import.module);
        let best = group.iter().map(shared).max();
        let kin: Vec<usize> = group.iter().copied().filter(|at| Some(shared(at)) == best).collect();
        if disorder(&kin, |at| key(*at)) * 4 <= kin.len() {
            spot(&kin, key, &new)
        } else {
            Spot::Behind(kin[kin.len() - 1])
        }
    };
    match spot {
        Spot::Behind(at) => behind(source, statements[at], &format!("{indent}{code}")),
        Spot::Ahead(at) => ahead(source, statements[at], &format!("{indent}{code}")),
    }
}

enum Spot {
    Behind(usize),
    Ahead(usize),
}

/// Where the fewest neighbours are on the wrong side.
fn spot(group: &[usize], key: impl Fn(usize) -> SortKey, new: &SortKey) -> Spot {
    let keys: Vec<SortKey> = group.iter().map(|at| key(*at)).collect();
    let wrong = |place: &usize| {
        let (before, after) = keys.split_at(*place);
        before.iter().filter(|key| *key > new).count() + after.iter().filter(|key| *key < new).count()
    };
    let place = (0..=keys.len()).min_by_key(wrong).unwrap_or(0);
    match place.checked_sub(1) {
        Some(before) => Spot::Behind(group[before]),
        None => Spot::Ahead(group[0]),
    }
}

fn behind(source: &AnalysedDocument, statement: &ImportStatement, code: &str) -> Edit {
    let text = source.text();
    let end = text.line_end(text.line_of(statement.range.end));
    Edit::new(end..end, format!("\n{code}"))
}

/// A line right above a statement.
pub(super) fn ahead(source: &AnalysedDocument, statement: &ImportStatement, code: &str) -> Edit {
    let text = source.text();
    let mut line = text.line_of(statement.range.start);
    // What holds for that one alone stays with it.
    while line > 0 && text.line(line - 1).starts_with("#[") {
        line -= 1;
    }
    let start = text.line_start(line);
    Edit::new(start..start, format!("{code}\n"))
}

/// Statements without an empty line in between; those that depend on a condition count only if there are no others.
fn groups(text: &str, statements: &[&ImportStatement]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, statement) in statements.iter().enumerate() {
        let adjacent =
            at > 0 && text[statements[at - 1].range.end..statement.range.start].matches('\n').count() == 1;
        match groups.last_mut() {
            Some(group) if adjacent => group.push(at),
            _ => groups.push(vec![at]),
        }
    }
    let is_conditional = |group: &Vec<usize>| {
        let above = group.first().map_or("", |first| text[..statements[*first].range.start].trim_end());
        let line = above.rsplit('\n').next().unwrap_or(above);
        ["#if", "#el"].iter().any(|word| line.starts_with(word))
    };
    if groups.iter().any(|group| !is_conditional(group)) {
        groups.retain(|group| !is_conditional(group));
    }
    groups
}

fn module(statement: &ImportStatement) -> &str {
    statement.leaves.first().map_or("", |leaf| &leaf.import.module)
}

/// What an empty line sets apart everywhere, in this order.
fn section(language: Language, module: &str) -> u8 {
    match language {
        Language::Python if module == "__future__" => 0,
        Language::Python if module.starts_with('.') => 3,
        Language::Python => {
            let first = module.split('.').next().unwrap_or(module);
            2 - u8::from(standard::is_python(first))
        }
        Language::Go => u8::from(module.split('/').next().is_some_and(|host| host.contains('.'))),
        Language::Java => u8::from(!module.starts_with("static ")),
        _ => 0,
    }
}

/// Where a module comes from: many keep these apart.
fn origin(language: Language, module: &str) -> u8 {
    let first = module.split(['/', ':', '.']).next().unwrap_or(module);
    let is_near = match language {
        Language::Rust => matches!(first, "crate" | "super" | "self"),
        Language::C | Language::Cpp => module.starts_with('"'),
        _ => module.starts_with('.'),
    };
    let is_standard = match language {
        Language::Rust => matches!(first, "std" | "core" | "alloc"),
        Language::Java => matches!(first, "java" | "javax"),
        Language::Cpp => module.starts_with('<') && !module.contains(['/', '.']),
        Language::CSharp => first == "System",
        _ => false,
    };
    u8::from(is_near) * 2 + u8::from(is_standard)
}

/// How many parts of their paths two modules have in common.
fn common(a: &str, b: &str) -> usize {
    parts(a).zip(parts(b)).take_while(|(a, b)| a == b).count()
}

fn parts(module: &str) -> impl Iterator<Item = &str> {
    module.split(['/', ':', '.', ' ', '"', '<', '>']).filter(|part| !part.is_empty())
}
