//! Takes away what nothing uses.

use std::ops::Range;

use nudge_syntax::{
    Language, Node, NodePath,
    token::{TokenKind, solid},
};
use nudge_text::Edit;

use super::{Problem, Solution, brief};
use crate::{SuggestTrigger, predictors::import};

impl Problem<'_> {
    /// How likely something is to be taken away: code that nobody touched is left alone. It is asked for if the user has
    /// made it useless, wants to know, or is there.
    pub(super) fn removal(&self, is_useless: bool) -> f32 {
        if is_useless || self.is_asked() { 0.66 } else { 0.3 }
    }

    /// Whether the user wants to know about the diagnostic, or is there.
    fn is_asked(&self) -> bool {
        let lines = self.source.text();
        let line = |offset: usize| lines.line_of(offset);
        let range = &self.diagnostic.range;
        let is_here = **self.source.uri() == **self.scene.source.uri()
            && (line(range.start)..=line(range.end)).contains(&line(self.scene.cursor));
        is_here || self.scene.trigger != SuggestTrigger::Automatic
    }

    /// A variable that nobody uses gets a name that says so, or goes if that is sure to change nothing else.
    pub(super) fn unused(&self, name: &str) -> Option<Solution> {
        let range = self.place(Some(name))?;
        match self.source.language() {
            Language::Rust => {
                let path = NodePath::at(self.source.parsed()?, range.start);
                let shorthand = path.leaf().kind() == "shorthand_field_identifier";
                let new = if shorthand { format!("{name}: _") } else { format!("_{name}") };
                Some(self.marked(name, vec![Edit::new(range, new)]))
            }
            Language::Go => self.unused_in_go(name, range),
            _ => None,
        }
    }

    /// The edits that mark a variable as unused. One that was just written may be used in a moment.
    fn marked(&self, name: &str, edits: Vec<Edit>) -> Solution {
        let prior = match (self.is_fresh(name), self.is_asked()) {
            (true, _) => 0.4,
            (false, true) => 0.62,
            (false, false) => 0.5,
        };
        Solution { edits, prior, what: format!("marks `{name}` as unused") }
    }

    fn unused_in_go(&self, name: &str, range: Range<usize>) -> Option<Solution> {
        let text = self.source.content();
        let node = self.node(range.start, &["short_var_declaration", "range_clause"])?;
        let left = node.child_by_field_name("left")?;
        let is_declaration = node.kind() == "short_var_declaration";
        let has_effect = text[node.byte_range()].contains(['(', '<', '[', '*', '/', '%']);
        if is_declaration && left.named_child_count() == 1 && !has_effect {
            let prior = if self.is_fresh(name) { 0.3 } else { self.removal(self.is_dropped(name)) };
            let edits = vec![Edit::new(self.lines_of(&node.byte_range())?, "")];
            return Some(Solution { edits, prior, what: format!("takes away `{name}`, which is not used") });
        }
        let mut edits = vec![Edit::new(range.clone(), "_")];
        // `_ := value` declares nothing.
        let mut cursor = left.walk();
        let is_last = left
            .named_children(&mut cursor)
            .all(|other| other.byte_range() == range || &text[other.byte_range()] == "_");
        let sign = text[left.end_byte()..].find(":=").map(|at| left.end_byte() + at);
        edits.extend(sign.filter(|_| is_last).map(|at| Edit::new(at..at + 1, "")));
        Some(self.marked(name, edits))
    }

    /// The import of names that are not used, unless they are about to be.
    pub(super) fn unimported(&self, names: &[String]) -> Option<Solution> {
        let edits = import::unimport(self.source, names, &self.diagnostic.range)?;
        let last = |name: &String| name.rsplit([':', '.', '/']).next().map(str::to_owned).unwrap_or_default();
        let is_fresh = names.iter().any(|name| self.is_fresh(&last(name)));
        let is_dropped = names.iter().all(|name| self.is_dropped(&last(name)));
        let what = format!("removes the import of `{}`, which is not used", names.join("`, `"));
        Some(Solution { edits, prior: if is_fresh { 0.3 } else { self.removal(is_dropped) }, what })
    }

    /// The import that is marked, with its lines, if nothing uses it.
    pub(super) fn statement(&self) -> Option<Solution> {
        import::is_unused(self.source, &self.diagnostic.range).then_some(())?;
        let edits = vec![Edit::new(self.lines_of(&self.diagnostic.range)?, "")];
        let code = &self.source.content()[self.diagnostic.range.clone()];
        let words = solid(code).into_iter().filter(|token| token.kind == TokenKind::Word);
        let prior = self.removal(words.map(|word| &code[word.range]).any(|word| self.is_dropped(word)));
        Some(Solution { edits, prior, what: "removes what is not used".to_owned() })
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

    /// The declaration of a variable of C, unless it is new or to compute its value does something.
    pub(super) fn undeclared(&self, name: &str) -> Option<Solution> {
        let in_c = matches!(self.source.language(), Language::C | Language::Cpp);
        let place = self.place(Some(name)).filter(|_| in_c)?;
        let declaration = NodePath::at(self.source.parsed()?, place.start).enclosing(&["declaration"])?;
        let mut cursor = declaration.walk();
        let declarators: Vec<Node<'_>> =
            declaration.children_by_field_name("declarator", &mut cursor).collect();
        let at = declarators.iter().position(|node| node.byte_range().contains(&place.start))?;
        let code = &self.source.content()[declarators[at].byte_range()];
        if ["(", "++", "--"].iter().any(|effect| code.contains(effect)) || code.matches('=').count() > 1 {
            return None;
        }
        let range = match (at.checked_sub(1).map(|before| declarators[before]), declarators.get(at + 1)) {
            (_, Some(next)) => declarators[at].start_byte()..next.start_byte(),
            (Some(before), None) => before.end_byte()..declarators[at].end_byte(),
            (None, None) => self.lines_of(&declaration.byte_range())?,
        };
        let prior = if self.is_fresh(name) { 0.3 } else { self.removal(self.is_dropped(name)) };
        let what = format!("takes away `{name}`, which is not used");
        Some(Solution { edits: vec![Edit::new(range, "")], prior, what })
    }

    /// The argument that is marked as one too many, if the user has taken away what it was for.
    pub(super) fn extra_argument(&self) -> Option<Solution> {
        let range = &self.diagnostic.range;
        let call =
            NodePath::at(self.source.parsed()?, range.start).enclosing(&["argument_list", "arguments"])?;
        let mut cursor = call.walk();
        let arguments: Vec<Node<'_>> = call.named_children(&mut cursor).collect();
        let (last, others) = arguments.split_last()?;
        if last.end_byte() != range.end || last.start_byte() != range.start {
            return None;
        }
        let start = others.last().map_or(range.start, Node::end_byte);
        let name = &self.source.content()[range.clone()];
        let prior = if self.is_dropped(name) { 0.68 } else { 0.5 };
        let what = format!("takes away the argument `{}`", brief(name));
        Some(Solution { edits: vec![Edit::new(start..range.end, "")], prior, what })
    }

    /// The whole lines of a range that has them for itself.
    fn lines_of(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let (text, lines) = (self.source.content(), self.source.text());
        let start = lines.line_start(lines.line_of(range.start));
        let last = lines.line_of(range.end);
        let end = lines.line_end(last);
        let is_alone = text[start..range.start].trim().is_empty() && text[range.end..end].trim().is_empty();
        is_alone.then(|| start..lines.line_end_with_break(last))
    }
}
