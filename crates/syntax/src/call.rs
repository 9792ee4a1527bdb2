//! Calls of functions by name.

use std::ops::Range;

use crate::{
    AnalysedDocument,
    declaration::name_of,
    grammar::Grammar,
    path::NodePath,
    role::{NameRole, role_at},
};

/// A call.
#[derive(Debug, Clone)]
pub struct CallSite {
    /// All of it.
    pub range: Range<usize>,
    /// What stands before the name: `value.`, `Type::`; empty if nothing does.
    pub base: String,
    /// What the name does in it.
    pub role: NameRole,
    /// The arguments with their parentheses.
    pub list: Range<usize>,
    /// What it gives, in order.
    pub arguments: Vec<CallArgument>,
    /// The function around it.
    pub function: Option<Range<usize>>,
    /// The name of the function around it.
    pub caller: Option<String>,
}

/// An argument of a call.
#[derive(Debug, Clone)]
pub struct CallArgument {
    /// Where it is, with its name.
    pub range: Range<usize>,
    /// The parameter, if the call names it.
    pub name: Option<String>,
}

impl CallSite {
    /// The call of the function whose name is at `range`.
    pub fn named(source: &AnalysedDocument, range: &Range<usize>) -> Option<Self> {
        let grammar = Grammar::of(source.language())?;
        let text = source.content();
        let path = NodePath::at(source.parsed()?, range.start);
        let role = role_at(grammar, &path, text, range);
        if !matches!(role, NameRole::Free | NameRole::Member { .. } | NameRole::Path) {
            return None;
        }
        let steps = path.steps();
        let at = (steps.len().saturating_sub(6)..steps.len().saturating_sub(1)).rev().find(|&at| {
            let child = steps[at + 1];
            let fills = grammar.calls.iter().any(|call| call.0 == steps[at].kind() && call.1 == child.field);
            fills && child.node.end_byte() == callee_end(&steps[at + 1..], range.end)
        })?;
        let call = steps[at].node;
        let list =
            call.child_by_field_name("arguments").filter(|list| list.kind().starts_with("argument"))?;
        let mut cursor = list.walk();
        let arguments =
            list.named_children(&mut cursor).filter(|node| !node.kind().contains("comment")).map(|node| {
                CallArgument {
                    range: node.byte_range(),
                    name: node
                        .child_by_field_name("name")
                        .filter(|_| node.kind() != "call")
                        .map(|name| text[name.byte_range()].to_owned()),
                }
            });
        let callee = steps[at + 1].node;
        let begin = if callee.start_byte() < range.start { callee.start_byte() } else { call.start_byte() };
        let function = path.enclosing(grammar.functions);
        Some(Self {
            range: call.byte_range(),
            base: text[begin..range.start].trim().to_owned(),
            role,
            list: list.byte_range(),
            arguments: arguments.collect(),
            function: function.map(|node| node.byte_range()),
            caller: name_of(function, text),
        })
    }
}

/// Where the called ends: at the name, or after its type arguments.
fn callee_end(steps: &[crate::path::PathStep<'_>], name_end: usize) -> usize {
    let generic = steps.iter().find(|step| {
        matches!(step.kind(), "generic_function" | "generic_type" | "generic_name" | "template_function")
    });
    generic.map_or(name_end, |step| step.node.end_byte())
}
