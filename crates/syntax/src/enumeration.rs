//! Types that are one of several named values, and what each of these carries.

use std::ops::Range;

use tree_sitter::Node;

use crate::{AnalysedDocument, Language, declaration::name_of, path::NodePath, token::is_word};

/// Longer ones are tables, and nobody matches on them.
const MAX_VARIANTS: usize = 80;

/// Nodes that declare an enumeration.
const KINDS: [&str; 6] = [
    "enum_item",
    "enum_declaration",
    "enum_specifier",
    "const_declaration",
    "type_alias_declaration",
    "class_definition",
];

/// What a value of a variant carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariantPayload {
    /// Nothing.
    None,
    /// So many values without a name.
    Tuple(usize),
    /// Fields of these names.
    Fields(Vec<String>),
}

/// One of the values.
#[derive(Debug, Clone)]
pub struct EnumVariant {
    /// Its name.
    pub name: String,
    /// Where it is named.
    pub range: Range<usize>,
    /// What it holds.
    pub payload: VariantPayload,
}

/// A type that is one of several named values.
#[derive(Debug, Clone)]
pub struct Enumeration {
    /// The name of the type, where it has one.
    pub name: Option<String>,
    /// The values are strings, not names.
    pub of_strings: bool,
    /// In the order in which they are declared.
    pub variants: Vec<EnumVariant>,
}

impl Enumeration {
    /// The enumeration whose declaration is around a place.
    pub fn around(source: &AnalysedDocument, offset: usize) -> Option<Self> {
        let text = source.content();
        let node = NodePath::at(source.parsed()?, offset).enclosing(&KINDS)?;
        let mut found = Self {
            name: name_of(Some(node), text),
            of_strings: node.kind() == "type_alias_declaration",
            variants: Vec::new(),
        };
        match node.kind() {
            "type_alias_declaration" => found.add_strings(node.child_by_field_name("value")?, text)?,
            "const_declaration" => found.add_constants(node, text)?,
            "class_definition" => found.add_assigned(node, text)?,
            _ => found.add_variants(node.child_by_field_name("body")?, text),
        }
        let can_be = found.variants.len() <= MAX_VARIANTS
            && found.variants.iter().all(|variant| is_name(&variant.name));
        can_be.then_some(found)
    }

    fn add(&mut self, name: Node<'_>, text: &str, payload: VariantPayload) {
        self.variants.push(EnumVariant {
            name: text[name.byte_range()].to_owned(),
            range: name.byte_range(),
            payload,
        });
    }

    fn add_variants(&mut self, body: Node<'_>, text: &str) {
        let mut cursor = body.walk();
        for node in body.named_children(&mut cursor) {
            match node.kind() {
                "property_identifier" => self.add(node, text, VariantPayload::None),
                "enum_variant"
                | "enum_assignment"
                | "enum_constant"
                | "enum_member_declaration"
                | "enumerator" => {
                    if let Some(name) = node.child_by_field_name("name") {
                        self.add(name, text, payload(node, text));
                    }
                }
                _ => {}
            }
        }
    }

    /// `'a' | 'b'`; nothing if something else is among them.
    fn add_strings(&mut self, node: Node<'_>, text: &str) -> Option<()> {
        let mut cursor = node.walk();
        match node.kind() {
            "union_type" => {
                node.named_children(&mut cursor).try_for_each(|part| self.add_strings(part, text))
            }
            "literal_type" => {
                let content = node.named_child(0).filter(|part| part.kind() == "string")?.named_child(0)?;
                self.add(content, text, VariantPayload::None);
                Some(())
            }
            "comment" => Some(()),
            _ => None,
        }
    }

    /// Constants that are declared together, of a type of their own or counted.
    fn add_constants(&mut self, node: Node<'_>, text: &str) -> Option<()> {
        let mut cursor = node.walk();
        for spec in node.named_children(&mut cursor).filter(|spec| spec.kind() == "const_spec") {
            let name = spec.child_by_field_name("name")?;
            if self.variants.is_empty() {
                let kind = spec.child_by_field_name("type");
                self.name = kind.map(|kind| text[kind.byte_range()].to_owned());
                let is_counted = spec
                    .child_by_field_name("value")
                    .is_some_and(|value| crate::words::contains_word(&text[value.byte_range()], "iota"));
                (kind.is_some() || is_counted).then_some(())?;
            }
            if &text[name.byte_range()] != "_" {
                self.add(name, text, VariantPayload::None);
            }
        }
        Some(())
    }

    /// What a class that is an `Enum` assigns.
    fn add_assigned(&mut self, node: Node<'_>, text: &str) -> Option<()> {
        let above = node.child_by_field_name("superclasses")?;
        text[above.byte_range()].contains("Enum").then_some(())?;
        let body = node.child_by_field_name("body")?;
        let mut cursor = body.walk();
        for statement in body.named_children(&mut cursor) {
            let assigned = statement.named_child(0).filter(|node| node.kind() == "assignment");
            let name = assigned.and_then(|node| node.child_by_field_name("left"));
            if let Some(name) = name.filter(|name| name.kind() == "identifier") {
                self.add(name, text, VariantPayload::None);
            }
        }
        Some(())
    }

    /// The variants as they were declared in lines of a Rust `enum`.
    pub fn of_lines(lines: &str) -> Vec<EnumVariant> {
        let wrapped = format!("enum X {{\n{lines}\n}}");
        let found = [wrapped.as_str(), lines].into_iter().find_map(|code| {
            let source = AnalysedDocument::new("".into(), Language::Rust, nudge_text::Text::new(code));
            let at = code.find("enum ").filter(|_| source.is_sound() == Some(true))?;
            Self::around(&source, at)
        });
        found.map_or_else(Vec::new, |found| found.variants)
    }
}

fn payload(node: Node<'_>, text: &str) -> VariantPayload {
    let Some(body) = node.child_by_field_name("body") else { return VariantPayload::None };
    let mut cursor = body.walk();
    match body.kind() {
        "ordered_field_declaration_list" => {
            VariantPayload::Tuple(body.children_by_field_name("type", &mut cursor).count())
        }
        "field_declaration_list" => {
            let fields =
                body.named_children(&mut cursor).filter_map(|field| field.child_by_field_name("name"));
            VariantPayload::Fields(fields.map(|name| text[name.byte_range()].to_owned()).collect())
        }
        _ => VariantPayload::None,
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| is_word(c) || c == '-')
}
