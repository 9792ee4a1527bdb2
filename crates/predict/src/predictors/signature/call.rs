//! Calls of a function whose head was changed.

use nudge_syntax::{
    AnalysedDocument, CallSite, FunctionHeader, Language, NameRole, NameSort, declaration_at, variable,
};
use nudge_text::Edit;

use super::{super::rename::draft::RenameDraft, Altered, Offer, documents};
use crate::{Scene, predictors::evidence::flag};

/// Occurrences of the name that are looked at in one document.
const MAX_OCCURRENCES: usize = 120;

// The compiler refuses a call without the argument; what is left to guess is which one it gets.
/// How likely it is what a call that was fitted by hand got.
const SHOWN: f32 = 0.83;
/// How likely it is the variable that has the name of the parameter.
const NAMED: f32 = 0.85;

/// Offers what calls of the function need.
pub(super) fn predict<'s>(scene: &Scene<'s>, altered: &Altered<'_>, out: &mut Vec<RenameDraft<'s>>) {
    let delta = &altered.delta;
    let arguments = !delta.removed.is_empty() || delta.reorders() || delta.added().next().is_some();
    if !arguments && !delta.became_async {
        return;
    }
    if is_overloaded(altered) {
        return;
    }
    let calls: Vec<(&AnalysedDocument, CallSite)> =
        documents(scene, altered.source).flat_map(|source| calls(altered, source)).collect();
    let examples = examples(altered, &calls);
    for source in documents(scene, altered.source) {
        if (scene.cancelled)() {
            return;
        }
        let mut sure: f32 = 1.0;
        let mut edits: Vec<Edit> = Vec::new();
        for (_, call) in calls.iter().filter(|(of, _)| of.uri() == source.uri()) {
            let site = Site { altered, source, call, examples: &examples };
            let Some((prior, found)) = site.edits() else { continue };
            sure = sure.min(prior);
            edits.extend(found);
        }
        let name = altered.new_name();
        let chain = altered.chain("call");
        let evidence = vec![
            ("call", 1.0),
            ("adds", flag(delta.added().next().is_some())),
            ("removes", flag(!delta.removed.is_empty())),
            ("reorders", flag(delta.reorders())),
            ("shown", flag(examples.iter().any(Option::is_some))),
        ];
        let offer = Offer { scene, source, prior: sure, chain, evidence };
        offer.make(edits, |lines| format!("fits the call of `{name}` on {lines} to its parameters"), out);
    }
}

/// Whether another function of the name takes what calls gave so far: then they may mean that one.
fn is_overloaded(altered: &Altered<'_>) -> bool {
    let (source, after) = (altered.source, &altered.after);
    if !matches!(source.language(), Language::Java | Language::CSharp | Language::Cpp) {
        return false;
    }
    let text = source.content();
    let found = source.occurrences(altered.new_name(), MAX_OCCURRENCES).into_iter();
    let found = found.filter(|range| *range != after.name && text[range.end..].starts_with('('));
    let mut others = found.filter_map(|range| FunctionHeader::named(source, &range));
    others.any(|other| {
        other.list.len() == altered.before.list.len()
            && other.owner == after.owner
            && other.is_prototype == after.is_prototype
    })
}

/// The calls in a document that may mean the function.
fn calls<'s>(altered: &Altered<'_>, source: &'s AnalysedDocument) -> Vec<(&'s AnalysedDocument, CallSite)> {
    let text = source.content();
    let found = source.occurrences(altered.new_name(), MAX_OCCURRENCES).into_iter();
    let found = found.filter(|range| text[range.end..].trim_start().starts_with(['(', '<', ':']));
    let found = found.filter_map(|range| CallSite::named(source, &range));
    found.filter(|call| may_mean(altered, source, call)).map(|call| (source, call)).collect()
}

fn may_mean(altered: &Altered<'_>, source: &AnalysedDocument, call: &CallSite) -> bool {
    // A function that hands over to one of the same name means another.
    if matches!(call.role, NameRole::Member { .. }) && call.caller.as_deref() == Some(altered.new_name()) {
        return false;
    }
    let owner = altered.after.owner.as_deref();
    let base = call.base.trim_end_matches([':', '.', '>', '-', '?', '!']);
    let last = base.rsplit(|c| !nudge_syntax::token::is_word(c)).next().unwrap_or(base);
    match (owner, call.role) {
        (Some(owner), _) if last.starts_with(char::is_uppercase) => last == owner || last == "Self",
        // A method is called on something, unless the language finds the object by itself.
        (Some(_), NameRole::Free) => {
            matches!(source.language(), Language::Java | Language::Cpp | Language::CSharp) || base == "new"
        }
        (None, NameRole::Path) => !last.starts_with(char::is_uppercase),
        (None, NameRole::Member { .. }) => {
            source.uri() != altered.source.uri() && source.language() != Language::Rust
        }
        _ => true,
    }
}

/// For each new parameter, the argument that calls have for it already.
fn examples(altered: &Altered<'_>, calls: &[(&AnalysedDocument, CallSite)]) -> Vec<Option<String>> {
    let wanted = altered.after.list.len();
    let done = |call: &CallSite| call.arguments.len() == wanted && wanted != altered.before.list.len();
    (0..wanted)
        .map(|at| {
            let mut given = calls
                .iter()
                .filter(|(_, call)| done(call))
                .map(|(source, call)| &source.content()[call.arguments[at].range.clone()]);
            let first = given.next()?;
            given.all(|other| other == first).then(|| first.to_owned())
        })
        .collect()
}

struct Site<'a> {
    altered: &'a Altered<'a>,
    source: &'a AnalysedDocument,
    call: &'a CallSite,
    examples: &'a [Option<String>],
}

impl Site<'_> {
    /// What the call needs, and how likely that is.
    fn edits(&self) -> Option<(f32, Vec<Edit>)> {
        let mut edits = Vec::new();
        let is_own = matches!(self.call.base.as_str(), "self." | "this." | "");
        let mut prior: f32 = match self.call.role {
            NameRole::Member { .. } if !is_own && self.altered.new_name().len() < 6 => 0.34,
            NameRole::Member { .. } if !is_own => 0.54,
            _ => 0.68,
        };
        if let Some((factor, edit)) = self.arguments() {
            prior *= factor;
            edits.push(edit);
        }
        if self.altered.delta.became_async {
            edits.extend(self.awaited());
        }
        (!edits.is_empty()).then_some((prior, edits))
    }

    /// The arguments as the parameters are now.
    fn arguments(&self) -> Option<(f32, Edit)> {
        let (altered, call) = (self.altered, self.call);
        let text = self.source.content();
        if call.arguments.len() != altered.before.list.len()
            || call.arguments.iter().any(|argument| argument.name.is_some())
        {
            return None;
        }
        let mut factor: f32 = if altered.delta.reorders() { 0.8 } else { 1.0 };
        let mut items: Vec<String> = Vec::new();
        for (now, was) in altered.delta.from.iter().enumerate() {
            let param = &altered.after.list[now];
            match was {
                Some(was) => items.push(text[call.arguments[*was].range.clone()].to_owned()),
                None if param.is_optional => {}
                None => {
                    let (sure, value) = self.value(now)?;
                    factor *= sure;
                    items.push(value);
                }
            }
        }
        let edit = self.laid_out(&items);
        (text[edit.range.clone()] != edit.text).then_some((factor, edit))
    }

    /// What to give to a new parameter.
    fn value(&self, now: usize) -> Option<(f32, String)> {
        if let Some(Some(example)) = self.examples.get(now) {
            let is_name = example.chars().all(nudge_syntax::token::is_word)
                && !example.starts_with(|c: char| c.is_ascii_digit());
            let is_literal =
                matches!(example.as_str(), "true" | "false" | "None" | "nil" | "null" | "self" | "this");
            let known = !is_name || is_literal || self.variable(example).is_some() || self.constant(example);
            let sure = if is_name && !is_literal { 0.95 } else { SHOWN };
            return known.then(|| (sure, example.clone()));
        }
        let param = &self.altered.after.list[now];
        let declared = self.variable(&param.name)?;
        let code = &self.altered.source.content()[param.range.clone()];
        let wants_reference =
            code.split_once(':').is_some_and(|(_, kind)| kind.trim_start().starts_with('&'));
        let has_value = declared.split_once(':').is_some_and(|(_, kind)| !kind.trim_start().starts_with('&'));
        let borrow =
            if self.source.language() == Language::Rust && wants_reference && has_value { "&" } else { "" };
        Some((NAMED, format!("{borrow}{}", param.name)))
    }

    /// The code that declares a variable that can be used here.
    fn variable(&self, name: &str) -> Option<&str> {
        let function = self.call.function.as_ref()?;
        let (_, declaration) = variable(self.source, name, self.call.range.start, function)?;
        let code = &self.source.content()[declaration.node];
        Some(code.split_once('=').map_or(code, |(code, _)| code))
    }

    /// Whether the whole file knows a name.
    fn constant(&self, name: &str) -> bool {
        self.source.occurrences(name, 20).iter().filter_map(|range| declaration_at(self.source, range)).any(
            |declaration| {
                !declaration.sort.is_local()
                    && !matches!(declaration.sort, NameSort::Field | NameSort::Method)
            },
        )
    }

    /// Arguments in the layout that the call has.
    fn laid_out(&self, items: &[String]) -> Edit {
        let text = self.source.content();
        let list = self.call.list.clone();
        let here = &text[list.clone()];
        let separator = match self.call.arguments.as_slice() {
            [first, second, ..] => {
                let between = &text[first.range.end..second.range.start];
                if between.trim() == "," { between } else { ", " }
            }
            _ => ", ",
        };
        let (Some(first), Some(end)) = (self.call.arguments.first(), self.call.arguments.last()) else {
            return Edit::new(list, format!("({})", items.join(", ")));
        };
        if items.is_empty() {
            return Edit::new(list, "()");
        }
        let (open, close) = (first.range.start - list.start, end.range.end - list.start);
        Edit::new(list, format!("{}{}{}", &here[..open], items.join(separator), &here[close..]))
    }

    /// Awaits the call, where that is possible.
    fn awaited(&self) -> Vec<Edit> {
        let text = self.source.content();
        let range = &self.call.range;
        let is_async = self.call.function.as_ref().is_some_and(|function| {
            let head = text[function.clone()].split(['{', '\n']).next().unwrap_or_default();
            nudge_syntax::contains_word(head, "async")
        });
        let (before, after) = (text[..range.start].trim_end(), &text[range.end..]);
        if !is_async || after.starts_with(".await") || after.starts_with(".then") || before.ends_with("await")
        {
            return Vec::new();
        }
        match self.source.language() {
            Language::Rust => vec![Edit::new(range.end..range.end, ".await")],
            Language::TypeScript
            | Language::Tsx
            | Language::JavaScript
            | Language::Python
            | Language::CSharp => {
                if after.starts_with(['.', '[']) {
                    vec![Edit::new(range.start..range.start, "(await "), Edit::new(range.end..range.end, ")")]
                } else {
                    vec![Edit::new(range.start..range.start, "await ")]
                }
            }
            _ => Vec::new(),
        }
    }
}
