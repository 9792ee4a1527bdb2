//! Where an import goes, and how it is written.

use std::ops::Range;

use nudge_syntax::{
    AnalysedDocument, Language,
    imports::{ImportLeaf, ImportStatement, ImportStyle, ImportedName},
};
use nudge_text::Edit;

use super::{
    order::{LetterOrder, disorder},
    place,
};

/// The edits that import names, which [share](can_share) a statement if they are several. Some statements are about to go.
pub(super) fn edits(
    source: &AnalysedDocument,
    statements: &[ImportStatement],
    gone: &[usize],
    imports: &[ImportedName],
) -> Option<Vec<Edit>> {
    let (text, language) = (source.content(), source.language());
    let numbered = statements.iter().enumerate().filter(|(at, _)| !gone.contains(at));
    let stay: Vec<&ImportStatement> = numbered.map(|(_, statement)| statement).collect();
    let mut edits = match language {
        Language::Go | Language::Java => None,
        _ => extended(source, &stay, imports),
    }
    .or_else(|| {
        let code = statement(text, language, statements, imports)?;
        let edit = match (stay.as_slice(), statements) {
            ([], []) => at_the_top(source, &code)?,
            ([], [first, ..]) => place::ahead(source, first, &code),
            (stay, _) => place::line(source, stay, &imports[0], &code),
        };
        Some(vec![edit])
    })?;
    let line_break = source.text().line_break();
    for edit in edits.iter_mut().filter(|edit| !edit.text.contains(line_break)) {
        edit.text = edit.text.replace('\n', line_break);
    }
    Some(edits)
}

/// Whether two imports can share a statement.
pub(super) fn can_share(language: Language, a: &ImportedName, b: &ImportedName) -> bool {
    let has_lists = matches!(
        language,
        Language::Rust | Language::Python | Language::TypeScript | Language::Tsx | Language::JavaScript
    );
    let is_same = (&a.module, a.style, a.type_only) == (&b.module, b.style, b.type_only);
    // Of a namespace or a header all names come at once.
    is_same && (has_lists && a.style == ImportStyle::Named || a.style == ImportStyle::Glob)
}

/// The name as a member of a list.
fn member(import: &ImportedName, language: Language) -> String {
    let word = if language == Language::Rust || import.original.is_some() { " as " } else { "" };
    match &import.original {
        Some(original) => format!("{original}{word}{}", import.name),
        None => import.name.clone(),
    }
}

/// Puts the names into the statement that already imports from the module.
fn extended(
    source: &AnalysedDocument,
    statements: &[&ImportStatement],
    imports: &[ImportedName],
) -> Option<Vec<Edit>> {
    let import = imports.first().filter(|import| import.style == ImportStyle::Named)?;
    let (text, language) = (source.content(), source.language());
    let letters = LetterOrder::of_lists(text, language, statements);
    let names = sorted(letters, language, imports);
    let mut statements = statements.iter().filter(|statement| !statement.is_export);
    let with_list = statements.clone().find_map(|statement| {
        let at = statement.lists.iter().position(|list| list.module == import.module)?;
        let leaves: Vec<&ImportLeaf> = statement.leaves.iter().filter(|leaf| leaf.list == Some(at)).collect();
        let alike = leaves.iter().all(|leaf| leaf.import.type_only == import.type_only);
        (!leaves.is_empty() && alike).then_some(leaves)
    });
    if let Some(leaves) = with_list {
        return Some(names.iter().map(|name| inserted(text, letters, &leaves, name)).collect());
    }
    let only = statements.find(|statement| {
        let leaf = statement.leaves.first();
        statement.leaves.len() == 1
            && statement.lists.is_empty()
            && leaf.is_some_and(|leaf| leaf.import.module == import.module)
    })?;
    let leaf = only.leaves.first()?;
    match language {
        Language::Rust if leaf.import.style == ImportStyle::Named => {
            let last = text[leaf.range.clone()].rfind("::").map(|at| leaf.range.start + at + 2)?;
            let mut all = names;
            all.push(text[last..leaf.range.end].to_owned());
            all.sort_by_key(|name| letters.key(name));
            Some(vec![Edit::new(last..leaf.range.end, format!("{{{}}}", all.join(", ")))])
        }
        Language::TypeScript | Language::Tsx | Language::JavaScript
            if leaf.import.style == ImportStyle::Default && leaf.import.type_only == import.type_only =>
        {
            let names = names.join(", ");
            Some(vec![Edit::new(leaf.range.end..leaf.range.end, format!(", {{ {names} }}"))])
        }
        _ => None,
    }
}

/// The names as members of a list, in order.
fn sorted(letters: LetterOrder, language: Language, imports: &[ImportedName]) -> Vec<String> {
    let mut names: Vec<String> = imports.iter().map(|import| member(import, language)).collect();
    names.sort_by_key(|name| letters.key(name));
    names
}

/// Puts a name among others: in its sorted place if they are sorted, else behind the last.
fn inserted(text: &str, letters: LetterOrder, leaves: &[&ImportLeaf], name: &str) -> Edit {
    let names: Vec<&str> = leaves.iter().map(|leaf| &text[leaf.range.clone()]).collect();
    let after = names.iter().position(|other| letters.key(other) > letters.key(name));
    if let Some(at) = after.filter(|_| disorder(&names, |name| letters.key(name)) == 0) {
        let separator = between(text, leaves, at);
        return Edit::new(leaves[at].range.start..leaves[at].range.start, format!("{name}{separator}"));
    }
    let last = leaves[leaves.len() - 1].range.end;
    let separator = between(text, leaves, leaves.len() - 1);
    Edit::new(last..last, format!("{separator}{name}"))
}

/// What separates a member of a list from its neighbour.
fn between<'t>(text: &'t str, leaves: &[&ImportLeaf], at: usize) -> &'t str {
    let neighbour: Option<Range<usize>> = if at > 0 {
        Some(leaves[at - 1].range.end..leaves[at].range.start)
    } else {
        leaves.get(1).map(|next| leaves[0].range.end..next.range.start)
    };
    neighbour.map(|range| &text[range]).filter(|code| code.trim() == ",").unwrap_or(", ")
}

/// The import as a statement of its own.
fn statement(
    text: &str,
    language: Language,
    statements: &[ImportStatement],
    imports: &[ImportedName],
) -> Option<String> {
    let import = imports.first()?;
    let model = statements.last().map_or("", |statement| &text[statement.range.clone()]);
    let all: Vec<&ImportStatement> = statements.iter().collect();
    let names = sorted(LetterOrder::of_lists(text, language, &all), language, imports);
    let name = match (names.as_slice(), language) {
        ([name], _) => name.clone(),
        (names, Language::Rust) => format!("{{{}}}", names.join(", ")),
        (names, _) => names.join(", "),
    };
    let module = &import.module;
    Some(match language {
        Language::Rust if module.is_empty() => format!("use {name};"),
        Language::Rust => format!("use {module}::{name};"),
        Language::Python if import.style == ImportStyle::Module => match &import.original {
            Some(_) => format!("import {module} as {}", import.name),
            None => format!("import {module}"),
        },
        Language::Python => format!("from {module} import {name}"),
        Language::Java => format!("import {module}.{name};"),
        Language::C | Language::Cpp => format!("#include {module}"),
        Language::CSharp => format!("using {module};"),
        Language::Go => {
            let alias = import.original.as_ref().map_or(String::new(), |_| format!("{} ", import.name));
            let keyword = if model.starts_with("import ") || model.is_empty() { "import " } else { "" };
            format!("{keyword}{alias}\"{module}\"")
        }
        _ => {
            let quote = if model.contains('"') { '"' } else { '\'' };
            let end = if model.is_empty() || model.ends_with(';') { ";" } else { "" };
            let kind = if import.type_only { "type " } else { "" };
            let clause = match import.style {
                ImportStyle::Default => import.name.clone(),
                ImportStyle::Module => format!("* as {}", import.name),
                _ => format!("{{ {name} }}"),
            };
            format!("import {kind}{clause} from {quote}{module}{quote}{end}")
        }
    })
}

/// The first import of a file.
fn at_the_top(source: &AnalysedDocument, code: &str) -> Option<Edit> {
    let (text, language) = (source.content(), source.language());
    let behind = |line: usize| {
        let end = source.text().line_end(line);
        Edit::new(end..end, format!("\n\n{code}"))
    };
    let line_of = |word: &str| text.lines().position(|line| line.starts_with(word));
    let head = match language {
        Language::Go | Language::Java => line_of("package "),
        Language::C | Language::Cpp => line_of("#pragma once"),
        _ => None,
    };
    match head {
        Some(line) => return Some(behind(line)),
        None if language == Language::Go => return None,
        None => {}
    }
    let has_directives = matches!(language, Language::TypeScript | Language::Tsx | Language::JavaScript);
    let is_head = |line: &&str| {
        let is_directive = has_directives && line.starts_with(['\'', '"']);
        ["//", "#", "/*", " *"].iter().any(|start| line.starts_with(start)) || is_directive
    };
    let head = text.lines().take_while(is_head).count();
    let start = source.text().line_start(head);
    if let Some(end) = (language == Language::Python).then(|| docstring_end(text, start)).flatten() {
        return Some(behind(source.text().line_of(end)));
    }
    let blank = text[start..].starts_with('\n');
    Some(if blank && head > 0 {
        Edit::new(start..start, format!("\n{code}\n"))
    } else {
        Edit::new(start..start, format!("{code}\n\n"))
    })
}

/// Where what a module of Python says about itself ends, which comes before everything else.
fn docstring_end(text: &str, start: usize) -> Option<usize> {
    let open = start + text[start..].len() - text[start..].trim_start().len();
    let quotes = ["\"\"\"", "'''"].into_iter().find(|quotes| text[open..].starts_with(quotes))?;
    let inside = open + quotes.len();
    Some(inside + text[inside..].find(quotes)? + quotes.len())
}
