//! Fixes of a word or a sign: what is around, before or behind what is marked.

use nudge_syntax::{Grammar, Language, NameSort, NodePath, contains_word, token::is_word, variable};
use nudge_text::Edit;

use super::{Problem, Solution, brief};

impl Problem<'_> {
    /// Takes away the brackets or quotes that are marked, or whose beginning is.
    pub(super) fn unwrapped(&self) -> Option<Solution> {
        let text = self.source.content();
        let start = self.diagnostic.range.start;
        let path = NodePath::at(self.source.parsed()?, start);
        let is_wrapped = |code: &str| {
            ["{}", "()", "\"\"", "''"]
                .iter()
                .any(|pair| code.len() > 2 && code.starts_with(&pair[..1]) && code.ends_with(&pair[1..]))
        };
        let node = path
            .steps()
            .iter()
            .rev()
            .map(|step| step.node)
            .find(|node| node.start_byte() == start && is_wrapped(&text[node.byte_range()]))?;
        let range = node.byte_range();
        let inner = text[range.start + 1..range.end - 1].trim();
        // `if(a)` is not `ifa`.
        let joins = |a: Option<char>, b: Option<char>| a.is_some_and(is_word) && b.is_some_and(is_word);
        let before = if joins(text[..start].chars().next_back(), inner.chars().next()) { " " } else { "" };
        let behind = text[range.end..].chars().next();
        let after = if joins(inner.chars().next_back(), behind) { " " } else { "" };
        let what = format!("takes away what is around `{}`", brief(inner));
        let edits = vec![Edit::new(range, format!("{before}{inner}{after}"))];
        Some(Solution { edits, prior: 0.68, what })
    }

    /// Takes away the `&` that is marked.
    pub(super) fn unborrowed(&self) -> Option<Solution> {
        let range = self.diagnostic.range.clone();
        let code = &self.source.content()[range.clone()];
        let inner = code.strip_prefix("&mut ").or_else(|| code.strip_prefix('&'))?;
        let end = range.end - inner.len();
        let what = "passes the value itself".to_owned();
        Some(Solution { edits: vec![Edit::new(range.start..end, "")], prior: 0.7, what })
    }

    /// Puts a word before what is marked, which the message names.
    pub(super) fn preceded(&self, word: &str) -> Option<Solution> {
        let marked = self.place(None)?;
        contains_word(&self.diagnostic.message, &self.source.content()[marked.clone()]).then_some(())?;
        let what = format!("puts `{}` before it", word.trim_end());
        Some(Solution { edits: vec![Edit::new(marked.start..marked.start, word)], prior: 0.7, what })
    }

    /// `f()` of C becomes `f(void)`.
    pub(super) fn without_parameters(&self) -> Option<Solution> {
        let text = self.source.content();
        let start = self.diagnostic.range.start;
        let line = text[start..].split('\n').next()?;
        let is_name = |code: &str| code.chars().all(|c| is_word(c) || matches!(c, ' ' | '*'));
        let open = line.find("()").filter(|at| is_name(&line[..*at]))?;
        let at = (self.source.language() == Language::C).then_some(start + open + 1)?;
        let what = "says that there are no parameters".to_owned();
        Some(Solution { edits: vec![Edit::new(at..at, "void")], prior: 0.66, what })
    }

    /// A pointer of C that may be used before it is set is set to nothing.
    pub(super) fn initial(&self, name: &str) -> Option<Solution> {
        let offset = self.diagnostic.range.start;
        let grammar = Grammar::of(self.source.language())?;
        let parsed = self.source.parsed()?;
        let function = NodePath::at(parsed, offset).enclosing(grammar.functions)?.byte_range();
        let (place, _) = variable(self.source, name, offset, &function)?;
        let is_pointer = NodePath::at(parsed, place.start).enclosing(&["pointer_declarator"]).is_some();
        let is_unset = self.source.content()[place.end..].starts_with([';', ',']);
        if !is_pointer || !is_unset {
            return None;
        }
        let nothing = if self.source.language() == Language::Cpp { "nullptr" } else { "NULL" };
        let what = format!("sets `{name}` to nothing at first");
        let edits = vec![Edit::new(place.end..place.end, format!(" = {nothing}"))];
        Some(Solution { edits, prior: 0.62, what })
    }

    /// An argument for the parameter that the user has put in, if a variable has its name.
    pub(super) fn argument(&self) -> Option<Solution> {
        let range = &self.diagnostic.range;
        let grammar = Grammar::of(self.source.language())?;
        let path = NodePath::at(self.source.parsed()?, range.start);
        let call = path.enclosing(&["call_expression", "call"])?;
        let list = call.child_by_field_name("arguments")?;
        let function = path.enclosing(grammar.functions)?.byte_range();
        let arguments = &self.source.content()[list.byte_range()];
        let name = self.put_in().into_iter().find(|name| {
            let known = variable(self.source, name, call.start_byte(), &function);
            let is_value =
                known.is_some_and(|(_, found)| matches!(found.sort, NameSort::Local | NameSort::Parameter));
            is_value && !contains_word(arguments, name)
        })?;
        let mut cursor = list.walk();
        let end = list.named_children(&mut cursor).last().map(|argument| argument.end_byte());
        let at = end.unwrap_or(list.start_byte() + 1);
        let separator = if end.is_some() { ", " } else { "" };
        let what = format!("passes `{name}`, which is a parameter now");
        Some(Solution { edits: vec![Edit::new(at..at, format!("{separator}{name}"))], prior: 0.64, what })
    }
}
