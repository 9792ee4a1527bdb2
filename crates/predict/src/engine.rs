//! Asks the predictors, ranks what they say, and shows what is good enough.

use nudge_syntax::AnalysedDocument;
use nudge_text::Edits;

use crate::{
    Eagerness, EngineSuggestion, PredictorName, Scene, SuggestOutcome, SuggestTrigger, SuggestionEffect,
    SuggestionFeatures, SuggestionKind, filter,
    predictors::{self, Candidate},
};

/// How much is looked at closely, the most confident first, and how much of it is said.
#[derive(Clone, Copy)]
struct Most {
    examined: usize,
    said: usize,
    /// Whether a part of what is said already is said too.
    parts: bool,
}

/// In an answer to the user.
const SHOWN: Most = Most { examined: 12, said: 3, parts: false };
/// For those who want to know more.
const CONSIDERED: Most = Most { examined: 30, said: 12, parts: true };

/// Confidences that differ by less are the same to a person.
const SAME: f32 = 0.08;

type Predict = fn(&Scene<'_>, &mut Vec<Candidate>);

/// In order of worth.
const PREDICTORS: [Predict; 7] = [
    predictors::repeat::predict,
    predictors::rename::predict,
    predictors::signature::predict,
    predictors::moved::predict,
    predictors::import::predict,
    predictors::diagnostic::predict,
    predictors::complete::predict,
];

/// What the user may want to do next.
pub fn suggest(scene: &Scene<'_>) -> SuggestOutcome {
    suggest_from(scene, bar(scene), SHOWN)
}

/// What the user may want to do next, whatever the confidence.
///
/// For those who want to know what the engine thought of and did not say.
pub fn consider(scene: &Scene<'_>) -> SuggestOutcome {
    suggest_from(scene, 0.0, CONSIDERED)
}

fn suggest_from(scene: &Scene<'_>, bar: f32, most: Most) -> SuggestOutcome {
    if scene.changes.is_empty() && scene.diagnostics.is_empty() && scene.trigger != SuggestTrigger::Manual {
        return nothing("nothing was changed yet");
    }
    let mut candidates = Vec::new();
    for predict in PREDICTORS {
        if (scene.cancelled)() {
            return nothing("the answer is no longer wanted");
        }
        predict(scene, &mut candidates);
    }
    if candidates.is_empty() {
        return nothing("no predictor sees a next edit");
    }
    let mut rated: Vec<Rated> = candidates
        .into_iter()
        .filter_map(|mut candidate| {
            predictors::evidence::in_place(scene, &mut candidate);
            rate(scene, candidate)
        })
        .collect();
    let is_held_back = hold_back(scene, &mut rated, bar);
    let mut ranked: Vec<EngineSuggestion> =
        rated.into_iter().map(|rated| rated.suggestion).filter(|found| found.confidence >= bar).collect();
    if ranked.is_empty() && is_held_back {
        return nothing("suggestions of this kind were refused of late");
    }
    if ranked.is_empty() {
        return nothing("no next edit is certain enough");
    }
    ranked.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    nearest_first(scene, &mut ranked);
    let shown = examine(scene, ranked, most);
    if shown.is_empty() {
        return nothing("what was found would break the file, undo your typing or was refused before");
    }
    SuggestOutcome { suggestions: shown, why_nothing: "" }
}

fn nothing(why: &'static str) -> SuggestOutcome {
    SuggestOutcome { suggestions: Vec::new(), why_nothing: why }
}

/// How confident a suggestion must be.
fn bar(scene: &Scene<'_>) -> f32 {
    let bar = match scene.eagerness {
        Eagerness::Low => 0.83,
        Eagerness::Medium => 0.56,
        Eagerness::High => 0.31,
    };
    // Whoever asks wants to see something.
    if scene.trigger == SuggestTrigger::Manual { bar * 0.6 } else { bar }
}

/// A candidate with what is thought of it.
struct Rated {
    suggestion: EngineSuggestion,
    /// How confident the engine would be if it had learned nothing.
    unlearned: f32,
}

/// Takes note of the best that would be shown if nothing had been learned; says whether there is one.
fn hold_back(scene: &Scene<'_>, rated: &mut [Rated], bar: f32) -> bool {
    let held_back =
        rated.iter_mut().filter(|found| found.suggestion.confidence < bar && bar <= found.unlearned);
    let Some(best) = held_back.max_by(|a, b| a.unlearned.total_cmp(&b.unlearned)) else { return false };
    let found = &mut best.suggestion;
    found.effect = SuggestionEffect::of(&found.kind, |uri| find(scene, uri).map(AnalysedDocument::text));
    let is_meant = filter::allows(scene, found);
    if is_meant {
        scene.memory.hold_back(identity(scene, found), found.features);
    }
    is_meant
}

/// What tells a suggestion from others, the same while the user types it or beside it.
fn identity(scene: &Scene<'_>, found: &EngineSuggestion) -> u64 {
    let uri = found.kind.uri();
    let first = match &found.kind {
        SuggestionKind::Edit { edits, .. } => edits.as_slice().first(),
        _ => None,
    };
    let line = first.and_then(|edit| Some(find(scene, uri)?.text().line_of(edit.range.start)));
    // What completes a line is another text with every key.
    let chain = (found.predictor != PredictorName::Complete).then_some(found.group);
    predictors::group_of(&(found.predictor, chain, uri, line))
}

fn rate(scene: &Scene<'_>, candidate: Candidate) -> Option<Rated> {
    let uri = candidate.kind.uri();
    let source = find(scene, uri)?;
    let refusals = scene.memory.refusals(candidate.group);
    let features = SuggestionFeatures {
        predictor: candidate.predictor,
        language: source.language(),
        here: **uri == **scene.source.uri(),
        prior: candidate.prior,
    };
    // Where the user has gone to, it may be meant though it was not meant elsewhere.
    let is_at_cursor = candidate.evidence.iter().any(|(name, value)| *name == "at cursor" && *value > 0.0);
    let trust = if is_at_cursor { 0.7_f32 } else { 0.45 };
    let trust = trust.powi(i32::try_from(refusals).unwrap_or(9).min(9));
    let suggestion = EngineSuggestion {
        confidence: scene.memory.weights().confidence(features) * trust,
        effect: SuggestionEffect::default(),
        kind: candidate.kind,
        predictor: candidate.predictor,
        reason: candidate.reason,
        group: candidate.group,
        evidence: candidate.evidence,
        features,
    };
    Some(Rated { suggestion, unlearned: candidate.prior * trust })
}

/// Of places where the same is to be done, and about as likely, the next one below the cursor comes first, then the others
/// down to the end, then those above.
fn nearest_first(scene: &Scene<'_>, ranked: &mut [EngineSuggestion]) {
    let Some(best) = ranked.first() else { return };
    let (chain, least) = (best.group, best.confidence - SAME);
    let place = |found: &EngineSuggestion| match &found.kind {
        SuggestionKind::Edit { uri, edits, .. } if **uri == **scene.source.uri() && found.group == chain => {
            edits.as_slice().first().map(|edit| edit.range.start)
        }
        _ => None,
    };
    let alike = ranked.iter().take_while(|found| found.confidence >= least && place(found).is_some()).count();
    let line = scene.source.text().line_start(scene.source.text().line_of(scene.cursor));
    ranked[..alike].sort_by_key(|found| place(found).map(|at| (at < line, at)));
}

/// The best suggestions that pass every filter and differ in effect.
fn examine(scene: &Scene<'_>, ranked: Vec<EngineSuggestion>, most: Most) -> Vec<EngineSuggestion> {
    let mut shown: Vec<EngineSuggestion> = Vec::new();
    for mut suggestion in ranked.into_iter().take(most.examined) {
        if shown.len() == most.said || (scene.cancelled)() {
            break;
        }
        let known = shown.iter().any(|other| {
            other.kind == suggestion.kind || (!most.parts && is_part(&suggestion.kind, &other.kind))
        });
        if known {
            continue;
        }
        suggestion.effect =
            SuggestionEffect::of(&suggestion.kind, |uri| find(scene, uri).map(AnalysedDocument::text));
        if filter::allows(scene, &suggestion) {
            shown.push(suggestion);
        }
    }
    jump_first(scene, shown, most)
}

/// Whether the edits of one suggestion are all among those of another.
fn is_part(part: &SuggestionKind, whole: &SuggestionKind) -> bool {
    match (part, whole) {
        (
            SuggestionKind::Edit { uri, edits, .. },
            SuggestionKind::Edit { uri: whole_uri, edits: all, .. },
        ) => uri == whole_uri && edits.iter().all(|edit| all.iter().any(|other| other == edit)),
        _ => false,
    }
}

/// Where the first edit is out of sight, the way there comes first.
fn jump_first(scene: &Scene<'_>, mut shown: Vec<EngineSuggestion>, most: Most) -> Vec<EngineSuggestion> {
    let Some(first) = shown.first() else { return shown };
    let SuggestionKind::Edit { uri, edits, .. } = &first.kind else { return shown };
    let Some(offset) = edits.as_slice().first().map(|edit| edit.range.start) else { return shown };
    let hidden = **uri != **scene.source.uri() || is_hidden(scene, edits);
    if !scene.offers.jump || !hidden {
        return shown;
    }
    let jump = EngineSuggestion {
        kind: SuggestionKind::Jump { uri: uri.clone(), offset },
        predictor: PredictorName::Jump,
        reason: format!("goes to the next edit, which {}", first.reason),
        features: SuggestionFeatures { predictor: PredictorName::Jump, ..first.features },
        effect: first.effect.way_there(),
        ..first.clone()
    };
    if !scene.memory.refuses(&jump.effect) {
        shown.insert(0, jump);
        shown.truncate(most.said);
    }
    shown
}

/// Whether edits of the document with the cursor begin where the user does not look.
fn is_hidden(scene: &Scene<'_>, edits: &Edits) -> bool {
    let (Some(visible), Some(first)) = (scene.visible, edits.as_slice().first()) else { return false };
    let text = scene.source.text();
    let cursor = text.line_of(scene.cursor);
    // Who has come to the place sees it, whatever the editor told last.
    let is_there = edits
        .iter()
        .any(|edit| text.line_of(edit.range.start) <= cursor && cursor <= text.line_of(edit.range.end));
    let offset = first.range.start;
    !is_there && (offset < visible.start || visible.end < offset)
}

/// The document with this address.
pub(crate) fn find<'a>(scene: &Scene<'a>, uri: &str) -> Option<&'a AnalysedDocument> {
    if **scene.source.uri() == *uri {
        return Some(scene.source);
    }
    scene.others.iter().find(|source| **source.uri() == *uri)
}
