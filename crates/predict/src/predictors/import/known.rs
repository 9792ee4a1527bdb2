//! Names that nobody imports yet, but whose module is known.

use std::ops::Range;

use nudge_syntax::{
    AnalysedDocument, Language, declaration_at,
    imports::{ImportStatement, ImportStyle, ImportedName},
};

use crate::Scene;

/// A name that a module declares from which the source already imports, if that module is open.
pub(super) fn from_open_module(
    scene: &Scene<'_>,
    source: &AnalysedDocument,
    statements: &[ImportStatement],
    name: &str,
) -> Option<ImportedName> {
    let leaves = statements.iter().flat_map(|statement| &statement.leaves);
    let named = leaves.filter(|leaf| leaf.import.style == ImportStyle::Named && !leaf.import.type_only);
    let mut modules: Vec<&str> = named.map(|leaf| leaf.import.module.as_str()).collect();
    modules.dedup();
    let is_seen = |other: &AnalysedDocument, range: &Range<usize>| {
        declaration_at(other, range).is_some_and(|declaration| !declaration.sort.is_local())
    };
    modules.into_iter().find_map(|module| {
        let others = std::iter::once(scene.source).chain(scene.others);
        let mut meant = others.filter(|other| other.uri() != source.uri() && is_at(other, source, module));
        let declares =
            meant.any(|other| other.occurrences(name, 10).iter().any(|range| is_seen(other, range)));
        declares.then(|| import(name, module, ImportStyle::Named))
    })
}

fn import(name: &str, module: &str, style: ImportStyle) -> ImportedName {
    ImportedName { name: name.to_owned(), original: None, module: module.to_owned(), style, type_only: false }
}

/// Whether a document is what a module names in the source, as far as its address tells.
fn is_at(other: &AnalysedDocument, source: &AnalysedDocument, module: &str) -> bool {
    let stem = |uri: &str| uri.rsplit_once('.').map_or(uri, |(stem, _)| stem).to_owned();
    let (here, there) = (stem(source.uri()), stem(other.uri()));
    match source.language() {
        Language::Python if module.starts_with('.') => {
            let path = module.trim_start_matches('.');
            let up = module.len() - path.len();
            above(&here, up).is_some_and(|folder| format!("{folder}/{}", path.replace('.', "/")) == there)
        }
        Language::Python => there.ends_with(&format!("/{}", module.replace('.', "/"))),
        Language::TypeScript | Language::Tsx | Language::JavaScript if module.starts_with('.') => {
            let path = module.trim_start_matches("../").trim_start_matches("./");
            let up = module.matches("../").count() + 1;
            let path = path.trim_end_matches(".js").trim_end_matches(".ts");
            above(&here, up).is_some_and(|folder| format!("{folder}/{path}") == there)
        }
        _ => false,
    }
}

/// The folder so many steps up.
fn above(path: &str, steps: usize) -> Option<&str> {
    (0..steps).try_fold(path, |path, _| Some(path.rsplit_once('/')?.0))
}
