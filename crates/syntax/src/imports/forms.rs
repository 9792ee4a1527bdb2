//! Import statements of each language.

use std::ops::Range;

use super::{ImportLeaf, ImportList, ImportStatement, ImportStyle, ImportedName, is_name};

/// `use a::{b, c as d};`
pub(super) fn rust(text: &str, range: Range<usize>) -> Option<ImportStatement> {
    let code = &text[range.clone()];
    let keyword = code.find("use ")?;
    let visibility = code[..keyword].trim();
    if !code.ends_with(';')
        || !(visibility.is_empty() || visibility.starts_with("pub"))
        || visibility.contains('\n')
    {
        return None;
    }
    let mut statement = ImportStatement {
        range: range.clone(),
        is_export: !visibility.is_empty(),
        ..ImportStatement::default()
    };
    let body = range.start + keyword + 4..range.end - 1;
    use_tree(text, body, "", None, &mut statement);
    Some(statement)
}

fn use_tree(
    text: &str,
    range: Range<usize>,
    prefix: &str,
    list: Option<usize>,
    statement: &mut ImportStatement,
) {
    let range = trimmed(text, range);
    let code = &text[range.clone()];
    if let Some(open) = code.find('{') {
        let Some(inner) = code.ends_with('}').then(|| range.start + open + 1..range.end - 1) else { return };
        let module = joined(prefix, code[..open].trim_end().trim_end_matches("::"));
        statement.lists.push(ImportList { module: module.clone(), range: inner.clone() });
        let list = statement.lists.len() - 1;
        for item in items(text, inner) {
            use_tree(text, item, &module, Some(list), statement);
        }
        return;
    }
    let (path, alias) = match code.split_once(" as ") {
        Some((path, alias)) => (path.trim(), Some(alias.trim())),
        None => (code, None),
    };
    let path = joined(prefix, path);
    let (module, name) = path.rsplit_once("::").unwrap_or(("", &path));
    // `self` in a list is the module of the list.
    let (module, name) =
        if name == "self" { module.rsplit_once("::").unwrap_or(("", module)) } else { (module, name) };
    let style = if name == "*" { ImportStyle::Glob } else { ImportStyle::Named };
    let import = import(alias.unwrap_or(name), name, module, style);
    statement.leaves.push(ImportLeaf { import, range, list });
}

fn joined(prefix: &str, path: &str) -> String {
    if prefix.is_empty() { path.to_owned() } else { format!("{prefix}::{path}") }
}

fn import(name: &str, original: &str, module: &str, style: ImportStyle) -> ImportedName {
    ImportedName {
        name: name.to_owned(),
        original: (name != original).then(|| original.to_owned()),
        module: module.to_owned(),
        style,
        type_only: false,
    }
}

/// `import a, { b as c } from 'd';`
pub(super) fn typescript(text: &str, range: Range<usize>) -> Option<ImportStatement> {
    let code = &text[range.clone()];
    let is_export = code.starts_with("export ");
    let rest = code.strip_prefix("import").or_else(|| code.strip_prefix("export"))?;
    let (clause, module) = rest.rsplit_once("from")?;
    let module = module.trim().trim_end_matches(';').trim();
    let module = module.trim_matches(['\'', '"', '`']);
    let mut statement = ImportStatement { range: range.clone(), is_export, ..ImportStatement::default() };
    let base = range.start + (code.len() - rest.len());
    let type_only = clause.trim_start().starts_with("type ") && !clause.trim_start().starts_with("type from");
    let clause_start = base + clause.find("type ").filter(|_| type_only).map_or(0, |at| at + 5);
    let clause_end = base + clause.len();
    let clause = &text[clause_start..clause_end];
    let outer_end = clause.find('{').map_or(clause_end, |at| clause_start + at);
    for item in items(text, clause_start..outer_end) {
        let code = &text[item.clone()];
        let (name, style) =
            match code.strip_prefix('*').map(|rest| rest.trim().trim_start_matches("as ").trim()) {
                Some(name) => (name, ImportStyle::Module),
                None => (code, ImportStyle::Default),
            };
        if is_name(name) {
            statement.leaves.push(ImportLeaf {
                import: import(name, name, module, style),
                range: item,
                list: None,
            });
        }
    }
    if let (Some(open), Some(close)) = (clause.find('{'), clause.rfind('}')) {
        let inner = clause_start + open + 1..clause_start + close;
        statement.lists.push(ImportList { module: module.to_owned(), range: inner.clone() });
        for item in items(text, inner) {
            let code = text[item.clone()].trim_start_matches("type ");
            let (original, name) = code.split_once(" as ").unwrap_or((code, code));
            let mut import = import(name.trim(), original.trim(), module, ImportStyle::Named);
            import.type_only = type_only;
            statement.leaves.push(ImportLeaf { import, range: item, list: Some(0) });
        }
    } else if type_only {
        statement.leaves.iter_mut().for_each(|leaf| leaf.import.type_only = true);
    }
    (!statement.leaves.is_empty()).then_some(statement)
}

/// `from a import b as c` and `import a.b as c`
pub(super) fn python(text: &str, range: Range<usize>) -> Option<ImportStatement> {
    let code = &text[range.clone()];
    let mut statement = ImportStatement { range: range.clone(), ..ImportStatement::default() };
    let code = code.split('#').next().unwrap_or(code);
    if let Some(rest) = code.strip_prefix("from ") {
        let (module, names) = rest.split_once(" import ")?;
        let module = module.trim();
        let start = range.start + code.len() - names.len();
        let names = match (names.find('('), names.rfind(')')) {
            (Some(open), Some(close)) => start + open + 1..start + close,
            _ => trimmed(text, start..range.start + code.len()),
        };
        statement.lists.push(ImportList { module: module.to_owned(), range: names.clone() });
        for item in items(text, names) {
            let (original, name) =
                text[item.clone()].split_once(" as ").unwrap_or((&text[item.clone()], &text[item.clone()]));
            let style = if original == "*" { ImportStyle::Glob } else { ImportStyle::Named };
            let import = import(name.trim(), original.trim(), module, style);
            statement.leaves.push(ImportLeaf { import, range: item, list: Some(0) });
        }
    } else {
        let rest = code.strip_prefix("import ")?;
        for item in items(text, range.end - rest.len().min(range.len())..range.start + code.len()) {
            let code = &text[item.clone()];
            let (module, alias) =
                code.split_once(" as ").map_or((code, None), |(module, alias)| (module.trim(), Some(alias)));
            let name = alias.map_or_else(|| module.split('.').next().unwrap_or(module), str::trim);
            let mut import = import(name, name, module, ImportStyle::Module);
            import.original = alias.map(|_| module.to_owned());
            statement.leaves.push(ImportLeaf { import, range: item, list: None });
        }
    }
    (!statement.leaves.is_empty()).then_some(statement)
}

/// `import a.b.C;`
pub(super) fn java(text: &str, range: Range<usize>) -> Option<ImportStatement> {
    let code = text[range.clone()].strip_prefix("import ")?.trim_end().strip_suffix(';')?;
    let path = code.trim();
    let (module, name) = path.rsplit_once('.')?;
    let style = if name == "*" { ImportStyle::Glob } else { ImportStyle::Named };
    let leaf = ImportLeaf { import: import(name, name, module, style), range: range.clone(), list: None };
    Some(ImportStatement { range, leaves: vec![leaf], ..ImportStatement::default() })
}

/// `#include <a>` and `#include "a"`: the module is named with what is around it.
pub(super) fn include(text: &str, range: Range<usize>) -> Option<ImportStatement> {
    let code = text[range.clone()].strip_prefix("#include")?.trim_start();
    let close = if code.starts_with('<') { '>' } else { '"' };
    let end = code.get(1..)?.find(close)? + 2;
    Some(glob(&code[..end], range))
}

/// `using A.B;`
pub(super) fn using(text: &str, range: Range<usize>) -> Option<ImportStatement> {
    let module = text[range.clone()].strip_prefix("using ")?.trim_end().strip_suffix(';')?.trim();
    module.split('.').all(is_name).then(|| glob(module, range))
}

/// All names of a module.
fn glob(module: &str, range: Range<usize>) -> ImportStatement {
    let import = import("*", "*", module, ImportStyle::Glob);
    let leaf = ImportLeaf { import, range: range.clone(), list: None };
    ImportStatement { range, leaves: vec![leaf], ..ImportStatement::default() }
}

/// `import "a/b"` and blocks of such; a statement is one line of them.
pub(super) fn go(text: &str) -> Vec<ImportStatement> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut in_block = false;
    for line in text.split_inclusive('\n') {
        let range = trimmed(text, start..start + line.len());
        start += line.len();
        let code = &text[range.clone()];
        if code.starts_with("import (") {
            in_block = true;
        } else if in_block && code.starts_with(')') {
            in_block = false;
        } else if in_block || code.starts_with("import ") {
            found.extend(go_spec(code, range));
        } else if code.starts_with("func ") || code.starts_with("type ") {
            break;
        }
    }
    found
}

fn go_spec(code: &str, range: Range<usize>) -> Option<ImportStatement> {
    let spec = code.trim_start_matches("import ").trim();
    let (alias, path) = spec.split_once('"')?;
    let path = path.split('"').next()?;
    let alias = alias.trim();
    let name = if alias.is_empty() { package(path) } else { alias };
    let mut import = import(name, name, path, ImportStyle::Module);
    import.original = (!alias.is_empty()).then(|| path.to_owned());
    if matches!(alias, "_" | ".") {
        import.style = ImportStyle::Glob;
    }
    let leaf = ImportLeaf { import, range: range.clone(), list: None };
    Some(ImportStatement { range, leaves: vec![leaf], ..ImportStatement::default() })
}

/// What a package is probably called: the last part of its path that is not a version.
fn package(path: &str) -> &str {
    let is_version =
        |part: &&str| part.strip_prefix('v').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()));
    let last = path.rsplit('/').find(|part| !is_version(part)).unwrap_or(path);
    last.split(".v").next().unwrap_or(last).trim_start_matches("go-").trim_end_matches("-go")
}

/// The pieces between commas, those in inner brackets left together.
fn items(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut depth = 0;
    let mut start = range.start;
    // A statement that is cut short can end before its list begins.
    let Some(list) = text.get(range.clone()) else { return found };
    for (at, c) in list.char_indices() {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                found.push(trimmed(text, start..range.start + at));
                start = range.start + at + 1;
            }
            _ => {}
        }
    }
    found.push(trimmed(text, start..range.end));
    found.retain(|item| !item.is_empty());
    found
}

/// A piece without the space at its ends, nor a comment before it.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let code = &text[range.clone()];
    let start = range.start + (code.len() - code.trim_start().len());
    let end = start + text[start..range.end.max(start)].trim_end().len();
    if text[start..end].starts_with("//") || text[start..end].starts_with('#') {
        let comment = text[start..end].find('\n').map_or(end, |at| start + at + 1);
        return if comment > start { trimmed(text, comment..end) } else { end..end };
    }
    start..end
}
