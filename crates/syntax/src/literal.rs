//! Struct types and the literals that make values of them.

use std::ops::Range;

use tree_sitter::Node;

use crate::{
    AnalysedDocument, Language,
    declaration::{last_word, name_of, owner_of},
    grammar::Grammar,
    parsed::ParsedText,
    path::NodePath,
};

/// Nodes that hold the fields of a struct.
const FIELDS: [&str; 3] = ["field_declaration_list", "interface_body", "object_type"];

/// Literals that are looked at in one document.
const MAX_LITERALS: usize = 60;

/// A field of a literal.
#[derive(Debug, Clone)]
pub struct LiteralField {
    /// The name of the field.
    pub name: String,
    /// All of it.
    pub range: Range<usize>,
    /// What it is given; `None` if a variable of its name.
    pub value: Option<Range<usize>>,
}

/// A literal with named fields.
#[derive(Debug, Clone)]
pub struct StructLiteral {
    /// All of it.
    pub range: Range<usize>,
    /// Its fields, in order.
    pub elements: Vec<LiteralField>,
    /// The function around it.
    pub function: Option<Range<usize>>,
}

/// The struct whose fields are around a place: its name and the names of its fields, in order.
pub fn struct_around(source: &AnalysedDocument, offset: usize) -> Option<(String, Vec<String>)> {
    let text = source.content();
    let path = NodePath::at(source.parsed()?, offset);
    let at = path.steps().iter().rposition(|step| FIELDS.contains(&step.kind()))?;
    let owner = path.steps()[..at].iter().rev().take(3).find_map(|step| name_of(Some(step.node), text))?;
    let list = path.steps()[at].node;
    let mut cursor = list.walk();
    let names = list
        .named_children(&mut cursor)
        .filter(|node| matches!(node.kind(), "field_declaration" | "property_signature"))
        .filter_map(|node| node.child_by_field_name("name"));
    Some((owner, names.map(|name| text[name.byte_range()].to_owned()).collect()))
}

/// The literals of a struct in a document that give no other value to take the rest from.
pub fn literals(source: &AnalysedDocument, owner: &str) -> Vec<StructLiteral> {
    let (Some(grammar), Some(parsed)) = (Grammar::of(source.language()), source.parsed()) else {
        return Vec::new();
    };
    let text = source.content();
    let mut places = source.occurrences(owner, MAX_LITERALS);
    if matches!(source.language(), Language::TypeScript | Language::Tsx) {
        return places.iter().flat_map(|place| objects(source, grammar, parsed, place)).collect();
    }
    if source.language() == Language::Rust {
        places.extend(source.occurrences("Self", MAX_LITERALS));
    }
    let found = places.into_iter().filter_map(|place| {
        text[place.end..].trim_start().starts_with('{').then_some(())?;
        let path = NodePath::at(parsed, place.start);
        let literal = path.enclosing(&["struct_expression", "composite_literal"])?;
        let kind = literal.child_by_field_name("name").or_else(|| literal.child_by_field_name("type"))?;
        let is_self = &text[place.clone()] == "Self";
        let is_meant = kind.end_byte() == place.end
            && (!is_self || owner_of(grammar, &path, text).as_deref() == Some(owner));
        let elements = elements(literal.child_by_field_name("body")?, text)?;
        let function = path.enclosing(grammar.functions).map(|node| node.byte_range());
        is_meant.then(|| StructLiteral { range: literal.byte_range(), elements, function })
    });
    found.collect()
}

/// The object literals whose type is the name at `place`: what a variable or an arrow function of it is given, and what a
/// function of it returns.
fn objects(
    source: &AnalysedDocument,
    grammar: &Grammar,
    parsed: &ParsedText,
    place: &Range<usize>,
) -> Vec<StructLiteral> {
    let text = source.content();
    let path = NodePath::at(parsed, place.start);
    let [.., above, annotation, name] = path.steps() else { return Vec::new() };
    if annotation.kind() != "type_annotation" || name.node.byte_range() != *place {
        return Vec::new();
    }
    let value = above.node.child_by_field_name("value").or_else(|| above.node.child_by_field_name("body"));
    let Some(value) = value else { return Vec::new() };
    let mut cursor = value.walk();
    let inner = value.named_children(&mut cursor);
    let found: Vec<Node<'_>> = match value.kind() {
        "object" => vec![value],
        "parenthesized_expression" => inner.collect(),
        "statement_block" => inner
            .filter(|node| node.kind() == "return_statement")
            .filter_map(|node| node.named_child(0))
            .collect(),
        _ => Vec::new(),
    };
    let found = found.into_iter().filter(|node| node.kind() == "object").filter_map(|node| {
        let function = NodePath::at(parsed, node.start_byte()).enclosing(grammar.functions);
        let function = function.map(|node| node.byte_range());
        Some(StructLiteral { range: node.byte_range(), elements: elements(node, text)?, function })
    });
    found.collect()
}

/// The fields of a literal; `None` if some have no name or come from elsewhere.
fn elements(body: Node<'_>, text: &str) -> Option<Vec<LiteralField>> {
    let mut cursor = body.walk();
    let children = body.named_children(&mut cursor).filter(|node| !node.kind().contains("comment"));
    children
        .map(|node| {
            let code = &text[node.byte_range()];
            let (name, value) = match node.kind() {
                "shorthand_field_initializer" => (last_word(code)?, None),
                "field_initializer" => (field(node, "field", text)?, node.child_by_field_name("value")),
                "shorthand_property_identifier" => (code.to_owned(), None),
                "pair" | "keyed_element" => (field(node, "key", text)?, node.child_by_field_name("value")),
                _ => return None,
            };
            Some(LiteralField {
                name,
                range: node.byte_range(),
                value: value.map(|value| value.byte_range()),
            })
        })
        .collect()
}

fn field(node: Node<'_>, name: &str, text: &str) -> Option<String> {
    node.child_by_field_name(name).map(|part| text[part.byte_range()].to_owned())
}
