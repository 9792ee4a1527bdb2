//! Which variables can be used at a place.

use super::{
    declaration::{Declaration, declaration_at},
    words::occurrences,
};
use crate::Source;
use std::ops::Range;

/// The variable or parameter called `name` that can be used at `offset` inside of `function`.
pub(crate) fn variable(
    source: &Source,
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
