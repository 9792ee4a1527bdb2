//! Where a name is used as a pattern.

use std::ops::Range;

use crate::{
    AnalysedDocument,
    declaration::owner_of,
    grammar::Grammar,
    path::{NodePath, PathStep},
};

/// Macros that take a value and then a pattern.
const MACROS: [&str; 3] = ["matches", "assert_matches", "debug_assert_matches"];

/// Nodes that are patterns made of patterns, or hold one.
const PATTERNS: [&str; 9] = [
    "match_pattern",
    "or_pattern",
    "tuple_pattern",
    "slice_pattern",
    "tuple_struct_pattern",
    "struct_pattern",
    "reference_pattern",
    "captured_pattern",
    "ref_pattern",
];

/// Whether the name of a variant of `owner` at `name` is, with the path before it, a pattern of Rust.
pub fn is_pattern(source: &AnalysedDocument, name: &Range<usize>, owner: &str) -> bool {
    let (Some(grammar), Some(parsed)) = (Grammar::of(source.language()), source.parsed()) else {
        return false;
    };
    let text = source.content();
    let path = NodePath::at(parsed, name.start);
    if path.leaf().node.byte_range() != *name {
        return false;
    }
    let is_self = text[..name.start].ends_with("Self::");
    if is_self && owner_of(grammar, &path, text).as_deref() != Some(owner) {
        return false;
    }
    let steps = path.steps();
    let is_path = |step: &PathStep<'_>| step.kind().starts_with("scoped_");
    let Some(above) = (0..steps.len() - 1).rev().find(|&at| !is_path(&steps[at])) else { return false };
    let (node, child) = (steps[above], steps[above + 1]);
    if node.kind() == "token_tree" {
        return is_in_macro(&path, text, name.start);
    }
    PATTERNS.contains(&node.kind()) && child.field != "condition" || child.field == "pattern"
}

/// Whether a place in the tokens of a macro call is behind the value and before a condition.
fn is_in_macro(path: &NodePath<'_>, text: &str, at: usize) -> bool {
    let steps = path.steps();
    let Some(call) = steps.iter().rposition(|step| step.kind() == "macro_invocation") else { return false };
    let name = steps[call].node.child_by_field_name("macro");
    let is_known = name.is_some_and(|name| MACROS.contains(&&text[name.byte_range()]));
    let before =
        steps.get(call + 1).and_then(|tokens| text.get(tokens.node.start_byte()..at)).unwrap_or_default();
    let pattern = before.split_once(',').map(|(_, pattern)| pattern);
    is_known && pattern.is_some_and(|pattern| !crate::words::contains_word(pattern, "if"))
}
