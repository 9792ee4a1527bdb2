//! Edits of imports as the user sees them.

use nudge_syntax::AnalysedDocument;
use nudge_text::Edit;

use crate::{
    PredictorName, Scene,
    predictors::{Candidate, group_of},
    runs::edit_runs,
};

/// Names that are to be imported, or not any more.
pub(super) struct ImportOffer {
    pub(super) edits: Vec<Edit>,
    pub(super) prior: f32,
    pub(super) names: Vec<String>,
    pub(super) is_added: bool,
}

/// Edits of adjacent lines are offered together.
pub(super) fn offer(
    scene: &Scene<'_>,
    source: &AnalysedDocument,
    offers: &[ImportOffer],
    out: &mut Vec<Candidate>,
) {
    let mut all: Vec<Edit> = offers.iter().flat_map(|offer| offer.edits.iter().cloned()).collect();
    // At the end of a line, what goes on in it comes before a new line.
    all.sort_by_key(|edit| (edit.text.starts_with('\n'), edit.text.clone()));
    let line = if source.uri() == scene.source.uri() { source.text().line_of(scene.cursor) } else { 0 };
    for run in edit_runs(source, all, line) {
        let first = run.first;
        let near = |offer: &&ImportOffer| {
            offer
                .edits
                .iter()
                .any(|edit| (first..=run.last + 1).contains(&source.text().line_of(edit.range.start)))
        };
        let near: Vec<&ImportOffer> = offers.iter().filter(near).collect();
        let prior = near.iter().map(|offer| offer.prior).fold(1.0, f32::min);
        let Some(reason) = reason(&near) else { continue };
        let chain = group_of(&("import", &reason));
        let Some(kind) = run.into_kind(source) else { continue };
        let evidence = vec![("import", 1.0)];
        out.push(Candidate { kind, predictor: PredictorName::Import, reason, prior, group: chain, evidence });
    }
}

/// What all of it does, in words.
fn reason(offers: &[&ImportOffer]) -> Option<String> {
    let names = |is_added: bool| -> Vec<&str> {
        let meant = offers.iter().filter(|offer| offer.is_added == is_added);
        meant.flat_map(|offer| offer.names.iter().map(String::as_str)).collect()
    };
    let (added, removed) = (names(true), names(false));
    let are = |names: &[&str]| if names.len() == 1 { "is" } else { "are" };
    let listed = |names: &[&str]| format!("`{}`", names.join("`, `"));
    let come = format!("imports {}, which {} used now", listed(&added), are(&added));
    let go = format!("removes the import of {}, which {} no longer used", listed(&removed), are(&removed));
    match (added.is_empty(), removed.is_empty()) {
        (true, true) => None,
        (false, true) => Some(come),
        (true, false) => Some(go),
        (false, false) => Some(format!("{come}, and {go}")),
    }
}
