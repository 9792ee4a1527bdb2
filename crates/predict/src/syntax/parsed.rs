//! The syntax tree of a document, kept in step with it piece by piece.
//!
//! Given the tree of the text before, the parser reads only what has changed, but it still goes over every item of the file
//! that follows. In a long file that takes longer than all else. So the items around a change are parsed by themselves
//! where they can be, and the tree of the whole, which is stale there, is kept for the rest.

use std::ops::Range;

use nudge_text::{Edit, Edits, Text};
use tree_sitter::{InputEdit, Node, Parser, Point, Tree, TreeCursor};

use super::grammar::Grammar;
use crate::{Language, search::moved};

/// Longer texts are not parsed: the engine then works by tokens. A tree takes up to 75 times the memory of its text.
const MAX_PARSED: usize = 1024 * 1024;
/// Shorter texts are always parsed as a whole, which takes no time.
const MIN_PIECEWISE: usize = 16 * 1024;
/// Pieces of one document; then it is parsed as a whole again.
const MAX_PIECES: usize = 12;
/// The longest piece with its neighbours.
const MAX_PIECE: usize = 64 * 1024;

/// Changes are parsed together if there is no more between them.
const CLOSE: usize = 1024;

/// What the parser made of a text.
#[derive(Debug, Clone)]
pub(crate) struct Parsed {
    /// Moved to fit the text, and not to be asked about what lies in the pieces.
    whole: Tree,
    /// In the order of the text, apart from each other.
    pieces: Vec<Piece>,
}

/// Items that were parsed by themselves.
#[derive(Debug, Clone)]
struct Piece {
    /// From the end of the item before to the start of the one after; these are in the tree too.
    range: Range<usize>,
    tree: Tree,
}

/// What the parser made of an earlier text, moved to fit this one.
#[derive(Debug, Clone)]
pub(crate) struct Stale {
    parsed: Parsed,
    /// Where the texts differ.
    changed: Vec<Range<usize>>,
}

impl Parsed {
    /// Parses a text that was not seen before. `None` if there is no grammar for it, or if it is too long.
    pub(crate) fn new(language: Language, content: &str) -> Option<Self> {
        Some(Self { whole: parse(language, content, None)?, pieces: Vec::new() })
    }

    /// Whether a text of this length is parsed at all.
    pub(crate) fn can_be_of(language: Language, len: usize) -> bool {
        len <= MAX_PARSED && language.grammar().is_some()
    }

    /// Whether there is an error somewhere.
    pub(crate) fn has_error(&self) -> bool {
        // Pieces with errors are not kept.
        self.whole.root_node().has_error()
    }

    /// The root of the whole. Of what is below it only what lies outside of the pieces is true.
    pub(super) fn root(&self) -> Node<'_> {
        self.whole.root_node()
    }

    /// The tree that tells what stands at an offset.
    pub(super) fn tree_at(&self, offset: usize) -> &Tree {
        self.pieces
            .iter()
            .find(|piece| piece.range.contains(&offset))
            .map_or(&self.whole, |piece| &piece.tree)
    }

    /// The trees that tell what stands in a range, each with its part of the range.
    pub(super) fn trees_in(&self, range: &Range<usize>) -> Vec<(&Tree, Range<usize>)> {
        let mut found = Vec::new();
        let mut from = range.start;
        for piece in &self.pieces {
            let inside = piece.range.start.max(from)..piece.range.end.min(range.end);
            if inside.is_empty() {
                continue;
            }
            if from < inside.start {
                found.push((&self.whole, from..inside.start));
            }
            from = inside.end;
            found.push((&piece.tree, inside));
        }
        if from < range.end || found.is_empty() {
            found.push((&self.whole, from..range.end));
        }
        found
    }

    /// The outermost item at an offset, or the next one behind it.
    pub(crate) fn item_at(&self, offset: usize) -> Option<Range<usize>> {
        let root = self.tree_at(offset).root_node();
        root.first_child_for_byte(offset).map(|child| child.byte_range())
    }

    /// Parses what lies around a change. `None` if that cannot be told from the rest.
    fn reparse(&mut self, language: Language, text: &Text, changed: &Range<usize>) -> Option<()> {
        let around = self.around(changed, text.len())?;
        // A piece with the same beginning is closer to what comes out than the whole is.
        let known = self.pieces.iter().find(|piece| piece.range.start == around.before.end_byte());
        let old = known.map_or(&self.whole, |piece| &piece.tree);
        let tree = parse_part(language, text, old, &around.outer(text.len()))?;
        let root = tree.root_node();
        if root.has_error() || !around.is_kept_by(root) {
            return None;
        }
        let range = around.before.end_byte()..around.after.map_or(text.len(), |after| after.start_byte());
        self.pieces.retain(|piece| !touch(&piece.range, &range));
        let at = self.pieces.partition_point(|piece| piece.range.start < range.start);
        self.pieces.insert(at, Piece { range, tree });
        (self.pieces.len() <= MAX_PIECES).then_some(())
    }

    /// The items on both sides of a change, and of the pieces that it touches.
    fn around(&self, changed: &Range<usize>, end: usize) -> Option<Around<'_>> {
        let mut span = changed.clone();
        loop {
            let around = Around::of(self.root(), &span)?;
            let outer = around.outer(end);
            if outer.len() > MAX_PIECE {
                return None;
            }
            // An item inside of a piece is stale.
            let overlaps = |piece: &&Piece| {
                touch(&piece.range, &span) || piece.range.start < outer.end && outer.start < piece.range.end
            };
            let wider = self
                .pieces
                .iter()
                .filter(overlaps)
                .fold(span.clone(), |span, piece| union(&span, &piece.inside()));
            if wider == span {
                return Some(around);
            }
            span = wider;
        }
    }
}

impl Piece {
    /// What of it touches neither the item before nor the one after.
    fn inside(&self) -> Range<usize> {
        let start = (self.range.start + 1).min(self.range.end);
        start..self.range.end.saturating_sub(1).max(start)
    }
}

impl Stale {
    /// What is known of a text before it is changed.
    pub(crate) fn new(parsed: &Parsed) -> Self {
        Self { parsed: parsed.clone(), changed: Vec::new() }
    }

    /// Moves all to where it is after edits of the text `before`.
    pub(crate) fn edit(&mut self, before: &Text, edits: &Edits) {
        // From the last to the first, so that earlier offsets stay those of the text before.
        for edit in edits.iter().rev() {
            let input = input_edit(before, edit);
            self.parsed.whole.edit(&input);
            for piece in &mut self.parsed.pieces {
                piece.tree.edit(&input);
                piece.range = moved(&piece.range, &edit.range, edit.text.len());
            }
            let mut fresh = edit.range.start..input.new_end_byte;
            self.changed.retain_mut(|changed| {
                *changed = moved(changed, &edit.range, edit.text.len());
                let joins = touch(changed, &fresh);
                if joins {
                    fresh = union(changed, &fresh);
                }
                !joins
            });
            self.changed.push(fresh);
        }
    }

    /// The tree of the text as it is now, if the items around the changes can be parsed by themselves without an error.
    pub(crate) fn by_pieces(&self, language: Language, text: &Text) -> Option<Parsed> {
        // Where there are errors nobody knows how far they reach.
        let can_be = (MIN_PIECEWISE..=MAX_PARSED).contains(&text.len())
            && Grammar::of(language).is_some()
            && !self.parsed.has_error();
        let mut parsed = can_be.then(|| self.parsed.clone())?;
        joined(self.changed.clone())
            .iter()
            .try_for_each(|changed| parsed.reparse(language, text, changed))?;
        Some(parsed)
    }

    /// The tree of the text as it is now.
    pub(crate) fn as_whole(&self, language: Language, content: &str) -> Option<Parsed> {
        Some(Parsed { whole: parse(language, content, Some(&self.parsed.whole))?, pieces: Vec::new() })
    }
}

/// The untouched items on both sides of a change.
struct Around<'t> {
    before: Node<'t>,
    after: Option<Node<'t>>,
}

impl<'t> Around<'t> {
    /// `None` if there is no item before, since the root begins where its first item does.
    fn of(root: Node<'t>, span: &Range<usize>) -> Option<Self> {
        let mut cursor = root.walk();
        // The first that goes up to the span or beyond.
        if cursor.goto_first_child_for_byte(span.start.saturating_sub(1)).is_none()
            && !cursor.goto_last_child()
        {
            return None;
        }
        // A comment does not tell whether the item before it has ended.
        let before = |node: Node<'_>| node.end_byte() < span.start && !node.is_extra();
        let after = |node: Node<'_>| node.start_byte() > span.end && !node.is_extra();
        Some(Self {
            before: seek(&mut cursor.clone(), TreeCursor::goto_previous_sibling, before)?,
            after: seek(&mut cursor, TreeCursor::goto_next_sibling, after),
        })
    }

    /// The range of both and what is between them, in a text that ends at `end`.
    fn outer(&self, end: usize) -> Range<usize> {
        self.before.start_byte()..self.after.map_or(end, |after| after.end_byte())
    }

    /// Whether the tree of that range has both as they were: then what lies beyond them is as it was, too.
    fn is_kept_by(&self, root: Node<'_>) -> bool {
        let is = |found: Node<'_>, known: Node<'_>| {
            found.kind_id() == known.kind_id() && found.byte_range() == known.byte_range()
        };
        let mut cursor = root.walk();
        cursor.goto_first_child()
            && is(cursor.node(), self.before)
            && self.after.is_none_or(|after| {
                cursor.goto_parent() && cursor.goto_last_child() && is(cursor.node(), after)
            })
    }
}

/// The changes with those joined that are close to each other: most are in one item.
fn joined(mut changed: Vec<Range<usize>>) -> Vec<Range<usize>> {
    changed.sort_by_key(|range| range.start);
    changed.dedup_by(|next, range| {
        let is_close = next.start <= range.end + CLOSE;
        if is_close {
            *range = union(range, next);
        }
        is_close
    });
    changed
}

/// The first node that is meant, going from sibling to sibling.
fn seek<'t>(
    cursor: &mut TreeCursor<'t>,
    step: fn(&mut TreeCursor<'t>) -> bool,
    is_meant: impl Fn(Node<'_>) -> bool,
) -> Option<Node<'t>> {
    while !is_meant(cursor.node()) {
        if !step(cursor) {
            return None;
        }
    }
    Some(cursor.node())
}

fn parse(language: Language, content: &str, old: Option<&Tree>) -> Option<Tree> {
    if !Parsed::can_be_of(language, content.len()) {
        return None;
    }
    parser(language)?.parse(content, old)
}

/// Parses a part of a text by itself.
fn parse_part(language: Language, text: &Text, old: &Tree, part: &Range<usize>) -> Option<Tree> {
    let mut parser = parser(language)?;
    parser.set_included_ranges(&[included(text, part)]).ok()?;
    parser.parse_with_options(&mut |at, _| text.chunk_at(at), Some(old), None)
}

fn parser(language: Language) -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()?).ok()?;
    Some(parser)
}

fn included(text: &Text, range: &Range<usize>) -> tree_sitter::Range {
    tree_sitter::Range {
        start_byte: range.start,
        end_byte: range.end,
        start_point: point(text, range.start),
        end_point: point(text, range.end),
    }
}

fn input_edit(before: &Text, edit: &Edit) -> InputEdit {
    let start = point(before, edit.range.start);
    let breaks = memchr::memchr_iter(b'\n', edit.text.as_bytes()).count();
    let new_end = match edit.text.rfind('\n') {
        Some(at) => Point { row: start.row + breaks, column: edit.text.len() - at - 1 },
        None => Point { row: start.row, column: start.column + edit.text.len() },
    };
    InputEdit {
        start_byte: edit.range.start,
        old_end_byte: edit.range.end,
        new_end_byte: edit.range.start + edit.text.len(),
        start_position: start,
        old_end_position: point(before, edit.range.end),
        new_end_position: new_end,
    }
}

/// The parser counts lines by `\n` alone; where a text has lone `\r` its rows are off, which nothing here looks at.
fn point(text: &Text, offset: usize) -> Point {
    let row = text.line_of(offset);
    Point { row, column: offset - text.line_start(row) }
}

fn touch(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start <= b.end && b.start <= a.end
}

fn union(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    a.start.min(b.start)..a.end.max(b.end)
}

#[cfg(test)]
mod tests;
