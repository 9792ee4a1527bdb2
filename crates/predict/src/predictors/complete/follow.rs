//! Follows the most likely token, again and again.

use memchr::memmem;
use nudge_syntax::{TokenId, token::is_word};

use super::{
    analog::NearbyAnalogs,
    draft::CompletionDraft,
    judge::CompletionJudge,
    mix::{TokenChoice, TokenOrigin},
    place::{TypingPlace, is_break},
    witness::WitnessSearch,
};
use crate::Scene;

/// Tokens that are followed at most.
const MOST_TOKENS: usize = 60;
/// Lines in one proposal.
const MOST_LINES: usize = 8;
/// A token that is less likely ends the way.
const LEAST: f32 = 0.15;
/// The same on the lines below the first.
const LEAST_BELOW: f32 = 0.6;
/// How likely a way must be to go on for another line, compared with the way up to there.
const STRONG_LINE: f32 = 0.78;
/// A way that is this likely is not compared with others.
const SURE: f32 = 0.8;
/// Documents that are longer are not searched for single words.
const LONGEST: usize = 200_000;

/// A way that was followed to the end of a line.
#[derive(Debug, Clone)]
pub(super) struct FollowedWay {
    pub(super) text: String,
    pub(super) judge: CompletionJudge,
    pub(super) prior: f32,
    /// Where it was seen.
    pub(super) origin: TokenOrigin,
}

/// The most likely way from a place to the end of its line, or of some line below.
pub(super) fn follow<'a>(scene: &'a Scene<'a>, place: &TypingPlace<'a>) -> Option<FollowedWay> {
    let plain = walk(scene, place, None);
    if plain.as_ref().is_some_and(|way| way.prior >= SURE) {
        return plain;
    }
    let analogs = NearbyAnalogs::new(place.content, &place.gap(), &CompletionDraft::new(place));
    if analogs.is_empty() {
        return plain;
    }
    // Analogs are heard only for what they alone know: that a name stands for another.
    let renamed = walk(scene, place, Some(analogs)).filter(|way| way.judge.is_renamed());
    [plain, renamed].into_iter().flatten().max_by(|a, b| a.prior.total_cmp(&b.prior))
}

fn walk<'a>(
    scene: &'a Scene<'a>,
    place: &TypingPlace<'a>,
    analogs: Option<NearbyAnalogs<'a>>,
) -> Option<FollowedWay> {
    let judge = CompletionJudge::new(place.typed.len(), place.is_prose());
    let witness = WitnessSearch::new(scene, place, analogs);
    let draft = CompletionDraft::new(place);
    let mut walk =
        Walk { place, draft, judge, origin: TokenOrigin::Workspace, depth: 0, line: 0, best: None };
    walk.go(witness);
    walk.best
}

/// A way that is being followed.
struct Walk<'a> {
    place: &'a TypingPlace<'a>,
    draft: CompletionDraft<'a>,
    judge: CompletionJudge,
    origin: TokenOrigin,
    /// How many brackets it has opened.
    depth: i32,
    /// Where its last line begins in what was added.
    line: usize,
    best: Option<FollowedWay>,
}

impl Walk<'_> {
    fn go(&mut self, mut witness: WitnessSearch<'_>) {
        for steps in 0..MOST_TOKENS {
            let Some((choice, text)) = witness.next(&self.draft, steps) else { return };
            let least = if self.best.is_some() { LEAST_BELOW } else { LEAST };
            if choice.p < least || !self.step(&choice, &text) || !self.draft.push(choice.id, &text) {
                return;
            }
            witness.advance(choice.id, &text);
        }
    }

    /// Looks at the next token. `false` if the way ends before it.
    fn step(&mut self, choice: &TokenChoice, text: &str) -> bool {
        self.judge.token(choice, self.is_stranger(text));
        let was_renamed = matches!(self.origin, TokenOrigin::Renamed(_));
        if choice.origin != TokenOrigin::Workspace && !was_renamed {
            self.origin = choice.origin;
        }
        if !self.place.closers.is_empty() {
            return self.step_to_closers(choice.id, text);
        }
        choice.id.as_line_break().is_none() || self.end_line()
    }

    /// Looks at the next token where the editor has closed what is to be closed. `false` if it comes to that.
    fn step_to_closers(&mut self, id: TokenId, text: &str) -> bool {
        if is_break(id) {
            return false;
        }
        if self.depth == 0 && self.place.closers.starts_with(text) {
            self.arrive();
            return false;
        }
        self.depth += match text {
            "(" | "[" | "{" => 1,
            ")" | "]" | "}" => -1,
            _ => 0,
        };
        true
    }

    /// Comes to the end of a line. `false` if the way ends there.
    fn end_line(&mut self) -> bool {
        let added = self.draft.added();
        let line = &added[self.line..];
        // What stands below already is not typed again.
        if line.starts_with('\n') && line.trim() == self.place.next_line() {
            return false;
        }
        self.line = added.len();
        let goes_on = self.arrive();
        self.judge.line();
        goes_on && usize::from(self.judge.lines()) < MOST_LINES
    }

    /// Takes the way as it is, if it is likely enough.
    fn arrive(&mut self) -> bool {
        let added = self.draft.added();
        if added.trim().is_empty() {
            return true;
        }
        // The frame of a comment without the comment.
        if self.best.is_some()
            && added[added.rfind('\n').unwrap_or(0)..].trim().chars().all(|c| "*/#".contains(c))
        {
            return true;
        }
        let prior = self.judge.prior();
        if self.best.as_ref().is_some_and(|best| prior < best.prior * STRONG_LINE) {
            return false;
        }
        self.best =
            Some(FollowedWay { text: added.to_owned(), judge: self.judge, prior, origin: self.origin });
        true
    }

    /// Whether a token is a word that the document does not have.
    fn is_stranger(&self, text: &str) -> bool {
        let content = self.place.content;
        text.len() > 2
            && text.starts_with(is_word)
            && content.len() <= LONGEST
            && memmem::find(content.as_bytes(), text.as_bytes()).is_none()
    }
}
