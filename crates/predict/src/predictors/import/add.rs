//! Where an import goes, and how it is written.

use std::ops::Range;

use nudge_text::Edit;

use crate::{
    Language, Source,
    index::imports::{Import, Leaf, Statement, Style},
};

/// The edits that import a name.
pub(super) fn edits(source: &Source, statements: &[Statement], import: &Import) -> Option<Vec<Edit>> {
    let text = source.content();
    let edit = match source.language() {
        Language::Go | Language::Java => None,
        _ => extended(source, statements, import),
    };
    let mut edit = match edit {
        Some(edit) => edit,
        None if statements.is_empty() => at_the_top(source, import)?,
        None => new_line(text, source.language(), statements, import),
    };
    let line_break = source.text().line_break();
    if line_break != "\n" && !edit.text.contains(line_break) {
        edit.text = edit.text.replace('\n', line_break);
    }
    Some(vec![edit])
}

/// The name as a member of a list.
fn member(import: &Import, language: Language) -> String {
    let word = if language == Language::Rust || import.original.is_some() { " as " } else { "" };
    match &import.original {
        Some(original) => format!("{original}{word}{}", import.name),
        None => import.name.clone(),
    }
}

/// Puts the name into the statement that already imports from the module.
fn extended(source: &Source, statements: &[Statement], import: &Import) -> Option<Edit> {
    if import.style != Style::Named {
        return None;
    }
    let (text, language) = (source.content(), source.language());
    let name = member(import, language);
    let mut statements = statements.iter().filter(|statement| !statement.is_export);
    let with_list = statements.clone().find_map(|statement| {
        let at = statement.lists.iter().position(|list| list.module == import.module)?;
        let leaves: Vec<&Leaf> = statement.leaves.iter().filter(|leaf| leaf.list == Some(at)).collect();
        let alike = leaves.iter().all(|leaf| leaf.import.type_only == import.type_only);
        (!leaves.is_empty() && alike).then_some(leaves)
    });
    if let Some(leaves) = with_list {
        return Some(inserted(text, &leaves, &name));
    }
    let only = statements.find(|statement| {
        let leaf = statement.leaves.first();
        statement.leaves.len() == 1
            && statement.lists.is_empty()
            && leaf.is_some_and(|leaf| leaf.import.module == import.module)
    })?;
    let leaf = only.leaves.first()?;
    match language {
        Language::Rust if leaf.import.style == Style::Named => {
            let last = text[leaf.range.clone()].rfind("::").map(|at| leaf.range.start + at + 2)?;
            let other = &text[last..leaf.range.end];
            let (first, second) =
                if other <= name.as_str() { (other, name.as_str()) } else { (name.as_str(), other) };
            Some(Edit::new(last..leaf.range.end, format!("{{{first}, {second}}}")))
        }
        Language::TypeScript | Language::Tsx | Language::JavaScript
            if leaf.import.style == Style::Default && leaf.import.type_only == import.type_only =>
        {
            Some(Edit::new(leaf.range.end..leaf.range.end, format!(", {{ {name} }}")))
        }
        _ => None,
    }
}

/// Puts a name among others: in its sorted place if they are sorted, else behind the last.
fn inserted(text: &str, leaves: &[&Leaf], name: &str) -> Edit {
    let names: Vec<&str> = leaves.iter().map(|leaf| &text[leaf.range.clone()]).collect();
    let after = names.iter().position(|other| key(other) > key(name));
    let at = if names.is_sorted_by_key(|name| key(name)) { after } else { None };
    if let Some(at) = at {
        let separator = between(text, leaves, at);
        return Edit::new(leaves[at].range.start..leaves[at].range.start, format!("{name}{separator}"));
    }
    let last = leaves[leaves.len() - 1].range.end;
    let separator = between(text, leaves, leaves.len() - 1);
    Edit::new(last..last, format!("{separator}{name}"))
}

/// What separates a member of a list from its neighbour.
fn between<'t>(text: &'t str, leaves: &[&Leaf], at: usize) -> &'t str {
    let neighbour: Option<Range<usize>> = if at > 0 {
        Some(leaves[at - 1].range.end..leaves[at].range.start)
    } else {
        leaves.get(1).map(|next| leaves[0].range.end..next.range.start)
    };
    neighbour.map(|range| &text[range]).filter(|code| code.trim() == ",").unwrap_or(", ")
}

/// Formatters sort by the letters first, and upper case before lower case or after; both are sorted this way.
fn key(name: &str) -> (String, &str) {
    (name.to_lowercase(), name)
}

/// The import as a statement of its own.
fn statement(text: &str, language: Language, statements: &[Statement], import: &Import) -> String {
    let model = statements.last().map_or("", |statement| &text[statement.range.clone()]);
    let name = member(import, language);
    let module = &import.module;
    match language {
        Language::Rust if module.is_empty() => format!("use {name};"),
        Language::Rust => format!("use {module}::{name};"),
        Language::Python if import.style == Style::Module => match &import.original {
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
                Style::Default => import.name.clone(),
                Style::Module => format!("* as {}", import.name),
                _ => format!("{{ {name} }}"),
            };
            format!("import {kind}{clause} from {quote}{module}{quote}{end}")
        }
    }
}

/// A line among those that it is most alike, in order if they are in order.
fn new_line(text: &str, language: Language, statements: &[Statement], import: &Import) -> Edit {
    let code = statement(text, language, statements, import);
    let mut groups = groups(text, statements);
    let is_conditional = |group: &Vec<usize>| {
        let above = group.first().map_or("", |first| text[..statements[*first].range.start].trim_end());
        let line = above.rsplit('\n').next().unwrap_or(above);
        ["#if", "#el"].iter().any(|word| line.starts_with(word))
    };
    if groups.iter().any(|group| !is_conditional(group)) {
        groups.retain(|group| !is_conditional(group));
    }
    let likeness = |statement: &Statement| {
        statement.leaves.first().map_or((false, 0), |leaf| {
            let (a, b) = (&leaf.import.module, &import.module);
            (origin(language, a) == origin(language, b), common(a, b))
        })
    };
    let best = groups.iter().max_by_key(|group| group.iter().map(|at| likeness(&statements[*at])).max());
    let group: &[usize] = best.map_or(&[], Vec::as_slice);
    let line = |at: usize| &text[statements[at].range.clone()];
    let order = |code: &str| sort_key(language, code).to_lowercase();
    let sorted = group.windows(2).all(|pair| order(line(pair[0])) <= order(line(pair[1])));
    let before = group.iter().copied().find(|at| order(line(*at)) > order(&code)).filter(|_| sorted);
    let indent = if language == Language::Go && !code.starts_with("import ") { "\t" } else { "" };
    if let Some(at) = before {
        let start = text[..statements[at].range.start].rfind('\n').map_or(0, |at| at + 1);
        return Edit::new(start..start, format!("{indent}{code}\n"));
    }
    let last = group.last().copied().unwrap_or(statements.len() - 1);
    let end = statements[last].range.end;
    Edit::new(end..end, format!("\n{indent}{code}"))
}

/// Where a module comes from: formatters keep these apart.
fn origin(language: Language, module: &str) -> u8 {
    let first = module.split(['/', ':', '.']).next().unwrap_or(module);
    let is_near = match language {
        Language::Rust => matches!(first, "crate" | "super" | "self"),
        Language::Go => module.split('/').next().is_some_and(|host| host.contains('.')),
        Language::C | Language::Cpp => module.starts_with('"'),
        _ => module.starts_with('.'),
    };
    let is_standard = match language {
        Language::Rust => matches!(first, "std" | "core" | "alloc"),
        Language::Java => matches!(first, "java" | "javax"),
        Language::CSharp => first == "System",
        _ => false,
    };
    u8::from(is_near) * 2 + u8::from(is_standard)
}

/// What statements are sorted by.
fn sort_key(language: Language, code: &str) -> String {
    match language {
        Language::Go => code.trim_start_matches("import ").rsplit('"').nth(1).unwrap_or(code).to_owned(),
        Language::TypeScript | Language::Tsx | Language::JavaScript => {
            code.trim_end_matches([';', '\'', '"']).rsplit(['\'', '"']).next().unwrap_or(code).to_owned()
        }
        // All of `import a` come before `from a import b`.
        Language::Python => format!("{}{code}", u8::from(code.starts_with("from "))),
        _ => code.trim_end_matches(';').to_owned(),
    }
}

/// Statements without an empty line in between.
fn groups(text: &str, statements: &[Statement]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, statement) in statements.iter().enumerate() {
        let adjacent =
            at > 0 && text[statements[at - 1].range.end..statement.range.start].matches('\n').count() == 1;
        match groups.last_mut() {
            Some(group) if adjacent => group.push(at),
            _ => groups.push(vec![at]),
        }
    }
    groups
}

fn common(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// The first import of a file.
fn at_the_top(source: &Source, import: &Import) -> Option<Edit> {
    let (text, language) = (source.content(), source.language());
    let code = statement(text, language, &[], import);
    if matches!(language, Language::Go | Language::Java) {
        match text.lines().position(|line| line.starts_with("package ")) {
            Some(package) => {
                let end = source.text().line_end(package);
                return Some(Edit::new(end..end, format!("\n\n{code}")));
            }
            None if language == Language::Go => return None,
            None => {}
        }
    }
    let comment = |line: &&str| {
        line.starts_with("//") || line.starts_with('#') || line.starts_with("/*") || line.starts_with(" *")
    };
    let head = text.lines().take_while(comment).count();
    let start = source.text().line_start(head);
    let blank = text[start..].starts_with('\n');
    Some(if blank && head > 0 {
        Edit::new(start..start, format!("\n{code}\n"))
    } else {
        Edit::new(start..start, format!("{code}\n\n"))
    })
}
