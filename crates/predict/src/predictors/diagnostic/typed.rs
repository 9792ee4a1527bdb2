//! Fixes that follow from the types that a diagnostic names.

use nudge_syntax::{Grammar, Node, NodePath, declaration_at, occurrences, variable};
use nudge_text::Edit;

use super::{Problem, Solution, brief};

/// Expressions of Rust that need no brackets to be called on or borrowed.
const TIGHT: [&str; 8] = [
    "identifier",
    "field_expression",
    "call_expression",
    "string_literal",
    "index_expression",
    "macro_invocation",
    "scoped_identifier",
    "self",
];

impl Problem<'_> {
    /// Text becomes a `String`, and a value is borrowed, where the other is wanted.
    pub(super) fn converted(&self, wanted: &str, found: &str) -> Option<Solution> {
        let path = NodePath::at(self.source.parsed()?, self.diagnostic.range.start);
        let is_marked = |node: Node<'_>| node.byte_range() == self.diagnostic.range;
        let node = path.steps().iter().find(|step| is_marked(step.node) && TIGHT.contains(&step.kind()))?;
        let in_pattern =
            path.steps().iter().any(|step| step.kind() == "match_pattern" || step.field == "pattern");
        let range = node.node.byte_range();
        let code = brief(&self.source.content()[range.clone()]);
        // A type may be told without what it is of.
        let head = |name: &str| name.split('<').next().unwrap_or(name).rsplit("::").next().map(str::to_owned);
        let borrowed = |sign: &str| wanted.strip_prefix(sign).is_some_and(|inner| head(inner) == head(found));
        let (edit, what) = match (wanted, found) {
            _ if in_pattern => return None,
            ("String", "&str" | "&'static str") => {
                (Edit::new(range.end..range.end, ".to_string()"), format!("makes a `String` of `{code}`"))
            }
            _ if found.starts_with('&') => return None,
            _ if borrowed("&mut ") => {
                (Edit::new(range.start..range.start, "&mut "), format!("borrows `{code}`"))
            }
            _ if borrowed("&") || (wanted, found) == ("&str", "String") => {
                (Edit::new(range.start..range.start, "&"), format!("borrows `{code}`"))
            }
            _ => return None,
        };
        Some(Solution { edits: vec![edit], prior: 0.64, what })
    }

    /// `const name` becomes `let name`, where the name is declared.
    pub(super) fn variable(&self, name: &str) -> Option<Solution> {
        let offset = self.place(Some(name))?.start;
        let text = self.source.content();
        let places = self.source.occurrences(name, 40);
        let declared = places.iter().filter_map(|range| Some((range, declaration_at(self.source, range)?)));
        let (place, _) = declared
            .filter(|(_, declaration)| declaration.scope.contains(&offset))
            .min_by_key(|(_, declaration)| declaration.scope.len())?;
        let declaration = self.node(place.start, &["lexical_declaration"])?;
        let start = declaration.start_byte();
        if declaration.named_child_count() != 1 || !text[start..].starts_with("const ") {
            return None;
        }
        let edits = vec![Edit::new(start..start + "const".len(), "let")];
        Some(Solution {
            edits,
            prior: 0.66,
            what: format!("makes `{name}` a variable, as it is assigned to"),
        })
    }

    /// Waits for the value that has a member, or for the marked one. Where it was kept without waiting, that is done there.
    pub(super) fn awaited(&self, member: Option<&str>) -> Option<Solution> {
        let text = self.source.content();
        let at = member.map_or(Some(self.diagnostic.range.clone()), |name| self.place(Some(name)))?;
        let path = NodePath::at(self.source.parsed()?, at.start);
        let function = path.enclosing(Grammar::of(self.source.language())?.functions)?;
        let mut cursor = function.walk();
        if !function.children(&mut cursor).any(|child| child.kind() == "async") {
            return None;
        }
        let value = match member {
            Some(_) => path.enclosing(&["member_expression"])?.child_by_field_name("object")?,
            None => self.kept_or_passed(&path)?,
        };
        let name = &text[value.byte_range()];
        let within = function.byte_range();
        let kept = || {
            let (place, _) = variable(self.source, name, at.start, &within)?;
            let is_once = occurrences(text, name, within.clone(), 3).len() == 2;
            let value = self.node(place.start, &["variable_declarator"])?.child_by_field_name("value")?;
            is_once.then_some(value)
        };
        let what = "waits for the value".to_owned();
        let (node, is_inside) = match kept() {
            Some(kept) => (kept, false),
            None => (value, member.is_some()),
        };
        if node.kind() == "await_expression" || text[..node.start_byte()].trim_end().ends_with("await") {
            return None;
        }
        let code = &text[node.byte_range()];
        let edit = if is_inside {
            Edit::new(node.byte_range(), format!("(await {code})"))
        } else {
            Edit::new(node.start_byte()..node.start_byte(), "await ")
        };
        Some(Solution { edits: vec![edit], prior: 0.62, what })
    }

    /// The marked argument, or what the marked variable is set to.
    fn kept_or_passed<'t>(&self, path: &NodePath<'t>) -> Option<Node<'t>> {
        let steps = path.steps();
        let at = steps.iter().position(|step| step.node.byte_range() == self.diagnostic.range)?;
        let (above, node) = (steps.get(at.checked_sub(1)?)?.node, steps[at]);
        match above.kind() {
            "arguments" => Some(node.node),
            "variable_declarator" if node.field == "name" => above.child_by_field_name("value"),
            _ => None,
        }
    }
}
