//! What is wrong though the parser takes it: a block without a statement, a literal where a name is declared.

use nudge_text::{Edits, InsertBias, Text};
use tree_sitter::Node;

use crate::{Language, ParsedText, grammar::Grammar, path::NodePath, role::declaring, token::solid};

/// Nodes that hold statements, declarations, or the arms of a choice.
const BLOCKS: [&str; 18] = [
    "block",
    "class_body",
    "declaration_list",
    "enum_body",
    "enum_member_declaration_list",
    "enumerator_list",
    "enum_variant_list",
    "field_declaration_list",
    "interface_body",
    "interface_type",
    "object_type",
    "ordered_field_declaration_list",
    "statement_block",
    "compound_statement",
    "constructor_body",
    "match_block",
    "switch_block",
    "switch_body",
];
/// Nodes above the blocks of Python have few children.
const MOST_CHILDREN: u32 = 64;
/// Comments that are skipped on the way to what they stand behind.
const MOST_COMMENTS: usize = 50;
/// Tokens of one edit that are looked at.
const MOST_TOKENS: usize = 200;
/// Words that are values, whatever the grammar makes of them where it expects a name.
const VALUES: [&str; 10] =
    ["None", "True", "False", "true", "false", "null", "nil", "NULL", "nullptr", "undefined"];
/// Places of patterns that may be values.
const CHOICES: [&str; 3] = ["match_arm", "let_condition", "case_clause"];

/// Two states of a document that lie some edits apart.
pub(crate) struct ParseStep<'a> {
    pub(crate) language: Language,
    pub(crate) before: (&'a ParsedText, &'a Text),
    pub(crate) after: (&'a ParsedText, &'a Text),
    pub(crate) edits: &'a Edits,
}

impl ParseStep<'_> {
    /// Whether it leaves a block without a statement that had one.
    pub(crate) fn empties_block(&self) -> bool {
        let has_blocks = Grammar::of(self.language).is_some() || self.language == Language::Css;
        has_blocks
            && self.edits.iter().any(|edit| {
                let start = self.edits.map(edit.range.start, InsertBias::Before);
                let before = self.empty_blocks(self.before, edit.range.start);
                let after = self.empty_blocks(self.after, start);
                // Where blocks have no marks, a new one may be empty too.
                let is_new = self.language == Language::Python
                    && !edit.text.trim().is_empty()
                    && self.empty_blocks(self.after, start + edit.text.len()) > before;
                after > before || is_new
            })
    }

    /// Whether it puts a value where a name is declared.
    pub(crate) fn declares_value(&self) -> bool {
        let Some(grammar) = Grammar::of(self.language) else { return false };
        let (parsed, text) = self.after;
        self.edits.iter().any(|edit| {
            let start = self.edits.map(edit.range.start, InsertBias::Before);
            solid(&edit.text).iter().take(MOST_TOKENS).any(|token| {
                let path = NodePath::at(parsed, start + token.range.start);
                let leaf = path.leaf();
                let is_value = is_literal(leaf.kind())
                    || VALUES.iter().any(|value| text.slice(leaf.node.byte_range()) == *value);
                is_value && leaf.node.child_count() == 0 && self.is_declared(grammar, &path)
            })
        })
    }

    /// Whether a path leads to what something is called that must have a name. In most languages fields, variants and functions
    /// may have that of a value.
    fn is_declared(&self, grammar: &Grammar, path: &NodePath<'_>) -> bool {
        declaring(grammar, path).is_some_and(|found| {
            (found.sort.is_local() || self.language == Language::Python)
                && !CHOICES.contains(&path.steps()[found.at].kind())
        })
    }

    /// How many blocks without a statement there are around what stands before a place.
    fn empty_blocks(&self, (parsed, text): (&ParsedText, &Text), place: usize) -> usize {
        let Some(path) = path_before(parsed, text, place) else { return 0 };
        let around = path.steps().iter().skip(1).map(|step| step.node);
        let mut count = around.clone().filter(|node| is_empty_block(*node)).count();
        if self.language == Language::Python {
            let heads = around.filter(|node| !is_block(*node) && node.child_count() <= MOST_CHILDREN);
            count += heads
                .map(|node| node.children(&mut node.walk()).filter(|child| is_empty_block(*child)).count())
                .sum::<usize>();
        }
        count
    }
}

/// The way to the last character before a place that is no space and not in a comment.
pub(super) fn path_before<'t>(parsed: &'t ParsedText, text: &Text, place: usize) -> Option<NodePath<'t>> {
    let mut end = place;
    for _ in 0..MOST_COMMENTS {
        let at = last_solid(text, end)?;
        let path = NodePath::at(parsed, at);
        let steps = path.steps();
        let Some(comment) = steps.iter().find(|step| step.kind().contains("comment")) else {
            return Some(path);
        };
        end = comment.node.start_byte().min(at);
    }
    None
}

/// Where the last character before a place begins that is no space.
fn last_solid(text: &Text, end: usize) -> Option<usize> {
    let mut line = text.line_of(end);
    let mut end = end;
    loop {
        let start = text.line_start(line);
        let piece = text.slice(start..end.max(start));
        let solid = piece.trim_end();
        if let Some(last) = solid.chars().next_back() {
            return Some(start + solid.len() - last.len_utf8());
        }
        line = line.checked_sub(1)?;
        end = text.line_end(line);
    }
}

pub(super) fn is_block(node: Node<'_>) -> bool {
    BLOCKS.contains(&node.kind())
}

fn is_empty_block(node: Node<'_>) -> bool {
    is_block(node) && node.named_children(&mut node.walk()).all(|child| child.is_extra())
}

fn is_literal(kind: &str) -> bool {
    ["literal", "integer", "float", "number", "string", "none", "true", "false", "null", "nil"]
        .iter()
        .any(|part| kind.contains(part))
        && !kind.contains("identifier")
        && !kind.contains("type")
}
