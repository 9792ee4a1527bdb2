//! What is known of the files of a workspace that are not open.

mod lexeme;
mod model;
mod run;
mod segment;
mod words;

use std::{collections::BTreeMap, hash::Hasher, sync::Arc};

use rustc_hash::FxHasher;

pub use self::{
    lexeme::{Lexeme, Lexer, TokenId, skip_space},
    model::{IndexAsker, SeenToken},
    run::CONTEXT_DEPTH,
};
use self::{model::TokenModel, run::TokenRun};
use crate::{
    Language,
    imports::{ImportFacts, ImportMap, KnownImport},
    token::is_word,
};

/// Longer files are not counted: they are made by machines.
const LONGEST: usize = 512 * 1024;
/// Files whose lines are longer than this on average are not counted, for the same reason.
const LONGEST_LINES: usize = 160;

/// The facts of one file; made beside the engine, in the background.
#[derive(Debug, Clone)]
pub struct FileFacts {
    /// Its length in bytes.
    pub bytes: usize,
    /// Its language.
    pub language: Language,
    /// The names in it, hashed and sorted.
    names: Arc<[u32]>,
    /// What it imports.
    imports: ImportFacts,
    /// Its tokens; the index takes them over.
    run: Arc<TokenRun>,
}

impl Default for FileFacts {
    fn default() -> Self {
        Self::of(Language::Other, "")
    }
}

impl FileFacts {
    /// Reads a file.
    pub fn of(language: Language, text: &str) -> Self {
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
        let by_people = text.len() <= LONGEST && text.len() / lines <= LONGEST_LINES;
        let run = if by_people { TokenRun::of(text) } else { TokenRun::default() };
        let imports = ImportFacts::of(language, text);
        Self { bytes: text.len(), language, names: names(text).into(), imports, run: Arc::new(run) }
    }

    /// About how much memory it takes in an index, next to its tokens.
    fn held(&self) -> usize {
        // Each import is held by the file and by the index.
        let imports = self
            .imports
            .iter()
            .map(|import| 2 * (size_of_val(import) + import.name.len() + import.module.len()));
        size_of::<Self>() + self.names.len() * 4 + imports.sum::<usize>()
    }
}

/// The names in a text, hashed and sorted.
fn names(text: &str) -> Vec<u32> {
    let is_name = |lexeme: &Lexeme| {
        text[lexeme.start..lexeme.end].starts_with(|first: char| is_word(first) && !first.is_ascii_digit())
    };
    let mut found: Vec<u32> = Lexer::new(text, 0, 0).filter(is_name).map(|lexeme| lexeme.id.word()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The files of a workspace. Cheap to clone: clones share the facts.
#[derive(Debug, Clone, Default)]
pub struct WorkspaceIndex(Arc<Inner>);

#[derive(Debug, Clone, Default)]
struct Inner {
    files: BTreeMap<Arc<str>, Filed>,
    model: TokenModel,
    imports: ImportMap,
    /// How many insertions there have been.
    serial: u64,
}

#[derive(Debug, Clone)]
struct Filed {
    facts: Arc<FileFacts>,
    serial: u64,
}

impl WorkspaceIndex {
    /// Adds a file or puts new facts in the place of old ones.
    pub fn insert(&mut self, uri: Arc<str>, facts: Arc<FileFacts>) {
        self.remove(&uri);
        let inner = Arc::make_mut(&mut self.0);
        inner.serial += 1;
        let mut facts = Arc::unwrap_or_clone(facts);
        // The model takes the tokens and puts them together with others.
        let run = std::mem::take(&mut facts.run);
        if !run.is_empty() {
            inner.model.insert(run, inner.serial, directory(&uri));
        }
        inner.imports.insert(&uri, facts.language, &facts.imports);
        inner.files.insert(uri, Filed { facts: Arc::new(facts), serial: inner.serial });
    }

    /// Forgets a file.
    pub fn remove(&mut self, uri: &str) {
        if !self.0.files.contains_key(uri) {
            return;
        }
        let inner = Arc::make_mut(&mut self.0);
        if let Some(old) = inner.files.remove(uri) {
            inner.imports.remove(uri, old.facts.language, &old.facts.imports);
            inner.model.remove(old.serial);
        }
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.0.files.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.files.is_empty()
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        let filed = |(uri, filed): (&Arc<str>, &Filed)| uri.len() + filed.facts.held();
        self.0.files.iter().map(filed).sum::<usize>() + self.0.model.bytes()
    }

    /// How files import a name.
    pub fn imports(&self, name: &str) -> &[KnownImport] {
        self.0.imports.find(name)
    }

    /// The files that mention a name, by address. By way of hashing it may, rarely, name one that does not.
    pub fn files_with(&self, name: &str) -> impl Iterator<Item = &Arc<str>> {
        let name = TokenId::of(name, false).word();
        let mentions = move |filed: &Filed| filed.facts.names.binary_search(&name).is_ok();
        self.0.files.iter().filter(move |(_, filed)| mentions(filed)).map(|(uri, _)| uri)
    }

    /// Who asks, when this document has the cursor and these are open.
    pub fn asker<'a>(&self, here: &'a str, open: impl Iterator<Item = &'a str>) -> IndexAsker {
        let serial = |uri: &str| self.0.files.get(uri).map(|filed| filed.serial);
        IndexAsker { directory: directory(here), open: open.chain([here]).filter_map(serial).collect() }
    }

    /// The places that a context leads to.
    pub fn after(
        &self,
        context: &[TokenId],
        asker: &IndexAsker,
        limits: (usize, usize),
        accept: impl FnMut(TokenId) -> bool,
        found: &mut Vec<SeenToken>,
    ) {
        self.0.model.after(context, asker, limits, accept, found);
    }

    /// The place one token further on, unless it is in another file.
    pub fn advance(&self, seen: &SeenToken) -> Option<SeenToken> {
        self.0.model.advance(seen)
    }

    /// What a token says.
    pub fn text(&self, id: TokenId) -> Option<&str> {
        self.0.model.text(id)
    }
}

/// The directory of a document, hashed.
fn directory(uri: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(uri.rsplit_once('/').map_or("", |(directory, _)| directory).as_bytes());
    hasher.finish()
}
