//! Where a place is in a syntax tree: the nodes from the root down to it.

use tree_sitter::Node;

use super::Parsed;

/// A node on the way, with the name of the field that it fills in the node above.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step<'t> {
    pub(crate) node: Node<'t>,
    pub(crate) field: &'t str,
}

impl<'t> Step<'t> {
    pub(crate) fn kind(&self) -> &'t str {
        self.node.kind()
    }
}

/// The nodes from the root down to a place; never empty.
#[derive(Debug, Clone)]
pub(crate) struct Path<'t> {
    steps: Vec<Step<'t>>,
}

impl<'t> Path<'t> {
    /// The way to the smallest node that holds the character at `offset`.
    ///
    /// Asking a node for the one above starts from the root each time; going down once is cheaper.
    pub(crate) fn at(parsed: &'t Parsed, offset: usize) -> Self {
        let mut cursor = parsed.tree_at(offset).walk();
        let mut steps = Vec::with_capacity(24);
        steps.push(Step { node: parsed.root(), field: "" });
        while cursor.goto_first_child_for_byte(offset).is_some() {
            let node = cursor.node();
            if node.start_byte() > offset || node.end_byte() <= offset {
                break;
            }
            steps.push(Step { node, field: cursor.field_name().unwrap_or("") });
        }
        Self { steps }
    }

    /// The way to a node further up.
    pub(crate) fn at_step(path: &Self, at: usize) -> Self {
        Self { steps: path.steps[..=at].to_vec() }
    }

    /// From the root to the smallest node.
    pub(crate) fn steps(&self) -> &[Step<'t>] {
        &self.steps
    }

    /// The smallest node.
    pub(crate) fn leaf(&self) -> Step<'t> {
        *self.steps.last().expect("a path begins with the root")
    }

    /// The node above the smallest one.
    pub(crate) fn parent(&self) -> Option<Step<'t>> {
        self.steps.len().checked_sub(2).map(|at| self.steps[at])
    }

    /// The innermost node of one of the kinds.
    pub(crate) fn enclosing(&self, kinds: &[&str]) -> Option<Node<'t>> {
        self.steps.iter().rev().map(|step| step.node).find(|node| kinds.contains(&node.kind()))
    }
}
