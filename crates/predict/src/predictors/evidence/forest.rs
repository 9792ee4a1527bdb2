//! A forest of small decision trees, as it was fitted.
//!
//! The first line of `forest.txt` names what is counted, the second has the sum to begin with, every other line is a
//! tree: its nodes, the root first. `3<0.5:1:4` asks whether the count of number 3 is at most 0.5 and goes on with node 1
//! if so and with node 4 otherwise; a number alone is what the tree adds to the sum.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::Evidence;

const FITTED: &str = include_str!("forest.txt");

struct Forest {
    /// The number of what is counted, by name.
    numbers: FxHashMap<&'static str, usize>,
    base: f32,
    trees: Vec<Vec<Node>>,
}

enum Node {
    Ask { number: usize, most: f32, yes: usize, no: usize },
    Add(f32),
}

/// The sum of what all trees say of the evidence, as a logarithm of odds.
pub(super) fn log_odds(evidence: &Evidence) -> f32 {
    static FOREST: OnceLock<Forest> = OnceLock::new();
    let forest = FOREST
        .get_or_init(|| Forest::read(FITTED).expect("the fitted forest is read in a test of this module"));
    forest.sum(evidence)
}

impl Forest {
    fn read(text: &'static str) -> Option<Self> {
        let mut lines = text.lines();
        let numbers = lines.next()?.split('|').enumerate().map(|(number, name)| (name, number)).collect();
        let base = lines.next()?.parse().ok()?;
        let trees = lines.map(tree).collect::<Option<Vec<_>>>()?;
        let forest = Self { numbers, base, trees };
        forest.is_sound().then_some(forest)
    }

    /// Whether every question is about something and leads on, so that each ends.
    fn is_sound(&self) -> bool {
        self.trees.iter().all(|tree| {
            !tree.is_empty()
                && tree.iter().enumerate().all(|(at, node)| match node {
                    Node::Ask { number, yes, no, .. } => {
                        *number < self.numbers.len() && at < *yes.min(no) && *yes.max(no) < tree.len()
                    }
                    Node::Add(_) => true,
                })
        })
    }

    fn sum(&self, evidence: &Evidence) -> f32 {
        let mut counts = vec![0.0; self.numbers.len()];
        for (name, value) in evidence {
            if let Some(&number) = self.numbers.get(name) {
                counts[number] = *value;
            }
        }
        self.base + self.trees.iter().map(|tree| added(tree, &counts)).sum::<f32>()
    }
}

fn tree(line: &str) -> Option<Vec<Node>> {
    line.split(' ').map(node).collect()
}

fn node(text: &str) -> Option<Node> {
    let Some((number, rest)) = text.split_once('<') else { return Some(Node::Add(text.parse().ok()?)) };
    let (most, ways) = rest.split_once(':')?;
    let (yes, no) = ways.split_once(':')?;
    Some(Node::Ask {
        number: number.parse().ok()?,
        most: most.parse().ok()?,
        yes: yes.parse().ok()?,
        no: no.parse().ok()?,
    })
}

/// What one tree adds.
fn added(tree: &[Node], counts: &[f32]) -> f32 {
    let mut at = 0;
    loop {
        match &tree[at] {
            Node::Ask { number, most, yes, no } => at = if counts[*number] <= *most { *yes } else { *no },
            Node::Add(value) => return *value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "near|old\n0.5\n0<2:1:2 1 1<0:3:4 -1 -2\n0.25";

    #[test]
    fn the_fitted_forest_is_sound() {
        let forest = Forest::read(FITTED).expect("it is sound");
        assert!(forest.trees.len() > 50, "{}", forest.trees.len());
    }

    #[test]
    fn trees_are_asked_one_after_the_other() {
        let forest = Forest::read(SMALL).expect("it is sound");
        let close = |evidence: Evidence, expected: f32| {
            let sum = forest.sum(&evidence);
            assert!((sum - expected).abs() < 1e-6, "{evidence:?}: {sum}");
        };
        close(vec![("near", 2.0)], 1.75);
        close(vec![("near", 3.0)], -0.25);
        close(vec![("old", 1.0), ("near", 3.0), ("unknown", 9.0)], -1.25);
    }

    #[test]
    fn a_forest_that_leads_nowhere_is_not_taken() {
        for text in [
            "",
            "near",
            "near\nx",
            "near\n0\n1<0:1:2 1 2",
            "near\n0\n0<0:0:1 1",
            "near\n0\n0<0:1:2 1",
            "near\n0\n0<0:1 1",
        ] {
            assert!(Forest::read(text).is_none(), "{text:?}");
        }
    }
}
