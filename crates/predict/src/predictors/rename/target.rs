//! What a renamed name stands for.

use std::{cmp::Reverse, ops::Range};

use nudge_syntax::{
    AnalysedDocument, Declaration, Grammar, NameRole, NameSort, NodePath, declaration_at, role_at,
};

use super::pair::{RenamePair, RenameSite};
use crate::Scene;

/// Renamed places that are looked at.
const MAX_SITES: usize = 12;
/// Places that are looked at for a declaration.
const MAX_LOOKED_AT: usize = 40;

/// How it is known what was renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RenameGround {
    /// The declaration has the new name.
    Declared,
    /// A use has the new name, and the declaration the old one.
    Used {
        /// Where the declaration is.
        declared_at: usize,
        /// Where the use is.
        used_at: usize,
    },
    /// A use has the new name, and the declaration is not in the document.
    Unknown,
}

/// Where a name is declared, and as what.
pub(super) type DeclaredName = (Range<usize>, Declaration);

/// What is renamed.
#[derive(Debug)]
pub(super) struct RenameTarget<'a> {
    /// The document that it is declared in, or used in.
    pub(super) source: &'a AnalysedDocument,
    pub(super) declaration: Declaration,
    pub(super) ground: RenameGround,
    /// Nothing else was changed on the line.
    pub(super) alone: bool,
    /// Both a variable and a field got the new name, so `Type { name }` stays short.
    pub(super) both: bool,
}

impl RenameTarget<'_> {
    pub(super) fn reaches_other_documents(&self) -> bool {
        self.ground == RenameGround::Declared && self.is_seen_elsewhere()
    }

    /// Whether other documents can use what is declared.
    pub(super) fn is_seen_elsewhere(&self) -> bool {
        let sort = self.declaration.sort;
        !sort.is_local() && sort != NameSort::Import
    }
}

/// What the change of a name is about, if it can be told.
pub(super) fn target<'a>(scene: &Scene<'a>, pair: &RenamePair<'a>) -> Option<RenameTarget<'a>> {
    let declared: Vec<(&RenameSite<'a>, Declaration)> = pair
        .sites
        .iter()
        .take(MAX_SITES)
        .filter_map(|site| declaration_at(site.source, &site.range).map(|declaration| (site, declaration)))
        .collect();
    let any = |is: fn(NameSort) -> bool| declared.iter().any(|(_, declaration)| is(declaration.sort));
    let both = any(NameSort::is_local) && any(|sort| sort == NameSort::Field);
    // An import is declared elsewhere, and an assignment may be one of several.
    let best = declared.into_iter().min_by_key(|(_, declaration)| match declaration.sort {
        NameSort::Import => 2,
        NameSort::Local => 1,
        _ => 0,
    });
    match best {
        Some((site, declaration)) => Some(RenameTarget {
            source: site.source,
            declaration,
            ground: RenameGround::Declared,
            alone: site.alone,
            both,
        }),
        None => pair.sites.iter().take(2).find_map(|site| from_use(scene, pair, site)),
    }
}

/// A use got the new name. Either its declaration has the old one still, or it is declared elsewhere.
fn from_use<'a>(scene: &Scene<'a>, pair: &RenamePair<'a>, site: &RenameSite<'a>) -> Option<RenameTarget<'a>> {
    let RenameSite { source, alone, .. } = *site;
    let grammar = Grammar::of(source.language())?;
    let text = source.content();
    let path = NodePath::at(source.parsed()?, site.range.start);
    let role = role_at(grammar, &path, text, &site.range);
    if matches!(role, NameRole::Text | NameRole::Other) {
        return None;
    }
    let declared = |name: &str| {
        let mut declared = declarations(source, name, MAX_LOOKED_AT);
        declared.retain(|(range, _)| *range != site.range);
        declared
    };
    let (declared_new, declared_old) = (declared(&pair.new), declared(&pair.old));
    let knows_new = innermost(&declared_new, site.range.start);
    if let Some((range, declaration)) = innermost(&declared_old, site.range.start) {
        // Both exist: another thing is used now, nothing was renamed.
        if knows_new.is_some() || !matches!(role, NameRole::Free | NameRole::Shorthand) {
            return None;
        }
        let ground = RenameGround::Used { declared_at: range.start, used_at: site.range.start };
        return Some(RenameTarget { source, declaration: declaration.clone(), ground, alone, both: false });
    }
    let local = knows_new.is_some_and(|(_, declaration)| declaration.sort.is_local());
    if source.uri() != scene.source.uri() || local {
        return None;
    }
    let sort = match role {
        NameRole::Member { called: true } => NameSort::Method,
        NameRole::Member { called: false } | NameRole::Key => NameSort::Field,
        NameRole::Path => NameSort::Variant,
        _ => NameSort::Import,
    };
    let whole = 0..text.len();
    let declaration =
        Declaration { sort, node: 0..0, scope: whole, from: 0, owner: None, is_contract: false };
    Some(RenameTarget { source, declaration, ground: RenameGround::Unknown, alone, both: false })
}

/// Where a name is declared, as far as its first `limit` places tell.
pub(super) fn declarations(source: &AnalysedDocument, name: &str, limit: usize) -> Vec<DeclaredName> {
    let places = source.occurrences(name, limit).into_iter();
    places
        .filter_map(|range| declaration_at(source, &range).map(|declaration| (range, declaration)))
        .collect()
}

/// The declaration that a name at a place means: of those around it the nearest.
pub(super) fn innermost(declared: &[DeclaredName], at: usize) -> Option<&DeclaredName> {
    let around = declared.iter().filter(|(_, declaration)| declaration.scope.contains(&at));
    // In one block the last that counts already; one that does not count yet is better than none.
    around.min_by_key(|(_, Declaration { from, scope, .. })| (*from > at, scope.len(), Reverse(*from)))
}
