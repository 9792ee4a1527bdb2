//! Files as token numbers, with all their places sorted by what stands before them.
//!
//! The places with the same tokens before them lie side by side, and those that agree on one more token back lie within.
//! So the places that a context leads to are found by narrowing one range, token by token.

use std::{cmp::Ordering, ops::Range};

use super::{
    lexeme::{Lexer, TokenId},
    words::TokenWords,
};

/// How many tokens back places are told apart.
pub const CONTEXT_DEPTH: usize = 16;

/// The tokens of one or more files. Never changes.
#[derive(Debug, Default)]
pub(super) struct TokenRun {
    /// Of each file [`TokenId::START`] and then its tokens.
    pub(super) tokens: Box<[TokenId]>,
    /// All places but the starts, by the tokens before them, the nearest first.
    pub(super) order: Box<[u32]>,
    /// Where in the order each nearest token begins.
    heads: Box<[(TokenId, u32)]>,
    pub(super) words: TokenWords,
}

/// Ranges this short are looked through from one end to the other.
const SHORT: usize = 12;

impl TokenRun {
    /// A file.
    pub(super) fn of(text: &str) -> Self {
        let mut tokens = Vec::with_capacity(text.len() / 4 + 2);
        tokens.push(TokenId::START);
        let lexemes: Vec<_> = Lexer::new(text, 0, 0).collect();
        tokens.extend(lexemes.iter().map(|lexeme| lexeme.id));
        let solid = lexemes.iter().filter(|lexeme| lexeme.id.as_line_break().is_none());
        let words = TokenWords::of(solid.map(|lexeme| (lexeme.id, &text[lexeme.start..lexeme.end])));
        let order = (1..tokens.len()).filter_map(|at| u32::try_from(at).ok()).collect();
        Self::new(tokens, order, words)
    }

    /// These tokens. Where `order` is made of parts that are sorted already, they are only merged.
    pub(super) fn new(tokens: Vec<TokenId>, mut order: Vec<u32>, words: TokenWords) -> Self {
        order.sort_by(|a, b| compare(&tokens, *a, *b));
        let mut heads: Vec<(TokenId, u32)> = Vec::new();
        for (at, place) in (0..).zip(&order) {
            let head = tokens[*place as usize - 1];
            if heads.last().is_none_or(|last| last.0 != head) {
                heads.push((head, at));
            }
        }
        Self { tokens: tokens.into(), order: order.into(), heads: heads.into(), words }
    }

    /// Whether there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The token at a place.
    pub(super) fn token(&self, place: u32) -> TokenId {
        self.tokens[place as usize]
    }

    /// Where in the order the places lie that `context` leads to, of which the nearest token is the first: one range
    /// for each token more, as long as there are places.
    pub(super) fn narrow(&self, context: &[TokenId], mut found: impl FnMut(Range<usize>)) {
        let Some(mut range) = context.first().and_then(|head| self.head(*head)) else { return };
        found(range.clone());
        for (back, id) in context.iter().enumerate().take(CONTEXT_DEPTH).skip(1) {
            if context[back - 1] == TokenId::START {
                return;
            }
            range = self.within(range, back + 1, *id);
            if range.is_empty() {
                return;
            }
            found(range.clone());
        }
    }

    /// The places with this token before them.
    fn head(&self, id: TokenId) -> Option<Range<usize>> {
        let at = self.heads.binary_search_by_key(&id, |head| head.0).ok()?;
        let end = self.heads.get(at + 1).map_or(self.order.len(), |next| next.1 as usize);
        Some(self.heads[at].1 as usize..end)
    }

    /// Those of `range` that have this token so many before them.
    fn within(&self, range: Range<usize>, back: usize, id: TokenId) -> Range<usize> {
        let key = |place: &u32| self.tokens[*place as usize - back];
        let places = &self.order[range.clone()];
        let (start, len) = if places.len() <= SHORT {
            let start = places.iter().position(|place| key(place) >= id).unwrap_or(places.len());
            (start, places[start..].iter().take_while(|place| key(place) == id).count())
        } else {
            let start = places.partition_point(|place| key(place) < id);
            (start, places[start..].partition_point(|place| key(place) == id))
        };
        range.start + start..range.start + start + len
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.tokens.len() * 4 + self.order.len() * 4 + self.heads.len() * 8 + self.words.bytes()
    }
}

/// Compares what stands before two places.
fn compare(tokens: &[TokenId], a: u32, b: u32) -> Ordering {
    let (a, b) = (a as usize, b as usize);
    for back in 1..=CONTEXT_DEPTH {
        // A place is never a start, so a start is met before the first token is passed.
        let (x, y) = (tokens[a - back], tokens[b - back]);
        if x != y {
            return x.cmp(&y);
        }
        if x == TokenId::START {
            return Ordering::Equal;
        }
    }
    Ordering::Equal
}
