//! Patterns of a variant that carries something else than before.

use std::ops::Range;

use nudge_syntax::{
    AnalysedDocument, EnumVariant, Enumeration, Language, VariantPayload, contains_word, is_pattern,
};
use nudge_text::Edit;

use super::{super::rename::draft::RenameDraft, Changed, Offer, documents};
use crate::Scene;

/// Occurrences of a variant that are looked at in one document.
const MAX_OCCURRENCES: usize = 120;
/// No history was fitted for it: the compiler refuses every pattern that stays as it was.
const PRIOR: f32 = 0.85;

/// Offers to fit patterns to what the variants that a change touched carry now.
pub(super) fn predict<'s>(scene: &Scene<'s>, changed: &Changed<'_>, drafts: &mut Vec<RenameDraft<'s>>) {
    let Changed { source, change, enumeration, .. } = changed;
    let Some(owner) = enumeration.name.as_deref().filter(|_| source.language() == Language::Rust) else {
        return;
    };
    let touched: Vec<&EnumVariant> = changed.touched().map(|(_, variant)| variant).collect();
    let is_known = |variant: &&EnumVariant| contains_word(&change.before, &variant.name);
    if !touched.iter().any(is_known) {
        return;
    }
    let before = Enumeration::of_lines(&change.before);
    for now in touched {
        let Some(was) = before.iter().find(|was| was.name == now.name) else { continue };
        if was.payload == now.payload {
            continue;
        }
        let chain = crate::predictors::group_of(&("payload", owner, &now.name, ignoring(&now.payload)));
        for document in documents(scene, source) {
            let edits = patterns(document, owner, now);
            let offer =
                Offer { scene, source: document, prior: PRIOR, chain, evidence: vec![("payload", 1.0)] };
            let what = format!("{owner}::{}", now.name);
            offer.make(edits, |lines| format!("fits `{what}` on {lines} to what it carries"), drafts);
        }
    }
}

/// The edits that patterns need which do not look at what the variant carries.
fn patterns(source: &AnalysedDocument, owner: &str, now: &EnumVariant) -> Vec<Edit> {
    let text = source.content();
    let is_meant = |name: &Range<usize>| {
        let before = &text[..name.start];
        let path =
            before.strip_suffix("::").map(|path| path.rsplit(|c| !nudge_syntax::token::is_word(c)).next());
        match path {
            Some(qualifier) => qualifier == Some(owner) || qualifier == Some("Self"),
            None => text.contains(&format!("{owner}::*")),
        }
    };
    let found = source.occurrences(&now.name, MAX_OCCURRENCES).into_iter().filter(is_meant);
    let edits = found.filter(|name| is_pattern(source, name, owner)).filter_map(|name| {
        let end = end_of(text, name.end)?;
        let carried = &text[name.end..end];
        let edit = Edit::new(name.end..end, ignoring(&now.payload));
        (is_ignored(carried) && !fits(carried, &now.payload)).then_some(edit)
    });
    edits.collect()
}

/// Where what a pattern says about what a variant carries ends: right behind the name if it says nothing.
pub(super) fn end_of(text: &str, name_end: usize) -> Option<usize> {
    let rest = &text[name_end..];
    let open = rest.len() - rest.trim_start().len();
    if !rest[open..].starts_with(['(', '{']) {
        return Some(name_end);
    }
    let mut depth = 0_usize;
    for (at, c) in rest[open..].char_indices() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(name_end + open + at + 1);
        }
    }
    None
}

/// Whether a pattern does not look at what a variant carries.
pub(super) fn is_ignored(carried: &str) -> bool {
    carried.chars().all(|c| c.is_whitespace() || "(){},_.".contains(c))
}

/// The pattern that does not look at what a variant carries.
pub(super) fn ignoring(payload: &VariantPayload) -> String {
    match payload {
        VariantPayload::None => "",
        VariantPayload::Tuple(1) => "(_)",
        VariantPayload::Tuple(_) => "(..)",
        VariantPayload::Fields(_) => " { .. }",
    }
    .to_owned()
}

/// Whether a pattern that does not look at what a variant carries is right for it.
fn fits(carried: &str, payload: &VariantPayload) -> bool {
    let carried: String = carried.chars().filter(|c| !c.is_whitespace()).collect();
    match payload {
        VariantPayload::None => carried.is_empty(),
        VariantPayload::Tuple(count) => {
            carried == "{..}"
                || carried.starts_with('(')
                    && (carried.contains("..") || carried.matches('_').count() == *count)
        }
        VariantPayload::Fields(_) => carried == "{..}",
    }
}
