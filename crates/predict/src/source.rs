//! A document as predictors see it.

use std::{
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use nudge_text::{Edits, Text};

use crate::{
    Language,
    search::{Move, Search},
    syntax::{Parsed, Stale},
    token::stands_alone,
};

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
    /// Shared by all values with this text, with a tree or without.
    content: Arc<OnceLock<String>>,
    /// Whether it is looked at by its tokens alone, though there may be a grammar for it.
    by_tokens: bool,
    parsed: OnceLock<Option<Parsed>>,
    /// What the parser starts from. Kept until it is done, since the text may be changed while it works.
    stale: Mutex<Option<Stale>>,
    search: Arc<Search>,
}

/// How many bytes of text something is held of, next to the text itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// Bytes of text with a syntax tree, which takes many times as much memory.
    pub trees: usize,
    /// Bytes of text that is also held in one piece.
    pub contents: usize,
}

impl Source {
    /// A document that was not seen before.
    pub fn new(uri: Arc<str>, language: Language, text: Text) -> Self {
        Self(Arc::new(Inner {
            uri,
            language,
            text,
            content: Arc::default(),
            by_tokens: false,
            parsed: OnceLock::new(),
            stale: Mutex::default(),
            search: Arc::default(),
        }))
    }

    /// The document after a change.
    pub fn edited(&self, edits: &Edits, after: Text) -> Self {
        let mut stale = {
            let stale = self.stale();
            match self.0.parsed.get() {
                Some(parsed) => parsed.as_ref().map(Stale::new),
                None => stale.clone(),
            }
        };
        if let Some(stale) = &mut stale {
            stale.edit(&self.0.text, edits);
        }
        let moves = edits.iter().map(|edit| Move { old: edit.range.clone(), new_len: edit.text.len() });
        Self(Arc::new(Inner {
            uri: Arc::clone(&self.0.uri),
            language: self.0.language,
            text: after,
            content: Arc::default(),
            by_tokens: self.0.by_tokens,
            parsed: OnceLock::new(),
            stale: Mutex::new(stale),
            search: Arc::new(self.0.search.edited(moves)),
        }))
    }

    /// The document without a syntax tree, now and after changes: a tree takes many times the memory of its text.
    pub fn by_tokens(&self) -> Self {
        if self.0.by_tokens { self.clone() } else { self.anew(true) }
    }

    /// The document with a syntax tree, which is made when it is first asked for.
    pub fn with_tree(&self) -> Self {
        if self.0.by_tokens { self.anew(false) } else { self.clone() }
    }

    /// The document with nothing found out about it, nor by somebody who is still at it.
    pub fn bare(&self) -> Self {
        if Arc::strong_count(&self.0) == 1 && self.held() == Held::default() {
            return self.clone();
        }
        Self::new(Arc::clone(&self.0.uri), self.0.language, self.0.text.clone())
    }

    /// The same text and what was found in it, without a tree.
    fn anew(&self, by_tokens: bool) -> Self {
        Self(Arc::new(Inner {
            uri: Arc::clone(&self.0.uri),
            language: self.0.language,
            text: self.0.text.clone(),
            content: Arc::clone(&self.0.content),
            by_tokens,
            parsed: OnceLock::new(),
            stale: Mutex::default(),
            search: Arc::clone(&self.0.search),
        }))
    }

    /// Whether it is looked at by its tokens alone, though there may be a grammar for it.
    pub fn is_by_tokens(&self) -> bool {
        self.0.by_tokens
    }

    /// How many bytes of text a syntax tree of it would be of: none if there is no grammar for it, or if it is too long.
    pub fn tree_bytes(&self) -> usize {
        let len = self.0.text.len();
        if Parsed::can_be_of(self.0.language, len) { len } else { 0 }
    }

    /// What is held of it at the moment.
    pub fn held(&self) -> Held {
        let has_tree = matches!(self.0.parsed.get(), Some(Some(_))) || self.stale().is_some();
        let of = |is_held: bool| if is_held { self.0.text.len() } else { 0 };
        Held { trees: of(has_tree), contents: of(self.0.content.get().is_some()) }
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
        self.0.content.get_or_init(|| {
            let mut content = String::with_capacity(self.0.text.len());
            self.0.text.chunks().for_each(|chunk| content.push_str(chunk));
            content
        })
    }

    /// Where a piece of text begins, in order; occurrences that overlap the one before are left out.
    pub(crate) fn find<'a>(&'a self, piece: &'a str) -> impl Iterator<Item = usize> + use<'a> {
        self.0.search.find(self.content(), piece)
    }

    /// The places where a word stands alone, in order; at most `limit`.
    pub(crate) fn occurrences(&self, word: &str, limit: usize) -> Vec<Range<usize>> {
        let places = self.find(word).filter(|_| !word.is_empty()).map(|at| at..at + word.len());
        places.filter(|place| stands_alone(self.content(), place)).take(limit).collect()
    }

    /// Parses it, if that was not done yet. For those who know before a question comes that one will.
    pub fn prepare(&self) {
        let _ = self.parsed();
    }

    /// Its syntax tree, if there is a grammar for it and there is to be one.
    pub(crate) fn parsed(&self) -> Option<&Parsed> {
        if self.0.by_tokens {
            return None;
        }
        if let Some(parsed) = self.0.parsed.get() {
            return parsed.as_ref();
        }
        let parsed = self.0.parsed.get_or_init(|| self.parse());
        *self.stale() = None;
        parsed.as_ref()
    }

    /// Whether it parses without an error; `None` if there is no grammar for it.
    pub fn is_sound(&self) -> Option<bool> {
        self.parsed().map(|parsed| !parsed.has_error())
    }

    /// Whether it still parses after edits, if it does before.
    pub(crate) fn stays_sound(&self, edits: &Edits) -> bool {
        let Some(parsed) = self.parsed().filter(|parsed| !parsed.has_error()) else { return true };
        let mut after = Stale::new(parsed);
        after.edit(&self.0.text, edits);
        let text = edits.apply(&self.0.text);
        let parsed = after
            .by_pieces(self.0.language, &text)
            .or_else(|| after.as_whole(self.0.language, &text.to_string()));
        parsed.is_none_or(|parsed| !parsed.has_error())
    }

    fn parse(&self) -> Option<Parsed> {
        let stale = self.stale().clone();
        match stale {
            Some(stale) => stale
                .by_pieces(self.0.language, &self.0.text)
                .or_else(|| stale.as_whole(self.0.language, self.content())),
            None => Parsed::new(self.0.language, self.content()),
        }
    }

    fn stale(&self) -> MutexGuard<'_, Option<Stale>> {
        self.0.stale.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::ops::AddAssign for Held {
    fn add_assign(&mut self, other: Self) {
        self.trees += other.trees;
        self.contents += other.contents;
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
