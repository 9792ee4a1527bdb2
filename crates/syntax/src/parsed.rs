//! The syntax tree of a document, kept in step with it piece by piece.
//!
//! Given the tree of the text before, the parser reads only what has changed, but it still goes over every item of the file
//! that follows. In a long file that takes longer than all else. So the items around a change are parsed by themselves
//! where they can be, and the tree of the whole, which is stale there, is kept for the rest.

use std::ops::Range;

use nudge_text::{Edit, Edits, Text};
use tree_sitter::{InputEdit, Node, ParseOptions, ParseState, Parser, Point, Tree, TreeCursor};

use crate::{Language, grammar::Grammar, names, patience::ParseWatch, search::moved};

/// Longer texts are not parsed: the engine then works by tokens. A tree takes up to 75 times the memory of its text.
const MAX_PARSED: usize = 1024 * 1024;
/// The same for Markdown, which is read anew from one end to the other after every change.
const MAX_PROSE: usize = 16 * 1024;
/// Shorter texts are always parsed as a whole, which takes no time.
const MIN_PIECEWISE: usize = 16 * 1024;
/// Pieces of one document; then it is parsed as a whole again.
const MAX_PIECES: usize = 12;
/// The longest piece with its neighbours.
const MAX_PIECE: usize = 16 * 1024;

/// Errors that are counted.
const MAX_ERRORS: usize = 200;
/// Changes are parsed together if there is no more between them.
const CLOSE: usize = 1024;

/// What the parser made of a text.
#[derive(Debug, Clone)]
pub struct ParsedText {
    /// Moved to fit the text, and not to be asked about what lies in the pieces.
    whole: Tree,
    /// In the order of the text, apart from each other.
    pieces: Vec<Piece>,
    /// Whether there is an error in the whole outside of the pieces, which have none.
    has_error: bool,
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
pub(crate) struct StaleTree {
    parsed: ParsedText,
    /// Where the texts differ.
    changed: Vec<Changed>,
}

/// A place where a text is not what it was.
#[derive(Debug, Clone)]
struct Changed {
    range: Range<usize>,
    /// Only a word has become another one.
    is_word: bool,
}

impl ParsedText {
    /// Parses a text that was not seen before. `None` if there is no grammar for it, if it is too long, or if it was given up.
    pub(crate) fn new(language: Language, content: &str, watch: &ParseWatch<'_>) -> Option<Self> {
        Some(Self::from(parse(language, content, None, watch)?))
    }

    /// Whether a text of this length is parsed at all.
    pub(crate) fn can_be_of(language: Language, len: usize) -> bool {
        let most = if language == Language::Markdown { MAX_PROSE } else { MAX_PARSED };
        len <= most && language.grammar().is_some()
    }

    /// Whether there is an error somewhere.
    pub(crate) fn has_error(&self) -> bool {
        self.has_error
    }

    /// How many errors there are, as far as they are counted.
    pub(crate) fn errors(&self) -> usize {
        if !self.has_error {
            return 0;
        }
        let is_stale = |node: &Node<'_>| {
            let range = node.byte_range();
            self.pieces.iter().any(|piece| piece.range.start <= range.start && range.end <= piece.range.end)
        };
        let mut count = 0;
        let mut inside = vec![self.root()];
        while let Some(node) = inside.pop() {
            let known = inside.len();
            inside.extend(
                node.children(&mut node.walk()).filter(|child| child.has_error() && !is_stale(child)),
            );
            // What is missing need not be seen, as the end of a line is not.
            let is_innermost = inside.len() == known;
            count += usize::from(node.is_error() || node.is_missing() || is_innermost);
            if count == MAX_ERRORS {
                break;
            }
        }
        count
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
    pub fn item_at(&self, offset: usize) -> Option<Range<usize>> {
        let root = self.tree_at(offset).root_node();
        root.first_child_for_byte(offset).map(|child| child.byte_range())
    }

    /// Parses what lies around a change. `None` if that cannot be told from the rest.
    fn reparse(
        &mut self,
        language: Language,
        text: &Text,
        changed: &Range<usize>,
        watch: &ParseWatch<'_>,
    ) -> Option<()> {
        let around = self.around(changed, text.len())?;
        // A piece with the same beginning is closer to what comes out than the whole is.
        let known = self.pieces.iter().find(|piece| piece.range.start == around.before.end_byte());
        let old = known.map_or(&self.whole, |piece| &piece.tree);
        let tree = parse_part(language, text, old, &around.outer(text.len()), watch)?;
        let root = tree.root_node();
        // Of what is broken nobody knows how far it reaches.
        if root.has_error()
            || !around.is_kept_by(root)
            || opens_comment(root, text, &around.outer(text.len()))
        {
            return None;
        }
        let range = around.before.end_byte()..around.after.map_or(text.len(), |after| after.start_byte());
        self.pieces.retain(|piece| !touch(&piece.range, &range));
        let at = self.pieces.partition_point(|piece| piece.range.start < range.start);
        self.pieces.insert(at, Piece { range, tree });
        (self.pieces.len() <= MAX_PIECES).then_some(())
    }

    /// Whether there is an error in what is no part of a piece; those have none.
    fn find_error(&self) -> bool {
        let root = self.root();
        // What is missing right at the edge of a piece is missing beside it.
        let is_stale = |node: Node<'_>| {
            let Range { start, end } = node.byte_range();
            let is_edge =
                |piece: &Piece| start == end && [piece.range.start, piece.range.end].contains(&start);
            self.pieces
                .iter()
                .any(|piece| piece.range.start <= start && end <= piece.range.end && !is_edge(piece))
        };
        root.has_error() && root.children(&mut root.walk()).any(|node| node.has_error() && !is_stale(node))
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

impl From<Tree> for ParsedText {
    fn from(whole: Tree) -> Self {
        Self { has_error: whole.root_node().has_error(), whole, pieces: Vec::new() }
    }
}

impl Piece {
    /// What of it touches neither the item before nor the one after.
    fn inside(&self) -> Range<usize> {
        let start = (self.range.start + 1).min(self.range.end);
        start..self.range.end.saturating_sub(1).max(start)
    }
}

impl StaleTree {
    /// What is known of a text before it is changed.
    pub(crate) fn new(parsed: &ParsedText) -> Self {
        Self { parsed: parsed.clone(), changed: Vec::new() }
    }

    /// Moves all to where it is after edits of the text `before`.
    pub(crate) fn edit(&mut self, before: &Text, edits: &Edits) {
        let mut words: Vec<Option<Edit>> = edits.iter().map(|edit| names::of_word(before, edit)).collect();
        // Two edits of one word are not told apart.
        for at in 1..words.len() {
            let end =
                |at: usize| words[at].as_ref().map_or(edits.as_slice()[at].range.end, |edit| edit.range.end);
            let start = words[at].as_ref().map_or(edits.as_slice()[at].range.start, |edit| edit.range.start);
            if end(at - 1) >= start {
                (words[at - 1], words[at]) = (None, None);
            }
        }
        // From the last to the first, so that earlier offsets stay those of the text before.
        for (edit, word) in edits.iter().zip(&words).rev() {
            let is_word = word.is_some();
            let edit = word.as_ref().unwrap_or(edit);
            let input = input_edit(before, edit);
            self.parsed.whole.edit(&input);
            for piece in &mut self.parsed.pieces {
                piece.tree.edit(&input);
                piece.range = moved(&piece.range, &edit.range, edit.text.len());
            }
            let mut fresh = Changed { range: edit.range.start..input.new_end_byte, is_word };
            self.changed.retain_mut(|changed| {
                changed.range = moved(&changed.range, &edit.range, edit.text.len());
                let joins = touch(&changed.range, &fresh.range);
                if joins {
                    fresh.is_word &= changed.is_word && changed.range == fresh.range;
                    fresh.range = union(&changed.range, &fresh.range);
                }
                !joins
            });
            self.changed.push(fresh);
        }
    }

    /// The tree of the text as it is now, if all that changed is names, or if the items around the changes can be parsed by
    /// themselves without an error.
    pub(crate) fn by_pieces(
        &self,
        language: Language,
        text: &Text,
        watch: &ParseWatch<'_>,
    ) -> Option<ParsedText> {
        let mut parsed = self.parsed.clone();
        let is_other = |changed: &&Changed| {
            let Changed { range, is_word } = changed;
            !(*is_word && names::are_kept(parsed.tree_at(range.start), language, text, range))
        };
        let changed: Vec<Range<usize>> =
            self.changed.iter().filter(is_other).map(|changed| changed.range.clone()).collect();
        if changed.is_empty() {
            return Some(parsed);
        }
        // Where the parser could not make a whole of the text, there are no items.
        let can_be = (MIN_PIECEWISE..=MAX_PARSED).contains(&text.len())
            && has_items(language)
            && !parsed.root().is_error();
        can_be.then_some(())?;
        joined(changed).iter().try_for_each(|changed| parsed.reparse(language, text, changed, watch))?;
        parsed.has_error = parsed.find_error();
        Some(parsed)
    }

    /// The tree of the text as it is now.
    pub(crate) fn as_whole(
        &self,
        language: Language,
        content: &str,
        watch: &ParseWatch<'_>,
    ) -> Option<ParsedText> {
        Some(parse(language, content, Some(&self.parsed.whole), watch)?.into())
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
        // A comment does not tell whether the item before it has ended, nor does what is broken.
        let tells = |node: Node<'_>| !node.is_extra() && !node.has_error();
        let before = |node: Node<'_>| node.end_byte() < span.start && tells(node);
        let after = |node: Node<'_>| node.start_byte() > span.end && tells(node);
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

/// Whether a text of the language is a row of items that do not depend on each other.
fn has_items(language: Language) -> bool {
    Grammar::of(language).is_some() || matches!(language, Language::Toml | Language::Css)
}

/// Whether a comment may begin in a part that does not end there. By itself, the part then reads as if it divided by what a
/// pointer points to.
fn opens_comment(root: Node<'_>, text: &Text, part: &Range<usize>) -> bool {
    let content = text.slice(part.clone());
    memchr::memmem::find_iter(content.as_bytes(), b"/*").any(|at| {
        let at = part.start + at;
        let kind = root.descendant_for_byte_range(at, at + 2).map_or("", |node| node.kind());
        !["comment", "string"].iter().any(|meant| kind.contains(meant))
    })
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

fn parse(language: Language, content: &str, old: Option<&Tree>, watch: &ParseWatch<'_>) -> Option<Tree> {
    if !ParsedText::can_be_of(language, content.len()) {
        return None;
    }
    let mut check = |state: &ParseState| watch.check(state);
    let options = ParseOptions::new().progress_callback(&mut check);
    let bytes = content.as_bytes();
    parser(language)?.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), old, Some(options))
}

/// Parses a part of a text by itself.
fn parse_part(
    language: Language,
    text: &Text,
    old: &Tree,
    part: &Range<usize>,
    watch: &ParseWatch<'_>,
) -> Option<Tree> {
    let mut parser = parser(language)?;
    let mut check = |state: &ParseState| watch.check(state);
    let options = ParseOptions::new().progress_callback(&mut check);
    parser.set_included_ranges(&[included(text, part)]).ok()?;
    parser.parse_with_options(&mut |at, _| text.chunk_at(at), Some(old), Some(options))
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
