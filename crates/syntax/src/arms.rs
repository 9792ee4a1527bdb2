//! The arms of a `match` or `switch`, and the entries of a table that is like one.

use std::ops::Range;

use crate::{AnalysedDocument, path::NodePath, token::is_word};

/// Nodes that are an arm.
const KINDS: [&str; 12] = [
    "match_arm",
    "switch_case",
    "switch_default",
    "switch_block_statement_group",
    "switch_rule",
    "switch_section",
    "switch_expression_arm",
    "case_statement",
    "expression_case",
    "default_case",
    "case_clause",
    "pair",
];

/// More are a table that nobody fills by hand.
const MAX_ARMS: usize = 200;

/// Arms that stand beside each other, in bytes of their document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchArms {
    /// Each without the space and the comma behind it.
    pub list: Vec<Range<usize>>,
    /// They are entries of a table.
    pub is_table: bool,
}

impl MatchArms {
    /// The arms among which the innermost one around a place is.
    pub fn around(source: &AnalysedDocument, offset: usize) -> Option<Self> {
        let text = source.content();
        let path = NodePath::at(source.parsed()?, offset);
        let at = path.steps().iter().rposition(|step| KINDS.contains(&step.kind()))?;
        let all = path.steps().get(at.checked_sub(1)?)?.node;
        let mut cursor = all.walk();
        let arms =
            all.named_children(&mut cursor).filter(|node| KINDS.contains(&node.kind())).take(MAX_ARMS + 1);
        let list = arms.map(|node| {
            let code = &text[node.byte_range()];
            let bare = code.trim_end().trim_end_matches(',').trim_end();
            node.start_byte()..node.start_byte() + bare.len()
        });
        let list: Vec<Range<usize>> = list.collect();
        (list.len() <= MAX_ARMS).then(|| Self { list, is_table: path.steps()[at].kind() == "pair" })
    }
}

/// Whether an arm is for all that no other arm is for.
pub fn is_default_arm(arm: &str) -> bool {
    let rest = arm.strip_prefix("case ").unwrap_or(arm);
    let word = &rest[..rest.len() - rest.trim_start_matches(is_word).len()];
    // `other => …` takes whatever comes.
    let takes_all =
        || word.starts_with(char::is_lowercase) && rest[word.len()..].trim_start().starts_with("=>");
    matches!(word, "default" | "_") || takes_all()
}
