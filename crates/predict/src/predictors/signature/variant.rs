//! Arms for a variant that came to an enumeration.

use std::ops::Range;

use nudge_syntax::{
    AnalysedDocument, Enumeration, Language, MatchArms, VariantPayload, is_default_arm, occurrences,
    token::{TokenKind, is_word, solid},
};
use nudge_text::Edit;

use super::{
    super::rename::draft::RenameDraft,
    Changed, Offer, documents,
    mould::{CodeMould, NameStem},
    payload,
};
use crate::Scene;

/// Occurrences of a variant that are looked at in one document.
const MAX_OCCURRENCES: usize = 60;
/// Places that get arms in one document.
const MAX_PLACES: usize = 12;
/// Variants that came at once.
const MAX_ADDED: usize = 6;

// No history was fitted for these: where every other variant has an arm and nothing catches the rest, the compiler or its
// linter asks for the new one, and the arms that are there say how it is written.
/// Every other variant has an arm, and nothing is for the rest.
const FORCED: f32 = 0.85;
/// Every other variant has an arm, and something is for the rest, or it is a table.
const USUAL: f32 = 0.75;
/// Some other variants have no arm either, or all arms do the same.
const LIKELY: f32 = 0.62;

/// Stands for what a variant carries, where an arm does not look at it.
const IGNORED: char = '\0';

/// Offers arms for variants that a change brought.
pub(super) fn predict<'s>(scene: &Scene<'s>, changed: &Changed<'_>, drafts: &mut Vec<RenameDraft<'s>>) {
    let Changed { source, enumeration, .. } = changed;
    let added = added(changed);
    let old = enumeration.variants.len() - added.len();
    if added.is_empty() || added.len() > MAX_ADDED || old < 2 || is_being_typed(scene, changed, &added) {
        return;
    }
    let names: Vec<&str> = enumeration.variants.iter().map(|variant| variant.name.as_str()).collect();
    let stems = NameStem::all(&names);
    let chain = crate::predictors::group_of(&("variant", &enumeration.name, &names));
    let Some(neighbour) = neighbour(&added, added[0], names.len()) else { return };
    let what: Vec<String> = added.iter().map(|&at| format!("`{}`", names[at])).collect();
    for document in documents(scene, source) {
        if (scene.cancelled)() {
            return;
        }
        let mut seen: Vec<MatchArms> = Vec::new();
        for place in document.occurrences(names[neighbour], MAX_OCCURRENCES) {
            let Some(arms) = MatchArms::around(document, place.start).filter(|arms| !seen.contains(arms))
            else {
                continue;
            };
            let site = Site { source: document, enumeration, stems: &stems, added: &added, arms: &arms };
            if let Some((prior, edits)) = site.edits() {
                let offer = Offer { scene, source: document, prior, chain, evidence: vec![("variant", 1.0)] };
                offer.make(
                    edits,
                    |lines| format!("adds what {} needs on {lines}", what.join(" and ")),
                    drafts,
                );
            }
            seen.push(arms);
            if seen.len() == MAX_PLACES {
                break;
            }
        }
    }
}

/// The variants that were not there before the change; none if something went, since one for another is a rename.
fn added(changed: &Changed<'_>) -> Vec<usize> {
    let change = changed.change;
    let words = |text: &str| -> Vec<String> {
        let found = solid(text).into_iter().filter(|token| token.kind == TokenKind::Word);
        found.map(|token| token.text(text).to_owned()).collect()
    };
    let (before, after) = (words(&change.before), words(&change.after));
    if before.iter().any(|word| !after.contains(word)) {
        return Vec::new();
    }
    let is_new = |name: &str| occurrences(&change.before, name, 0..change.before.len(), 1).is_empty();
    changed.touched().filter(|(_, variant)| is_new(&variant.name)).map(|(at, _)| at).collect()
}

/// Whether the name of a new variant may still get longer.
fn is_being_typed(scene: &Scene<'_>, changed: &Changed<'_>, added: &[usize]) -> bool {
    let Changed { source, change, enumeration, .. } = changed;
    change.open
        && !change.pasted
        && source.uri() == scene.source.uri()
        && added.iter().any(|&at| enumeration.variants[at].range.end == scene.cursor)
}

/// The nearest variant before a new one that was there already, or else behind it.
fn neighbour(added: &[usize], new: usize, count: usize) -> Option<usize> {
    let is_old = |at: &usize| !added.contains(at);
    (0..new).rev().find(is_old).or_else(|| (new..count).find(is_old))
}

/// Arms in which the new variants may be lacking.
struct Site<'a> {
    source: &'a AnalysedDocument,
    enumeration: &'a Enumeration,
    stems: &'a [NameStem],
    added: &'a [usize],
    arms: &'a MatchArms,
}

impl Site<'_> {
    /// The arms to put in, and how likely they are wanted.
    fn edits(&self) -> Option<(f32, Vec<Edit>)> {
        let by_variant = self.by_variant()?;
        let old = || (0..self.stems.len()).filter(|at| !self.added.contains(at));
        let missing = old().filter(|&at| by_variant[at] == Found::Nowhere).count();
        if missing * 4 > old().count() {
            return None;
        }
        let mut codes: Vec<(usize, String)> = Vec::new();
        for at in old() {
            if let Found::Arm(arm) = by_variant[at] {
                codes.push((at, self.code(at, arm)));
            }
        }
        let mould = CodeMould::of(codes.iter().map(|(at, code)| (code.as_str(), &self.stems[*at])))?;
        // Where they do the same with what their variants carry, that is what they are for.
        let looks = |(at, code): &(usize, String)| {
            self.enumeration.variants[*at].payload != VariantPayload::None && !code.contains(IGNORED)
        };
        let says_nothing = mould.holes() < 2 && !codes.iter().all(looks);
        if codes.len() < if says_nothing { 3 } else { 2 } {
            return None;
        }
        let mut by_place: Vec<(usize, bool, Vec<String>)> = Vec::new();
        for &new in self.added.iter().filter(|&&at| by_variant[at] == Found::Nowhere) {
            let beside = neighbour(self.added, new, self.stems.len())?;
            let Found::Arm(arm) = by_variant[beside] else { return None };
            let code = self.with_payload(new, &mould.filled(&self.stems[new])?, &codes)?;
            match by_place.iter_mut().find(|place| place.0 == arm && place.1 == (beside < new)) {
                Some(place) => place.2.push(code),
                None => by_place.push((arm, beside < new, vec![code])),
            }
        }
        let is_open = self.arms.list.iter().any(|arm| is_default_arm(&self.source.content()[arm.clone()]))
            || self.arms.is_table;
        let prior = match (missing > 0 || says_nothing, is_open) {
            (true, _) => LIKELY,
            (false, true) => USUAL,
            (false, false) => FORCED,
        };
        let edits = by_place.iter().map(|(arm, is_behind, codes)| self.insertion(*arm, *is_behind, codes));
        (!by_place.is_empty()).then(|| (prior, edits.collect()))
    }

    /// Where each variant has its arm; nothing if an arm is for several, or a variant has several.
    fn by_variant(&self) -> Option<Vec<Found>> {
        let text = self.source.content();
        let mut found = vec![Found::Nowhere; self.stems.len()];
        for (arm, range) in self.arms.list.iter().enumerate() {
            let code = &text[range.clone()];
            let named = self.named(code);
            if is_default_arm(code) {
                for at in named {
                    if found[at] == Found::Nowhere {
                        found[at] = Found::Default;
                    }
                }
                continue;
            }
            match *named.as_slice() {
                [] => {}
                [at] if !matches!(found[at], Found::Arm(_)) => found[at] = Found::Arm(arm),
                _ => return None,
            }
        }
        Some(found)
    }

    /// The variants that an arm names: those named with their type, if any is.
    fn named(&self, code: &str) -> Vec<usize> {
        let mut best = Naming::Bare;
        let mut found: Vec<usize> = Vec::new();
        for (at, variant) in self.enumeration.variants.iter().enumerate() {
            for place in occurrences(code, &variant.name, 0..code.len(), 8) {
                let Some(naming) = self.naming(code, &place) else { continue };
                if naming == Naming::Typed && best == Naming::Bare {
                    best = Naming::Typed;
                    found.clear();
                }
                if naming == best && !found.contains(&at) {
                    found.push(at);
                }
            }
        }
        found
    }

    /// How the name at a place of an arm means the variant, if it does.
    fn naming(&self, code: &str, place: &Range<usize>) -> Option<Naming> {
        let (before, behind) = (&code[..place.start], &code[place.end..]);
        if self.enumeration.of_strings {
            let is_string = before.ends_with(['"', '\'', '`']) && behind.starts_with(['"', '\'', '`']);
            let is_key = before.is_empty() && behind.starts_with(':');
            return (is_string || is_key).then_some(Naming::Bare);
        }
        let Some(path) = before.strip_suffix("::").or_else(|| before.strip_suffix('.')) else {
            let is_text = before.ends_with(['"', '\'', '`']) || behind.starts_with(['"', '\'', '`']);
            return (!is_text).then_some(Naming::Bare);
        };
        let qualifier = &path[path.trim_end_matches(is_word).len()..];
        let is_type = Some(qualifier) == self.enumeration.name.as_deref() || qualifier == "Self";
        // A package or a namespace tells nothing of the type.
        let is_package = qualifier.starts_with(char::is_lowercase) && self.source.language() == Language::Go;
        (is_type || is_package).then_some(Naming::Typed)
    }

    /// An arm, with a mark where it does not look at what the variant carries.
    fn code(&self, at: usize, arm: usize) -> String {
        let code = &self.source.content()[self.arms.list[arm].clone()];
        self.ignored(at, code).map_or_else(
            || code.to_owned(),
            |range| format!("{}{IGNORED}{}", &code[..range.start], &code[range.end..]),
        )
    }

    /// Where an arm leaves out what its variant carries.
    fn ignored(&self, at: usize, code: &str) -> Option<Range<usize>> {
        (self.source.language() == Language::Rust).then_some(())?;
        let pattern = ..code.find("=>")?;
        let name = &self.enumeration.variants[at].name;
        let place = occurrences(code, name, 0..pattern.end, 1).into_iter().next()?;
        let end = payload::end_of(code, place.end)?;
        payload::is_ignored(&code[place.end..end]).then_some(place.end..end)
    }

    /// The arm of a new variant with what that carries; nothing if the arms look at what theirs carry, and it is something else.
    fn with_payload(&self, new: usize, code: &str, others: &[(usize, String)]) -> Option<String> {
        let carried = |at: usize| &self.enumeration.variants[at].payload;
        if code.contains(IGNORED) {
            return Some(code.replacen(IGNORED, &payload::ignoring(carried(new)), 1));
        }
        let is_alike = others.iter().all(|(at, _)| carried(*at) == carried(new));
        is_alike.then(|| code.to_owned())
    }

    /// Puts arms before or behind another one, in the layout of those that are there.
    fn insertion(&self, arm: usize, is_behind: bool, codes: &[String]) -> Edit {
        let text = self.source.content();
        let range = &self.arms.list[arm];
        let gap = self.gap(arm);
        let has_comma = |range: &Range<usize>| text[range.end..].starts_with(',');
        if !is_behind {
            let comma = if has_comma(range) { "," } else { "" };
            let end = format!("{comma}{gap}");
            return Edit::new(range.start..range.start, codes.join(&end) + &end);
        }
        let is_block = self.source.language() == Language::Rust && text[range.clone()].ends_with('}');
        if !has_comma(range) && !is_block && self.arms.list.iter().any(has_comma) {
            let begin = format!(",{gap}");
            return Edit::new(range.end..range.end, begin.clone() + &codes.join(&begin));
        }
        let comma = if has_comma(range) { "," } else { "" };
        let code = format!("{gap}{}{comma}", codes.join(&format!("{comma}{gap}")));
        let end = range.end + comma.len();
        let line_end = self.source.text().line_end(self.source.text().line_of(end));
        let rest = text[end..line_end].trim_start();
        let is_comment = ["//", "/*", "#"].iter().any(|mark| rest.starts_with(mark));
        let end = if gap.contains('\n') && is_comment { line_end } else { end };
        Edit::new(end..end, code)
    }

    /// What stands between two arms.
    fn gap(&self, arm: usize) -> String {
        let text = self.source.content();
        let between = |first: usize| {
            let (first, second) = (self.arms.list.get(first)?, self.arms.list.get(first + 1)?);
            let gap = text[first.end..second.start].trim_start_matches(',');
            gap.trim().is_empty().then(|| gap.to_owned())
        };
        let found = between(arm).or_else(|| between(arm.checked_sub(1)?));
        found.unwrap_or_else(|| {
            let start = self.arms.list[arm].start;
            let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
            let indent = &text[line..start];
            if indent.trim().is_empty() { format!("\n{indent}") } else { " ".to_owned() }
        })
    }
}

/// Where a variant is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nowhere,
    /// In what is for the rest.
    Default,
    /// In the arm of this number.
    Arm(usize),
}

/// How a variant is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// By itself.
    Bare,
    /// With its type before it.
    Typed,
}
