//! A document as predictors see it.

use std::{
    ops::Range,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use nudge_text::{Edits, Text};
use parking_lot::{Mutex, MutexGuard};

use crate::{
    Language, ParsePatience, balance,
    parsed::{ParsedText, StaleTree},
    patience::{DocumentPatience, ParseTurn, ParseWatch},
    search::{DocumentSearch, SpanMove},
    token::stands_alone,
    wrong::ParseStep,
};

/// Longer texts that have errors are not parsed again to see whether there would be more: what is broken cannot be parsed
/// piece by piece.
const MAX_BROKEN: usize = 64 * 1024;

/// A document with what was found out about it.
///
/// Cheap to clone; clones share the analysis, which is made when it is first asked for. A changed document is a new value
/// that reuses the old one's syntax tree.
#[derive(Clone)]
pub struct AnalysedDocument(Arc<Inner>, Option<Arc<DocumentPatience>>);

struct Inner {
    uri: Arc<str>,
    language: Language,
    text: Text,
    /// Shared by all values with this text, with a tree or without.
    content: Arc<OnceLock<String>>,
    /// Whether it is looked at by its tokens alone, though there may be a grammar for it.
    by_tokens: bool,
    parsed: OnceLock<Option<ParsedText>>,
    /// What the parser starts from. Kept until it is done, since the text may be changed while it works.
    stale: Mutex<Option<StaleTree>>,
    search: Arc<DocumentSearch>,
    /// Shared by all versions of the document.
    turn: Arc<ParseTurn>,
    version: u64,
    /// Whether it takes longer to parse than anybody who did it ahead had time for.
    takes_long: AtomicBool,
}

/// How many bytes of text something is held of, next to the text itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeldBytes {
    /// Bytes of text with a syntax tree, which takes many times as much memory.
    pub trees: usize,
    /// Bytes of text that is also held in one piece.
    pub contents: usize,
}

impl AnalysedDocument {
    /// A document that was not seen before.
    pub fn new(uri: Arc<str>, language: Language, text: Text) -> Self {
        Self::of(Inner {
            uri,
            language,
            text,
            content: Arc::default(),
            by_tokens: false,
            parsed: OnceLock::new(),
            stale: Mutex::default(),
            search: Arc::default(),
            turn: Arc::default(),
            version: 0,
            takes_long: AtomicBool::new(false),
        })
    }

    fn of(inner: Inner) -> Self {
        Self(Arc::new(inner), None)
    }

    /// The document after a change.
    pub fn edited(&self, edits: &Edits, after: Text) -> Self {
        let mut stale = {
            let stale = self.stale();
            match self.0.parsed.get() {
                Some(parsed) => parsed.as_ref().map(StaleTree::new),
                None => stale.clone(),
            }
        };
        if let Some(stale) = &mut stale {
            stale.edit(&self.0.text, edits);
        }
        let moves = edits.iter().map(|edit| SpanMove { old: edit.range.clone(), new_len: edit.text.len() });
        Self::of(Inner {
            uri: Arc::clone(&self.0.uri),
            language: self.0.language,
            text: after,
            content: Arc::default(),
            by_tokens: self.0.by_tokens,
            parsed: OnceLock::new(),
            stale: Mutex::new(stale),
            search: Arc::new(self.0.search.edited(moves)),
            turn: Arc::clone(&self.0.turn),
            version: self.0.turn.next(),
            takes_long: AtomicBool::new(false),
        })
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
        if Arc::strong_count(&self.0) == 1 && self.held() == HeldBytes::default() {
            return self.clone();
        }
        Self::new(Arc::clone(&self.0.uri), self.0.language, self.0.text.clone())
    }

    /// The same text and what was found in it, without a tree.
    fn anew(&self, by_tokens: bool) -> Self {
        Self::of(Inner {
            uri: Arc::clone(&self.0.uri),
            language: self.0.language,
            text: self.0.text.clone(),
            content: Arc::clone(&self.0.content),
            by_tokens,
            parsed: OnceLock::new(),
            stale: Mutex::default(),
            search: Arc::clone(&self.0.search),
            turn: Arc::clone(&self.0.turn),
            version: self.0.version,
            takes_long: AtomicBool::new(self.0.takes_long.load(Ordering::Relaxed)),
        })
    }

    /// Whether it is looked at by its tokens alone, though there may be a grammar for it.
    pub fn is_by_tokens(&self) -> bool {
        self.0.by_tokens
    }

    /// How many bytes of text a syntax tree of it would be of: none if there is no grammar for it, or if it is too long.
    pub fn tree_bytes(&self) -> usize {
        let len = self.0.text.len();
        if ParsedText::can_be_of(self.0.language, len) { len } else { 0 }
    }

    /// What is held of it at the moment.
    pub fn held(&self) -> HeldBytes {
        let has_tree = matches!(self.0.parsed.get(), Some(Some(_))) || self.stale().is_some();
        let of = |is_held: bool| if is_held { self.0.text.len() } else { 0 };
        HeldBytes { trees: of(has_tree), contents: of(self.0.content.get().is_some()) }
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
    pub fn find<'a>(&'a self, piece: &'a str) -> impl Iterator<Item = usize> + use<'a> {
        self.0.search.find(self.content(), piece)
    }

    /// The places where a word stands alone, in order; at most `limit`.
    pub fn occurrences(&self, word: &str, limit: usize) -> Vec<Range<usize>> {
        let places = self.find(word).filter(|_| !word.is_empty()).map(|at| at..at + word.len());
        places.filter(|place| stands_alone(self.content(), place)).take(limit).collect()
    }

    /// The same document for a question that may not wait for ever: what cannot be parsed in time is looked at by its tokens.
    pub fn within(&self, patience: Arc<dyn ParsePatience>) -> Self {
        Self(Arc::clone(&self.0), Some(DocumentPatience::new(patience)))
    }

    /// Whether it could not be parsed in time.
    pub fn gave_up(&self) -> bool {
        self.1.as_ref().is_some_and(|limit| limit.gave_up())
    }

    /// Parses it, if that was not done yet. For those who know before a question comes that one will: it ends where
    /// `keep_going` says so, where somebody asks about the document, and where the text is not the newest any more. What
    /// `keep_going` had no time for is not tried again until the text changes.
    pub fn prepare(&self, keep_going: &dyn Fn() -> bool) {
        let takes_long = &self.0.takes_long;
        let keep_going = || {
            let goes_on = keep_going();
            takes_long.fetch_or(!goes_on, Ordering::Relaxed);
            goes_on
        };
        if !self.0.by_tokens && !takes_long.load(Ordering::Relaxed) {
            let turn = &self.0.turn;
            let is_of_use = || Arc::strong_count(&self.0) > 1 && turn.is_newest(self.0.version);
            self.parse_while(&|| keep_going() && !turn.is_wanted() && is_of_use());
        }
    }

    /// Its syntax tree, if there is a grammar for it, there is to be one, and it can be had in time.
    pub fn parsed(&self) -> Option<&ParsedText> {
        if self.0.by_tokens {
            return None;
        }
        if let Some(parsed) = self.0.parsed.get() {
            return parsed.as_ref();
        }
        let Some(limit) = &self.1 else { return self.parse_while(&|| true) };
        if limit.gave_up() {
            return None;
        }
        let parsed = self.parse_while(&*limit.begin());
        if self.0.parsed.get().is_none() {
            limit.give_up();
        }
        parsed
    }

    /// Whether it parses without an error; `None` if there is no grammar for it, or no time to parse it.
    pub fn is_sound(&self) -> Option<bool> {
        self.parsed().map(|parsed| !parsed.has_error())
    }

    /// Whether it is no worse after edits: there are no more errors, no block has lost its last statement, no statement has
    /// become the body of another, and no value is declared. Where that cannot be told, whether as much is open as before.
    pub fn stays_sound(&self, edits: &Edits) -> bool {
        let by_tokens =
            || self.0.language.grammar().is_none() || balance::is_kept(self.0.language, &self.0.text, edits);
        let Some(before) = self.parsed() else { return by_tokens() };
        if before.has_error() && self.0.text.len() > MAX_BROKEN {
            return !balance::empties(self.0.language, &self.0.text, edits);
        }
        let keep_going = self.1.as_ref().map(|limit| limit.begin());
        let watch = ParseWatch::new(keep_going.as_deref().unwrap_or(&|| true));
        let mut after = StaleTree::new(before);
        after.edit(&self.0.text, edits);
        let text = edits.apply(&self.0.text);
        let after = after
            .by_pieces(self.0.language, &text, &watch)
            .or_else(|| after.as_whole(self.0.language, &text.to_string(), &watch));
        let Some(after) = after else { return !watch.gave_up() || by_tokens() };
        let step = ParseStep {
            language: self.0.language,
            before: (before, &self.0.text),
            after: (&after, &text),
            edits,
        };
        after.errors() <= before.errors()
            && !step.empties_block()
            && !step.takes_place()
            && !step.declares_value()
    }

    /// Parses it, unless that was done or is given up.
    fn parse_while(&self, keep_going: &dyn Fn() -> bool) -> Option<&ParsedText> {
        let _turn = self.0.turn.take();
        if self.0.parsed.get().is_none() {
            let watch = ParseWatch::new(keep_going);
            let parsed = self.parse(&watch);
            if parsed.is_none() && watch.gave_up() {
                return None;
            }
            let _ = self.0.parsed.set(parsed);
            *self.stale() = None;
        }
        self.0.parsed.get()?.as_ref()
    }

    fn parse(&self, watch: &ParseWatch<'_>) -> Option<ParsedText> {
        let stale = self.stale().clone();
        match stale {
            Some(stale) => stale
                .by_pieces(self.0.language, &self.0.text, watch)
                .or_else(|| stale.as_whole(self.0.language, self.content(), watch)),
            None => ParsedText::new(self.0.language, self.content(), watch),
        }
    }

    fn stale(&self) -> MutexGuard<'_, Option<StaleTree>> {
        self.0.stale.lock()
    }
}

impl std::ops::AddAssign for HeldBytes {
    fn add_assign(&mut self, other: Self) {
        self.trees += other.trees;
        self.contents += other.contents;
    }
}

impl std::fmt::Debug for AnalysedDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnalysedDocument")
            .field("uri", &self.0.uri)
            .field("language", &self.0.language)
            .finish_non_exhaustive()
    }
}
