//! Names that stand for others: what was `width` there is `height` here.

use std::cell::OnceCell;

use nudge_syntax::token::is_word;

use crate::case;

/// Words that mean the same everywhere and so never stand for one another.
#[rustfmt::skip]
const KEYWORDS: [&str; 100] = [
    "False", "None", "Self", "String", "True", "and", "as", "assert", "async", "await", "bool", "break",
    "case", "catch", "char", "class", "const", "continue", "def", "default", "do", "double", "elif", "else",
    "enum", "except", "export", "extends", "extern", "false", "final", "finally", "float", "fn", "for",
    "from", "func", "function", "go", "if", "impl", "implements", "import", "in", "int", "interface", "is",
    "let", "long", "loop", "match", "mod", "move", "mut", "namespace", "new", "nil", "not", "null", "or",
    "override", "package", "pass", "private", "protected", "pub", "public", "raise", "ref", "return",
    "select", "self", "short", "static", "str", "string", "struct", "super", "switch", "this", "throw",
    "throws", "trait", "true", "try", "type", "typedef", "typeof", "undefined", "union", "unsafe", "use",
    "using", "var", "virtual", "void", "where", "while", "with", "yield",
];

/// A part of a name that is shorter is in too many others.
const SHORTEST_PART: usize = 3;

/// Names that may stand for others at once.
const MOST: usize = 3;

/// Which name stands for which.
#[derive(Debug, Clone, Default)]
pub(super) struct NameTable {
    known: Vec<(String, String)>,
    /// What changed between the names, however it is spelled; made when it is first asked for.
    parts: OnceCell<Vec<(String, String)>>,
}

impl NameTable {
    /// Whether `to` may stand for `from`, with what is known; from now on it does.
    pub(super) fn pair(&mut self, from: &str, to: &str) -> bool {
        if let Some(known) = self.known.iter().find(|known| known.0 == from) {
            return known.1 == to;
        }
        // Two names never become one.
        let taken = self.known.iter().any(|known| known.1 == to);
        if taken || self.known.len() >= MOST || !is_name(from) || !is_name(to) || !are_alike(from, to) {
            return false;
        }
        self.known.push((from.to_owned(), to.to_owned()));
        self.parts = OnceCell::new();
        true
    }

    /// Whether a name stands for itself wherever it was seen.
    pub(super) fn keeps(&self, name: &str) -> bool {
        self.known.iter().all(|known| known.0 != name)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// The name that stands for this one, if it is another.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        if let Some(known) = self.known.iter().find(|known| known.0 == name) {
            return Some(known.1.clone());
        }
        if !is_name(name) {
            return None;
        }
        let made = || self.known.iter().flat_map(|(from, to)| spellings(from, to)).collect();
        self.parts.get_or_init(made).iter().find_map(|(from, to)| within(name, from, to))
    }
}

/// What changed between two names, in every spelling.
fn spellings(from: &str, to: &str) -> Vec<(String, String)> {
    let (from, to) = case::part(from, to).unwrap_or_else(|| (from.to_owned(), to.to_owned()));
    if from.len() < SHORTEST_PART {
        return Vec::new();
    }
    let mut spellings = case::variants(&from, &to);
    spellings.insert(0, (from, to));
    spellings
}

/// `name` with `to` in the place of `from`, if that is a word of it.
fn within(name: &str, from: &str, to: &str) -> Option<String> {
    let at = name.find(from)?;
    let end = at + from.len();
    let begins =
        at == 0 || !name[..at].ends_with(char::is_alphanumeric) || from.starts_with(char::is_uppercase);
    let ends = !name[end..].starts_with(|c: char| c.is_lowercase() || c.is_numeric());
    (begins && ends).then(|| format!("{}{to}{}", &name[..at], &name[end..]))
}

/// Whether a token is a name that somebody gave.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| is_word(first) && !first.is_numeric())
        && KEYWORDS.binary_search(&text).is_err()
}

/// Whether two names are spelled the same way.
fn are_alike(a: &str, b: &str) -> bool {
    let capital = |name: &str| name.trim_start_matches('_').starts_with(char::is_uppercase);
    capital(a) == capital(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_other() {
        let mut names = NameTable::default();
        assert!(names.pair("width", "height"));
        assert!(names.pair("width", "height"));
        assert!(!names.pair("width", "depth"));
        assert!(!names.pair("depth", "height"));
        assert!(!names.pair("if", "for"));
        assert_eq!(names.get("width").as_deref(), Some("height"));
        assert_eq!(names.get("depth"), None);
    }

    #[test]
    fn it_stands_for_it_within_names_too() {
        let mut names = NameTable::default();
        assert!(names.pair("set_width", "set_height"));
        assert_eq!(names.get("max_width").as_deref(), Some("max_height"));
        assert_eq!(names.get("maxWidth").as_deref(), Some("maxHeight"));
        assert_eq!(names.get("MAX_WIDTH_PX").as_deref(), Some("MAX_HEIGHT_PX"));
        assert_eq!(names.get("widthless"), None);
    }
}
