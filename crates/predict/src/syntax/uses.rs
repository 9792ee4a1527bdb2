//! The uses of a declared name.

use std::ops::Range;

use super::{
    declaration::{Declaration, declared, last_word, owner_of},
    grammar::{Grammar, Sort},
    path::Path,
    role::{Role, role_at},
    words::occurrences,
};
use crate::Source;

/// Occurrences that are looked at in one document.
const MAX_OCCURRENCES: usize = 300;

/// How a use is written when its name changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The name takes the place of the old one.
    Plain,
    /// `Type { old }` becomes `Type { old: new }`: the variable has the new name.
    KeepKey,
    /// `Type { old }` becomes `Type { new: old }`: the field has the new name.
    KeepValue,
}

/// A use of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) range: Range<usize>,
    pub(crate) form: Form,
}

impl Use {
    /// What stands at its place when `old` has become `new`.
    pub(crate) fn rewritten(&self, old: &str, new: &str) -> String {
        match self.form {
            Form::Plain => new.to_owned(),
            Form::KeepKey => format!("{old}: {new}"),
            Form::KeepValue => format!("{new}: {old}"),
        }
    }
}

/// The uses of a name in a document, and what else bears the name there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uses {
    /// In the order of the text.
    pub(crate) meant: Vec<Use>,
    /// Other things that are declared by the same name and may be meant instead.
    pub(crate) rivals: usize,
}

struct Mark {
    range: Range<usize>,
    role: Role,
    declares: Option<Declaration>,
    /// The value or type that it is a member of agrees with the declaration's.
    fits: bool,
}

/// The uses of what `declaration`, which may stand in another document, declared as `name`.
pub(crate) fn uses_of(source: &Source, declaration: &Declaration, name: &str, here: bool) -> Uses {
    let Some(grammar) = Grammar::of(source.language()) else { return Uses::default() };
    let Some(parsed) = source.parsed() else {
        // Without a tree it cannot be told what is meant, and so anything may be.
        let rivals = source.occurrences(name, MAX_OCCURRENCES).len();
        return Uses { meant: Vec::new(), rivals };
    };
    let text = source.content();
    // Outside of its scope a parameter may be named by calls.
    let is_named =
        declaration.sort == Sort::Parameter && declaration.owner.is_some() && grammar.names_arguments();
    let places = if declaration.sort.is_local() && !is_named {
        occurrences(text, name, declaration.scope.clone(), MAX_OCCURRENCES)
    } else {
        source.occurrences(name, MAX_OCCURRENCES)
    };
    let marks: Vec<Mark> = places
        .into_iter()
        .map(|range| {
            let path = Path::at(parsed, range.start);
            let role = role_at(grammar, &path, text, &range);
            let declares = matches!(role, Role::Declares(_) | Role::ShorthandPattern)
                .then(|| declared(grammar, &path, text))
                .flatten();
            let fits = fits(grammar, &path, text, role, declaration);
            Mark { range, role, declares, fits }
        })
        .collect();
    let judge = Judge { grammar, declaration, here, shadows: shadows(grammar, &marks, declaration, here) };
    let mut found = Uses::default();
    for mark in &marks {
        if let Some(form) = judge.form(mark) {
            found.meant.push(Use { range: mark.range.clone(), form });
        } else {
            found.rivals += usize::from(judge.is_rival(mark));
        }
    }
    found
}

/// The pieces of text in which the name means another variable.
fn shadows(grammar: &Grammar, marks: &[Mark], declaration: &Declaration, here: bool) -> Vec<Range<usize>> {
    let declared = marks.iter().filter_map(|mark| mark.declares.as_ref());
    declared
        .filter(|other| other.sort.is_local() && !(here && is_same(grammar, other, declaration)))
        .map(|other| other.from.min(other.scope.end)..other.scope.end)
        .collect()
}

/// Whether two declarations of one name declare one variable.
fn is_same(grammar: &Grammar, a: &Declaration, b: &Declaration) -> bool {
    a.node == b.node || (grammar.rebinds && a.scope == b.scope)
}

struct Judge<'a> {
    grammar: &'a Grammar,
    declaration: &'a Declaration,
    here: bool,
    shadows: Vec<Range<usize>>,
}

impl Judge<'_> {
    /// How the occurrence is written with the new name, if it is meant.
    fn form(&self, mark: &Mark) -> Option<Form> {
        let sort = self.declaration.sort;
        match mark.role {
            Role::Declares(_) => self.redeclares(mark).then_some(Form::Plain),
            Role::ShorthandPattern | Role::Shorthand if sort == Sort::Field => {
                mark.fits.then_some(Form::KeepValue)
            }
            Role::Shorthand => self.is_visible(mark).then_some(Form::KeepKey),
            Role::Free => self.is_visible(mark).then_some(Form::Plain),
            Role::Member { called } => self.is_member(called, mark).then_some(Form::Plain),
            Role::Path => {
                let by_path = !sort.is_local() && sort != Sort::Field && sort != Sort::Import;
                (by_path && mark.fits).then_some(Form::Plain)
            }
            Role::Key => (matches!(sort, Sort::Field | Sort::Parameter) && mark.fits).then_some(Form::Plain),
            Role::ShorthandPattern | Role::Text | Role::Other => None,
        }
    }

    fn is_visible(&self, mark: &Mark) -> bool {
        let declaration = self.declaration;
        let reaches = match declaration.sort {
            Sort::Field | Sort::Method => self.grammar.implicit_this,
            sort if sort.is_local() => (declaration.from..declaration.scope.end).contains(&mark.range.start),
            _ => true,
        };
        reaches && !self.shadows.iter().any(|shadow| shadow.contains(&mark.range.start))
    }

    fn is_member(&self, called: bool, mark: &Mark) -> bool {
        let told_apart = self.grammar.calls_are_methods;
        mark.fits
            && match self.declaration.sort {
                Sort::Field => !(told_apart && called),
                Sort::Method => called || !told_apart,
                Sort::Variant => true,
                // `module.name`, where the module is another file.
                Sort::Function | Sort::Constant => !self.here && !self.grammar.sequential,
                Sort::Type => !self.here && !self.grammar.sequential && !self.grammar.implicit_this,
                _ => false,
            }
    }

    /// Whether another declaration of the name declares the same thing, or has to have the same name.
    fn redeclares(&self, mark: &Mark) -> bool {
        let Some(other) = &mark.declares else { return false };
        let own = self.declaration;
        let in_c = self.grammar.declares.iter().any(|declares| declares.0 == "preproc_def");
        match (own.sort, other.sort) {
            (Sort::Import, Sort::Import) => false,
            (sort, Sort::Import) => !sort.is_local() && !matches!(sort, Sort::Field | Sort::Method),
            // A constructor is called as its type.
            (Sort::Type, Sort::Method | Sort::Function) => true,
            (Sort::Method, Sort::Method) if own.is_contract && other.is_contract => true,
            (Sort::Method, Sort::Method) => {
                in_c && (own.owner == other.owner || own.is_contract && mark.fits)
            }
            (Sort::Function, Sort::Function) => in_c,
            (own_sort, other_sort) => {
                let alike = own_sort == other_sort && own_sort != Sort::Field;
                let both_local = own_sort.is_local() && other_sort.is_local();
                self.here && (alike || both_local) && is_same(self.grammar, other, own)
            }
        }
    }

    fn is_rival(&self, mark: &Mark) -> bool {
        let sort = self.declaration.sort;
        mark.declares.as_ref().is_some_and(|other| !sort.is_local() && !other.sort.is_local())
    }
}

/// Whether a member may belong to what `declaration` belongs to, as far as the code next to it tells.
fn fits(grammar: &Grammar, path: &Path<'_>, text: &str, role: Role, declaration: &Declaration) -> bool {
    let owner = declaration.owner.as_deref().unwrap_or_default();
    let Some(parent) = path.parent().filter(|_| !owner.is_empty() || declaration.sort == Sort::Function)
    else {
        return true;
    };
    if matches!(role, Role::Key | Role::Shorthand | Role::ShorthandPattern) {
        return labels(grammar, path, text, declaration.sort, owner);
    }
    if !matches!(role, Role::Member { .. } | Role::Path) || declaration.is_contract {
        return true;
    }
    let start = path.leaf().node.start_byte();
    let before =
        text[parent.node.start_byte().min(start)..start].trim_end_matches(['.', ':', '?', '>', '-', '!']);
    let Some(base) = last_word(before.split('<').next().unwrap_or(before)) else { return true };
    match base.as_str() {
        "self" | "this" | "Self" | "cls" if before.len() == base.len() => match owner_of(grammar, path, text)
        {
            Some(around) => around == owner || inherits(grammar, path, text, owner),
            None => true,
        },
        base if base.starts_with(char::is_uppercase) && before.ends_with(base) => base == owner,
        _ => true,
    }
}

/// Whether a label may be one of `owner`: a field of its literals and patterns, or a parameter of its calls.
fn labels(grammar: &Grammar, path: &Path<'_>, text: &str, sort: Sort, owner: &str) -> bool {
    let steps = path.steps().iter().rev();
    if sort == Sort::Parameter {
        let mut calls = steps.filter(|step| grammar.calls.iter().any(|call| call.0 == step.kind()));
        let called = calls.next().and_then(|step| text[step.node.byte_range()].split('(').next());
        return called.and_then(last_word).as_deref() == Some(owner);
    }
    let mut around = steps.filter_map(|step| match step.kind() {
        "struct_expression" => step.node.child_by_field_name("name"),
        "struct_pattern" | "composite_literal" => step.node.child_by_field_name("type"),
        _ => None,
    });
    let Some(name) = around.next() else { return true };
    let name = &text[name.byte_range()];
    match last_word(name.split(['<', '[']).next().unwrap_or(name)) {
        Some(name) if name == "Self" => owner_of(grammar, path, text).is_none_or(|around| around == owner),
        Some(name) => name == owner,
        None => true,
    }
}

/// Whether the type around a place is made from `owner`.
fn inherits(grammar: &Grammar, path: &Path<'_>, text: &str, owner: &str) -> bool {
    let Some(node) = path.enclosing(grammar.types).filter(|node| node.kind() != "impl_item") else {
        return false;
    };
    let body = node.child_by_field_name("body").map_or(node.end_byte(), |body| body.start_byte());
    super::words::contains(&text[node.start_byte()..body], owner)
}
