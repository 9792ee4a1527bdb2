//! Replacements that a diagnostic proposes, without saying of what.

use nudge_text::Edit;

use super::{Problem, Solution};
use crate::{
    Diagnostic, Language, Severity,
    token::{TokenKind, is_word, solid},
};

/// What has no single answer, or is a choice and not a mistake.
const UNDECIDED: [&str; 5] = ["/*", "todo!", "if this is intentional", "`, `", "remove `return`"];

impl Problem<'_> {
    /// Does what a hint says to be done with just what it marks. rust-analyzer makes one of every help of the compiler.
    pub(super) fn hinted(&self) -> Option<Solution> {
        let Diagnostic { severity, message, range, .. } = self.diagnostic;
        let is_undecided = UNDECIDED.iter().any(|undecided| message.contains(undecided));
        if *severity != Severity::Hint || self.source.language() != Language::Rust || is_undecided {
            return None;
        }
        let new = message.strip_suffix('`').and_then(|rest| Some(rest.rsplit_once(": `")?.1));
        let is_removal = ["remove ", "consider removing "].iter().any(|start| message.starts_with(start));
        let old = &self.source.content()[range.clone()];
        let new = new.or(is_removal.then_some("")).filter(|new| *new != old)?;
        let what = if new.is_empty() {
            format!("removes `{}`, as the diagnostic proposes", old.trim())
        } else {
            format!("writes `{new}`, as the diagnostic proposes")
        };
        // A name in the place of quite another may be one part of several, of which the hint has only the first.
        let are_alike = old.contains(new) || new.contains(old) || message.contains("similar name");
        let prior = if is_name(old) && is_name(new) && !are_alike { 0.45 } else { 0.66 };
        Some(Solution { edits: vec![Edit::new(range.clone(), new)], prior, what })
    }

    /// Takes `return` from the marked statement, and what ends it.
    pub(super) fn unreturned(&self) -> Option<Solution> {
        let text = self.source.content();
        let range = &self.diagnostic.range;
        let value = text[range.clone()].strip_prefix("return ")?.trim_end_matches(';');
        let end = if text[range.end..].starts_with(';') { range.end + 1 } else { range.end };
        let what = "takes `return` away".to_owned();
        Some(Solution { edits: vec![Edit::new(range.start..end, value)], prior: 0.7, what })
    }

    /// Puts the name that is proposed in the place of the marked one, or of the only one in what is marked that begins alike.
    pub(super) fn instead(&self, to: &str) -> Option<Solution> {
        let text = self.source.content();
        let marked = self.diagnostic.range.clone();
        let old = &text[marked.clone()];
        let alike =
            |word: &str| word.len() > 2 && word != to && (to.starts_with(word) || word.starts_with(to));
        let mut found = solid(old).into_iter().filter(|token| alike(token.text(old)));
        let place = self.place(None).or_else(|| {
            let token = found.next().filter(|token| token.kind == TokenKind::Word)?;
            found.next().is_none().then(|| marked.start + token.range.start..marked.start + token.range.end)
        })?;
        let what = format!("writes `{to}`, as the diagnostic proposes");
        Some(Solution { edits: vec![Edit::new(place, to)], prior: 0.64, what })
    }
}

fn is_name(text: &str) -> bool {
    text.len() > 2 && text.chars().all(is_word)
}
