//! The uses of a declared name.

use std::ops::Range;

use crate::{
    AnalysedDocument,
    declaration::{Declaration, declared, last_word, owner_of},
    grammar::{Grammar, NameSort},
    path::NodePath,
    role::{NameRole, role_at},
    words::occurrences,
};

/// Occurrences that are looked at in one document.
const MAX_OCCURRENCES: usize = 300;

/// How a use is written when its name changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseForm {
    /// The name takes the place of the old one.
    Plain,
    /// `Type { old }` becomes `Type { old: new }`: the variable has the new name.
    KeepKey,
    /// `Type { old }` becomes `Type { new: old }`: the field has the new name.
    KeepValue,
}

/// A use of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameUse {
    /// Where it is.
    pub range: Range<usize>,
    /// How the name stands there.
    pub form: UseForm,
}

impl NameUse {
    /// What stands at its place when `old` has become `new`.
    pub fn rewritten(&self, old: &str, new: &str) -> String {
        match self.form {
            UseForm::Plain => new.to_owned(),
            UseForm::KeepKey => format!("{old}: {new}"),
            UseForm::KeepValue => format!("{new}: {old}"),
        }
    }
}

/// The uses of a name in a document, and what else bears the name there.
#[derive(Debug, Clone, Default)]
pub struct NameUses {
    /// In the order of the text.
    pub meant: Vec<NameUse>,
    /// Other things that are declared by the same name and may be meant instead.
    pub rivals: usize,
}

struct Mark {
    range: Range<usize>,
    role: NameRole,
    declares: Option<Declaration>,
    /// The value or type that it is a member of agrees with the declaration's.
    fits: bool,
}

/// The uses of what `declaration`, which may stand in another document, declared as `name`.
pub fn uses_of(source: &AnalysedDocument, declaration: &Declaration, name: &str, here: bool) -> NameUses {
    let Some(grammar) = Grammar::of(source.language()) else { return NameUses::default() };
    let Some(parsed) = source.parsed() else {
        // Without a tree it cannot be told what is meant, and so anything may be.
        let rivals = source.occurrences(name, MAX_OCCURRENCES).len();
        return NameUses { meant: Vec::new(), rivals };
    };
    let text = source.content();
    // Outside of its scope a parameter may be named by calls.
    let is_named =
        declaration.sort == NameSort::Parameter && declaration.owner.is_some() && grammar.names_arguments();
    let places = if declaration.sort.is_local() && !is_named {
        occurrences(text, name, declaration.scope.clone(), MAX_OCCURRENCES)
    } else {
        source.occurrences(name, MAX_OCCURRENCES)
    };
    let marks: Vec<Mark> = places
        .into_iter()
        .map(|range| {
            let path = NodePath::at(parsed, range.start);
            let role = role_at(grammar, &path, text, &range);
            let declares = matches!(role, NameRole::Declares(_) | NameRole::ShorthandPattern)
                .then(|| declared(grammar, &path, text))
                .flatten();
            let fits = fits(grammar, &path, text, role, declaration);
            Mark { range, role, declares, fits }
        })
        .collect();
    let judge = Judge { grammar, declaration, here, shadows: shadows(grammar, &marks, declaration, here) };
    let mut found = NameUses::default();
    for mark in &marks {
        if let Some(form) = judge.form(mark) {
            found.meant.push(NameUse { range: mark.range.clone(), form });
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
    fn form(&self, mark: &Mark) -> Option<UseForm> {
        let sort = self.declaration.sort;
        match mark.role {
            NameRole::Declares(_) => self.redeclares(mark).then_some(UseForm::Plain),
            NameRole::ShorthandPattern | NameRole::Shorthand if sort == NameSort::Field => {
                mark.fits.then_some(UseForm::KeepValue)
            }
            NameRole::Shorthand => self.is_visible(mark).then_some(UseForm::KeepKey),
            NameRole::Free => self.is_visible(mark).then_some(UseForm::Plain),
            NameRole::Member { called } => self.is_member(called, mark).then_some(UseForm::Plain),
            NameRole::Path => {
                let by_path = !sort.is_local() && sort != NameSort::Field && sort != NameSort::Import;
                (by_path && mark.fits).then_some(UseForm::Plain)
            }
            NameRole::Key => {
                (matches!(sort, NameSort::Field | NameSort::Parameter) && mark.fits).then_some(UseForm::Plain)
            }
            NameRole::ShorthandPattern | NameRole::Text | NameRole::Other => None,
        }
    }

    fn is_visible(&self, mark: &Mark) -> bool {
        let declaration = self.declaration;
        let reaches = match declaration.sort {
            NameSort::Field | NameSort::Method => self.grammar.implicit_this,
            sort if sort.is_local() => (declaration.from..declaration.scope.end).contains(&mark.range.start),
            _ => true,
        };
        reaches && !self.shadows.iter().any(|shadow| shadow.contains(&mark.range.start))
    }

    fn is_member(&self, called: bool, mark: &Mark) -> bool {
        let told_apart = self.grammar.calls_are_methods;
        mark.fits
            && match self.declaration.sort {
                NameSort::Field => !(told_apart && called),
                NameSort::Method => called || !told_apart,
                NameSort::Variant => true,
                // `module.name`, where the module is another file.
                NameSort::Function | NameSort::Constant => !self.here && !self.grammar.sequential,
                NameSort::Type => !self.here && !self.grammar.sequential && !self.grammar.implicit_this,
                _ => false,
            }
    }

    /// Whether another declaration of the name declares the same thing, or has to have the same name.
    fn redeclares(&self, mark: &Mark) -> bool {
        let Some(other) = &mark.declares else { return false };
        let own = self.declaration;
        let in_c = self.grammar.declares.iter().any(|declares| declares.0 == "preproc_def");
        match (own.sort, other.sort) {
            (NameSort::Import, NameSort::Import) => false,
            (sort, NameSort::Import) => {
                !sort.is_local() && !matches!(sort, NameSort::Field | NameSort::Method)
            }
            // A constructor is called as its type.
            (NameSort::Type, NameSort::Method | NameSort::Function) => true,
            (NameSort::Method, NameSort::Method) if own.is_contract && other.is_contract => true,
            (NameSort::Method, NameSort::Method) => {
                in_c && (own.owner == other.owner || own.is_contract && mark.fits)
            }
            (NameSort::Function, NameSort::Function) => in_c,
            (own_sort, other_sort) => {
                let alike = own_sort == other_sort && own_sort != NameSort::Field;
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
fn fits(
    grammar: &Grammar,
    path: &NodePath<'_>,
    text: &str,
    role: NameRole,
    declaration: &Declaration,
) -> bool {
    let owner = declaration.owner.as_deref().unwrap_or_default();
    let Some(parent) = path.parent().filter(|_| !owner.is_empty() || declaration.sort == NameSort::Function)
    else {
        return true;
    };
    if matches!(role, NameRole::Key | NameRole::Shorthand | NameRole::ShorthandPattern) {
        return labels(grammar, path, text, declaration.sort, owner);
    }
    if !matches!(role, NameRole::Member { .. } | NameRole::Path) || declaration.is_contract {
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
fn labels(grammar: &Grammar, path: &NodePath<'_>, text: &str, sort: NameSort, owner: &str) -> bool {
    let steps = path.steps().iter().rev();
    if sort == NameSort::Parameter {
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
fn inherits(grammar: &Grammar, path: &NodePath<'_>, text: &str, owner: &str) -> bool {
    let Some(node) = path.enclosing(grammar.types).filter(|node| node.kind() != "impl_item") else {
        return false;
    };
    let body = node.child_by_field_name("body").map_or(node.end_byte(), |body| body.start_byte());
    crate::words::contains_word(&text[node.start_byte()..body], owner)
}
