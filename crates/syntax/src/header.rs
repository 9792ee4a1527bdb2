//! The heads of functions: name, parameters, result.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::{
    AnalysedDocument,
    declaration::{implements, last_word, owner_of},
    grammar::Grammar,
    path::NodePath,
};

/// Nodes that are looked at in one piece of a document.
const MAX_NODES: usize = 4000;

/// A parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionParam {
    /// Where it is, with its type.
    pub range: Range<usize>,
    /// Its name.
    pub name: String,
    /// A call may leave it out.
    pub is_optional: bool,
}

/// The head of a function, in bytes of its document.
#[derive(Debug, Clone)]
pub struct FunctionHeader {
    /// Where its name is.
    pub name: Range<usize>,
    /// The parameters with their parentheses.
    pub params: Range<usize>,
    /// Those that calls give values to: not the value a method is called on.
    pub list: Vec<FunctionParam>,
    /// The result, where it stands before the name.
    pub result: Option<Range<usize>>,
    /// What stands between the parameters and the body.
    pub tail: Range<usize>,
    /// Where the head begins.
    pub start: usize,
    /// The type it belongs to.
    pub owner: Option<String>,
    /// It is declared again elsewhere, or is such a declaration.
    pub is_contract: bool,
    /// There is no body.
    pub is_prototype: bool,
}

impl FunctionHeader {
    /// The head of the function whose name is at `range`.
    pub fn named(source: &AnalysedDocument, range: &Range<usize>) -> Option<Self> {
        let grammar = Grammar::of(source.language())?;
        let path = NodePath::at(source.parsed()?, range.start);
        let steps = path.steps();
        let lowest = steps.len().saturating_sub(6);
        let header =
            (lowest..steps.len()).rev().find_map(|at| Self::of(grammar, source.content(), &path, at))?;
        (header.name == *range).then_some(header)
    }

    /// The heads that have a part in a piece of a document.
    pub fn all_in(source: &AnalysedDocument, within: &Range<usize>) -> Vec<Self> {
        let (Some(grammar), Some(parsed)) = (Grammar::of(source.language()), source.parsed()) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let trees = parsed.trees_in(within).into_iter();
        for node in trees.flat_map(|(tree, within)| heads(grammar, tree, &within)) {
            let path = NodePath::at(parsed, node.start_byte());
            let Some(at) = path.steps().iter().position(|step| step.node.id() == node.id()) else { continue };
            let header = Self::of(grammar, source.content(), &path, at);
            found
                .extend(header.filter(|header| header.start < within.end && within.start <= header.tail.end));
        }
        found
    }

    /// Whether calls have to await it.
    pub fn is_async(&self, text: &str) -> bool {
        // A function that is named by what it is assigned to begins after its name.
        let end = self.name.start.max(self.params.start);
        text.get(self.start..end).is_some_and(|head| crate::words::contains_word(head, "async"))
    }

    fn of(grammar: &Grammar, text: &str, path: &NodePath<'_>, at: usize) -> Option<Self> {
        let node = path.steps()[at].node;
        has_header(grammar, node).then_some(())?;
        let head = declarator(node).unwrap_or(node);
        let params = head.child_by_field_name("parameters")?;
        let name = match head.child_by_field_name("declarator").or_else(|| head.child_by_field_name("name")) {
            Some(name) => last_name(name, text),
            None => named_by(path, at, text)?,
        };
        let body = node.child_by_field_name("body");
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let tail_text = text.get(params.end_byte()..end)?;
        let tail_text = tail_text.split(" : ").next().filter(|_| head != node).unwrap_or(tail_text);
        let tail_text =
            tail_text.trim_end().trim_end_matches([';', ':', '{', ',']).trim_end_matches("=>").trim_end();
        let result = ["returns", "type"].iter().find_map(|field| node.child_by_field_name(field));
        let around = at.checked_sub(1).map(|up| path.steps()[up].node);
        let scope = path.steps()[..at]
            .iter()
            .rev()
            .map(|step| step.node)
            .find(|node| grammar.types.contains(&node.kind()));
        let receiver =
            node.child_by_field_name("receiver").and_then(|receiver| last_word(&text[receiver.byte_range()]));
        Some(Self {
            tail: params.end_byte()..params.end_byte() + tail_text.len(),
            list: list(params, text),
            params: params.byte_range(),
            result: result.map(|result| result.byte_range()).filter(|result| result.end <= name.start),
            start: around.filter(|up| up.kind() == "export_statement").unwrap_or(node).start_byte(),
            owner: receiver
                .or_else(|| qualifier(&name, text))
                .or_else(|| scope.and_then(|_| owner_of(grammar, &NodePath::at_step(path, at), text))),
            is_contract: scope
                .is_some_and(|scope| grammar.contracts.contains(&scope.kind()) || implements(scope)),
            is_prototype: body.is_none(),
            name,
        })
    }
}

/// The nodes with a head that have a part in a piece of a document.
fn heads<'t>(grammar: &Grammar, tree: &'t Tree, within: &Range<usize>) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    let mut seen = 0;
    'walk: loop {
        seen += 1;
        let node = cursor.node();
        let overlaps = node.start_byte() < within.end && within.start < node.end_byte();
        if overlaps && has_header(grammar, node) {
            found.push(node);
        }
        if overlaps && cursor.goto_first_child_for_byte(within.start).is_some() {
            continue;
        }
        while node_is_past(cursor.node(), within) || !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'walk;
            }
        }
        if seen > MAX_NODES {
            break;
        }
    }
    found
}

fn node_is_past(node: Node<'_>, within: &Range<usize>) -> bool {
    node.start_byte() >= within.end
}

fn has_header(grammar: &Grammar, node: Node<'_>) -> bool {
    let kind = node.kind();
    grammar.functions.contains(&kind)
        || (matches!(kind, "declaration" | "field_declaration") && declarator(node).is_some())
}

/// The part of a C declaration that has the parameters.
fn declarator(node: Node<'_>) -> Option<Node<'_>> {
    let mut declarator = node.child_by_field_name("declarator")?;
    while declarator.kind() != "function_declarator" {
        declarator = match declarator.kind() {
            "pointer_declarator" => declarator.child_by_field_name("declarator")?,
            "reference_declarator" => declarator.named_child(0)?,
            _ => return None,
        };
    }
    Some(declarator)
}

fn last_name(node: Node<'_>, text: &str) -> Range<usize> {
    let word = last_word(&text[node.byte_range()]).unwrap_or_default();
    let at = text[node.byte_range()].rfind(&word).unwrap_or(0);
    node.start_byte() + at..node.start_byte() + at + word.len()
}

/// `const name = () => …` and `name: () => …` give a function its name.
fn named_by(path: &NodePath<'_>, at: usize, text: &str) -> Option<Range<usize>> {
    let above = path.steps().get(at.checked_sub(1)?)?.node;
    let field = match above.kind() {
        "variable_declarator" | "public_field_definition" => "name",
        "field_definition" => "property",
        "pair" => "key",
        _ => return None,
    };
    Some(last_name(above.child_by_field_name(field)?, text))
}

/// The type before the name in `Type::name`.
fn qualifier(name: &Range<usize>, text: &str) -> Option<String> {
    text[..name.start].strip_suffix("::").and_then(|before| last_word(before.rsplit(['\n', ' ']).next()?))
}

fn list(params: Node<'_>, text: &str) -> Vec<FunctionParam> {
    let mut cursor = params.walk();
    let mut found = Vec::new();
    for node in params.named_children(&mut cursor) {
        let kind = node.kind();
        if kind.contains("comment")
            || kind == "attribute_item"
            || kind.contains("self")
            || kind.contains("separator")
        {
            continue;
        }
        let names: Vec<String> = names(node, text);
        if matches!(names.first().map(String::as_str), Some("self" | "cls" | "this")) && found.is_empty() {
            continue;
        }
        let code = &text[node.byte_range()];
        let is_optional = kind.contains("default")
            || kind.contains("optional")
            || kind.contains("splat")
            || kind.contains("rest")
            || kind.contains("variadic")
            || kind.contains("spread")
            || code.contains(" = ")
            || code.starts_with("...")
            || code.starts_with("params ");
        found.extend(names.into_iter().map(|name| FunctionParam {
            range: node.byte_range(),
            name,
            is_optional,
        }));
    }
    found
}

/// The names that a parameter declares: several in `a, b int`.
fn names(node: Node<'_>, text: &str) -> Vec<String> {
    let mut cursor = node.walk();
    let named: Vec<String> = node
        .children_by_field_name("name", &mut cursor)
        .map(|name| text[name.byte_range()].to_owned())
        .collect();
    if !named.is_empty() {
        return named;
    }
    let part = node.child_by_field_name("pattern").or_else(|| node.child_by_field_name("declarator"));
    let code = match part {
        Some(part) => &text[part.byte_range()],
        None => &text[node.byte_range()],
    };
    let code = code.split(['=', ':', '[', '(']).next().unwrap_or(code);
    vec![last_word(code).unwrap_or_default()]
}
