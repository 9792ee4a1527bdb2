//! Adds the import that new code needs, and takes away the one that was only needed by code that is gone.

mod add;
mod known;
mod offer;
mod order;
mod place;
mod remove;
mod route;
mod settled;
mod standard;
mod unseen;

use std::ops::Range;

use nudge_syntax::{
    AnalysedDocument, Grammar, Language, NameRole, NodePath, declaration_at,
    imports::{ImportLeaf, ImportStatement, ImportStyle, ImportedName, statements},
    occurrences, placed, role_at,
    token::{TokenKind, solid},
};
use nudge_text::{Edit, history::LineChange};

use self::{
    offer::{ImportOffer, offer},
    route::ImportRoutes,
    settled::ImportSettled,
};
use super::Candidate;
use crate::{Scene, engine::find};

/// Changes that are looked at, the newest first.
const MAX_CHANGES: usize = 8;
/// How sure it is that a new use wants an import, where every other file agrees on it.
const ADDED: f32 = 0.53;
/// How sure it is that an import goes with its last use: the name may be used again in a moment.
const REMOVED: f32 = 0.53;
/// The same, while the user may be about to use it again.
const UNSETTLED: f32 = 0.35;
/// The same, once the user has left the line for one that has nothing to do with it.
const LEFT: f32 = 0.57;
/// Names that every file knows, whatever others import by them.
const PRELUDE: &[&str] = &["Result", "Option", "Box", "Vec", "String", "Ok", "Err", "Some", "None"];
/// Macros that bear the name of a module.
const STANDARD_MACROS: &[&str] = &["vec", "env", "assert", "panic", "matches", "format", "write"];
/// Names that are looked at.
const MAX_NAMES: usize = 60;

/// Says which imports recent changes call for.
pub(crate) fn predict(scene: &Scene<'_>, out: &mut Vec<Candidate>) {
    let mut seen: Vec<&str> = Vec::new();
    for change in scene.changes.iter().rev().take(MAX_CHANGES) {
        if seen.contains(&&*change.uri) || (scene.cancelled)() {
            continue;
        }
        seen.push(&change.uri);
        let Some(source) = find(scene, &change.uri) else { continue };
        let changes: Vec<&LineChange> =
            scene.changes.iter().rev().take(MAX_CHANGES).filter(|other| other.uri == change.uri).collect();
        in_document(scene, source, &changes, out);
    }
}

fn in_document(
    scene: &Scene<'_>,
    source: &AnalysedDocument,
    changes: &[&LineChange],
    out: &mut Vec<Candidate>,
) {
    if Grammar::of(source.language()).is_none() {
        return;
    }
    let statements = statements(source.language(), source.content());
    let mut offers: Vec<ImportOffer> = Vec::new();
    let routes = ImportRoutes::to(scene, source);
    let mut added: Vec<(f32, Vec<ImportedName>)> = Vec::new();
    for name in new_names(source, &routes, &statements, changes) {
        if (scene.cancelled)() {
            return;
        }
        let found = needed(&routes, source, &statements, &name)
            .or_else(|| unseen::needed(scene, source, &statements, &name));
        let Some((sure, import)) = found else { continue };
        let fits = |(_, others): &&mut (f32, Vec<ImportedName>)| {
            add::can_share(source.language(), &others[0], &import)
        };
        match added.iter_mut().find(fits) {
            Some((all, others)) => {
                *all = all.min(sure);
                others.push(import);
            }
            None => added.push((sure, vec![import])),
        }
    }
    let unneeded = remove::unneeded(source, &statements, changes);
    let is_gone = |at: &usize| {
        let members = unneeded.iter().filter(|(of, _)| of == at).count();
        members > 0 && members == statements[*at].leaves.len()
    };
    let gone: Vec<usize> = (0..statements.len()).filter(is_gone).collect();
    for (sure, imports) in &added {
        let names = imports.iter().map(|import| import.name.clone()).collect();
        let edits = add::edits(source, &statements, &gone, imports);
        let offered = |edits| ImportOffer { edits, prior: ADDED * sure, names, is_added: true };
        offers.extend(edits.map(offered));
    }
    for removal in remove::edits(source, &statements, &unneeded, added.is_empty()) {
        let remove::ImportRemoval { of, edits, names } = removal;
        let prior = match settled::done(scene, source, &statements[of], &names) {
            ImportSettled::NotYet => UNSETTLED,
            ImportSettled::Left => LEFT,
            ImportSettled::Settled => REMOVED,
        };
        offers.push(ImportOffer { edits, prior, names, is_added: false });
    }
    offer(scene, source, &offers, out);
}

/// The edits that import a name the way other files do, or else from where it is known to be, and how sure that is.
pub(super) fn import_name(
    scene: &Scene<'_>,
    source: &AnalysedDocument,
    name: &str,
) -> Option<(f32, Vec<Edit>)> {
    let statements = statements(source.language(), source.content());
    if is_imported(&statements, name) {
        return None;
    }
    let known = || {
        let import = known::from_open_module(scene, source, &statements, name);
        import.or_else(|| unseen::used(source, &statements, name)).map(|import| (0.95, import))
    };
    let (sure, import) =
        needed(&ImportRoutes::to(scene, source), source, &statements, name).or_else(known)?;
    Some((sure, add::edits(source, &statements, &[], &[import])?))
}

/// The edits that import what a path names.
pub(super) fn import_path(source: &AnalysedDocument, path: &str) -> Option<Vec<Edit>> {
    let statements = statements(source.language(), source.content());
    let (module, name) = path.rsplit_once("::").or_else(|| path.rsplit_once('.'))?;
    let import = ImportedName {
        name: name.to_owned(),
        original: None,
        module: module.to_owned(),
        style: ImportStyle::Named,
        type_only: false,
    };
    if is_imported(&statements, name) { None } else { add::edits(source, &statements, &[], &[import]) }
}

/// Whether a range is an import statement, and nothing outside of it uses what it brings.
pub(super) fn is_unused(source: &AnalysedDocument, range: &Range<usize>) -> bool {
    let statements = statements(source.language(), source.content());
    let meant = |statement: &&ImportStatement| {
        statement.range.start <= range.start && range.end <= statement.range.end
    };
    let Some(statement) = statements.iter().find(meant) else { return false };
    let is_outside =
        |place: &Range<usize>| place.end <= statement.range.start || statement.range.end <= place.start;
    let is_used = |leaf: &ImportLeaf| source.occurrences(&leaf.import.name, 12).iter().any(is_outside);
    !statement.leaves.iter().any(is_used)
}

/// The edits that take imported names away from the statement at a place. A name may be given with its path.
pub(super) fn unimport(source: &AnalysedDocument, names: &[String], at: &Range<usize>) -> Option<Vec<Edit>> {
    let statements = statements(source.language(), source.content());
    let is_meant = |import: &ImportedName, name: &str| {
        let last = name.rsplit([':', '.', '/']).next().unwrap_or(name);
        import.module == name || import.name == last
    };
    let mut gone: Vec<(usize, usize)> = Vec::new();
    for (number, statement) in statements.iter().enumerate() {
        if at.end < statement.range.start || statement.range.end < at.start {
            continue;
        }
        let meant = |leaf: &ImportLeaf| names.iter().any(|name| is_meant(&leaf.import, name));
        gone.extend(
            statement
                .leaves
                .iter()
                .enumerate()
                .filter(|(_, leaf)| meant(leaf))
                .map(|(member, _)| (number, member)),
        );
    }
    let edits: Vec<Edit> = remove::edits(source, &statements, &gone, true)
        .into_iter()
        .flat_map(|removal| removal.edits)
        .collect();
    (!edits.is_empty()).then_some(edits)
}

/// Names in what was put in that were not there before and that stand by themselves.
fn new_names(
    source: &AnalysedDocument,
    routes: &ImportRoutes<'_>,
    statements: &[ImportStatement],
    changes: &[&LineChange],
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (Some(grammar), Some(parsed)) = (Grammar::of(source.language()), source.parsed()) else {
        return found;
    };
    for change in changes {
        for token in solid(&change.after) {
            let name = token.text(&change.after);
            let touched = token.range.start < change.touched.end && change.touched.start < token.range.end;
            if token.kind != TokenKind::Word || !touched || found.iter().any(|known| known == name) {
                continue;
            }
            let is_known = routes.know(name) || standard::origin(source.language(), name).is_some();
            if !is_known || is_known_before(change, name) {
                continue;
            }
            let Some(range) = placed(source, change, &token.range) else { continue };
            let imports = statements
                .iter()
                .any(|statement| statement.range.start <= range.start && range.end <= statement.range.end);
            if imports || PRELUDE.contains(&name) || is_used_already(source, changes, name) {
                continue;
            }
            let path = NodePath::at(parsed, range.start);
            let in_attribute = path.enclosing(&["attribute_item"]).is_some();
            let is_macro = STANDARD_MACROS.contains(&name) && source.content()[range.end..].starts_with('!');
            let role = role_at(grammar, &path, source.content(), &range);
            let in_std =
                source.language() == Language::Cpp && !matches!(role, NameRole::Text | NameRole::Other);
            let is_free = role == NameRole::Free || in_std;
            if !is_free || in_attribute || is_macro {
                continue;
            }
            found.push(name.to_owned());
            if found.len() == MAX_NAMES {
                return found;
            }
        }
    }
    found
}

/// Whether the name is used outside of what was changed: then the document knows it without an import.
fn is_used_already(source: &AnalysedDocument, changes: &[&LineChange], name: &str) -> bool {
    let lines = source.text();
    source.occurrences(name, 40).iter().any(|range| {
        let line = lines.line_of(range.start);
        let is_new =
            changes.iter().any(|change| (change.line..change.line + change.after_lines).contains(&line));
        let code = lines.line(line);
        !is_new && !code.trim_start().starts_with(['/', '*', '#'])
    })
}

fn is_known_before(change: &LineChange, name: &str) -> bool {
    !occurrences(&change.before, name, 0..change.before.len(), 1).is_empty()
}

/// How a name that the document does not know is imported elsewhere, and how sure that is.
fn needed(
    routes: &ImportRoutes<'_>,
    source: &AnalysedDocument,
    statements: &[ImportStatement],
    name: &str,
) -> Option<(f32, ImportedName)> {
    if is_imported(statements, name) {
        return None;
    }
    let (share, import) = routes.find(name)?;
    if is_declared(source, name) {
        return None;
    }
    let globs = statements
        .iter()
        .flat_map(|statement| &statement.leaves)
        .any(|leaf| leaf.import.style == ImportStyle::Glob);
    Some((if globs { share * 0.25 } else { share }, import))
}

/// Whether one of the statements brings a name.
fn is_imported(statements: &[ImportStatement], name: &str) -> bool {
    let mut leaves = statements.iter().flat_map(|statement| &statement.leaves);
    leaves.any(|leaf| leaf.import.style != ImportStyle::Glob && leaf.import.name == name)
}

/// Whether the document declares a name somewhere.
fn is_declared(source: &AnalysedDocument, name: &str) -> bool {
    source.occurrences(name, 40).iter().any(|range| declaration_at(source, range).is_some())
}
