//! Other declarations of a function: trait and implementation, header and source, interface and class, overloads.

use std::ops::Range;

use nudge_syntax::{AnalysedDocument, FunctionHeader, Language, contains_word, occurrences};
use nudge_text::{Edit, diff};

use super::{super::rename::draft::RenameDraft, Altered, Offer, delta::plain, documents};
use crate::Scene;

/// Occurrences of the name that are looked at in one document.
const MAX_OCCURRENCES: usize = 80;
/// Parameters that make a longer line than this go on lines of their own.
const MAX_WIDTH: usize = 100;

/// Offers the change of a head for the other declarations that were alike.
pub(super) fn predict<'s>(scene: &Scene<'s>, altered: &Altered<'_>, out: &mut Vec<RenameDraft<'s>>) {
    let old = altered.old_name();
    for source in documents(scene, altered.source) {
        if (scene.cancelled)() {
            return;
        }
        let text = source.content();
        let mut found: Vec<(f32, Vec<Edit>)> = Vec::new();
        for range in source.occurrences(old, MAX_OCCURRENCES) {
            if !may_be_head(text, &range) || is_itself(altered, source, &range) {
                continue;
            }
            let Some(other) = FunctionHeader::named(source, &range) else { continue };
            let Some(prior) = likeness(altered, source, &other) else { continue };
            let edits = Rewrite { altered, source, other: &other }.edits();
            if !edits.is_empty() {
                found.push((prior, edits));
            }
        }
        for (prior, edits) in found {
            let chain = altered.chain("counterpart");
            let offer = Offer {
                scene,
                source,
                prior,
                chain,
                evidence: vec![("bias", 1.0), ("counterpart", 1.0), ("likeness", prior)],
            };
            offer.make(
                edits,
                |lines| format!("gives the declaration of `{old}` on {lines} the same change"),
                out,
            );
        }
    }
}

/// A cheap look before the tree is asked.
fn may_be_head(text: &str, range: &Range<usize>) -> bool {
    let before = text[..range.start].trim_end_matches([' ', '\t']);
    let after = text[range.end..].trim_start();
    after.starts_with(['(', '<', '=', ':', '[']) && !before.ends_with(['.', '(', ',', '=', '&', '!'])
}

fn is_itself(altered: &Altered<'_>, source: &AnalysedDocument, range: &Range<usize>) -> bool {
    source.uri() == altered.source.uri() && *range == altered.after.name
}

/// How likely another declaration follows, if it was like the changed one and is not as it is now.
fn likeness(altered: &Altered<'_>, source: &AnalysedDocument, other: &FunctionHeader) -> Option<f32> {
    let (old, text) = (altered.past.content(), source.content());
    let before = &altered.before;
    if other.list.len() != before.list.len() {
        return None;
    }
    let alike = other.list.iter().zip(&before.list).all(|(a, b)| {
        let (a_code, b_code) = (plain(&text[a.range.clone()]), plain(&old[b.range.clone()]));
        a.name.trim_start_matches('_') == b.name.trim_start_matches('_')
            || a_code == b_code
            || type_of(&a_code) == type_of(&b_code)
    });
    let exact = plain(&text[other.params.clone()]) == plain(&old[before.params.clone()])
        && plain(&text[other.tail.clone()]) == plain(&old[before.tail.clone()]);
    let after = &altered.after;
    let related = match source.language() {
        Language::Rust => after.is_contract && other.is_contract,
        Language::C | Language::Cpp => {
            let paired = after.is_prototype != other.is_prototype && after.owner == other.owner;
            let overrides = |header: &FunctionHeader, text: &str| {
                let head = text.get(header.start..header.tail.end).unwrap_or_default();
                contains_word(head, "virtual") || contains_word(head, "override")
            };
            paired || overrides(after, altered.source.content()) && overrides(other, text)
        }
        _ => after.is_contract || other.is_contract || after.is_prototype != other.is_prototype,
    };
    let prior = match (related, exact, alike) {
        (true, true, _) => 0.7,
        (true, false, true) => 0.58,
        (false, true, _) if !before.list.is_empty() && altered.delta.params => 0.36,
        _ => return None,
    };
    // Names of parameters are a matter of each declaration, and what has none is easily taken for another.
    let unlike = if renames_only(altered) { 0.5 } else { 1.0 };
    let bare = if before.list.is_empty() && !matches!(source.language(), Language::C | Language::Cpp) {
        0.75
    } else {
        1.0
    };
    Some(prior * unlike * bare)
}

/// Whether the parameters have the same types as before, and nothing else changed.
fn renames_only(altered: &Altered<'_>) -> bool {
    let (old, new) = (altered.past.content(), altered.source.content());
    let types = |text: &str, header: &FunctionHeader| {
        let codes = header.list.iter().map(|param| plain(&text[param.range.clone()]));
        codes.map(|code| type_of(&code).map_or_else(|| code.clone(), str::to_owned)).collect::<Vec<String>>()
    };
    let delta = &altered.delta;
    !delta.tail
        && !delta.result
        && !delta.became_async
        && types(old, &altered.before) == types(new, &altered.after)
}

/// What follows the name in `name: Type`, or goes before it in `Type name`.
fn type_of(code: &str) -> Option<&str> {
    code.split_once(" : ").map(|(_, rest)| rest).or_else(|| code.rsplit_once(' ').map(|(first, _)| first))
}

struct Rewrite<'a> {
    altered: &'a Altered<'a>,
    source: &'a AnalysedDocument,
    other: &'a FunctionHeader,
}

impl Rewrite<'_> {
    fn edits(&self) -> Vec<Edit> {
        let (altered, other) = (self.altered, self.other);
        let delta = &altered.delta;
        let mut edits = Vec::new();
        if altered.old_name() != altered.new_name() {
            edits.push(Edit::new(other.name.clone(), altered.new_name()));
        }
        if delta.params {
            edits.extend(self.params());
        }
        if delta.tail {
            edits.extend(self.patched(&altered.before.tail, &altered.after.tail, &other.tail));
        }
        if let (true, Some(was), Some(now), Some(here)) =
            (delta.result, &altered.before.result, &altered.after.result, &other.result)
        {
            edits.extend(self.patched(was, now, here));
        }
        if delta.became_async {
            edits.extend(self.made_async());
        }
        let text = self.source.content();
        edits.retain(|edit| text[edit.range.clone()] != edit.text);
        edits
    }

    fn params(&self) -> Option<Edit> {
        let (altered, other) = (self.altered, self.other);
        let (old, new, text) = (altered.past.content(), altered.source.content(), self.source.content());
        let here = &text[other.params.clone()];
        let defaults = matches!(self.source.language(), Language::Cpp) && !other.is_prototype;
        if plain(here) == plain(&old[altered.before.params.clone()]) && !defaults {
            return Some(Edit::new(
                other.params.clone(),
                self.reindented(&new[altered.after.params.clone()]),
            ));
        }
        let has_receiver =
            |code: &str| plain(code).split(' ').take(5).any(|token| matches!(token, "self" | "cls"));
        let mut items: Vec<String> = Vec::new();
        if has_receiver(here) {
            let first = other.list.first().map_or(other.params.end - 1, |param| param.range.start);
            items
                .push(text[other.params.start + 1..first].trim().trim_end_matches(',').trim_end().to_owned());
        }
        for (now, was) in altered.delta.from.iter().enumerate() {
            let now_code = &new[altered.after.list[now].range.clone()];
            let code = match was {
                None => now_code.to_owned(),
                Some(was) => {
                    let was_code = &old[altered.before.list[*was].range.clone()];
                    let here_code = &text[other.list[*was].range.clone()];
                    patch(here_code, was_code, now_code)?
                }
            };
            let code = if defaults { code.split(" = ").next().unwrap_or(&code).to_owned() } else { code };
            if items.last() != Some(&code) {
                items.push(code);
            }
        }
        Some(Edit::new(other.params.clone(), self.laid_out(&items)))
    }

    /// Parameters in the layout that the other declaration has.
    fn laid_out(&self, items: &[String]) -> String {
        let text = self.source.content();
        let here = &text[self.other.params.clone()];
        let flat = format!("({})", items.join(", "));
        let line = text[..self.other.params.start].rfind('\n').map_or(0, |at| at + 1);
        let width = self.other.params.start - line + flat.len();
        let indent: String = text[line..].chars().take_while(|c| *c == ' ' || *c == '\t').collect();
        if !here.contains('\n') && width <= MAX_WIDTH || items.is_empty() {
            return flat;
        }
        let inner = here.lines().nth(1).map_or_else(
            || if indent.contains('\t') { format!("{indent}\t") } else { format!("{indent}    ") },
            |line| line.chars().take_while(|c| c.is_whitespace()).collect(),
        );
        let comma =
            if here[..here.len() - 1].trim_end().ends_with(',') || !here.contains('\n') { "," } else { "" };
        let separator = format!(",\n{inner}");
        if here.trim_end_matches(')').ends_with(|c: char| !c.is_whitespace()) && here.contains('\n') {
            return format!("({})", items.join(&separator));
        }
        format!("(\n{inner}{}{comma}\n{indent})", items.join(&separator))
    }

    /// The same change on a piece that may differ a little.
    fn patched(&self, was: &Range<usize>, now: &Range<usize>, here: &Range<usize>) -> Option<Edit> {
        let (old, new) =
            (&self.altered.past.content()[was.clone()], &self.altered.source.content()[now.clone()]);
        let text = &self.source.content()[here.clone()];
        Some(Edit::new(here.clone(), self.reindented(&patch(text, old, new)?)))
    }

    fn reindented(&self, code: &str) -> String {
        let indent = |text: &str, at: usize| {
            let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
            text[line..at].chars().take_while(|c| *c == ' ' || *c == '\t').collect::<String>()
        };
        let from = indent(self.altered.source.content(), self.altered.after.name.start);
        let to = indent(self.source.content(), self.other.name.start);
        code.replace(&format!("\n{from}"), &format!("\n{to}"))
    }

    fn made_async(&self) -> Option<Edit> {
        let text = self.source.content();
        if self.other.is_async(text) {
            return None;
        }
        let head = self.other.start..self.other.name.start;
        if head.start > head.end {
            return None;
        }
        let keyword = match self.source.language() {
            Language::Rust => "fn",
            Language::Python => "def",
            Language::TypeScript | Language::Tsx | Language::JavaScript if self.other.is_prototype => {
                return None;
            }
            Language::TypeScript | Language::Tsx | Language::JavaScript => "function",
            _ => return None,
        };
        let at =
            occurrences(text, keyword, head, 1).first().map_or(self.other.name.start, |range| range.start);
        Some(Edit::new(at..at, "async "))
    }
}

/// `here` with the change from `was` to `now`, if that can be told.
fn patch(here: &str, was: &str, now: &str) -> Option<String> {
    if plain(here) == plain(was) {
        return Some(now.to_owned());
    }
    if was == now || plain(was) == plain(now) {
        return Some(here.to_owned());
    }
    let mut patched = here.to_owned();
    for (from, to) in diff::words(was, now) {
        let (from, to) = (&was[from], &now[to]);
        if from.trim().is_empty() || patched.matches(from).count() != 1 {
            return None;
        }
        patched = patched.replacen(from, to, 1);
    }
    Some(patched)
}
