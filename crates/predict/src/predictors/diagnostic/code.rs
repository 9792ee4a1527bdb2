//! Fixes that look at the code around a diagnostic.

use std::ops::Range;

use nudge_syntax::{
    Grammar, Language, NameSort, Node, NodePath, declaration_at, occurrences,
    token::{is_word, stands_alone},
    variable,
};
use nudge_text::Edit;

use super::{Problem, Solution};

/// What an arm does that is for the user to write.
const UNWRITTEN: &str = concat!("todo", "!()");

impl Problem<'_> {
    /// Where the name is that the diagnostic is about, in what is marked or touching it. Without a name: the word there.
    ///
    /// A name that stands elsewhere on the line is another one: the diagnostic is older than the text.
    pub(super) fn place(&self, name: Option<&str>) -> Option<Range<usize>> {
        let (text, range) = (self.source.content(), &self.diagnostic.range);
        let Some(name) = name else {
            let word = &text[range.clone()];
            let is_whole = !word.is_empty() && word.chars().all(is_word) && stands_alone(text, range);
            return is_whole.then(|| range.clone());
        };
        let lines = self.source.text();
        let start = lines.line_start(lines.line_of(range.start));
        let end = lines.line_end(lines.line_of(range.end));
        let found = occurrences(text, name, start..end, 20).into_iter();
        found
            .filter(|place| place.start <= range.end && range.start <= place.end)
            .min_by_key(|place| place.start.abs_diff(range.start))
    }

    pub(super) fn node(&self, offset: usize, kinds: &[&str]) -> Option<Node<'_>> {
        NodePath::at(self.source.parsed()?, offset).enclosing(kinds)
    }

    /// `let name` becomes `let mut name`, wherever the variable is declared.
    pub(super) fn mutable(&self, name: &str) -> Option<Solution> {
        let offset = self.diagnostic.range.start;
        self.place(Some(name))?;
        let grammar = Grammar::of(self.source.language())?;
        let function = NodePath::at(self.source.parsed()?, offset).enclosing(grammar.functions)?.byte_range();
        let here = declaration_at(self.source, &self.diagnostic.range).map(|_| self.diagnostic.range.clone());
        let place = match here {
            Some(place) => place,
            None => variable(self.source, name, offset, &function)?.0,
        };
        let edits = vec![Edit::new(place.start..place.start, "mut ")];
        Some(Solution { edits, prior: 0.74, what: format!("makes `{name}` mutable") })
    }

    pub(super) fn immutable(&self) -> Option<Solution> {
        let text = self.source.content();
        let range = &self.diagnostic.range;
        let start = if text[range.start..].starts_with("mut ") {
            range.start
        } else {
            text[..range.start].strip_suffix("mut ")?.len()
        };
        let edits = vec![Edit::new(start..start + 4, "")];
        Some(Solution { edits, prior: 0.6, what: "takes away a `mut` that is not needed".to_owned() })
    }

    pub(super) fn semicolon(&self) -> Option<Solution> {
        let text = self.source.content();
        let before = text[..self.diagnostic.range.start].trim_end();
        // The mark may be on the last letter of the statement.
        let after = &text[self.diagnostic.range.clone()];
        let ends_line =
            text[self.diagnostic.range.end..].split('\n').next().is_some_and(|rest| rest.trim().is_empty());
        let at = if !after.trim().is_empty() && ends_line && !after.contains('\n') {
            self.diagnostic.range.end
        } else {
            before.len()
        };
        // It was put since.
        let is_ended = !after.trim().is_empty() && text[self.diagnostic.range.end..].starts_with(';');
        if is_ended || self.source.is_sound() == Some(true) {
            return None;
        }
        let end = text[..at].chars().next_back()?;
        let in_c = matches!(self.source.language(), Language::C | Language::Cpp);
        if matches!(end, ';' | '{' | ',') || (end == '}' && !in_c) {
            return None;
        }
        Some(Solution {
            edits: vec![Edit::new(at..at, ";")],
            prior: 0.7,
            what: "ends the statement".to_owned(),
        })
    }

    pub(super) fn is_none(&self) -> Option<Solution> {
        let text = self.source.content();
        let lines = self.source.text();
        let line = lines.line_of(self.diagnostic.range.start);
        let range = lines.line_start(line)..lines.line_end(line);
        let code = &text[range.clone()];
        let (at, new) = match (code.find("== None"), code.find("!= None")) {
            (Some(at), _) => (at, "is"),
            (None, Some(at)) => (at, "is not"),
            (None, None) => return None,
        };
        let edits = vec![Edit::new(range.start + at..range.start + at + 2, new)];
        Some(Solution { edits, prior: 0.68, what: "compares with `None` by identity".to_owned() })
    }

    /// Fields that variables have the names of.
    pub(super) fn fields(&self, names: &[String]) -> Option<Solution> {
        let text = self.source.content();
        let literal = self.node(self.diagnostic.range.start, &["struct_expression"])?;
        let body = literal.child_by_field_name("body")?;
        let grammar = Grammar::of(self.source.language())?;
        let function = NodePath::at(self.source.parsed()?, literal.start_byte())
            .enclosing(grammar.functions)?
            .byte_range();
        let known = |name: &String| {
            let found = variable(self.source, name, literal.start_byte(), &function);
            found.is_some_and(|(_, declaration)| {
                matches!(declaration.sort, NameSort::Local | NameSort::Parameter)
            })
        };
        if !names.iter().all(known) {
            return None;
        }
        let count = u32::try_from(body.named_child_count()).ok()?;
        let edit = match count.checked_sub(1).and_then(|last| body.named_child(last)) {
            None => Edit::new(body.byte_range(), format!("{{ {} }}", names.join(", "))),
            Some(last) => {
                let start = text[..last.start_byte()].rfind(['\n', '{']).unwrap_or(0);
                let own_line = text[start..].starts_with('\n');
                let separator =
                    if own_line { format!(",{}", &text[start..last.start_byte()]) } else { ", ".to_owned() };
                Edit::new(last.end_byte()..last.end_byte(), format!("{separator}{}", names.join(&separator)))
            }
        };
        let what = format!("gives the initializer its missing `{}`", names.join("`, `"));
        Some(Solution { edits: vec![edit], prior: 0.6, what })
    }

    /// Patterns that a match does not cover.
    pub(super) fn arms(&self, patterns: &[String]) -> Option<Solution> {
        let text = self.source.content();
        let matched = self.node(self.diagnostic.range.start, &["match_expression"])?;
        let body = matched.child_by_field_name("body")?;
        let mut cursor = body.walk();
        let arms: Vec<Node<'_>> =
            body.named_children(&mut cursor).filter(|node| node.kind() == "match_arm").collect();
        let last = arms.last()?;
        let value = |arm: &Node<'_>| arm.child_by_field_name("value").map(|value| &text[value.byte_range()]);
        let first = value(last)?;
        let alike = arms.len() > 1 && arms.iter().all(|arm| value(arm) == Some(first));
        let body_text = if alike { first } else { UNWRITTEN };
        // The enum is written as in the other arms.
        let prefix =
            text[last.byte_range()].split(['(', '{', ' ']).next().and_then(|head| head.rsplit_once("::"));
        let spelled = |pattern: &String| match (prefix, pattern.rsplit_once("::")) {
            (Some((prefix, _)), Some((_, name))) => format!("{prefix}::{name}"),
            _ => pattern.clone(),
        };
        let line = text[..last.start_byte()].rfind('\n').map_or(0, |at| at + 1);
        let indent = &text[line..last.start_byte()];
        let added: Vec<String> = patterns
            .iter()
            .map(|pattern| format!("\n{indent}{} => {body_text},", spelled(pattern)))
            .collect();
        let added = added.concat();
        let end = last.end_byte();
        let comma = if text[..end].ends_with([',', '}']) { "" } else { "," };
        let what = format!("covers `{}`", patterns.join("`, `"));
        let prior = if alike { 0.55 } else { 0.32 };
        Some(Solution { edits: vec![Edit::new(end..end, format!("{comma}{added}"))], prior, what })
    }

    /// A value that a switch of C does not list joins the last ones, if there is nothing to do for them.
    pub(super) fn case(&self, value: &str) -> Option<Solution> {
        let text = self.source.content();
        let switch = self.node(self.diagnostic.range.start, &["switch_statement"])?;
        let body = switch.child_by_field_name("body")?;
        let mut cursor = body.walk();
        let last = body.named_children(&mut cursor).filter(|node| node.kind() == "case_statement").last()?;
        let label = last.child_by_field_name("value")?;
        let colon = label.end_byte() + text[label.end_byte()..].find(':')? + 1;
        let mut inner = last.walk();
        let is_idle = last
            .named_children(&mut inner)
            .all(|node| matches!(node.kind(), "break_statement" | "comment") || node.id() == label.id());
        let line = text[..last.start_byte()].rfind('\n').map_or(0, |at| at + 1);
        let indent = text.get(line..last.start_byte()).filter(|code| code.trim().is_empty() && is_idle)?;
        let prefix =
            text[label.byte_range()].rfind("::").map_or("", |at| &text[label.start_byte()..][..at + 2]);
        let line_break = self.source.text().line_break();
        let edit = Edit::new(colon..colon, format!("{line_break}{indent}case {prefix}{value}:"));
        Some(Solution { edits: vec![edit], prior: 0.6, what: format!("lists `{value}`") })
    }
}
