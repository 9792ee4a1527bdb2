//! Whether something can go: nothing else needs it.

use std::ops::Range;

use nudge_syntax::{AnalysedDocument, declarations_in, imports, uses_of};
use nudge_text::Text;

/// Names that are looked at in what goes; whoever takes away more knows what they do.
const MAX_NAMES: usize = 40;
/// Places of an imported name that are looked at.
const MAX_USES: usize = 50;

/// Whether a name that is declared or imported in a part of a document is used in the rest of it.
pub(crate) fn is_needed(source: &AnalysedDocument, gone: &Range<usize>) -> bool {
    let content = source.content();
    let Some(part) = content.get(gone.clone()) else { return false };
    let stays = |range: &Range<usize>| range.end <= gone.start || gone.end <= range.start;
    let statements = imports::statements(source.language(), part);
    let mut imported = statements.iter().flat_map(|statement| &statement.leaves);
    if imported.any(|leaf| source.occurrences(&leaf.import.name, MAX_USES).iter().any(stays)) {
        return true;
    }
    declarations_in(source, gone, MAX_NAMES).any(|(name, declaration)| {
        let uses = uses_of(source, &declaration, &content[name], true);
        uses.meant.iter().any(|found| stays(&found.range))
    })
}

/// Whether a part of a document is lines that others below hang on, as the body of a loop does on its first line.
pub(crate) fn is_head(text: &Text, gone: &Range<usize>) -> bool {
    let (first, last) = (text.line_of(gone.start), text.line_of(gone.end));
    let depth = |line: usize| {
        let line = text.line(line);
        let solid = line.trim_start();
        (!solid.is_empty()).then(|| line.len() - solid.len())
    };
    let is_whole = text.line_start(first) == gone.start && text.line_start(last) == gone.end;
    let shallowest = (first..last).filter_map(depth).min();
    let next = (last..text.line_count()).find_map(depth);
    is_whole && shallowest.is_some() && next > shallowest
}
