//! Takes away what nothing uses.

use std::ops::Range;

use nudge_text::Edit;
use tree_sitter::Node;

use super::{Problem, Solution};
use crate::{Language, predictors::import, syntax::Path};

impl Problem<'_> {
    /// The import of names that are not used, unless they are about to be.
    pub(super) fn unimported(&self, names: &[String]) -> Option<Solution> {
        let edits = import::unimport(self.source, names, &self.diagnostic.range)?;
        let last = |name: &String| name.rsplit([':', '.', '/']).next().map(str::to_owned).unwrap_or_default();
        let is_fresh = names.iter().any(|name| self.is_fresh(&last(name)));
        let what = format!("removes the import of `{}`, which is not used", names.join("`, `"));
        Some(Solution { edits, prior: if is_fresh { 0.45 } else { 0.66 }, what })
    }

    /// The statement that is marked, with its lines.
    pub(super) fn statement(&self) -> Option<Solution> {
        let edits = vec![Edit::new(self.lines_of(&self.diagnostic.range)?, "")];
        Some(Solution { edits, prior: 0.66, what: "removes what is not used".to_owned() })
    }

    /// `as name`, where what is caught is not read.
    pub(super) fn uncaught(&self, name: &str) -> Option<Solution> {
        let range = self.place(Some(name))?;
        let text = self.source.content();
        let start = text[..range.start].strip_suffix(" as ")?.len();
        let what = format!("takes away `{name}`, which is not read");
        text[range.end..].starts_with(':').then_some(())?;
        Some(Solution { edits: vec![Edit::new(start..range.end, "")], prior: 0.66, what })
    }

    /// The declaration of a variable of C, unless it is new or its value is computed by a call.
    pub(super) fn undeclared(&self, name: &str) -> Option<Solution> {
        let in_c = matches!(self.source.language(), Language::C | Language::Cpp);
        let place = self.place(Some(name)).filter(|_| in_c)?;
        let declaration = Path::at(self.source.parsed()?, place.start).enclosing(&["declaration"])?;
        let mut cursor = declaration.walk();
        let declarators: Vec<Node<'_>> =
            declaration.children_by_field_name("declarator", &mut cursor).collect();
        let at = declarators.iter().position(|node| node.byte_range().contains(&place.start))?;
        if self.source.content()[declarators[at].byte_range()].contains('(') {
            return None;
        }
        let range = match (at.checked_sub(1).map(|before| declarators[before]), declarators.get(at + 1)) {
            (_, Some(next)) => declarators[at].start_byte()..next.start_byte(),
            (Some(before), None) => before.end_byte()..declarators[at].end_byte(),
            (None, None) => self.lines_of(&declaration.byte_range())?,
        };
        let prior = if self.is_fresh(name) { 0.4 } else { 0.62 };
        let what = format!("takes away `{name}`, which is not used");
        Some(Solution { edits: vec![Edit::new(range, "")], prior, what })
    }

    /// The argument that is marked as one too many, if the user has taken away what it was for.
    pub(super) fn extra_argument(&self) -> Option<Solution> {
        let range = &self.diagnostic.range;
        let call = Path::at(self.source.parsed()?, range.start).enclosing(&["argument_list", "arguments"])?;
        let mut cursor = call.walk();
        let arguments: Vec<Node<'_>> = call.named_children(&mut cursor).collect();
        let (last, others) = arguments.split_last()?;
        if last.end_byte() != range.end || last.start_byte() != range.start {
            return None;
        }
        let start = others.last().map_or(range.start, Node::end_byte);
        let name = &self.source.content()[range.clone()];
        let prior = if self.is_dropped(name) { 0.68 } else { 0.5 };
        let what = format!("takes away the argument `{name}`");
        Some(Solution { edits: vec![Edit::new(start..range.end, "")], prior, what })
    }

    /// The whole lines of a range that has them for itself.
    fn lines_of(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let (text, lines) = (self.source.content(), self.source.text());
        let start = lines.line_start(lines.line_of(range.start));
        let end = lines.line_end(lines.line_of(range.end));
        let is_alone = text[start..range.start].trim().is_empty() && text[range.end..end].trim().is_empty();
        let end = if text[end..].starts_with('\n') { end + 1 } else { end };
        is_alone.then_some(start..end)
    }
}
