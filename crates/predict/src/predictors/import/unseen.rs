//! Names of the standard library that no file of the workspace imports yet.

use std::ops::Range;

use nudge_syntax::{
    AnalysedDocument, Language, declaration_at,
    imports::{ImportStatement, ImportStyle, ImportedName, statements},
    related,
    token::is_word,
};

use super::{is_declared, is_imported, standard};
use crate::Scene;

/// How sure it is where a header of the project may bring the name already.
const BY_OTHERS: f32 = 0.7;
/// Headers of C++ that bring strings in practice.
const WITH_STRINGS: [&str; 5] = ["<iostream>", "<fstream>", "<sstream>", "<regex>", "<filesystem>"];
/// Modules of Python that are of no use by themselves.
const PACKAGES: [&str; 3] = ["importlib", "unittest", "urllib"];

/// The import of a name that the user has written in full, and that nothing in sight declares.
pub(super) fn needed(
    scene: &Scene<'_>,
    source: &AnalysedDocument,
    statements: &[ImportStatement],
    name: &str,
) -> Option<(f32, ImportedName)> {
    let cursor = (source.uri() == scene.source.uri()).then_some(scene.cursor);
    let places = source.occurrences(name, 12);
    let is_half =
        |place: &Range<usize>| cursor.is_some_and(|at| at == place.end || at == word_end(source, place));
    let language = source.language();
    let is_package = language == Language::Python && PACKAGES.contains(&name);
    if places.iter().any(is_half) || is_package || is_declared(source, name) || is_beside(scene, source, name)
    {
        return None;
    }
    let import = used(source, statements, name).filter(|_| !is_imported(statements, name))?;
    let mut leaves = statements.iter().flat_map(|statement| &statement.leaves);
    let sure = match language {
        // Others bring it by themselves unless some file says how.
        Language::CSharp => f32::from(u8::from(is_open(scene, source, &import.module))),
        Language::Cpp => {
            let is_brought = |module: &str| {
                module.starts_with('"') || import.module == "<string>" && WITH_STRINGS.contains(&module)
            };
            if leaves.any(|leaf| is_brought(&leaf.import.module)) { BY_OTHERS } else { 1.0 }
        }
        // What is imported for its effects alone brings no name.
        Language::Go => 1.0,
        _ => f32::from(u8::from(leaves.all(|leaf| leaf.import.style != ImportStyle::Glob))),
    };
    (sure > 0.0).then_some((sure, import))
}

/// The import of a name that the document uses as one uses it, unless it has it already.
pub(super) fn used(
    source: &AnalysedDocument,
    statements: &[ImportStatement],
    name: &str,
) -> Option<ImportedName> {
    let language = source.language();
    let import = standard::import(language, name)?;
    let text = source.content();
    let begins = |at: usize, is: fn(char) -> bool| text[at..].chars().next().is_some_and(is);
    let is_used = |place: &Range<usize>| {
        let (before, behind) = (&text[..place.start], &text[place.end..]);
        match language {
            Language::Go => behind.starts_with('.') && begins(place.end + 1, char::is_uppercase),
            Language::Python => {
                !before.ends_with('.')
                    && behind.starts_with('.')
                    && begins(place.end + 1, char::is_alphabetic)
            }
            Language::Cpp => before.ends_with("std::") && !before.ends_with("::std::"),
            _ => !before.ends_with('.'),
        }
    };
    let mut modules = statements.iter().flat_map(|statement| &statement.leaves).map(|leaf| &leaf.import);
    let is_there = modules.any(|known| {
        known.style == ImportStyle::Glob
            && (known.module == import.module || known.module == "<bits/stdc++.h>")
    });
    (!is_there && source.occurrences(name, 12).iter().any(is_used)).then_some(import)
}

/// Where the word behind a name and a dot ends.
fn word_end(source: &AnalysedDocument, place: &Range<usize>) -> usize {
    let Some(behind) = source.content()[place.end..].strip_prefix('.') else { return place.end };
    place.end + 1 + behind.find(|c: char| !is_word(c)).unwrap_or(behind.len())
}

/// Whether a file beside the document may declare the name: what Go and Java declare is seen by the whole folder.
fn is_beside(scene: &Scene<'_>, source: &AnalysedDocument, name: &str) -> bool {
    let folder = |uri: &str| uri.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let here = folder(source.uri());
    let is_near = |uri: &str| uri != &**source.uri() && folder(uri) == here;
    match source.language() {
        Language::Go => {
            let declares = |other: &AnalysedDocument| {
                let mut found = other.occurrences(name, 20).into_iter();
                found.any(|place| declaration_at(other, &place).is_some_and(|found| !found.sort.is_local()))
            };
            scene.others.iter().any(|other| is_near(other.uri()) && declares(other))
                || scene.index.files_with(name).any(|uri| is_near(uri) && uri.ends_with(".go"))
        }
        Language::Java | Language::CSharp => {
            let is_own = |uri: &str| {
                let file = uri.rsplit('/').next().and_then(|file| file.rsplit_once('.'));
                file.is_some_and(|(stem, _)| stem == name)
            };
            scene.others.iter().any(|other| is_own(other.uri()))
                || scene.index.files_with(name).any(|uri| is_own(uri))
        }
        _ => false,
    }
}

/// Whether an open document of the same language has a namespace open.
fn is_open(scene: &Scene<'_>, source: &AnalysedDocument, module: &str) -> bool {
    let others = std::iter::once(scene.source).chain(scene.others);
    others.filter(|other| related(other.language(), source.language())).take(16).any(|other| {
        let found = statements(other.language(), other.content());
        found.iter().flat_map(|statement| &statement.leaves).any(|leaf| leaf.import.module == module)
    })
}
