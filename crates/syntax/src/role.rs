//! What a name at a place does there.

use std::ops::Range;

use crate::{
    grammar::{Grammar, NameSort, listed},
    path::NodePath,
};

/// What a name does at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRole {
    /// Is declared.
    Declares(NameSort),
    /// Is used by itself.
    Free,
    /// Is used as part of a value: `value.name`, or called as such.
    Member {
        /// Whether it is called.
        called: bool,
    },
    /// Is used as part of a type or module: `Type::name`.
    Path,
    /// Labels a value: `Type { name: value }`, `call(name=value)`.
    Key,
    /// Labels a value and is the value: `Type { name }`.
    Shorthand,
    /// Labels a value and declares a name for it: `let Type { name } = …`.
    ShorthandPattern,
    /// Is part of a string or a comment.
    Text,
    /// Is no name: a keyword, a label.
    Other,
}

const NAMES: &[&str] = &[
    "identifier",
    "type_identifier",
    "field_identifier",
    "property_identifier",
    "private_property_identifier",
    "package_identifier",
    "namespace_identifier",
    // The body of a C macro is one piece.
    "preproc_arg",
];

/// What the name at `range`, to which `path` leads, does.
pub fn role_at(grammar: &Grammar, path: &NodePath<'_>, text: &str, range: &Range<usize>) -> NameRole {
    let leaf = path.leaf();
    match leaf.kind() {
        "shorthand_field_identifier" | "shorthand_property_identifier_pattern" => {
            return NameRole::ShorthandPattern;
        }
        "shorthand_property_identifier" => return NameRole::Shorthand,
        kind if !NAMES.contains(&kind) => return beyond_names(grammar, path, kind, text, range),
        _ => {}
    }
    if let Some(found) = declaring(grammar, path) {
        let constant = found.sort == NameSort::Local
            && grammar.sequential
            && text[range.clone()].starts_with(char::is_uppercase);
        return if constant { NameRole::Free } else { NameRole::Declares(found.sort) };
    }
    let Some(parent) = path.parent() else { return NameRole::Other };
    match parent.kind() {
        "shorthand_field_initializer" => NameRole::Shorthand,
        "token_tree" => in_tokens(text, range),
        "literal_element" if parent.field == "key" => NameRole::Key,
        "method_invocation" if leaf.field == "name" => match parent.node.child_by_field_name("object") {
            Some(_) => NameRole::Member { called: true },
            None => NameRole::Free,
        },
        "assignment_expression"
            if leaf.field == "left" && above(path, 2) == Some("initializer_expression") =>
        {
            NameRole::Key
        }
        kind if listed(grammar.members, kind, leaf.field) => {
            NameRole::Member { called: is_called(grammar, path) }
        }
        kind if listed(grammar.paths, kind, leaf.field) => NameRole::Path,
        kind if listed(grammar.keys, kind, leaf.field) => NameRole::Key,
        _ => NameRole::Free,
    }
}

/// The node that declares the name a path leads to.
pub(super) struct DeclaringNode {
    /// Its place on the path.
    pub(super) at: usize,
    pub(super) sort: NameSort,
}

/// Climbs from the name to the node that declares it, if one does.
pub(super) fn declaring(grammar: &Grammar, path: &NodePath<'_>) -> Option<DeclaringNode> {
    let steps = path.steps();
    let (mut is_function, mut is_qualified) = (false, false);
    for at in (0..steps.len().checked_sub(1)?).rev() {
        let (above, child) = (steps[at], steps[at + 1]);
        let kind = above.kind();
        let declared = grammar.declares.iter().find(|d| d.0 == kind && (d.1 == "*" || d.1 == child.field));
        if let Some(&(_, _, sort)) = declared {
            // `struct name *value` uses the name, and a path in a pattern names a constant.
            let uses = (kind.ends_with("_specifier") && above.node.child_by_field_name("body").is_none())
                || (is_qualified
                    && kind != "use_declaration"
                    && kind != "import_declaration"
                    && !is_function)
                || !child.node.is_named();
            let sort = if is_function && matches!(sort, NameSort::Local | NameSort::Field) {
                NameSort::Function
            } else {
                sort
            };
            return (!uses).then_some(DeclaringNode { at, sort });
        }
        let shorthand = kind == "field_pattern" && child.kind() == "shorthand_field_identifier";
        if !shorthand && !listed(grammar.through, kind, child.field) {
            return None;
        }
        is_function |= kind == "function_declarator";
        is_qualified |= matches!(kind, "scoped_identifier" | "qualified_identifier");
    }
    None
}

fn above<'t>(path: &NodePath<'t>, up: usize) -> Option<&'t str> {
    path.steps().len().checked_sub(up + 1).map(|at| path.steps()[at].kind())
}

fn is_called(grammar: &Grammar, path: &NodePath<'_>) -> bool {
    let steps = path.steps();
    // From `value.name` upwards; type arguments may come between it and the call.
    let mut at = steps.len().saturating_sub(2);
    if at > 0 && steps[at - 1].kind() == "generic_function" {
        at -= 1;
    }
    if steps[at].kind() == "method_reference" {
        return true;
    }
    at > 0 && grammar.calls.iter().any(|call| call.0 == steps[at - 1].kind() && call.1 == steps[at].field)
}

/// Names in the tokens of a macro call, which the parser leaves as they are.
fn in_tokens(text: &str, range: &Range<usize>) -> NameRole {
    let (before, after) = (&text[..range.start], &text[range.end..]);
    if before.ends_with("::") {
        NameRole::Path
    } else if before.ends_with('.') && !before.ends_with("..") {
        NameRole::Member { called: after.starts_with('(') }
    } else if after.starts_with(':') && !after.starts_with("::") {
        NameRole::Key
    } else {
        NameRole::Free
    }
}

fn beyond_names(
    grammar: &Grammar,
    path: &NodePath<'_>,
    kind: &str,
    text: &str,
    range: &Range<usize>,
) -> NameRole {
    let is_text =
        ["string", "comment", "char", "text", "regex", "doc"].iter().any(|part| kind.contains(part));
    if !is_text {
        return NameRole::Other;
    }
    // `format!("{name}")` uses the name.
    let interpolates = grammar.sequential
        && text[..range.start].ends_with('{')
        && !text[..range.start].ends_with("{{")
        && text[range.end..].starts_with(['}', ':'])
        && path.enclosing(&["token_tree"]).is_some()
        && kind.contains("string");
    if interpolates { NameRole::Free } else { NameRole::Text }
}
