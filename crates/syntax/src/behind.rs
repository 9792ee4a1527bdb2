//! What taking code away does to the code behind it, though the parser takes it: the next statement becomes the body of an
//! `if`, a case falls into the next one, a key loses its list.

use nudge_text::{Edit, InsertBias, Text};

use crate::{
    Language, NodePath, ParsedText,
    grammar::Grammar,
    path::PathStep,
    wrong::{ParseStep, is_block, path_before},
};

/// Places of what a statement is about.
const BODIES: [&str; 4] = ["alternative", "body", "consequence", "definition"];
/// Nodes whose last child is such, without saying so.
const HEADS: [&str; 4] = ["else_clause", "fixed_statement", "labeled_statement", "lock_statement"];
/// Nodes that have a mark behind what is chosen by.
const CASES: [&str; 9] = [
    "case_statement",
    "communication_case",
    "default_case",
    "expression_case",
    "switch_block_statement_group",
    "switch_case",
    "switch_default",
    "switch_section",
    "type_case",
];
/// Comments that are skipped.
const MOST_COMMENTS: usize = 50;

impl ParseStep<'_> {
    /// Whether a statement takes the place of another one that is taken away: as the body of what had no braces, or as what
    /// a case leads to.
    pub(crate) fn takes_place(&self) -> bool {
        let is_code = Grammar::of(self.language).is_some();
        let mut going = self.edits.iter().filter(|edit| is_taken(edit, self.before.1));
        match self.language {
            Language::Yaml => going.any(|edit| self.empties_key(edit)),
            _ => is_code && going.any(|edit| self.moves_behind(edit).unwrap_or(false)),
        }
    }

    fn moves_behind(&self, edit: &Edit) -> Option<bool> {
        let (parsed, text) = self.before;
        let (behind, path) = self.behind(edit)?;
        let place = self.edits.map(behind, InsertBias::After);
        let after = NodePath::at(self.after.0, place);
        let ((all, bare), (all_after, bare_after)) = (bodies(&path), bodies(&after));
        // Where braces go or come there are as many around it.
        let is_moved = all_after > all && bare_after > bare;
        Some(is_moved || empties_case(parsed, text, edit, &path))
    }

    /// The first character behind an edit that stays, is no space and not in a comment, and the way to it.
    fn behind(&self, edit: &Edit) -> Option<(usize, NodePath<'_>)> {
        let (parsed, text) = self.before;
        let mut start = edit.range.end;
        for _ in 0..MOST_COMMENTS {
            let at = next_solid(text, start)?;
            if let Some(other) = self.edits.iter().find(|other| other.range.contains(&at)) {
                start = other.range.end;
                continue;
            }
            let path = NodePath::at(parsed, at);
            match path.steps().iter().find(|step| step.kind().contains("comment")) {
                Some(comment) => start = comment.node.end_byte().max(at + 1),
                None => return Some((at, path)),
            }
        }
        None
    }

    /// Whether a key of YAML has lost its last entry, or an entry all that is in it.
    fn empties_key(&self, edit: &Edit) -> bool {
        let holds = |(parsed, text): (&ParsedText, &Text), place: usize, kind: Option<&str>| {
            let path = path_before(parsed, text, place)?;
            let holder = path.enclosing(&["block_mapping_pair", "block_sequence_item"])?;
            let held = match holder.kind() {
                "block_mapping_pair" => holder.child_by_field_name("value"),
                _ => holder.named_child(0),
            };
            Some(held.map(|held| held.kind()) == kind)
        };
        let start = self.edits.map(edit.range.start, InsertBias::Before);
        holds(self.before, edit.range.start, Some("block_node")) == Some(true)
            && holds(self.after, start, None) == Some(true)
    }
}

/// Whether an edit takes something away and puts nothing there.
fn is_taken(edit: &Edit, text: &Text) -> bool {
    edit.text.trim().is_empty() && !text.slice(edit.range.clone()).trim().is_empty()
}

/// Of how many statements a place is in the body, and of how many that have no braces.
fn bodies(path: &NodePath<'_>) -> (usize, usize) {
    let steps = path.steps();
    let inside = steps.windows(2).filter(|pair| is_body(pair[0], pair[1])).map(|pair| pair[1].node);
    inside.fold((0, 0), |(all, bare), body| (all + 1, bare + usize::from(!is_block(body))))
}

fn is_body(above: PathStep<'_>, below: PathStep<'_>) -> bool {
    let is_statement =
        ["_statement", "_loop", "_definition"].iter().any(|ending| above.kind().ends_with(ending));
    let is_last = below.node.is_named() && below.node.start_byte() > above.node.start_byte();
    is_statement && BODIES.contains(&below.field) || HEADS.contains(&above.kind()) && is_last
}

/// Whether all goes that stands between the mark of a case and the next one, or the end.
fn empties_case(parsed: &ParsedText, text: &Text, edit: &Edit, behind: &NodePath<'_>) -> bool {
    let Some(before) = path_before(parsed, text, edit.range.start) else { return false };
    let is_case = before.leaf().kind() == ":"
        && before
            .parent()
            .is_some_and(|parent| CASES.contains(&parent.kind()) || parent.kind() == "switch_label");
    let is_end = matches!(behind.leaf().kind(), "case" | "default" | "}");
    is_case && is_end && !text.slice(edit.range.clone()).trim_end().ends_with(':')
}

/// Where the first character at or behind a place begins that is no space.
fn next_solid(text: &Text, start: usize) -> Option<usize> {
    let first = text.line_of(start);
    (first..text.line_count()).find_map(|line| {
        let from = text.line_start(line).max(start);
        let piece = text.slice(from..text.line_end(line).max(from));
        let blank = piece.len() - piece.trim_start().len();
        (blank < piece.len()).then_some(from + blank)
    })
}
