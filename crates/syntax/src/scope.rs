//! Which variables can be used at a place.

use std::ops::Range;

use crate::{
    AnalysedDocument,
    declaration::{Declaration, declaration_at},
    words::occurrences,
};

/// The variable or parameter called `name` that can be used at `offset` inside of `function`.
pub fn variable(
    source: &AnalysedDocument,
    name: &str,
    offset: usize,
    function: &Range<usize>,
) -> Option<(Range<usize>, Declaration)> {
    occurrences(source.content(), name, function.start..offset.max(function.start), 40)
        .into_iter()
        .filter_map(|range| declaration_at(source, &range).map(|declaration| (range, declaration)))
        .rfind(|(_, declaration)| {
            declaration.sort.is_local() && declaration.scope.contains(&offset) && declaration.from <= offset
        })
}
