//! The complete predictor: the rest of the line, or of a few lines, that is being typed.
//!
//! It knows how the workspace goes on after the same tokens: in the document as it is now, in other open documents, in
//! the directory, and anywhere. From these it follows the most likely token to the end of the line.

mod analog;
mod draft;
mod follow;
mod judge;
mod mix;
mod names;
mod nearby;
mod place;
mod witness;

use nudge_text::Edits;

use self::{
    follow::{FollowedWay, follow},
    mix::TokenOrigin,
    place::TypingPlace,
};
use super::{Candidate, group_of};
use crate::{PredictorName, Scene, SuggestionKind};

/// What is less likely is not proposed.
const LEAST_PRIOR: f32 = 0.25;
/// The same, after a line that may be complete.
const NEW_LINE_PRIOR: f32 = 0.85;

/// What may come next.
pub(crate) fn predict(scene: &Scene<'_>, out: &mut Vec<Candidate>) {
    let Some(place) = TypingPlace::of(scene) else { return };
    // What comes on a new line is anybody's guess, and mostly it is the line that is below already.
    if place.is_blank() {
        return;
    }
    if let Some(way) = follow(scene, &place) {
        out.extend(candidate(scene, way));
    }
}

fn candidate(scene: &Scene<'_>, way: FollowedWay) -> Option<Candidate> {
    let new_line = way.text.starts_with('\n');
    if way.prior < if new_line { NEW_LINE_PRIOR } else { LEAST_PRIOR } {
        return None;
    }
    if brings_back(scene, &way.text) {
        return None;
    }
    let reason = reason(scene, way.origin);
    let text = match scene.source.text().line_break() {
        "\n" => way.text,
        other => way.text.replace('\n', other),
    };
    let chain = group_of(&text);
    Some(Candidate {
        kind: SuggestionKind::Edit {
            uri: scene.source.uri().clone(),
            cursor: scene.cursor + text.len(),
            edits: Edits::one(scene.cursor..scene.cursor, text),
        },
        predictor: PredictorName::Complete,
        reason,
        prior: way.prior,
        group: chain,
        evidence: way.judge.evidence().to_vec(),
    })
}

/// Whether the last line would be one that the newest change has just taken away.
fn brings_back(scene: &Scene<'_>, text: &str) -> bool {
    let Some(change) = scene.changes.last() else { return false };
    let document = scene.source.text();
    let begun = document.slice(document.line_start(document.line_of(scene.cursor))..scene.cursor);
    let whole = format!("{begun}{text}");
    let last = whole.rsplit('\n').next().unwrap_or(&whole).trim();
    let has = |lines: &str| lines.lines().any(|line| line.trim() == last);
    has(&change.before) && !has(&change.after)
}

fn reason(scene: &Scene<'_>, origin: TokenOrigin) -> String {
    match origin {
        TokenOrigin::Here(at) => format!("continues as on line {}", scene.source.text().line_of(at) + 1),
        TokenOrigin::Renamed(at) => {
            format!("continues as on line {}, with other names", scene.source.text().line_of(at) + 1)
        }
        TokenOrigin::Open(which) => {
            let uri = scene.others.get(which).map_or("", |other| &**other.uri());
            format!("continues as in `{}`", uri.rsplit('/').next().unwrap_or(uri))
        }
        TokenOrigin::Workspace => "continues as elsewhere in this workspace".to_owned(),
    }
}
