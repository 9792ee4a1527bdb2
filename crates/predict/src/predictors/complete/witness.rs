//! Where similar places are looked for, from near to far, and how much each counts.

use std::{borrow::Cow, ops::Range};

use nudge_syntax::{IndexAsker, SeenToken, TokenId};
use rustc_hash::FxHashMap;

use super::{
    analog::NearbyAnalogs,
    draft::CompletionDraft,
    mix::{TokenChoice, TokenMix, TokenOrigin},
    nearby::{NearbyHit, hits},
    place::{TypingPlace, is_break},
};
use crate::Scene;

/// Places that are looked at in a document.
const MOST_HITS: usize = 40;
/// Bytes of open documents that are searched for one proposal, and what is searched in any case.
const MOST_SEARCHED: usize = 1_200_000;
const LEAST_SEARCHED: usize = 32 * 1024;
/// Other open documents that are looked at.
const MOST_OPEN: usize = 4;
/// Places in the workspace that are enough to decide on a token.
const ENOUGH: usize = 12;
/// Places in the workspace that are looked at for a token, and for one of which a part is typed.
const MOST_LOOKED_AT: usize = 96;
const MOST_LOOKED_AT_OPEN: usize = 384;
/// So many places with so much context are followed without looking for others.
const WELL_KNOWN: usize = 4;
const WELL_KNOWN_ORDER: usize = 6;

/// What a place counts for.
const HERE: f32 = 1.2;
const OPEN: f32 = 1.2;
const NEAR: f32 = 1.2;
const WORKSPACE: f32 = 1.0;

/// Looks for similar places.
pub(super) struct WitnessSearch<'a> {
    scene: &'a Scene<'a>,
    asker: IndexAsker,
    analogs: Option<NearbyAnalogs<'a>>,
    /// Where nothing is looked for: what is being typed.
    gap: Range<usize>,
    searched: usize,
    seen: Vec<SeenToken>,
    hits: Vec<NearbyHit>,
}

impl<'a> WitnessSearch<'a> {
    /// Without analogs only places count that have the very same before them.
    pub(super) fn new(
        scene: &'a Scene<'a>,
        place: &TypingPlace<'a>,
        analogs: Option<NearbyAnalogs<'a>>,
    ) -> Self {
        let open = scene.others.iter().map(|other| &**other.uri());
        let asker = scene.index.asker(scene.source.uri(), open);
        Self { scene, asker, analogs, gap: place.gap(), searched: 0, seen: Vec::new(), hits: Vec::new() }
    }

    /// The most likely next token after so many steps, and what it says.
    pub(super) fn next(
        &mut self,
        draft: &CompletionDraft<'_>,
        steps: usize,
    ) -> Option<(TokenChoice, Cow<'a, str>)> {
        let mut mix = TokenMix::default();
        self.look_here(draft, &mut mix);
        self.look_at_analogs(draft, &mut mix);
        self.look_at_others(draft, &mut mix);
        // What the analogs know, nobody else does.
        if self.analogs.is_none() {
            self.look_around(draft, &mut mix);
        }
        let (choice, text) = mix.best(steps)?;
        let text = text.or_else(|| self.scene.index.text(choice.id).map(Cow::Borrowed))?;
        Some((choice, text))
    }

    /// Goes on from the places where this token came next.
    pub(super) fn advance(&mut self, id: TokenId, text: &str) {
        let index = self.scene.index;
        self.seen =
            self.seen.iter().filter(|seen| seen.next == id).filter_map(|seen| index.advance(seen)).collect();
        if let Some(analogs) = &mut self.analogs {
            analogs.advance(id, text);
        }
    }

    fn look_here(&mut self, draft: &CompletionDraft<'_>, mix: &mut TokenMix<'a>) {
        let (text, moved, gap) = self.window(self.scene.source.content());
        self.searched += text.len();
        self.hits.clear();
        hits(text, &gap, draft, MOST_HITS, &mut self.hits);
        for hit in &self.hits {
            let said = &text[hit.next.start..hit.next.end];
            if draft.accepts(hit.next.id, said) {
                let origin = TokenOrigin::Here(moved + hit.next.start);
                mix.add(hit.next.id, Some(said.into()), hit.order, HERE, origin);
            }
        }
    }

    /// The part of the document that may be searched: all of it, or what is around the cursor once much was searched.
    fn window(&self, content: &'a str) -> (&'a str, usize, Range<usize>) {
        let room = MOST_SEARCHED.saturating_sub(self.searched).max(LEAST_SEARCHED);
        if content.len() <= room {
            return (content, 0, self.gap.clone());
        }
        let start = content.ceil_char_boundary(self.gap.start.saturating_sub(room / 2)).min(self.gap.start);
        let end = content.floor_char_boundary((self.gap.end + room / 4).min(content.len())).max(self.gap.end);
        (&content[start..end], start, self.gap.start - start..self.gap.end - start)
    }

    fn look_at_analogs(&mut self, draft: &CompletionDraft<'_>, mix: &mut TokenMix<'a>) {
        for next in self.analogs.iter().flat_map(|analogs| analogs.next(draft)) {
            let origin =
                if next.renamed { TokenOrigin::Renamed(next.start) } else { TokenOrigin::Here(next.start) };
            mix.add(next.id, Some(next.text.into()), next.order, next.weight, origin);
        }
    }

    fn look_at_others(&mut self, draft: &CompletionDraft<'_>, mix: &mut TokenMix<'a>) {
        for (at, other) in self.scene.others.iter().take(MOST_OPEN).enumerate() {
            let text = other.content();
            if text.len() + self.searched > MOST_SEARCHED || other.language() != self.scene.source.language()
            {
                continue;
            }
            self.searched += text.len();
            self.hits.clear();
            hits(text, &(text.len()..text.len()), draft, MOST_HITS / 2, &mut self.hits);
            for hit in &self.hits {
                let said = &text[hit.next.start..hit.next.end];
                if draft.accepts(hit.next.id, said) {
                    mix.add(hit.next.id, Some(said.into()), hit.order, OPEN, TokenOrigin::Open(at));
                }
            }
        }
    }

    fn look_around(&mut self, draft: &CompletionDraft<'_>, mix: &mut TokenMix<'a>) {
        if self.seen.len() < WELL_KNOWN || self.seen.iter().all(|seen| seen.order < WELL_KNOWN_ORDER) {
            self.ask(draft);
        }
        for seen in &self.seen {
            let weight = seen.weight * if seen.near { NEAR } else { WORKSPACE };
            let text = is_break(seen.next).then_some("".into());
            mix.add(seen.next, text, seen.order, weight, TokenOrigin::Workspace);
        }
    }

    fn ask(&mut self, draft: &CompletionDraft<'_>) {
        let index = self.scene.index;
        self.seen.clear();
        let (context, asker, seen) = (draft.context(), &self.asker, &mut self.seen);
        if draft.open().is_empty() {
            index.after(context, asker, (ENOUGH, MOST_LOOKED_AT), |id| draft.accepts(id, ""), seen);
            return;
        }
        let mut known: FxHashMap<TokenId, bool> = FxHashMap::default();
        let fits = |id: TokenId| index.text(id).is_some_and(|text| draft.accepts(id, text));
        let accept = |id: TokenId| !is_break(id) && *known.entry(id).or_insert_with(|| fits(id));
        index.after(context, asker, (ENOUGH, MOST_LOOKED_AT_OPEN), accept, seen);
    }
}
