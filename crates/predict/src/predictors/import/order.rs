//! The orders in which people and their tools keep imports, and which of them a file follows.

use nudge_syntax::{
    Language,
    imports::{ImportLeaf, ImportStatement},
    token::is_word,
};

/// How the letters of names are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LetterOrder {
    /// Upper and lower case are alike.
    Alike,
    UpperFirst,
    LowerFirst,
    /// Constants, then classes, then the rest.
    ByType,
}

impl LetterOrder {
    /// How the names in the lists of a file are sorted, as far as it shows.
    pub(super) fn of_lists(text: &str, language: Language, statements: &[&ImportStatement]) -> Self {
        let lists = statements.iter().flat_map(|statement| {
            let leaves = |list: usize| -> Vec<&ImportLeaf> {
                statement.leaves.iter().filter(|leaf| leaf.list == Some(list)).collect()
            };
            (0..statement.lists.len()).map(leaves).collect::<Vec<_>>()
        });
        let lists: Vec<Vec<&str>> = lists
            .map(|leaves| leaves.iter().map(|leaf| &text[leaf.range.clone()]).collect())
            .filter(|names: &Vec<&str>| names.len() > 1)
            .collect();
        let disorder = |letters: &Self| {
            lists.iter().map(|names| disorder(names, |name| letters.key(name))).sum::<usize>()
        };
        let usual = Self::usual(language);
        usual.iter().copied().min_by_key(disorder).unwrap_or(usual[0])
    }

    /// The usual one of a language comes first.
    fn usual(language: Language) -> [Self; 4] {
        match language {
            Language::Python => [Self::ByType, Self::Alike, Self::UpperFirst, Self::LowerFirst],
            Language::Rust => [Self::LowerFirst, Self::UpperFirst, Self::Alike, Self::ByType],
            Language::Java | Language::Go => [Self::UpperFirst, Self::Alike, Self::LowerFirst, Self::ByType],
            _ => [Self::Alike, Self::UpperFirst, Self::LowerFirst, Self::ByType],
        }
    }

    /// What a name is sorted by.
    pub(super) fn key(self, name: &str) -> (u8, String) {
        let swapped = |c: char| {
            if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
        };
        match self {
            Self::Alike => (0, name.to_lowercase()),
            Self::UpperFirst => (0, name.to_owned()),
            // A module itself comes before what is in it.
            Self::LowerFirst => (u8::from(name != "self"), name.chars().map(swapped).collect()),
            Self::ByType => {
                let is_constant = name.len() > 1 && !name.contains(char::is_lowercase);
                let is_class = name.starts_with(char::is_uppercase);
                (2 - u8::from(is_class) - u8::from(is_class && is_constant), name.to_lowercase())
            }
        }
    }
}

/// How the statements of a file are sorted.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatementOrder {
    letters: LetterOrder,
    /// Whether those of one form come before all others, as `import a` before `from a import b`.
    by_form: bool,
}

/// What a statement is sorted by.
pub(super) type SortKey = (bool, (u8, String));

impl StatementOrder {
    /// The order with which groups of statements agree best.
    pub(super) fn of(language: Language, groups: &[Vec<&str>]) -> Self {
        let letters = LetterOrder::usual(language).into_iter().take(3);
        let orders = letters.flat_map(|letters| [true, false].map(|by_form| Self { letters, by_form }));
        let all = |order: &Self| -> usize {
            groups.iter().map(|codes| disorder(codes, |code| order.key(language, code))).sum()
        };
        let usual = Self { letters: LetterOrder::usual(language)[0], by_form: true };
        orders.min_by_key(all).unwrap_or(usual)
    }

    /// What a statement is sorted by.
    pub(super) fn key(self, language: Language, code: &str) -> SortKey {
        let path = path(language, code);
        let first = path.split(|c| !is_word(c)).next().unwrap_or(path);
        let is_later = match language {
            Language::Python => code.starts_with("from "),
            Language::TypeScript | Language::Tsx | Language::JavaScript => path.starts_with('.'),
            Language::CSharp => first != "System",
            Language::Rust => !matches!(first, "crate" | "self" | "super"),
            _ => false,
        };
        (self.by_form && is_later, self.letters.key(path))
    }
}

/// How many neighbours are the wrong way round.
pub(super) fn disorder<T, K: PartialOrd>(items: &[T], key: impl Fn(&T) -> K) -> usize {
    items.windows(2).filter(|pair| key(&pair[0]) > key(&pair[1])).count()
}

/// A statement without what all statements have.
fn path(language: Language, code: &str) -> &str {
    let code = code.trim_start_matches("pub ").trim_end().trim_end_matches(';');
    match language {
        Language::Go => code.rsplit('"').nth(1).unwrap_or(code),
        Language::TypeScript | Language::Tsx | Language::JavaScript => {
            code.trim_end_matches(['\'', '"']).rsplit(['\'', '"']).next().unwrap_or(code)
        }
        Language::C | Language::Cpp => {
            code.trim_start_matches("#include").trim().trim_matches(['<', '>', '"'])
        }
        _ => {
            let words = ["import ", "static ", "from ", "using ", "use "];
            words.iter().fold(code, |code, word| code.trim_start_matches(word).trim_start())
        }
    }
}
