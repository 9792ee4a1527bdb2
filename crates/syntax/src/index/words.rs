//! What the tokens of a run say.

use super::lexeme::TokenId;

/// Longer words are not kept: nobody wants to be offered them.
const LONGEST: usize = 80;

/// The texts of tokens, by their numbers.
#[derive(Debug, Default)]
pub(super) struct TokenWords {
    ids: Box<[u32]>,
    /// Where each text ends in `texts`; it begins where the one before ends.
    ends: Box<[u32]>,
    texts: Box<str>,
}

impl TokenWords {
    /// The texts of these tokens.
    pub(super) fn of<'a>(tokens: impl Iterator<Item = (TokenId, &'a str)>) -> Self {
        let mut found: Vec<(u32, &str)> =
            tokens.filter(|(_, text)| text.len() <= LONGEST).map(|(id, text)| (id.word(), text)).collect();
        found.sort_unstable();
        found.dedup_by_key(|(id, _)| *id);
        Self::collect(found.into_iter())
    }

    /// Those of several that `wanted` holds on to.
    pub(super) fn join<'a>(all: impl Iterator<Item = &'a Self>, wanted: impl Fn(u32) -> bool) -> Self {
        let mut found: Vec<(u32, &str)> = all.flat_map(Self::iter).filter(|(id, _)| wanted(*id)).collect();
        found.sort_unstable();
        found.dedup_by_key(|(id, _)| *id);
        Self::collect(found.into_iter())
    }

    fn collect<'a>(sorted: impl ExactSizeIterator<Item = (u32, &'a str)>) -> Self {
        let mut ids = Vec::with_capacity(sorted.len());
        let mut ends = Vec::with_capacity(sorted.len());
        let mut texts = String::new();
        for (id, text) in sorted {
            texts.push_str(text);
            ids.push(id);
            ends.push(u32::try_from(texts.len()).unwrap_or(u32::MAX));
        }
        Self { ids: ids.into(), ends: ends.into(), texts: texts.into() }
    }

    fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.ids.iter().enumerate().map(|(at, id)| (*id, self.text(at)))
    }

    fn text(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.texts.get(start as usize..self.ends[at] as usize).unwrap_or("")
    }

    /// What a token says.
    pub(super) fn get(&self, id: TokenId) -> Option<&str> {
        self.ids.binary_search(&id.word()).ok().map(|at| self.text(at))
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.ids.len() * 8 + self.texts.len()
    }
}
