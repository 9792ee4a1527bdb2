//! What a suggestion does, such that two suggestions can be compared however each of them is made.

use std::{fmt, hash::BuildHasher, ops::Range, sync::Arc};

use nudge_syntax::token::word_around;
use nudge_text::{Edit, Edits, Text, diff};
use regex::Regex;
use rustc_hash::FxBuildHasher;

use crate::SuggestionKind;

/// Of longer texts the words are not compared.
pub(crate) const MAX_COMPARED: usize = 16 * 1024;
/// Pieces of one document that are looked at.
const MAX_PIECES: usize = 256;

/// What a suggestion does to the texts it is about, word by word.
///
/// An edit of a whole line, an edit of a word in it, a rename and search and replace have the same pieces where they do the
/// same.
#[derive(Debug, Clone, Default)]
pub struct SuggestionEffect {
    pub(crate) parts: Vec<TextEffect>,
}

/// What it does to one text.
#[derive(Clone)]
pub(crate) struct TextEffect {
    pub(crate) uri: Arc<str>,
    /// The text before it.
    pub(crate) text: Text,
    /// In the order of the text.
    pub(crate) pieces: Vec<EffectPiece>,
}

/// One piece of text that becomes another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EffectPiece {
    /// What is replaced, in bytes of the text before.
    pub(crate) range: Range<usize>,
    /// The line it begins on.
    pub(crate) line: usize,
    /// Stands for what is there before and after.
    pub(crate) becomes: u64,
    pub(crate) sort: PieceSort,
}

/// What tells where a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceSort {
    /// The text that it replaces.
    Replaced,
    /// What is before it on its line: nothing is replaced.
    Inserted,
    /// The lines around it: whole lines are inserted.
    Lines,
}

impl SuggestionEffect {
    /// What a suggestion of this kind does to the documents whose text is known.
    pub fn of<'a>(kind: &SuggestionKind, text: impl Fn(&str) -> Option<&'a Text>) -> Self {
        let mut effect = Self::default();
        let mut add = |uri: &Arc<str>, pieces: &dyn Fn(&Text) -> Vec<EffectPiece>| {
            if let Some(text) = text(uri) {
                effect.parts.push(TextEffect { uri: uri.clone(), text: text.clone(), pieces: pieces(text) });
            }
        };
        match kind {
            SuggestionKind::Edit { uri, edits, .. } => add(uri, &|text| edited(text, edits.as_slice())),
            SuggestionKind::Jump { uri, offset } => add(uri, &|text| vec![gone_to(text, *offset)]),
            SuggestionKind::Rename { uri, offset, name, edits } if edits.is_empty() => {
                add(uri, &|text| edited(text, &[named(text, *offset, name)]));
            }
            SuggestionKind::Rename { edits, .. } => {
                for (uri, edits) in edits {
                    add(uri, &|text| edited(text, edits.as_slice()));
                }
            }
            SuggestionKind::Replace { uri, search, replace, regex } => {
                add(uri, &|text| edited(text, &replaced(text, search, replace, *regex)));
            }
        }
        effect
    }

    /// Whether it is not known to do anything.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Bytes of the texts it refers to.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.text.len()).sum()
    }

    /// What edits of one document do.
    pub(crate) fn of_edits(uri: &Arc<str>, text: &Text, edits: &[Edit]) -> Self {
        let part = TextEffect { uri: uri.clone(), text: text.clone(), pieces: edited(text, edits) };
        Self { parts: vec![part] }
    }

    /// The way to what this does, which may be refused by itself.
    pub(crate) fn way_there(&self) -> Self {
        let mut way = self.clone();
        for piece in way.parts.iter_mut().flat_map(|part| &mut part.pieces) {
            piece.becomes = FxBuildHasher.hash_one(("jump", piece.becomes));
        }
        way
    }
}

impl fmt::Debug for TextEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextEffect")
            .field("uri", &self.uri)
            .field("pieces", &self.pieces)
            .finish_non_exhaustive()
    }
}

fn gone_to(text: &Text, offset: usize) -> EffectPiece {
    let becomes = FxBuildHasher.hash_one("jump");
    EffectPiece { range: offset..offset, line: text.line_of(offset), becomes, sort: PieceSort::Inserted }
}

/// The edit that gives the name at a place another one.
fn named(text: &Text, offset: usize, name: &str) -> Edit {
    let line = text.line_of(offset);
    let start = text.line_start(line);
    let content = text.line(line);
    let at = content.floor_char_boundary(offset - start);
    let word = word_around(&content, at..at);
    Edit::new(start + word.start..start + word.end, name)
}

/// The edits that search and replace comes to.
fn replaced(text: &Text, search: &str, replace: &str, is_regex: bool) -> Vec<Edit> {
    let pattern = if is_regex { search.to_owned() } else { regex::escape(search) };
    let Ok(pattern) = Regex::new(&pattern) else { return Vec::new() };
    let content = text.to_string();
    let hits = pattern.find_iter(&content).take(MAX_PIECES);
    hits.map(|hit| Edit::new(hit.range(), pattern.replace(hit.as_str(), replace))).collect()
}

/// What edits do, which are in the order of the text.
fn edited(text: &Text, edits: &[Edit]) -> Vec<EffectPiece> {
    let mut pieces = Vec::new();
    // Where several are on one line, the line is looked at as a whole.
    let meet = |a: &Edit, b: &Edit| text.line_of(b.range.start) <= text.line_of(a.range.end);
    for edits in edits.chunk_by(meet) {
        let (Some(first), Some(last)) = (edits.first(), edits.last()) else { continue };
        let start = text.line_start(text.line_of(first.range.start));
        let before = text.slice(start..text.line_end(text.line_of(last.range.end)).max(last.range.end));
        let mut after = String::with_capacity(before.len());
        let mut done = 0;
        for edit in edits {
            let Some(kept) = before.get(done..edit.range.start - start) else { return pieces };
            after.push_str(kept);
            after.push_str(&edit.text);
            done = edit.range.end - start;
        }
        after.push_str(before.get(done..).unwrap_or_default());
        compare(text, start, &before, &after, &mut pieces);
        if pieces.len() >= MAX_PIECES {
            break;
        }
    }
    pieces
}

/// The pieces in which whole lines differ; `start` is where they begin.
fn compare(text: &Text, start: usize, before: &str, after: &str, pieces: &mut Vec<EffectPiece>) {
    let mut add = |start: usize, before: &str, after: &str| {
        for (old, new) in words(before, after) {
            let (becomes, inserted) = ((&before[old.clone()], &after[new.clone()]), &after[new]);
            let sort = match (old.is_empty(), inserted.contains('\n')) {
                (false, _) => PieceSort::Replaced,
                (true, false) => PieceSort::Inserted,
                (true, true) => PieceSort::Lines,
            };
            let becomes = FxBuildHasher.hash_one(becomes);
            let range = start + old.start..start + old.end;
            pieces.push(EffectPiece { line: text.line_of(range.start), range, becomes, sort });
        }
    };
    let count = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
    if count(before) != count(after) {
        add(start, before, after);
        return;
    }
    let mut start = start;
    for (before, after) in before.split('\n').zip(after.split('\n')) {
        add(start, before, after);
        start += before.len() + 1;
    }
}

/// The parts in which two texts differ; of long ones all but what they have in common at their edges.
fn words(before: &str, after: &str) -> Vec<(Range<usize>, Range<usize>)> {
    if before == after {
        return Vec::new();
    }
    if before.len().max(after.len()) <= MAX_COMPARED {
        return diff::words(before, after);
    }
    let edits = Edits::one(0..before.len(), after).trimmed(&Text::new(before));
    let whole = |edit: &Edit| (edit.range.clone(), edit.range.start..edit.range.start + edit.text.len());
    edits.iter().map(whole).collect()
}
