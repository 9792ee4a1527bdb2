//! All that a rename comes to, in every document.

use std::{iter, ops::Range, sync::Arc};

use nudge_syntax::{
    AnalysedDocument, Declaration, Grammar, NameRole, NameSort, NameUse, NameUses, NodePath, UseForm,
    related, role_at, uses_of,
};
use nudge_text::Edits;

use super::{
    Rename,
    target::{RenameGround, declarations, innermost},
};
use crate::filter::keeps_items_sound;

/// Places of the old name in one document: no more are looked at for uses.
const MAX_PLACES: usize = 300;

/// The edits of one document, and how much else bears the name there.
struct Made {
    uri: Arc<str>,
    edits: Edits,
    rivals: usize,
}

impl Rename<'_, '_> {
    /// The edits by document, that of the declaration first; `None` if it cannot be told for certain what is meant, or if they
    /// would do harm.
    pub(super) fn whole(&self) -> Option<Vec<(Arc<str>, Edits)>> {
        let (home, scene) = (self.target.source, self.scene);
        let own = self.at_home()?;
        // Whatever bears the name at home may be meant there; whatever bears it anywhere, in the other documents.
        if own.rivals > 0 {
            return None;
        }
        let mut made = vec![own];
        let others = iter::once(scene.source).chain(scene.others).filter(|source| {
            source.uri() != home.uri()
                && related(source.language(), home.language())
                && source.find(&self.pair.old).next().is_some()
        });
        for source in others {
            if self.target.is_seen_elsewhere() {
                let uses = self.uses(source, false)?;
                made.push(self.made(source, &uses)?);
            } else if self.may_be_named(source) {
                return None;
            }
        }
        let has_rivals = made.iter().any(|made| made.rivals > 0);
        made.retain(|made| !made.edits.is_empty());
        (made.len() == 1 || !has_rivals)
            .then(|| made.into_iter().map(|made| (made.uri, made.edits)).collect())
    }

    /// The edits of the document with the declaration, which has the old name still.
    fn at_home(&self) -> Option<Made> {
        let RenameGround::Used { declared_at, used_at } = self.target.ground else { return None };
        let (home, declaration) = (self.target.source, &self.target.declaration);
        let mut uses = self.uses(home, true)?;
        let declared = declarations(home, &self.pair.old, MAX_PLACES);
        let own = innermost(&declared, used_at).filter(|(range, _)| range.start == declared_at)?.0.clone();
        let is_use = |range: &Range<usize>| uses.meant.iter().any(|found| found.range == *range);
        // It may be declared twice in one place, and by either.
        let rivals = declared.iter().filter(|(range, other)| {
            (&other.scope, other.from) == (&declaration.scope, declaration.from)
                && *range != own
                && !is_use(range)
        });
        if rivals.count() > 0 || !self.can_be_meant(used_at) {
            return None;
        }
        if !is_use(&own) {
            let grammar = Grammar::of(home.language())?;
            let role = role_at(grammar, &NodePath::at(home.parsed()?, own.start), home.content(), &own);
            let is_pattern = role == NameRole::ShorthandPattern;
            // A declaration that is no use of itself was taken for a rival.
            let is_counted =
                !declaration.sort.is_local() && (is_pattern || matches!(role, NameRole::Declares(_)));
            uses.rivals = uses.rivals.saturating_sub(usize::from(is_counted));
            let form = if is_pattern { UseForm::KeepKey } else { UseForm::Plain };
            uses.meant.push(NameUse { range: own, form });
        }
        self.made(home, &uses)
    }

    /// Whether a name by itself at a place can mean what is declared, and that is declared nowhere else.
    fn can_be_meant(&self, at: usize) -> bool {
        let declaration = &self.target.declaration;
        let is_alone = match declaration.sort {
            NameSort::Import => false,
            NameSort::Field | NameSort::Method => {
                Grammar::of(self.target.source.language()).is_some_and(|grammar| grammar.implicit_this)
            }
            _ => true,
        };
        is_alone && declaration.from <= at
    }

    /// Whether calls in another document may name the parameter that is declared: which ones do is not looked at.
    fn may_be_named(&self, source: &AnalysedDocument) -> bool {
        let Declaration { sort, owner, .. } = &self.target.declaration;
        let names = |grammar: &Grammar| *sort == NameSort::Parameter && grammar.names_arguments();
        let is_called = |owner: &String| !source.occurrences(owner, 1).is_empty();
        Grammar::of(source.language()).is_some_and(names) && owner.as_ref().is_some_and(is_called)
    }

    /// The uses in a document; `None` if there are more places than are looked at.
    fn uses(&self, source: &AnalysedDocument, here: bool) -> Option<NameUses> {
        let old = &self.pair.old;
        if (self.scene.cancelled)() || source.occurrences(old, MAX_PLACES + 1).len() > MAX_PLACES {
            return None;
        }
        Some(uses_of(source, &self.target.declaration, old, here))
    }

    /// The edits of a document; `None` if they would do harm.
    fn made(&self, source: &AnalysedDocument, uses: &NameUses) -> Option<Made> {
        let edits = uses.meant.iter().map(|found| self.edit(source, found)).collect();
        let edits = Edits::new(edits).ok()?;
        let is_harmless = !self.is_taken(source, uses) && keeps_items_sound(source, &edits);
        is_harmless.then(|| Made { uri: source.uri().clone(), edits, rivals: uses.rivals })
    }

    /// Whether the new name means something else already where it would stand by itself.
    fn is_taken(&self, source: &AnalysedDocument, uses: &NameUses) -> bool {
        let text = source.content();
        let is_part = |at: usize| [".", "::", "->"].iter().any(|before| text[..at].ends_with(before));
        let taken = declarations(source, &self.pair.new, MAX_PLACES);
        let mut alone = uses.meant.iter().map(|found| found.range.start).filter(|at| !is_part(*at));
        alone.any(|at| taken.iter().any(|(_, other)| other.scope.contains(&at)))
    }
}
