//! What is declared at a place, and how far it can be seen.

use std::ops::Range;

use tree_sitter::Node;

use crate::{
    AnalysedDocument,
    grammar::{Grammar, NameSort},
    path::NodePath,
    role::declaring,
    token::{TokenKind, tokens},
};

/// A declared name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// What the name stands for.
    pub sort: NameSort,
    /// The node that declares it.
    pub node: Range<usize>,
    /// The node in which it can be seen.
    pub scope: Range<usize>,
    /// Where in the scope it begins to count.
    pub from: usize,
    /// The type it is a member of, or the function it is a parameter of.
    pub owner: Option<String>,
    /// It is declared again by whoever implements its type.
    pub is_contract: bool,
}

/// The declaration of the name at `range`, if that is what stands there.
pub fn declaration_at(source: &AnalysedDocument, range: &Range<usize>) -> Option<Declaration> {
    let grammar = Grammar::of(source.language())?;
    let path = NodePath::at(source.parsed()?, range.start);
    (path.leaf().node.byte_range() == *range).then_some(())?;
    declared(grammar, &path, source.content())
}

/// What is declared in a part of a document, with the place of its name; no more names than `limit` are looked at.
pub fn declarations_in(
    source: &AnalysedDocument,
    part: &Range<usize>,
    limit: usize,
) -> impl Iterator<Item = (Range<usize>, Declaration)> {
    let code = source.content().get(part.clone()).unwrap_or_default();
    let words = tokens(code).into_iter().filter(|token| token.kind == TokenKind::Word).take(limit);
    words.filter_map(|token| {
        let name = part.start + token.range.start..part.start + token.range.end;
        declaration_at(source, &name).map(|declaration| (name, declaration))
    })
}

/// What is declared by the name that a path leads to.
pub(super) fn declared(grammar: &Grammar, path: &NodePath<'_>, text: &str) -> Option<Declaration> {
    let Some(found) = declaring(grammar, path) else { return assigned_member(grammar, path, text) };
    let steps = path.steps();
    let node = steps[found.at].node;
    let mut sort = found.sort;
    // What an item is called is seen outside of it; what a loop or a function declares, only inside.
    let last = if sort.is_local() { found.at + 1 } else { found.at };
    let scope_at = (0..last).rev().find(|&at| is_scope(grammar, sort, steps[at].kind())).unwrap_or(0);
    let scope = steps[scope_at].node;
    let kind = scope.kind();
    let in_type = grammar.types.contains(&kind);
    sort = match sort {
        NameSort::Function if in_type || is_member_definition(path) => NameSort::Method,
        NameSort::Local if in_type => NameSort::Field,
        NameSort::Local if grammar.roots.contains(&kind) => NameSort::Constant,
        NameSort::Parameter if is_parameter_property(node) => NameSort::Field,
        sort => sort,
    };
    let owner = match sort {
        NameSort::Parameter => name_of(path.enclosing(grammar.functions), text),
        NameSort::Method
            if node.kind() == "method_declaration" && node.child_by_field_name("receiver").is_some() =>
        {
            node.child_by_field_name("receiver").and_then(|receiver| last_word(&text[receiver.byte_range()]))
        }
        NameSort::Field if path.enclosing(&["enum_variant"]).is_some() => {
            name_of(path.enclosing(&["enum_variant"]), text)
        }
        NameSort::Method | NameSort::Field | NameSort::Variant => owner_of(grammar, path, text),
        _ => None,
    };
    let from = if grammar.sequential && matches!(node.kind(), "let_declaration" | "let_condition") {
        node.end_byte()
    } else {
        scope.start_byte()
    };
    let is_contract = sort == NameSort::Method && (grammar.contracts.contains(&kind) || implements(scope));
    Some(Declaration { sort, node: node.byte_range(), scope: scope.byte_range(), from, owner, is_contract })
}

/// `self.name = …` and `this.name = …` declare a field where nothing else does.
fn assigned_member(grammar: &Grammar, path: &NodePath<'_>, text: &str) -> Option<Declaration> {
    let (parent, leaf) = (path.parent()?, path.leaf());
    let steps = path.steps();
    let above = steps.get(steps.len().checked_sub(3)?)?;
    let is_member = matches!(parent.kind(), "attribute" | "member_expression") && parent.field == "left";
    let is_own =
        matches!(text[parent.node.start_byte()..leaf.node.start_byte()].trim_end(), "self." | "this.");
    if !is_member || !is_own || !above.kind().starts_with("assignment") {
        return None;
    }
    let scope = path.enclosing(grammar.types)?;
    Some(Declaration {
        sort: NameSort::Field,
        node: above.node.byte_range(),
        scope: scope.byte_range(),
        from: scope.start_byte(),
        owner: name_of(Some(scope), text),
        is_contract: false,
    })
}

fn is_scope(grammar: &Grammar, sort: NameSort, kind: &str) -> bool {
    // A prototype's parameters end with it.
    grammar.scopes.contains(&kind)
        || (sort == NameSort::Parameter
            && matches!(kind, "declaration" | "field_declaration" | "method_elem"))
}

/// `impl Trait for Type` has functions because the trait has.
pub(super) fn implements(scope: Node<'_>) -> bool {
    scope.kind() == "impl_item" && scope.child_by_field_name("trait").is_some()
}

fn is_member_definition(path: &NodePath<'_>) -> bool {
    path.parent().is_some_and(|parent| parent.kind() == "qualified_identifier")
}

/// `constructor(private name: Type)` declares a field.
fn is_parameter_property(node: Node<'_>) -> bool {
    node.kind() == "required_parameter"
        && node.child(0).is_some_and(|first| first.kind() == "accessibility_modifier")
}

/// The name of the type around a place.
pub(super) fn owner_of(grammar: &Grammar, path: &NodePath<'_>, text: &str) -> Option<String> {
    if let Some(parent) = path.parent().filter(|parent| parent.kind() == "qualified_identifier") {
        return parent
            .node
            .child_by_field_name("scope")
            .and_then(|scope| last_word(&text[scope.byte_range()]));
    }
    let steps = path.steps();
    let is_type =
        |kind: &str| grammar.types.contains(&kind) || kind.starts_with("enum_") && kind != "enum_variant";
    let at = steps.iter().rposition(|step| {
        is_type(step.kind()) && !step.kind().ends_with("_list") && step.kind() != "enum_body"
    })?;
    // `type Name struct { … }` and `type Name = { … }` have the name further up.
    name_of(Some(steps[at].node), text).or_else(|| name_of(at.checked_sub(1).map(|up| steps[up].node), text))
}

/// The name of a function or type.
pub(super) fn name_of(node: Option<Node<'_>>, text: &str) -> Option<String> {
    let node = node?;
    if let Some(declarator) = node.child_by_field_name("declarator") {
        let head = &text[declarator.byte_range()];
        return head.split('(').next().and_then(last_word);
    }
    let name = node.child_by_field_name(if node.kind() == "impl_item" { "type" } else { "name" })?;
    let name = &text[name.byte_range()];
    let name = name.split(['<', '[']).next().unwrap_or(name);
    last_word(name)
}

/// The last name in a piece of code.
pub(super) fn last_word(code: &str) -> Option<String> {
    code.rsplit(|c| !crate::token::is_word(c)).find(|word| !word.is_empty()).map(str::to_owned)
}
