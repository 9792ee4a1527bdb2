//! What comes next, from what came next at similar places.

use std::borrow::Cow;

use nudge_syntax::{CONTEXT_DEPTH, TokenId};

/// How much weight a context gives to what it has not seen, for each different token it has seen, and how much less with
/// each token more.
const ESCAPE: f32 = 0.6;
const TRUST: f32 = 0.85;

/// Where a token was seen to come next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TokenOrigin {
    /// In the document of the cursor, at this place.
    Here(usize),
    /// In the document of the cursor, at this place, with other names.
    Renamed(usize),
    /// In another document that is open.
    Open(usize),
    /// In a file of the workspace.
    Workspace,
}

/// What may come next.
#[derive(Debug)]
struct Known<'a> {
    id: TokenId,
    text: Option<Cow<'a, str>>,
    /// How often it came after at least this many tokens of the context.
    counts: [f32; CONTEXT_DEPTH + 1],
    /// The best place it was seen at, and with how much context.
    origin: TokenOrigin,
    order: usize,
    /// Where it was seen under another name.
    renamed: Option<usize>,
}

/// The token that is most likely next.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokenChoice {
    pub(super) id: TokenId,
    /// How likely it is, from 0 to 1.
    pub(super) p: f32,
    /// The best place it was seen at, and with how much context.
    pub(super) origin: TokenOrigin,
    pub(super) order: usize,
    /// How much there is for it, weighed.
    pub(super) support: f32,
    /// How much there is for it at places that led the whole way here, and for all tokens anywhere.
    pub(super) led: f32,
    pub(super) total: f32,
}

/// Collects what came next at similar places.
#[derive(Debug, Default)]
pub(super) struct TokenMix<'a>(Vec<Known<'a>>);

impl<'a> TokenMix<'a> {
    /// Adds that `id` came after `order` tokens of the context, so much as `weight` says.
    pub(super) fn add(
        &mut self,
        id: TokenId,
        text: Option<Cow<'a, str>>,
        order: usize,
        weight: f32,
        origin: TokenOrigin,
    ) {
        let order = order.min(CONTEXT_DEPTH);
        let at = self.0.iter().position(|option| option.id == id).unwrap_or_else(|| {
            self.0.push(Known {
                id,
                text: None,
                counts: [0.0; CONTEXT_DEPTH + 1],
                origin,
                order,
                renamed: None,
            });
            self.0.len() - 1
        });
        let option = &mut self.0[at];
        option.counts[order] += weight;
        if option.text.is_none() {
            option.text = text;
        }
        if let TokenOrigin::Renamed(at) = origin {
            option.renamed = Some(at);
        }
        if order > option.order {
            option.order = order;
            option.origin = origin;
        }
    }

    /// The most likely token after so many steps of the way, and what it says if that is known.
    ///
    /// Each order of context says how often it saw each token; what it leaves open, the next lower order fills.
    pub(super) fn best(mut self, steps: usize) -> Option<(TokenChoice, Option<Cow<'a, str>>)> {
        let mut p = vec![0.0_f32; self.0.len()];
        let mut escape = ESCAPE;
        for order in 1..=CONTEXT_DEPTH {
            escape *= TRUST;
            let mut total = 0.0;
            let mut different = 0.0;
            let counts: Vec<f32> = self.0.iter().map(|option| option.counts[order..].iter().sum()).collect();
            for count in &counts {
                total += count;
                different += f32::from(u8::from(*count > 0.0));
            }
            if total <= 0.0 {
                break;
            }
            // The places that are told apart from those of the next order count; the same once more tell nothing new.
            if self.0.iter().all(|option| option.counts[order] == 0.0) {
                continue;
            }
            let open = escape * different;
            for (p, count) in p.iter_mut().zip(&counts) {
                *p = (count + open * *p) / (total + open);
            }
        }
        // Rounded, so that the order in which places were found decides nothing.
        let rank = |at: usize| ((p[at] * 4096.0).round(), self.0[at].id);
        let at = (0..p.len()).max_by(|a, b| {
            let (a, b) = (rank(*a), rank(*b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        })?;
        let p = p[at];
        let total = self.0.iter().flat_map(|option| option.counts).sum();
        let Known { id, text, counts, origin, order, renamed } = self.0.swap_remove(at);
        let origin = renamed.map_or(origin, TokenOrigin::Renamed);
        // Each step of the way is one more token of context.
        let led = counts[steps.min(CONTEXT_DEPTH - 1) + 1..].iter().sum();
        Some((TokenChoice { id, p, origin, order, support: counts.iter().sum(), led, total }, text))
    }
}
