//! What files import, and how: read line by line, without a syntax tree.

mod forms;

use std::{ops::Range, sync::Arc};

use rustc_hash::FxHashMap;

use crate::{Language, token::is_word};

/// What of a module a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ImportStyle {
    /// One of its names.
    Named,
    /// What it exports without a name.
    Default,
    /// The module itself.
    Module,
    /// All its names.
    Glob,
}

/// A name that is brought in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ImportedName {
    /// The name in this file.
    pub name: String,
    /// The name in the module, if it is another one.
    pub original: Option<String>,
    /// The module, as it is written.
    pub module: String,
    /// What of the module the name stands for.
    pub style: ImportStyle,
    /// Only the type is brought in.
    pub type_only: bool,
}

/// A name in an import statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportLeaf {
    /// What it brings in.
    pub import: ImportedName,
    /// Where it is, with its path inside of the list and its other name.
    pub range: Range<usize>,
    /// Which of the statement's lists it is in.
    pub list: Option<usize>,
}

/// The names in braces or parentheses, or without either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportList {
    /// The module that its names are of.
    pub module: String,
    /// What is between the brackets.
    pub range: Range<usize>,
}

/// An import statement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportStatement {
    /// Without its line break.
    pub range: Range<usize>,
    /// The names it brings in, in order.
    pub leaves: Vec<ImportLeaf>,
    /// Its lists, the outer ones too.
    pub lists: Vec<ImportList>,
    /// It gives the names to others too.
    pub is_export: bool,
}

/// What a line with an import begins with, in one language or another.
const BEGINNINGS: [&str; 8] = ["use ", "pub", "import ", "import{", "from ", "export ", "#include", "using "];

/// No import is expected this many bytes after the last one.
const FAR: usize = 24 * 1024;

/// The import statements of a file that stand at the beginning of a line, in order.
pub fn statements(language: Language, text: &str) -> Vec<ImportStatement> {
    let read: fn(&str, Range<usize>) -> Option<ImportStatement> = match language {
        Language::Rust => forms::rust,
        Language::TypeScript | Language::Tsx | Language::JavaScript => forms::typescript,
        Language::Python => forms::python,
        Language::Java => forms::java,
        Language::C | Language::Cpp => forms::include,
        Language::CSharp => forms::using,
        Language::Go => return forms::go(text),
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    let mut start = 0;
    let mut last = 0;
    while start < text.len() && start < last + FAR {
        let line_end = memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |at| start + at);
        let line = &text[start..line_end];
        let mut next = line_end + 1;
        let can_begin = line.starts_with(|c| "upife#".contains(c));
        if can_begin && BEGINNINGS.iter().any(|word| line.starts_with(word)) {
            let end = statement_end(language, text, start, line_end);
            if let Some(statement) = read(text, start..end) {
                // A statement can end in the middle of a line.
                let rest = memchr::memchr(b'\n', &text.as_bytes()[end..]);
                next = next.max(rest.map_or(text.len(), |at| end + at + 1));
                last = end;
                found.push(statement);
            }
        }
        start = next;
    }
    found
}

fn statement_end(language: Language, text: &str, start: usize, line_end: usize) -> usize {
    let line = &text[start..line_end];
    let closes = |open: char, close: char| {
        let inside = line.find(open).is_some_and(|_| !line.contains(close));
        inside.then(|| text[start..].find(close)).flatten().map(|at| {
            let at = start + at;
            text[at..].find('\n').map_or(text.len(), |rest| at + rest)
        })
    };
    let end = match language {
        Language::Rust => text[start..].find(';').map(|at| start + at + 1),
        Language::Python => closes('(', ')'),
        Language::TypeScript | Language::Tsx | Language::JavaScript => closes('{', '}'),
        _ => None,
    };
    let end = end.unwrap_or(line_end);
    text[..end].trim_end_matches('\r').len().max(start)
}

/// What a file imports.
#[derive(Debug, Clone, Default)]
pub struct ImportFacts(Arc<[ImportedName]>);

impl ImportFacts {
    /// Reads a file.
    pub fn of(language: Language, text: &str) -> Self {
        let leaves = statements(language, text).into_iter().flat_map(|statement| statement.leaves);
        Self(leaves.map(|leaf| leaf.import).filter(|import| import.style != ImportStyle::Glob).collect())
    }

    /// The names it brings in.
    pub fn iter(&self) -> impl Iterator<Item = &ImportedName> {
        self.0.iter()
    }
}

/// Which names the files of a workspace import, and from where.
#[derive(Debug, Clone, Default)]
pub(crate) struct ImportMap(FxHashMap<String, Vec<KnownImport>>);

/// One way in which a name is imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownImport {
    /// What is brought in.
    pub import: ImportedName,
    /// The language of the files.
    pub language: Language,
    /// The file that has it, or the first of them.
    pub uri: Arc<str>,
    /// How many files have it.
    pub files: u32,
}

impl ImportMap {
    /// Takes in what a file imports.
    pub(crate) fn insert(&mut self, uri: &Arc<str>, language: Language, facts: &ImportFacts) {
        for import in facts.iter() {
            let known = self.0.entry(import.name.clone()).or_default();
            match known.iter_mut().find(|known| is_same(known, import, language, uri)) {
                Some(known) => known.files += 1,
                None => {
                    known.push(KnownImport { import: import.clone(), language, uri: uri.clone(), files: 1 });
                }
            }
        }
    }

    /// Forgets what a file imported.
    pub(crate) fn remove(&mut self, uri: &str, language: Language, facts: &ImportFacts) {
        for import in facts.iter() {
            let Some(known) = self.0.get_mut(&import.name) else { continue };
            if let Some(at) = known.iter().position(|known| is_same(known, import, language, uri)) {
                known[at].files -= 1;
                if known[at].files == 0 {
                    known.swap_remove(at);
                }
            }
            if known.is_empty() {
                self.0.remove(&import.name);
            }
        }
    }

    /// How a name is imported.
    pub(crate) fn find(&self, name: &str) -> &[KnownImport] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

fn is_same(known: &KnownImport, import: &ImportedName, language: Language, uri: &str) -> bool {
    // A relative module means another one in another folder.
    let same_place = !import.module.starts_with('.') || *known.uri == *uri;
    known.language == language && known.import == *import && same_place
}

/// Whether a text is one name.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_word) && !text.starts_with(|c: char| c.is_ascii_digit())
}
