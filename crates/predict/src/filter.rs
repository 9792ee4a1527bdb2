//! What is never suggested, however likely it seems.

use nudge_syntax::{AnalysedDocument, token::is_word};
use nudge_text::{Edit, Edits, InsertBias, Text};

use crate::{
    EngineSuggestion, PredictorName, Scene, SuggestionKind,
    engine::find,
    needed::{is_head, is_needed},
};

/// Whether a suggestion may be shown at all.
pub(crate) fn allows(scene: &Scene<'_>, suggestion: &EngineSuggestion) -> bool {
    if scene.memory.refuses(&suggestion.effect) {
        return false;
    }
    let SuggestionKind::Edit { uri, edits, .. } = &suggestion.kind else { return true };
    let Some(source) = find(scene, uri) else { return false };
    edits.fits(source.text())
        && changes_more_than_blanks(source.text(), edits)
        && !undoes(scene, source, edits)
        && !(suggestion.predictor == PredictorName::Repeat && stutters(source.text(), edits))
        && (!only_deletes(source.text(), edits) || may_go(scene, source, suggestion.predictor, edits))
        && source.stays_sound(edits)
}

/// Whether a document that parses still does after edits all over it. Those of each item are looked at by themselves, since
/// to parse all that lies between them takes long.
pub(crate) fn keeps_items_sound(source: &AnalysedDocument, edits: &Edits) -> bool {
    let item = |edit: &Edit| source.parsed().and_then(|parsed| parsed.item_at(edit.range.start));
    let mut items = edits.as_slice().chunk_by(|a, b| item(a) == item(b));
    items.all(|edits| Edits::new(edits.to_vec()).is_ok_and(|edits| source.stays_sound(&edits)))
}

fn changes_more_than_blanks(text: &Text, edits: &Edits) -> bool {
    let solid = |piece: &str| piece.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    edits.into_iter().any(|edit| solid(&text.slice(edit.range.clone())) != solid(&edit.text))
}

/// Whether something comes right beside where it stands already: there the user has done it, or somebody before.
fn stutters(text: &Text, edits: &Edits) -> bool {
    let words = |piece: &str| -> Vec<String> {
        let words = piece.split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    edits.iter().filter(|edit| edit.range.is_empty() && !edit.text.contains('\n')).any(|edit| {
        let new = words(&edit.text);
        if !edit.text.contains(char::is_alphabetic) {
            return false;
        }
        let line = text.line_of(edit.range.start);
        let before = words(&text.slice(text.line_start(line)..edit.range.start));
        let behind = words(&text.slice(edit.range.start..text.line_end(line)));
        before.ends_with(&new) || behind.starts_with(&new)
    })
}

/// Whether it takes away what was just typed, or brings back what was just taken away.
fn undoes(scene: &Scene<'_>, source: &AnalysedDocument, edits: &Edits) -> bool {
    let text = source.text();
    scene.changes.iter().rev().take(16).filter(|change| *change.uri == **source.uri()).any(|change| {
        let start = text.line_start(change.line);
        let end =
            if change.after_lines == 0 { start } else { text.line_end(change.line + change.after_lines - 1) };
        if text.slice(start..end) != change.after {
            return false;
        }
        let touched = edits.into_iter().any(|edit| edit.range.start <= end && start <= edit.range.end);
        if !touched {
            return false;
        }
        let typed = start + change.touched.start..start + change.touched.end;
        let removes_typed = !typed.is_empty()
            && edits.into_iter().any(|edit| {
                edit.range.start <= typed.start
                    && typed.end <= edit.range.end
                    && !edit.text.contains(&change.after[change.touched.clone()])
            });
        if removes_typed {
            return true;
        }
        let after = edits.apply(text);
        // Of lines that are gone nothing is left but a place: what is put there counts.
        let now = after.slice(edits.map(start, InsertBias::Before)..edits.map(end, InsertBias::After));
        !change.before.trim().is_empty() && now.trim_matches(['\r', '\n']) == change.before
    })
}

/// Whether edits that only take away may do so. There are predictors whose very job that is; others may if the user does,
/// and nothing else needs what goes.
fn may_go(scene: &Scene<'_>, source: &AnalysedDocument, predictor: PredictorName, edits: &Edits) -> bool {
    let heads = || edits.into_iter().any(|edit| is_head(source.text(), &edit.range));
    match predictor {
        PredictorName::Import | PredictorName::Diagnostic | PredictorName::Signature => true,
        PredictorName::Move => !heads(),
        _ => {
            let is_needed = || edits.into_iter().any(|edit| is_needed(source, &edit.range));
            user_deletes(scene) && !heads() && !is_needed()
        }
    }
}

fn only_deletes(text: &Text, edits: &Edits) -> bool {
    let words = |piece: &str| piece.contains(is_word);
    edits.into_iter().all(|edit| edit.text.trim().is_empty() && words(&text.slice(edit.range.clone())))
}

/// Whether the user has been taking something away.
fn user_deletes(scene: &Scene<'_>) -> bool {
    scene.changes.iter().rev().take(16).any(|change| {
        let length = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
        change.after_lines < change.before_lines || length(&change.after) < length(&change.before)
    })
}
