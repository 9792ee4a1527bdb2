//! One table per language: which nodes declare, which pass a name through, and what makes a scope.

mod c;
mod csharp;
mod go;
mod java;
mod python;
mod rust;
mod typescript;

use crate::Language;

/// What a declared name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameSort {
    /// A variable of a block.
    Local,
    /// A parameter of a function.
    Parameter,
    /// A parameter that is a type.
    TypeParameter,
    /// A function outside of a type.
    Function,
    /// A function of a type.
    Method,
    /// A variable of a type.
    Field,
    /// One of the values of an enumeration.
    Variant,
    /// A type.
    Type,
    /// A variable or constant of a file or module.
    Constant,
    /// A module or namespace.
    Module,
    /// A name brought in from elsewhere.
    Import,
}

impl NameSort {
    /// Whether nothing outside of the scope can see it.
    pub fn is_local(self) -> bool {
        matches!(self, Self::Local | Self::Parameter | Self::TypeParameter)
    }
}

/// A node kind and the field of it that a child fills; `*` is any field, `""` none.
pub(crate) type GrammarPlace = (&'static str, &'static str);

/// What is known of a language's syntax tree.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a trait of the language by itself")]
pub struct Grammar {
    /// Places where a name is declared.
    pub(crate) declares: &'static [(&'static str, &'static str, NameSort)],
    /// Places between a declaring node and the declared name.
    pub(crate) through: &'static [GrammarPlace],
    /// Places of a name that belongs to the value before it: `value.name`.
    pub(crate) members: &'static [GrammarPlace],
    /// Places of a name that belongs to the type or module before it: `Type::name`.
    pub(crate) paths: &'static [GrammarPlace],
    /// Places of a name that is a label: `Type { name: value }`, `call(name=value)`.
    pub(crate) keys: &'static [GrammarPlace],
    /// Nodes that hold the names declared in them.
    pub(crate) scopes: &'static [&'static str],
    /// Scopes that belong to a whole file or module.
    pub(crate) roots: &'static [&'static str],
    /// Scopes that belong to a type.
    pub(crate) types: &'static [&'static str],
    /// Types whose functions are declared again by others: traits and interfaces.
    pub(crate) contracts: &'static [&'static str],
    /// Nodes that are functions.
    pub functions: &'static [&'static str],
    /// Calls, with the fields of the called and of the arguments.
    pub(crate) calls: &'static [(&'static str, &'static str, &'static str)],
    /// A second declaration of a name in a scope is the same variable.
    pub(crate) rebinds: bool,
    /// A declaration counts from its end on only, and may be followed by another of the same name.
    pub(crate) sequential: bool,
    /// Members can be named without the value they belong to.
    pub implicit_this: bool,
    /// Fields are told from methods by being called.
    pub(crate) calls_are_methods: bool,
}

impl Grammar {
    /// What is known of a language, if anything is.
    pub fn of(language: Language) -> Option<&'static Self> {
        Some(match language {
            Language::Rust => &rust::GRAMMAR,
            Language::TypeScript | Language::Tsx | Language::JavaScript => &typescript::GRAMMAR,
            Language::Python => &python::GRAMMAR,
            Language::Go => &go::GRAMMAR,
            Language::Java => &java::GRAMMAR,
            Language::C | Language::Cpp => &c::GRAMMAR,
            Language::CSharp => &csharp::GRAMMAR,
            _ => return None,
        })
    }

    /// Whether a call can name the parameters that it gives values to.
    pub fn names_arguments(&self) -> bool {
        self.keys.iter().any(|key| matches!(key.0, "keyword_argument" | "argument"))
    }
}

/// Whether code of the two languages can use each other's names.
pub fn related(a: Language, b: Language) -> bool {
    match (Grammar::of(a), Grammar::of(b)) {
        (Some(a), Some(b)) => std::ptr::eq(a, b),
        _ => a == b,
    }
}

/// Whether a child at this place is listed.
pub(crate) fn listed(places: &[GrammarPlace], kind: &str, field: &str) -> bool {
    places.iter().any(|place| place.0 == kind && (place.1 == "*" || place.1 == field))
}
