//! Where a place is in a syntax tree: the nodes from the root down to it.

use tree_sitter::Node;

use crate::ParsedText;

/// A node on the way, with the name of the field that it fills in the node above.
#[derive(Debug, Clone, Copy)]
pub struct PathStep<'t> {
    /// The node.
    pub node: Node<'t>,
    /// The field; empty if it fills none.
    pub field: &'t str,
}

impl<'t> PathStep<'t> {
    /// What the grammar calls the node.
    pub fn kind(&self) -> &'t str {
        self.node.kind()
    }
}

/// The nodes from the root down to a place; never empty.
#[derive(Debug, Clone)]
pub struct NodePath<'t> {
    steps: Vec<PathStep<'t>>,
}

impl<'t> NodePath<'t> {
    /// The way to the smallest node that holds the character at `offset`.
    ///
    /// Asking a node for the one above starts from the root each time; going down once is cheaper.
    pub fn at(parsed: &'t ParsedText, offset: usize) -> Self {
        let mut cursor = parsed.tree_at(offset).walk();
        let mut steps = Vec::with_capacity(24);
        steps.push(PathStep { node: parsed.root(), field: "" });
        while cursor.goto_first_child_for_byte(offset).is_some() {
            let node = cursor.node();
            if node.start_byte() > offset || node.end_byte() <= offset {
                break;
            }
            steps.push(PathStep { node, field: cursor.field_name().unwrap_or("") });
        }
        Self { steps }
    }

    /// The way to a node further up.
    pub(crate) fn at_step(path: &Self, at: usize) -> Self {
        Self { steps: path.steps[..=at].to_vec() }
    }

    /// From the root to the smallest node.
    pub fn steps(&self) -> &[PathStep<'t>] {
        &self.steps
    }

    /// The smallest node.
    pub fn leaf(&self) -> PathStep<'t> {
        *self.steps.last().expect("a path begins with the root")
    }

    /// The node above the smallest one.
    pub(crate) fn parent(&self) -> Option<PathStep<'t>> {
        self.steps.len().checked_sub(2).map(|at| self.steps[at])
    }

    /// The innermost node of one of the kinds.
    pub fn enclosing(&self, kinds: &[&str]) -> Option<Node<'t>> {
        self.steps.iter().rev().map(|step| step.node).find(|node| kinds.contains(&node.kind()))
    }
}
