//! A document as predictors see it.

use std::{
    ops::Range,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use nudge_text::{Edits, Text};
use tree_sitter::{InputEdit, Parser, Point, Tree};

use crate::Language;

/// A document with what was found out about it.
///
/// Cheap to clone; clones share the analysis, which is made when it is first asked for. A changed document is a new value
/// that reuses the old one's syntax tree.
#[derive(Clone)]
pub struct Source(Arc<Inner>);

struct Inner {
    uri: Arc<str>,
    language: Language,
    text: Text,
    content: OnceLock<String>,
    tree: OnceLock<Option<Tree>>,
    /// The tree of an earlier text, moved to fit this one; the parser starts from it.
    stale: Mutex<Option<Tree>>,
}

/// Longer texts are not parsed: the engine then works by tokens.
const MAX_PARSED: usize = 2 * 1024 * 1024;

/// A part is parsed by itself up to this length.
const MAX_PART: usize = 64 * 1024;

impl Source {
    /// A document that was not seen before.
    pub fn new(uri: Arc<str>, language: Language, text: Text) -> Self {
        Self::with_tree(uri, language, text, None)
    }

    fn with_tree(uri: Arc<str>, language: Language, text: Text, stale: Option<Tree>) -> Self {
        Self(Arc::new(Inner {
            uri,
            language,
            text,
            content: OnceLock::new(),
            tree: OnceLock::new(),
            stale: Mutex::new(stale),
        }))
    }

    /// The document after a change.
    pub fn edited(&self, edits: &Edits, after: Text) -> Self {
        let mut tree = match self.0.tree.get() {
            Some(tree) => tree.clone(),
            None => self.0.stale.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        };
        if let Some(tree) = &mut tree {
            // From the last to the first, so that earlier offsets stay those of the text before.
            for edit in edits.as_slice().iter().rev() {
                tree.edit(&input_edit(&self.0.text, edit));
            }
        }
        Self::with_tree(self.0.uri.clone(), self.0.language, after, tree)
    }

    /// The address of the document.
    pub fn uri(&self) -> &Arc<str> {
        &self.0.uri
    }

    /// Its language.
    pub fn language(&self) -> Language {
        self.0.language
    }

    /// Its text.
    pub fn text(&self) -> &Text {
        &self.0.text
    }

    /// Its text in one piece.
    pub fn content(&self) -> &str {
        self.0.content.get_or_init(|| self.0.text.to_string())
    }

    /// Its syntax tree, if there is a grammar for it.
    pub fn tree(&self) -> Option<&Tree> {
        self.0.tree.get_or_init(|| self.parse()).as_ref()
    }

    /// Whether it parses without an error; `None` if there is no grammar for it.
    pub fn is_sound(&self) -> Option<bool> {
        self.tree().map(|tree| !tree.root_node().has_error())
    }

    /// The outermost parts of the document that edits lie in, if these are a small part of the whole.
    pub(crate) fn part_around(&self, edits: &Edits) -> Option<Range<usize>> {
        let (first, last) = (edits.as_slice().first()?.range.start, edits.as_slice().last()?.range.end);
        let root = self.tree()?.root_node();
        let begin = root.first_child_for_byte(first).map_or(first, |child| child.start_byte().min(first));
        let end = root.first_child_for_byte(last).map_or(last, |child| child.end_byte().max(last));
        let part = self.0.text.line_start(self.0.text.line_of(begin))..end;
        (part.len() <= MAX_PART && self.content().is_char_boundary(part.end)).then_some(part)
    }

    /// Whether a text in the language of the document parses without an error.
    pub(crate) fn parses(&self, text: &str) -> Option<bool> {
        let mut parser = Parser::new();
        parser.set_language(&self.0.language.grammar()?).ok()?;
        parser.parse(text, None).map(|tree| !tree.root_node().has_error())
    }

    fn parse(&self) -> Option<Tree> {
        if self.0.text.len() > MAX_PARSED {
            return None;
        }
        let mut parser = Parser::new();
        parser.set_language(&self.0.language.grammar()?).ok()?;
        let old = self.0.stale.lock().unwrap_or_else(PoisonError::into_inner).take();
        parser.parse(self.content(), old.as_ref())
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("uri", &self.0.uri)
            .field("language", &self.0.language)
            .finish_non_exhaustive()
    }
}

fn input_edit(before: &Text, edit: &nudge_text::Edit) -> InputEdit {
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
