//! A forest of small decision trees, as it was fitted.
//!
//! The first line of `forest.txt` names what is counted, the second has the sum to begin with, every other line is a
//! tree: its nodes, the root first. `3<0.5:1:4` asks whether the count of number 3 is at most 0.5 and goes on with node 1
//! if so and with node 4 otherwise; a number alone is what the tree adds to the sum.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::PlaceEvidence;

const FITTED: &str = include_str!("forest.txt");

/// After so many trees it is known what is hopeless, and the others are not asked.
const GLANCE: usize = 100;
/// One in twenty, as a logarithm of odds.
const HOPELESS: f32 = -3.0;

struct Forest {
    /// The number of what is counted, by name.
    numbers: FxHashMap<&'static str, usize>,
    base: f32,
    trees: Vec<Vec<Node>>,
}

/// Small, since thousands of them are looked at for every place.
#[derive(Clone, Copy)]
struct Node {
    /// What the count may be at the most, or what is added.
    value: f32,
    number: u16,
    /// Where it goes on; nowhere if nothing is asked, as no question leads to the root.
    yes: u16,
    no: u16,
}

/// The sum of what the trees say of the evidence, as a logarithm of odds.
pub(super) fn log_odds(evidence: &PlaceEvidence) -> f32 {
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
                && tree.iter().enumerate().all(|(at, node)| {
                    let (yes, no) = (usize::from(node.yes), usize::from(node.no));
                    node.is_leaf()
                        || usize::from(node.number) < self.numbers.len()
                            && at < yes.min(no)
                            && yes.max(no) < tree.len()
                })
        })
    }

    fn sum(&self, evidence: &PlaceEvidence) -> f32 {
        let mut counts = vec![0.0; self.numbers.len()];
        for (name, value) in evidence {
            if let Some(&number) = self.numbers.get(name) {
                counts[number] = *value;
            }
        }
        let mut sum = self.base;
        for (number, tree) in self.trees.iter().enumerate() {
            if number == GLANCE && sum < HOPELESS {
                break;
            }
            sum += added(tree, &counts);
        }
        sum
    }
}

fn tree(line: &str) -> Option<Vec<Node>> {
    line.split(' ').map(node).collect()
}

fn node(text: &str) -> Option<Node> {
    let Some((number, rest)) = text.split_once('<') else {
        return Some(Node { value: text.parse().ok()?, number: 0, yes: 0, no: 0 });
    };
    let (most, ways) = rest.split_once(':')?;
    let (yes, no) = ways.split_once(':')?;
    let node = Node {
        value: most.parse().ok()?,
        number: number.parse().ok()?,
        yes: yes.parse().ok()?,
        no: no.parse().ok()?,
    };
    (!node.is_leaf()).then_some(node)
}

impl Node {
    fn is_leaf(self) -> bool {
        self.yes == 0
    }
}

/// What one tree adds.
fn added(tree: &[Node], counts: &[f32]) -> f32 {
    let mut node = tree[0];
    while !node.is_leaf() {
        let is_less = counts[usize::from(node.number)] <= node.value;
        node = tree[usize::from(if is_less { node.yes } else { node.no })];
    }
    node.value
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
        let close = |evidence: PlaceEvidence, expected: f32| {
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
