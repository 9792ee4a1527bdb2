//! What a renamed name stands for.

use std::ops::Range;

use super::pair::{Pair, Site};
use crate::{
    Scene, Source,
    syntax::{Declaration, Grammar, Path, Role, Sort, declaration_at, role_at},
};

/// Renamed places that are looked at.
const MAX_SITES: usize = 12;
/// Places that are looked at for a declaration.
const MAX_LOOKED_AT: usize = 40;

/// How it is known what was renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ground {
    /// The declaration has the new name.
    Declared,
    /// A use has the new name, and the declaration the old one.
    Used {
        /// Where the declaration is.
        declared_at: usize,
    },
    /// A use has the new name, and the declaration is not in the document.
    Unknown,
}

/// What is renamed.
#[derive(Debug)]
pub(super) struct Target<'a> {
    /// The document that it is declared in, or used in.
    pub(super) source: &'a Source,
    pub(super) declaration: Declaration,
    pub(super) ground: Ground,
    /// Nothing else was changed on the line.
    pub(super) alone: bool,
    /// Both a variable and a field got the new name, so `Type { name }` stays short.
    pub(super) both: bool,
}

impl Target<'_> {
    pub(super) fn reaches_other_documents(&self) -> bool {
        let sort = self.declaration.sort;
        self.ground == Ground::Declared && !sort.is_local() && sort != Sort::Import
    }
}

/// What the change of a name is about, if it can be told.
pub(super) fn target<'a>(scene: &Scene<'a>, pair: &Pair<'a>) -> Option<Target<'a>> {
    let declared: Vec<(&Site<'a>, Declaration)> = pair
        .sites
        .iter()
        .take(MAX_SITES)
        .filter_map(|site| declaration_at(site.source, &site.range).map(|declaration| (site, declaration)))
        .collect();
    let any = |is: fn(Sort) -> bool| declared.iter().any(|(_, declaration)| is(declaration.sort));
    let both = any(Sort::is_local) && any(|sort| sort == Sort::Field);
    // An import is declared elsewhere, and an assignment may be one of several.
    let best = declared.into_iter().min_by_key(|(_, declaration)| match declaration.sort {
        Sort::Import => 2,
        Sort::Local => 1,
        _ => 0,
    });
    match best {
        Some((site, declaration)) => Some(Target {
            source: site.source,
            declaration,
            ground: Ground::Declared,
            alone: site.alone,
            both,
        }),
        None => pair.sites.iter().take(2).find_map(|site| from_use(scene, pair, site)),
    }
}

/// A use got the new name. Either its declaration has the old one still, or it is declared elsewhere.
fn from_use<'a>(scene: &Scene<'a>, pair: &Pair<'a>, site: &Site<'a>) -> Option<Target<'a>> {
    let Site { source, alone, .. } = *site;
    let grammar = Grammar::of(source.language())?;
    let text = source.content();
    let path = Path::at(source.parsed()?, site.range.start);
    let role = role_at(grammar, &path, text, &site.range);
    if matches!(role, Role::Text | Role::Other) {
        return None;
    }
    let knows_new = visible(source, &pair.new, &site.range);
    if let Some((range, declaration)) = visible(source, &pair.old, &site.range) {
        // Both exist: another thing is used now, nothing was renamed.
        if knows_new.is_some() || !matches!(role, Role::Free | Role::Shorthand) {
            return None;
        }
        let ground = Ground::Used { declared_at: range.start };
        return Some(Target { source, declaration, ground, alone, both: false });
    }
    let local = knows_new.is_some_and(|(_, declaration)| declaration.sort.is_local());
    if source.uri() != scene.source.uri() || local {
        return None;
    }
    let sort = match role {
        Role::Member { called: true } => Sort::Method,
        Role::Member { called: false } | Role::Key => Sort::Field,
        Role::Path => Sort::Variant,
        _ => Sort::Import,
    };
    let whole = 0..text.len();
    let declaration =
        Declaration { sort, node: 0..0, scope: whole, from: 0, owner: None, is_contract: false };
    Some(Target { source, declaration, ground: Ground::Unknown, alone, both: false })
}

/// The declaration of a name that can be seen from a place.
fn visible(source: &Source, name: &str, from: &Range<usize>) -> Option<(Range<usize>, Declaration)> {
    source
        .occurrences(name, MAX_LOOKED_AT)
        .into_iter()
        .filter(|range| range != from)
        .filter_map(|range| declaration_at(source, &range).map(|declaration| (range, declaration)))
        .filter(|(_, declaration)| declaration.scope.contains(&from.start))
        .min_by_key(|(_, declaration)| declaration.scope.len())
}
