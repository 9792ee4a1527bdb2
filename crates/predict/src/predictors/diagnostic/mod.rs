//! Does what a diagnostic asks for.

mod code;
mod done;
mod near;
mod proposed;
mod python;
mod small;
mod table;
mod typed;
mod unused;

use std::cell::OnceCell;

use nudge_syntax::{AnalysedDocument, contains_word, token::is_word};
use nudge_text::Edit;

use self::table::{DiagnosticFix, fixes};
use super::{Candidate, import};
use crate::{PredictorName, Scene, SceneDiagnostic, engine::find, runs::edit_runs};

/// Diagnostics that are looked at, the nearest to the cursor first.
const MAX_DIAGNOSTICS: usize = 40;
/// Messages of this many bytes are for people only.
const MAX_MESSAGE: usize = 4 * 1024;
/// Of code that is quoted in a reason, this many characters.
const MAX_BRIEF: usize = 40;

/// Says what the diagnostics ask for.
pub(crate) fn predict(scene: &Scene<'_>, out: &mut Vec<Candidate>) {
    let mut known: Vec<&SceneDiagnostic> = scene.diagnostics.iter().collect();
    let distance = |diagnostic: &SceneDiagnostic| {
        let here = *diagnostic.uri == **scene.source.uri();
        (!here, diagnostic.severity, diagnostic.range.start.abs_diff(scene.cursor))
    };
    known.retain(|diagnostic| diagnostic.message.len() <= MAX_MESSAGE);
    known.sort_by_key(|diagnostic| distance(diagnostic));
    let done = OnceCell::new();
    for (rank, diagnostic) in known.into_iter().take(MAX_DIAGNOSTICS).enumerate() {
        if (scene.cancelled)() {
            return;
        }
        let Some(source) = find(scene, &diagnostic.uri) else { continue };
        if source.content().get(diagnostic.range.clone()).is_none() || is_torn(source, diagnostic) {
            continue;
        }
        let problem = Problem { scene, source, diagnostic, done: &done };
        let found = fixes(&diagnostic.message).find_map(|fix| problem.solve(&fix));
        let found = found.or_else(|| problem.hinted());
        if let Some(found) = found {
            offer(scene, source, found, rank, out);
        }
    }
}

/// Whether the mark of a diagnostic begins or ends inside of a word: then the text has changed since it was made. A single
/// character is how some tools say where something begins.
fn is_torn(source: &AnalysedDocument, diagnostic: &SceneDiagnostic) -> bool {
    let (text, range) = (source.content(), &diagnostic.range);
    let is_inside = |at: usize| {
        text[..at].chars().next_back().is_some_and(is_word) && text[at..].chars().next().is_some_and(is_word)
    };
    !range.is_empty() && (is_inside(range.start) || range.len() > 1 && is_inside(range.end))
}

/// What can be done, how likely it is meant, and what it does in words.
struct Solution {
    edits: Vec<Edit>,
    prior: f32,
    what: String,
}

fn offer(
    scene: &Scene<'_>,
    source: &AnalysedDocument,
    found: Solution,
    rank: usize,
    out: &mut Vec<Candidate>,
) {
    let Solution { edits, prior, what } = found;
    if edits.iter().any(|edit| is_there(source.content(), edit)) {
        return;
    }
    let chain = super::group_of(&("diagnostic", &what));
    let mut runs = edit_runs(source, edits, source.text().line_of(scene.cursor));
    if runs.len() != 1 {
        return;
    }
    let Some(kind) = runs.pop().and_then(|run| run.into_kind(source)) else { return };
    let nearness = f32::from(u8::try_from(rank).unwrap_or(u8::MAX)) * 0.003;
    let evidence = vec![("diagnostic", 1.0)];
    let prior = (prior - nearness).max(0.05);
    out.push(Candidate {
        kind,
        predictor: PredictorName::Diagnostic,
        reason: what,
        prior,
        group: chain,
        evidence,
    });
}

/// Whether what is to be inserted stands there already: a diagnostic stays until the tool has looked again.
fn is_there(text: &str, edit: &Edit) -> bool {
    let (before, behind) = text.split_at(edit.range.start);
    edit.range.is_empty() && (before.ends_with(&edit.text) || behind.starts_with(&edit.text))
}

/// The beginning of a text, as it is said in a sentence.
fn brief(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    if line.len() == text.trim().len() && line.chars().count() <= MAX_BRIEF {
        return line.to_owned();
    }
    line.chars().take(MAX_BRIEF).chain(['…']).collect()
}

/// A diagnostic in its document.
struct Problem<'a> {
    scene: &'a Scene<'a>,
    source: &'a AnalysedDocument,
    diagnostic: &'a SceneDiagnostic,
    /// What the user has done, once it was asked for.
    done: &'a OnceCell<Vec<done::DoneChange<'a>>>,
}

impl Problem<'_> {
    fn solve(&self, fix: &DiagnosticFix) -> Option<Solution> {
        match fix {
            DiagnosticFix::Rename { name, to } => {
                let new = name.as_ref().and_then(|name| self.became(name));
                self.renamed(name.as_deref(), new.as_ref().unwrap_or(to), 0.72)
            }
            DiagnosticFix::Member(name) => self.followed(name).or_else(|| self.respelled(name, true)),
            DiagnosticFix::Unknown(name) => {
                self.followed(name).or_else(|| self.imported(name)).or_else(|| self.respelled(name, false))
            }
            DiagnosticFix::Import(path) => {
                let edits = import::import_path(self.source, path)?;
                Some(Solution {
                    edits,
                    prior: 0.66,
                    what: format!("imports `{path}`, as the diagnostic proposes"),
                })
            }
            DiagnosticFix::Unimport(names) => self.unimported(names),
            DiagnosticFix::Unused(name) => self.unused(name),
            DiagnosticFix::Fields(names) => self.fields(names),
            DiagnosticFix::Arms(patterns) => self.arms(patterns),
            DiagnosticFix::Case(value) => self.case(value),
            DiagnosticFix::Mutable(name) => self.mutable(name),
            DiagnosticFix::Immutable => self.immutable(),
            DiagnosticFix::Semicolon => self.semicolon(),
            DiagnosticFix::IsNone => self.is_none(),
            DiagnosticFix::Instead { to, is_end } => self.instead(to, *is_end),
            DiagnosticFix::Statement => self.statement(),
            DiagnosticFix::Uncaught(name) => self.uncaught(name),
            DiagnosticFix::Undeclared(name) => self.undeclared(name),
            DiagnosticFix::ExtraArgument => self.extra_argument(),
            DiagnosticFix::Argument => self.argument(),
            DiagnosticFix::Unwrapped => self.unwrapped(),
            DiagnosticFix::Unborrowed => self.unborrowed(),
            DiagnosticFix::Unreturned => self.unreturned(),
            DiagnosticFix::Preceded(word) => self.preceded(word),
            DiagnosticFix::WithoutParameters => self.without_parameters(),
            DiagnosticFix::Initial(name) => self.initial(name),
            DiagnosticFix::Converted { wanted, found } => self.converted(wanted, found),
            DiagnosticFix::Variable(name) => self.variable(name),
            DiagnosticFix::Awaited(name) => self.awaited(name.as_deref()),
            DiagnosticFix::Colon => self.colon(),
            DiagnosticFix::PlainString => self.plain_string(),
        }
    }

    fn renamed(&self, name: Option<&str>, to: &str, prior: f32) -> Option<Solution> {
        let range = self.place(name)?;
        let name = &self.source.content()[range.clone()];
        if name == to || !contains_word(&self.diagnostic.message, name) {
            return None;
        }
        let what = format!("writes `{to}` where `{name}` is not known");
        Some(Solution { edits: vec![Edit::new(range, to)], prior, what })
    }

    fn imported(&self, name: &str) -> Option<Solution> {
        self.place(Some(name))?;
        let (sure, edits) = import::import_name(self.scene, self.source, name)?;
        Some(Solution {
            edits,
            prior: 0.7 * sure,
            what: format!("imports `{name}`, which is not known here"),
        })
    }

    /// Where the user gave a thing another name, its other uses get it too.
    fn followed(&self, name: &str) -> Option<Solution> {
        self.renamed(Some(name), &self.became(name)?, 0.8)
    }

    fn respelled(&self, name: &str, is_member: bool) -> Option<Solution> {
        let offset = self.diagnostic.range.start;
        let to = near::similar(self.source, name, offset)?;
        let prior = if near::is_slip(self.source, name, &to, offset, is_member) { 0.6 } else { 0.42 };
        self.renamed(Some(name), &to, prior)
    }
}
